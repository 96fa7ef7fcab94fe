/// An HTML text, written from top to bottom. Every text and every attribute is escaped here and nowhere else, so a name
/// that a person chose cannot become markup.
///
///     var html = HTML()
///     html.element("a", ["href": "/day/2026-05-04"]) { $0.text("4 May") }
struct HTML: Sendable {
    /// The text so far.
    private(set) var source = ""

    /// Elements without content.
    private static let void: Set<String> = ["input", "link", "meta", "br", "hr", "img"]

    /// An element with its content.
    ///
    /// - Parameter attributes: In the order written. `nil` leaves an attribute out; an empty value writes its name
    ///   alone.
    mutating func element(
        _ name: StaticString, _ attributes: KeyValuePairs<StaticString, String?> = [:],
        _ content: (inout HTML) -> Void = { _ in }
    ) {
        source += "<\(name)"
        for (name, value) in attributes {
            guard let value else { continue }
            source += value.isEmpty ? " \(name)" : " \(name)=\"\(Self.escaped(value))\""
        }
        source += ">"
        guard !Self.void.contains("\(name)") else { return }
        content(&self)
        source += "</\(name)>"
    }

    /// An element whose content is a text.
    mutating func element(_ name: StaticString, _ attributes: KeyValuePairs<StaticString, String?>, _ text: String) {
        element(name, attributes) { $0.text(text) }
    }

    /// An element whose content is a text, without attributes.
    mutating func element(_ name: StaticString, _ text: String) { element(name, [:]) { $0.text(text) } }

    /// A text.
    mutating func text(_ text: String) { source += Self.escaped(text) }

    /// The beginning of a document.
    mutating func doctype() { source += "<!doctype html>\n" }

    /// A text in which the characters that mean something in HTML are references. Control characters other than line
    /// breaks and tabs, which HTML does not allow, become U+FFFD.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\n", "\t": escaped.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
                escaped.unicodeScalars.append("\u{FFFD}")
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
