import Answers
import HTTPServer
import JSON

/// The texts of the page that the server writes itself, in the language that the browser prefers. The files
/// `plain.en.json` and `plain.de.json` have them by name.
///
/// The texts of the scripts are in other files, `strings.en.json` and `strings.de.json`, which the browser loads.
struct PageText: Sendable {
    /// `en` or `de`.
    let language: String
    /// The texts of ``language`` by name.
    private let texts: [String: String]
    /// The words that the page's script has for the words of the interface: `audit.end.answered`.
    private let words: [String: String]

    /// The texts of each language by name, read once.
    private static let languages: [String: [String: String]] = Dictionary(
        uniqueKeysWithValues: ["en", "de"].map { ($0, read("plain.\($0).json")) })

    /// The texts of an embedded file; none if it is missing, which a test excludes.
    private static func read(_ name: String) -> [String: String] {
        guard let bytes = PageAssets.embedded[name], let root = (try? JSONDocument.parse(bytes))?.root else {
            return [:]
        }
        var texts: [String: String] = [:]
        guard let members = root.members else { return [:] }
        for (key, value) in members { texts[key] = value.string }
        return texts
    }

    private static let scripts: [String: [String: String]] = Dictionary(
        uniqueKeysWithValues: ["en", "de"].map { language in
            guard let bytes = PageAssets.embedded["strings.\(language).json"],
                let root = (try? JSONDocument.parse(bytes))?.root
            else { return (language, [:]) }
            var words: [String: String] = [:]
            flatten(root, "", &words)
            return (language, words)
        })

    /// The texts of nested objects, by their paths.
    private static func flatten(_ value: JSONValue, _ path: String, _ words: inout [String: String]) {
        if let text = value.string { words[path] = text }
        guard let members = value.members else { return }
        for (key, member) in members { flatten(member, path.isEmpty ? key : "\(path).\(key)", &words) }
    }

    /// The texts for a request; English if it prefers neither language.
    init(_ request: HTTPRequest) {
        let wanted = request.header("accept-language").map { Preference.preferred($0.lowercased()) } ?? []
        language = wanted.lazy.map { String($0.prefix { $0 != "-" }) }.first { Self.languages[$0] != nil } ?? "en"
        texts = Self.languages[language] ?? [:]
        words = Self.scripts[language] ?? [:]
    }

    /// The text of this name; its name if there is none, which a test excludes.
    subscript(_ name: String) -> String { texts[name] ?? name }

    /// Whether there is a text of this name.
    func has(_ name: String) -> Bool { texts[name] != nil }

    /// The page's word for one of the interface; that word itself, with spaces, if it is newer than the page.
    ///
    /// - Parameter group: The group of words; several are separated by `|`.
    func word(_ group: String, _ name: String) -> String {
        for group in group.split(separator: "|") {
            if let text = texts["\(group).\(name)"] ?? words["\(group).\(name)"] { return text }
        }
        return name.reduce(into: "") { text, letter in
            text += letter.isUppercase && !text.isEmpty ? " \(letter.lowercased())" : String(letter)
        }
    }

    /// Opening hours in OpenStreetMap's form, with the names of the language for days.
    func hours(_ text: String) -> String {
        guard language == "de" else { return text }
        return [("Tu", "Di"), ("We", "Mi"), ("Th", "Do"), ("Su", "So")].reduce(text) { $0.replacing($1.0, with: $1.1) }
    }

    /// The names in each language, for the test that they are the same.
    static var names: [String: Set<String>] { languages.mapValues { Set($0.keys) } }
}
