import Cryptography
import Projections
import Whereabouts

extension TimelineTable {
    /// The tables of the programs that had one row for each fix, which is a block without following fixes.
    static let olderForms: [OlderForm] = VisitRules.all.map {
        OlderForm(
            version: $0.version,
            form: Digest(
                words: (0x7E09_388E_868D_CAD4, 0xE46C_15F8_C3BC_4FFF, 0x1AA0_4587_B83C_D028, 0x9C51_B29D_F2A1_9338)),
            lift: "CREATE TEMP VIEW fix AS SELECT *, NULL AS following FROM main.fix")
    }
}
