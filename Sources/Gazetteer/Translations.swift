// Translations, version 2 of the format. Little-endian, mapped into memory and never parsed; written by
// scripts/gazetteer/build_translations.py, which specifies the same bytes. Sections follow one another in this order,
// each beginning at a multiple of 64; their places follow from the counts in the header.
//
//   header     64 bytes   magic "TRANSL\r\n" | version u32 | languages u32 | file bytes u64 | entries u32 |
//                         string bytes u32 | attribution u32 (string) | 28 zero bytes
//   languages  8 each     tag u32 (string) | first entry u32, in rising order of tags
//   entries    7 each     subject u32 | name u24 (string), in rising order of subjects within a language
//   strings    bytes      length u16, then that many bytes of UTF-8; the empty one is at 0 and means "absent"
//
// A subject is a geonameid; for a country 0xf0000000 and its two letters as a tiling stores them; for a division
// 0xe0000000 and its label in regions.gazetteer, and 0xd0000000 and its number among the areas of places.gazetteer.
//
// The first language has an empty tag and holds local names: "Wien" for Vienna. The file of the subject itself has the
// English name, so a subject without an entry under the empty tag has one name for both. English has an entry for every
// subject that has one under the empty tag.

/// A language there are names in.
package struct Language: Hashable, Sendable {
    /// In the file of translations.
    fileprivate let number: Int
}

/// The names of countries, divisions and large cities in many languages, mapped.
///
/// No read leaves the file, whatever its bytes say. Safe on every thread.
final class Translations: Sendable {
    /// The kind of thing that has a name.
    enum Subject {
        case country(CountryCode)
        /// A label of the regions.
        case division(Int)
        /// A number among the areas of the places.
        case area(Int)
        case place(geonameID: Int)

        fileprivate var key: UInt32 {
            switch self {
            case .country(let code): 0xf000_0000 | UInt32(code.stored)
            case .division(let label): 0xe000_0000 | UInt32(truncatingIfNeeded: label)
            case .area(let number): 0xd000_0000 | UInt32(truncatingIfNeeded: number)
            case .place(let geonameID): UInt32(truncatingIfNeeded: geonameID)
            }
        }
    }

    private static let version: UInt32 = 2
    /// As many as a person could speak; more are left out.
    private static let languagesMax = 8

    /// The local names, which the file lists under the empty tag.
    private static let local = Language(number: 0)

    private let mapping: MappedFile
    private let languages: Section
    private let entries: Section
    private let strings: StringSection
    private let attributionOffset: UInt32

    /// - Throws: ``GazetteerError`` if the file cannot be read or is not one of translations, of this version and of the
    ///   length its header says. A file damaged further in gives wrong answers but no crash.
    init(path: String) throws(GazetteerError) {
        let file = try MappedFile(path: path)
        var layout = try FileLayout(file, path: path, magic: "TRANSL\r\n", version: Self.version)
        languages = layout.section(count: layout.count(at: 12), stride: 8)
        entries = layout.section(count: layout.count(at: 24), stride: 7)
        strings = StringSection(layout.section(count: layout.count(at: 28), stride: 1))
        attributionOffset = layout.uint32(at: 32)
        try layout.finish()
        mapping = file
    }

    /// The attribution and licence of the data, to be shown wherever its names are shown.
    var attribution: String { withExtendedLifetime(self) { strings[attributionOffset] ?? "" } }

    /// See ``Gazetteer/languages(_:)``.
    func languages(_ tags: [String]) -> [Language] {
        var found: [Language] = []
        for tag in tags.prefix(Self.languagesMax) {
            var parts = tag.lowercased().split(separator: "-")
            // English is the last language: it has no entry for a subject whose local name is the English one, and a
            // language behind it would win there.
            let isLast = parts.first == "en"
            while !parts.isEmpty {
                if let language = language(parts.joined(separator: "-")) {
                    found.append(language)
                    break
                }
                parts.removeLast()
            }
            if isLast { break }
        }
        return found
    }

    /// The name of a subject in the first of `chosen` that has one, else its local name; nil if the local name is the
    /// one in the subject's own file.
    func name(of subject: Subject, in chosen: [Language]) -> String? {
        withExtendedLifetime(self) {
            for language in chosen {
                if let name = name(of: subject, in: language) { return name }
            }
            return name(of: subject, in: Self.local)
        }
    }

    private func name(of subject: Subject, in language: Language) -> String? {
        let key = subject.key
        guard language.number < languages.count else { return nil }
        let end = language.number + 1 < languages.count ? first(language.number + 1) : entries.count
        let index = firstIndex(from: first(language.number), to: end) { entries.uint32($0, at: 0) >= key }
        guard index < end, entries.uint32(index, at: 0) == key else { return nil }
        return strings[entries.uint24(index, at: 4)]
    }

    private func first(_ language: Int) -> Int { min(Int(languages.uint32(language, at: 4)), entries.count) }

    private func language(_ tag: String) -> Language? {
        withExtendedLifetime(self) {
            func known(_ index: Int) -> String { strings[languages.uint32(index, at: 0)] ?? "" }
            let index = firstIndex(from: 0, to: languages.count) { known($0) >= tag }
            return index < languages.count && known(index) == tag ? Language(number: index) : nil
        }
    }

}
