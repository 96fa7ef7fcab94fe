/// A search text, split into words, with the places of its commas.
struct PlaceQuestion {
    /// More words than the longest address line has; a longer text is not a name.
    static let wordsMax = 12
    static let bytesMax = 256
    /// A comma, as several scripts write it.
    private static let separators: Set<Character> = [",", "،", "，", "、", ";"]
    private static let opening: Set<Character> = ["(", "（", "["]
    private static let closing: Set<Character> = [")", "）", "]"]

    let words: [[UInt16]]
    /// The words before which there was a comma.
    private let parts: Set<Int>
    /// Whether it is written in letters of no other script than Latin.
    let isLatin: Bool
    /// Whether it has capital letters and no small ones.
    let isInCapitals: Bool
    /// Whether it has only words for private places, such as "my house". Such a question finds nothing, even if a
    /// village has that name.
    let isOwnPlace: Bool

    /// Words for private places, folded. Names of larger towns, such as "casa", are left out.
    private static let ownPlaces = Set(
        """
        my our the at to home house place flat apartment work office job school gym parents mom mum dad grandma grandparents
        here there zuhause daheim arbeit buro buero schule maison travail ecole boulot trabajo oficina escuela lavoro ufficio
        scuola
        """.split(whereSeparator: \.isWhitespace).map { Array($0.utf16) })

    /// nil if there is nothing in it, or too much.
    init?(_ text: String, fold: NameFold) {
        guard text.utf8.count <= Self.bytesMax else { return nil }
        var words: [[UInt16]] = []
        var parts: Set<Int> = []
        for part in text.split(whereSeparator: { Self.separators.contains($0) }) {
            parts.insert(words.count)
            words += fold.words(part)
        }
        guard !words.isEmpty, words.count <= Self.wordsMax else { return nil }
        self.words = words
        self.parts = parts.subtracting([0, words.count])
        // Behind them and their marks, the last of Vietnamese apart, come the other scripts.
        isLatin = text.unicodeScalars.allSatisfy { $0.value < 0x370 || (0x1e00..<0x2100).contains($0.value) }
        isInCapitals = text == text.uppercased() && text != text.lowercased()
        isOwnPlace = words.allSatisfy { Self.ownPlaces.contains($0) }
    }

    var all: Range<Int> { words.indices }

    /// The key that some of the words make.
    func key(_ range: Range<Int>) -> [UInt16] { Array(words[range].joined()) }

    /// Whether there is a comma among the words.
    func isParted(_ range: Range<Int>) -> Bool { parts.contains { $0 > range.lowerBound && $0 < range.upperBound } }

    /// The words before and after the first comma; nil if there is no comma.
    var parted: (name: Range<Int>, rest: Range<Int>)? { parts.min().map { (0..<$0, $0..<words.count) } }

    /// The text without the parts in brackets, which mostly repeat the rest; nil if there are none.
    static func withoutBrackets(_ text: String) -> String? {
        var depth = 0
        var rest = ""
        for character in text {
            if opening.contains(character) { depth += 1 }
            if depth == 0 { rest.append(character) }
            if closing.contains(character), depth > 0 { depth -= 1 }
        }
        return rest.count < text.count ? rest : nil
    }

    /// Every split of the text into a name, at its beginning or end, and a qualifier, the longest names first. A comma
    /// is never within the name.
    var splits: [(name: Range<Int>, rest: Range<Int>)] {
        (1..<words.count).reversed().flatMap { count in
            [(0..<count, count..<words.count), (words.count - count..<words.count, 0..<words.count - count)]
        }.filter { !isParted($0.0) }
    }

    /// Every way to part a range of words into qualifiers, few long ones first; a comma always parts.
    func partitions(_ range: Range<Int>) -> [[Range<Int>]] {
        guard !range.isEmpty else { return [[]] }
        return (range.lowerBound + 1...range.upperBound).reversed().flatMap { end -> [[Range<Int>]] in
            let first = range.lowerBound..<end
            guard !isParted(first) else { return [] }
            return partitions(end..<range.upperBound).map { [first] + $0 }
        }
    }
}
