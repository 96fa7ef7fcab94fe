package import HTTPServer
import JSON

/// The texts that the server writes itself, for the page in the language that the browser prefers, and for notices in the
/// language that they were added with. The files `plain.en.json` and `plain.de.json` have them by name.
///
/// The texts of the scripts are in other files, `strings.en.json` and `strings.de.json`, which the browser loads.
package struct PageText: Sendable {
    /// `en` or `de`.
    package let language: String
    /// The texts of ``language`` by name.
    private let texts: [String: String]
    /// The words that the page's script has for the words of the interface: `audit.end.answered`.
    private let words: [String: String]

    /// The texts of each language by name, read once.
    private static let languages: [String: [String: String]] = Dictionary(
        uniqueKeysWithValues: ["en", "de"].map { ($0, read("plain.\($0).json")) })

    /// The texts of an embedded file; none if it is missing, which a test excludes.
    private static func read(_ name: String) -> [String: String] {
        guard let bytes = PageFiles.embedded[name], let root = (try? JSONDocument.parse(bytes))?.root else {
            return [:]
        }
        var texts: [String: String] = [:]
        guard let members = root.members else { return [:] }
        for (key, value) in members { texts[key] = value.string }
        return texts
    }

    private static let scripts: [String: [String: String]] = Dictionary(
        uniqueKeysWithValues: ["en", "de"].map { language in
            guard let bytes = PageFiles.embedded["strings.\(language).json"],
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
    package init(_ request: HTTPRequest) {
        let wanted = request.header("accept-language").map { Preference.preferred($0.lowercased()) } ?? []
        self.init(wanted.lazy.map { String($0.prefix { $0 != "-" }) }.first { Self.languages[$0] != nil } ?? "en")
    }

    /// The texts in a language, `en` or `de`.
    package init(_ language: String) {
        self.language = language
        texts = Self.languages[language] ?? [:]
        words = Self.scripts[language] ?? [:]
    }

    /// The text of this name; its name if there is none, which a test excludes.
    package subscript(_ name: String) -> String { texts[name] ?? name }

    /// The text of this name with values in place of `{name}`. A value is never looked at for further names.
    package func filled(_ name: String, _ values: [String: String]) -> String { Self.fill(self[name], values) }

    /// The page's word for one of the interface, with values in place of `{name}`.
    package func filledWord(_ group: String, _ name: String, _ values: [String: String]) -> String {
        Self.fill(word(group, name), values)
    }

    private static func fill(_ text: String, _ values: [String: String]) -> String {
        var filled = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            filled += rest[..<open]
            let name = rest[rest.index(after: open)..<close]
            filled += values[String(name)] ?? String(rest[open...close])
            rest = rest[rest.index(after: close)...]
        }
        return filled + rest
    }

    /// Whether there is a text of this name.
    package func has(_ name: String) -> Bool { texts[name] != nil }

    /// The page's word for one of the interface; that word itself, with spaces, if it is newer than the page.
    ///
    /// - Parameter group: The group of words; several are separated by `|`.
    package func word(_ group: String, _ name: String) -> String {
        for group in group.split(separator: "|") {
            if let text = texts["\(group).\(name)"] ?? words["\(group).\(name)"] { return text }
        }
        return name.reduce(into: "") { text, letter in
            text += letter.isUppercase && !text.isEmpty ? " \(letter.lowercased())" : String(letter)
        }
    }

    /// Opening hours in OpenStreetMap's form, with the names of the language for days.
    package func hours(_ text: String) -> String {
        guard language == "de" else { return text }
        return [("Tu", "Di"), ("We", "Mi"), ("Th", "Do"), ("Su", "So")].reduce(text) { $0.replacing($1.0, with: $1.1) }
    }

    /// The names in each language, for the test that they are the same.
    static var names: [String: Set<String>] { languages.mapValues { Set($0.keys) } }
}
