import Glibc
import TestSupport
import Testing

@testable import Gazetteer

@Suite struct TranslationsFileTests {
    private let path = "\(Repository.root)/data/translations.gazetteer"

    private func error(opening path: String) -> GazetteerError? {
        do throws(GazetteerError) {
            _ = try Translations(path: path)
            return nil
        } catch { return error }
    }

    @Test func `a file of another kind or version, or cut, is refused by name`() throws {
        var content = try contents(ofFile: path)
        #expect(error(opening: Repository.zonesPath) == .foreign(path: Repository.zonesPath))
        let cut = try TemporaryFile(Array(content.dropLast()))
        #expect(error(opening: cut.path)?.description.contains(cut.path) == true)
        content[8] = 9
        let other = try TemporaryFile(content)
        #expect(error(opening: other.path) == .otherVersion(path: other.path, found: 9, expected: 2))
    }

    @Test(arguments: [12, 16, 24, 28, 32], [0, 0x7fff_ffff, 0xffff_ffff] as [UInt32])
    func `a header with an impossible number is refused or harmless`(offset: Int, value: UInt32) throws {
        var content = try contents(ofFile: path)
        withUnsafeBytes(of: value.littleEndian) { content.replaceSubrange(offset..<offset + 4, with: $0) }
        let file = try TemporaryFile(content)
        guard error(opening: file.path) == nil else { return }
        #expect(offset == 32, "only the place of the attribution is not checked at once")
        _ = try Translations(path: file.path).attribution
    }

    @Test func `a damaged file says something wrong or nothing, but never more than it has`() throws {
        let content = try contents(ofFile: path)
        var found = 0
        var chance = SplitMix(25)
        for _ in 0..<20 {
            var damaged = content
            for _ in 0..<20_000 {
                damaged[Int.random(in: 64..<damaged.count, using: &chance)] = UInt8.random(in: 0...255, using: &chance)
            }
            let file = try TemporaryFile(damaged)
            let translations = try Translations(path: file.path)
            for tag in ["de", "ja", "zh-TW"] {
                let languages = translations.languages([tag])
                for number in 0..<500 {
                    let name = translations.name(of: .place(geonameID: 2_761_369 + number), in: languages)
                    guard let name else { continue }
                    found += 1
                    // Each damaged byte becomes at most the three of U+FFFD.
                    #expect(name.utf8.count < 3 * damaged.count)
                }
            }
        }
        #expect(found > 0, "The damage has left no name to look at.")
    }

    @Test func `a tag finds its language by the longest beginning that is known, and English ends the list`() throws {
        let translations = try Translations(path: path)
        #expect(translations.languages(["de-AT"]) == translations.languages(["DE"]))
        #expect(translations.languages(["zh-TW"]) != translations.languages(["zh-CN"]))
        #expect(translations.languages(["fr", "en-GB", "de"]) == translations.languages(["fr", "en"]))
        #expect(translations.languages(["en"]).count == 1)
        #expect(translations.languages(["", "-", "x", "tlh"]).isEmpty)
    }
}
