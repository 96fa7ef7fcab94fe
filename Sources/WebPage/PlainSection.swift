import Answers
import JSON
import Whereabouts
import WireFormats

/// A part of a plain view: the API's question, and the columns in which its answer is shown.
///
/// For example, the view `/day` has the sections `visits`, `trips` and `crossings`, each of them one read on record.
struct PlainSection: Sendable {
    /// The name of its text.
    let title: String
    /// The API's path.
    let path: String
    /// The parameters of the question.
    var query: [(name: String, value: String)] = []
    /// From left to right.
    let columns: [Column]
    /// The view that a row leads to; `*` is the text of the column with the link.
    var link: String?
    /// The buttons of each row.
    var buttons: [PlainForms.Button] = []
    /// The button for the whole list, by its rows.
    var below: @Sendable ([JSONValue]) -> PlainForms.Button? = { _ in nil }
    /// Which rows of the answer are shown.
    var keeps: @Sendable (JSONValue) -> Bool = { _ in true }
    /// How many pages of the answer are read for rows that are shown.
    var pages = 1
    /// The rows after which no further page is read.
    var rowsWanted = PlainSection.rowsAtOnce
    /// Whether the rows are the newest events of the log, whose head the first section has.
    var isNewestOfLog = false
    /// Whether the view goes on without this section if the reader may not see it.
    var mayBeAbsent = false

    /// The section with other values of its variables.
    func with(_ change: (inout PlainSection) -> Void) -> PlainSection {
        var section = self
        change(&section)
        return section
    }

    /// The rows of an answer: its `items`, its `results`, or the one thing that it is about.
    func items(of root: JSONValue) -> [JSONValue] {
        if let items = root["items"]?.array ?? root["results"]?.array { return Array(items) }
        if let location = root["location"] { return location.isNull ? [] : [location] }
        return [root]
    }

    /// One column: the name of its text, where its value is in a row, and how it is written.
    struct Column: Sendable {
        /// How a value is written.
        enum Form: Sendable {
            case text
            /// A word of the interface, written as the words of the page in this group have it.
            case word(String)
            /// Hours of the week.
            case hours
            /// A list of texts, each with the section's link.
            case links
            /// Unix seconds, written in the zone of the row's place, or in UTC.
            case time
            case duration
            case meters
            /// The members of this name of a list, as words of a group of the page.
            case each(String, words: String)
        }

        /// The name of the column's text.
        let title: String
        /// Where the value is: the first of these paths that leads to one.
        let members: [[String]]
        /// How the value is written.
        let form: Form

        /// - Parameter member: The path of the value, for example `location.place.name`; several are separated by `|`.
        init(_ title: String, _ member: String? = nil, _ form: Form = .text) {
            self.title = title
            members = (member ?? title).split(separator: "|").map { $0.split(separator: ".").map(String.init) }
            self.form = form
        }

        /// The value of a row; `nil` if it has none.
        func value(in item: JSONValue) -> JSONValue? {
            // The rows of a list of names are texts themselves.
            if members == [["self"]] { return item }
            return members.lazy.compactMap { member in
                let value = member.reduce(Optional(item)) { $0?[$1] }
                return value.flatMap { $0.isNull ? nil : $0 }
            }.first
        }

        /// Writes the cell of a row. An absent value leaves it empty, and so does a time that is out of range.
        func write(
            _ item: JSONValue, _ link: String?, _ timeZones: TimeZoneDatabase, _ words: PageText, _ html: inout HTML
        ) {
            guard let value = value(in: item) else { return }
            switch form {
            case .text:
                let text = PlainText.text(of: value)
                guard let link, link.contains("*"), Self.linked.contains(title) else { return html.text(text) }
                html.element(
                    "a", ["href": link.replacing("*", with: PageEndpoints.escaped(text))],
                    title == "path" ? words["plain.open"] : text)
            case .word(let group): html.text(words.word(group, PlainText.text(of: value)))
            case .hours: html.text(words.hours(PlainText.text(of: value)))
            case .links:
                for text in (value.array.map(Array.init) ?? []).compactMap(\.string) {
                    html.element("a", ["href": link?.replacing("*", with: PageEndpoints.escaped(text))], text)
                    html.text(" ")
                }
            case .time:
                guard let seconds = value.double, let time = Timestamp(seconds: seconds) else { return }
                html.element(
                    "time", ["datetime": ISO8601.text(of: time)],
                    PlainText.local(
                        time, zone: item["timeZone"]?.string ?? item["place"]?["timeZone"]?.string, timeZones)
                )
            case .duration: html.text(PlainText.duration(value.double ?? 0))
            case .meters: html.text(PlainText.meters(value.double ?? 0))
            case .each(let name, let group):
                let texts = value.array.map { $0.compactMap { $0[name].map(PlainText.text) } } ?? []
                html.text(texts.map { words.word(group, $0) }.joined(separator: ", "))
            }
        }

        /// The columns whose text is a link, if the section has one.
        private static let linked: Set<String> = ["who", "path"]
    }
}

/// Values of the API's answers as people read them.
enum PlainText {
    /// Numbers have at most five decimals, about a meter for degrees. An object is a list of its members.
    static func text(of value: JSONValue) -> String {
        if let text = value.string { return text }
        if let flag = value.bool { return flag ? "✓" : "–" }
        if let number = value.int { return "\(number)" }
        if let number = value.double { return "\((number * 100_000).rounded() / 100_000)" }
        if let items = value.array { return items.map { text(of: $0) }.joined(separator: ", ") }
        return (value.members ?? nil).map { $0.map { "\($0.key): \(text(of: $0.value))" }.joined(separator: ", ") }
            ?? ""
    }

    /// `2026-05-04 10:00 Europe/Vienna`; in UTC without a zone.
    static func local(_ time: Timestamp, zone name: String?, _ timeZones: TimeZoneDatabase) -> String {
        let rules = name.flatMap { timeZones.rules($0, from: time, to: time.adding(seconds: 1)) }
        let shown = rules.map { time.adding(seconds: $0.offsetSeconds) } ?? time
        let text = ISO8601.text(of: shown).prefix(16).replacing("T", with: " ")
        return "\(text) \(rules == nil ? "UTC" : name ?? "UTC")"
    }

    /// `2 d 3 h`, `4 h 12 min`, `5 min`, `30 s`.
    static func duration(_ seconds: Double) -> String {
        let whole = Int64(max(0, seconds).rounded())
        switch whole {
        case ..<60: return "\(whole) s"
        case ..<3600: return "\(whole / 60) min"
        case ..<86_400: return "\(whole / 3600) h \(whole / 60 % 60) min"
        default: return "\(whole / 86_400) d \(whole / 3600 % 24) h"
        }
    }

    /// `850 m`, `12.3 km`: whole meters below a kilometer, else one decimal.
    static func meters(_ meters: Double) -> String {
        meters < 1000 ? "\(Int64(meters.rounded())) m" : "\((meters / 100).rounded() / 10) km"
    }
}
