/// Folds a name into the key it is found by, as scripts/gazetteer/gazetteer_fold.py made the keys of the file.
///
/// A key has no spaces, marks or diacritics, and most scripts are written in Latin letters: "St. Gallen" and
/// "Sankt-Gallen" are `stgallen`, "Москва" is `moskva`. The file has the replacement of each character; this type
/// decides how words are joined.
struct NameFold: Sendable {
    /// UTF-16 units in rising order, each with the place of its replacement in `latin`.
    let characters: Section
    /// Each a length u8 and that many bytes of ASCII.
    let latin: Section

    /// Words that are written in several ways.
    private static let sameWords = Dictionary(
        uniqueKeysWithValues: [
            ("saint", "st"), ("sankt", "st"), ("sint", "st"), ("sainte", "ste"), ("mount", "mt"), ("fort", "ft"),
            ("sta", "santa"), ("sto", "santo"),
        ].map { (Array($0.utf16), Array($1.utf16)) })
    private static let space = UInt16(ascii: " ")
    private static let syllables: Range<UInt16> = 0xac00..<0xd7a4

    /// The words of a name, folded: none if it has neither letter nor digit.
    func words(_ text: some StringProtocol) -> [[UInt16]] {
        var folded: [UInt16] = []
        for unit in text.utf16 {
            if Self.syllables.contains(unit) {
                // Unicode, section 3.12: a syllable of Hangul is an initial, a vowel and perhaps a final.
                let syllable = unit - Self.syllables.lowerBound
                append(0x1100 + syllable / 588, to: &folded)
                append(0x1161 + syllable / 28 % 21, to: &folded)
                append(0x11a7 + syllable % 28, to: &folded)
            } else {
                append(unit, to: &folded)
            }
        }
        return folded.split(separator: Self.space).map { word in
            let word = Array(word)
            return Self.sameWords[word] ?? word
        }
    }

    private func append(_ unit: UInt16, to folded: inout [UInt16]) {
        var (low, high) = (0, characters.count)
        while low < high {
            let middle = (low + high) / 2
            if characters.uint16(middle, at: 0) < unit { low = middle + 1 } else { high = middle }
        }
        guard low < characters.count, characters.uint16(low, at: 0) == unit else { return folded.append(unit) }
        let begin = Int(characters.uint16(low, at: 2))
        guard begin < latin.count else { return }
        let length = Int(latin.start.load(fromByteOffset: begin, as: UInt8.self))
        guard begin + 1 + length <= latin.count else { return }
        for at in begin + 1..<begin + 1 + length {
            folded.append(UInt16(latin.start.load(fromByteOffset: at, as: UInt8.self)))
        }
    }
}

extension UInt16 {
    init(ascii: Unicode.Scalar) { self = UInt16(UInt8(ascii: ascii)) }
}
