/// Folds the name of a street, a town or a postal code into the key it is found by: letters and digits only, in lower
/// case and without marks, as by ``NameFold``. The kind of street takes its usual abbreviation: "Hauptstraße" and
/// "HAUPTSTR." have the same key, and so have "5th Avenue" and "5TH AVE".
///
/// Files store these keys: to add a word here, raise the format version of supplements.
package struct StreetFold: Sendable {
    let fold: NameFold
    /// Keeps the memory of the fold's tables alive; nil if another object does.
    private let owner: (any AnyObject & Sendable)?

    init(_ fold: NameFold, of owner: (any AnyObject & Sendable)? = nil) {
        self.fold = fold
        self.owner = owner
    }

    private static let sameWords = Dictionary(
        uniqueKeysWithValues: [
            ("street", "st"), ("avenue", "av"), ("ave", "av"), ("avenida", "av"), ("avda", "av"), ("road", "rd"),
            ("drive", "dr"), ("boulevard", "bd"), ("blvd", "bd"), ("boul", "bd"), ("lane", "ln"), ("court", "ct"),
            ("place", "pl"), ("platz", "pl"), ("plaza", "pl"), ("square", "sq"), ("highway", "hwy"),
            ("parkway", "pkwy"), ("terrace", "ter"), ("circle", "cir"), ("rue", "r"), ("rua", "r"), ("chemin", "ch"),
            ("allee", "all"), ("route", "rte"), ("strasse", "str"), ("straat", "str"), ("north", "n"), ("south", "s"),
            ("east", "e"), ("west", "w"), ("northeast", "ne"), ("northwest", "nw"), ("southeast", "se"),
            ("southwest", "sw"),
        ].map { (Array($0.utf16), Array($1.utf16)) })
    /// The endings at which words of some languages are split, for example "Hauptstrasse", "Hoofdstraat".
    private static let endings = ["strasse", "straat"].map { Array($0.utf16) }

    /// The key of a street's name, as bytes of UTF-8; empty if it has neither letter nor digit.
    package func streetKey(_ name: String) -> [UInt8] { streetKey(fold.words(name)[...]) }

    /// The same of words that are folded.
    func streetKey(_ words: ArraySlice<[UInt16]>) -> [UInt8] {
        Self.utf8(
            words.flatMap { word -> [UInt16] in
                if let short = Self.sameWords[word] { return short }
                for ending in Self.endings where word.count > ending.count && word.suffix(ending.count) == ending[...] {
                    return word.dropLast(ending.count) + Array("str".utf16)
                }
                return word
            })
    }

    /// The key of anything else: a town, a postal code, a house number.
    package func key(_ text: String) -> [UInt8] { Self.utf8(fold.words(text).flatMap(\.self)) }

    static func utf8(_ units: [UInt16]) -> [UInt8] { Array(String(decoding: units, as: UTF16.self).utf8) }

    /// The tables of the folding, as a file has them.
    package var characters: [UInt8] { bytes(fold.characters) }
    package var latin: [UInt8] { bytes(fold.latin) }

    private func bytes(_ section: Section) -> [UInt8] {
        withExtendedLifetime(owner) {
            Array(UnsafeRawBufferPointer(start: section.start, count: section.count * section.stride))
        }
    }
}
