import Answers
import JSON
import Replies
import Whereabouts
import WireFormats

/// How the texts of a webhook are written: in which language, and with times of which zone.
struct NoticeStyle: Sendable {
    /// The zone of times.
    private enum Zone {
        case utc
        /// That of the place that a message is about; UTC without one.
        case place
        case named(String)
    }

    /// The texts of the language.
    let words: PageText
    private let zone: Zone
    private let timeZones: TimeZoneDatabase

    /// - Parameter wording: `nil` for English with times in UTC.
    init(_ wording: NoticeWording?, _ timeZones: TimeZoneDatabase) {
        words = PageText((wording?.language ?? .en).word)
        zone = wording.map { $0.zone.map(Zone.named) ?? .place } ?? .utc
        self.timeZones = timeZones
    }

    /// For example `2026-05-04 10:00 CEST`, or `4.5.2026 um 10:00 MESZ`. The zone is always named.
    ///
    /// - Parameter place: The zone of the place that the message is about.
    func time(_ time: Timestamp, place: String?) -> String {
        let name: String? =
            switch zone {
            case .utc: nil
            case .place: place
            case .named(let name): name
            }
        let clock = name.flatMap { timeZones.clock($0, at: time) } ?? (0, "UTC")
        let text = ISO8601.text(of: time.adding(seconds: clock.offsetSeconds))
        let date = text.prefix(10)
        let parts = date.split(separator: "-").map { String($0.drop { $0 == "0" }) }
        return words.filled(
            "notice.time",
            [
                "date": String(date), "time": String(text.dropFirst(11).prefix(5)),
                "zone": words.has("zone.\(clock.label)") ? words["zone.\(clock.label)"] : clock.label,
                "year": parts[0], "month": parts[1], "day": parts[2],
            ])
    }

    /// For example `15 min`, `2 h` or `30 days`.
    func duration(_ seconds: Int64) -> String {
        let (unit, count) =
            seconds % 86_400 == 0
            ? (seconds == 86_400 ? "day" : "days", seconds / 86_400)
            : seconds % 3600 == 0 ? ("hours", seconds / 3600) : ("minutes", seconds / 60)
        return words.filled("notice.\(unit)", ["count": "\(count)"])
    }
}

/// A message of a webhook as a person reads it: a title and a sentence or two. For example
///
///     A region was crossed
///     Entered school at 2026-05-04 10:00 CEST.
struct NoticeText: Hashable {
    /// The kind of notice, without names. For example `Your location was shown`.
    let title: String
    /// The notice in one or two sentences. Has no line ends, except in a message with a code.
    let text: String
    /// The subject of a mail that shows no details.
    let subject: String
    /// The words by which ntfy chooses its icon (docs.ntfy.sh/emojis).
    let tag: String
    /// The priority of ntfy, from 1 to 5.
    let priority: Int64

    /// The type of the message with the code that confirms an address.
    static let codeType = "code"
    /// The type of a test message.
    static let testType = "test"

    /// The longest title with detail, in characters and in bytes of UTF-8: a character can have any number of combining
    /// marks.
    private static let titleMost = (characters: 120, bytes: 480)

    /// The first sentences of ``text``, for a title with detail.
    var detail: String {
        if text.count <= Self.titleMost.characters, text.utf8.count <= Self.titleMost.bytes { return text }
        var title = String.UnicodeScalarView()
        var bytes = "…".utf8.count
        for scalar in text.prefix(Self.titleMost.characters - 1).unicodeScalars {
            bytes += UTF8.width(scalar)
            if bytes > Self.titleMost.bytes { break }
            title.append(scalar)
        }
        return String(title) + "…"
    }

    /// The text of a message with this ``WebhookMessage/body``; if the body is not JSON, the text has no details.
    init(of body: [UInt8], _ style: NoticeStyle) {
        let root = (try? JSONDocument.parse(body))?.root
        let type = root?["type"]?.string ?? ""
        let data = Members(value: root?["data"], style: style)
        (tag, priority) = Self.signs[type] ?? ("bell", 3)
        title = style.words[Self.signs[type] == nil ? "notice.title" : "notice.title.\(type)"]
        subject = style.words["notice.subject"]
        text = Self.text(type, data, style)
    }

    /// By type: tag, priority.
    private static let signs: [String: (String, Int64)] = [
        "query": ("question", 3), "consent": ("raised_hand", 3), "push": ("iphone", 2), "end": ("checkered_flag", 2),
        "disclosure": ("eyes", 3), "read": ("eyes", 3), "change": ("gear", 3), "finding": ("warning", 4),
        "visit": ("house", 3), "crossing": ("round_pushpin", 3), "silence": ("mute", 4), codeType: ("key", 3),
        testType: ("white_check_mark", 3),
    ]

    /// The texts are in `plain.en.json` and `plain.de.json`, the words of the interface in the texts of the page.
    private static func text(_ type: String, _ data: Members, _ style: NoticeStyle) -> String {
        let words = style.words
        let who = data["requester"] ?? data["reader"] ?? data["actor"] ?? data["person"] ?? words["notice.someone"]
        func text(_ name: String, _ values: [String: String] = [:]) -> String {
            words.filled("notice.\(name)", values.merging(["who": who]) { given, _ in given })
        }
        switch type {
        case "query":
            let asked = data["purpose"].map { text("query.purpose", ["purpose": $0]) } ?? text("query")
            guard data["verdict"] == "refused" else { return asked }
            let reason = data["reason"].map { words.word("audit.reason", $0) } ?? ""
            return "\(asked) \(text("query.refused", ["reason": reason]))"
        case "consent": return text("consent.\(data["consent"] ?? "asked")")
        case "push":
            let outcome = data["outcome"].map { words.word("audit.push", $0) } ?? ""
            return text("push", ["device": data["device"] ?? words["notice.phones"], "outcome": outcome])
        case "end": return text("end", ["end": data["end"].map { words.word("audit.end", $0) } ?? ""])
        case "disclosure":
            let precision = data["precision"].map { words.word("parts.precision", $0) } ?? ""
            guard let place = data["place"] else { return text("disclosure", ["precision": precision]) }
            return text("disclosure.place", ["place": place, "precision": precision])
        case "read": return text("read", ["question": data["question"].map { words.word("question", $0) } ?? ""])
        case "change": return text("change", ["change": data["event"].map { words.word("audit.change", $0) } ?? ""])
        case "finding":
            let values = ["who": who, "count": "\(data.integer("count") ?? 0)"]
            let pattern = data["pattern"].map { words.filledWord("audit.pattern", $0, values) } ?? ""
            return text("finding", ["pattern": pattern])
        case "visit":
            let values = ["place": data["place"] ?? words["notice.place"]]
            if data.isTrue("withdrawn") { return text("visit.withdrawn", values) }
            if let time = data.time("departure") { return text("visit.left", values.merging(["time": time]) { $1 }) }
            guard let time = data.time("arrival") else { return text("visit", values) }
            return text("visit.arrived", values.merging(["time": time]) { $1 })
        case "crossing":
            let name = data["type"] == "exit" ? "crossing.exit" : "crossing.enter"
            let values = ["region": data["region"] ?? words["notice.region"], "time": data.time("time") ?? ""]
            let sentence = text(name, values)
            return data.isTrue("withdrawn") ? text("withdrawn", ["what": sentence]) : sentence
        case "silence":
            return text(
                "silence",
                [
                    "device": data["device"] ?? words["notice.device"],
                    "duration": style.duration(data.integer("after") ?? 0), "time": data.time("since") ?? "",
                ])
        case testType: return text("test")
        case codeType: return text("code", ["code": data["code"] ?? ""])
        default: return text("other", ["type": type])
        }
    }

    /// The members of the message's data, as text.
    private struct Members {
        let value: JSONValue?
        let style: NoticeStyle

        /// Without line ends and other control characters, which a purpose may hold; `nil` for an empty text.
        subscript(name: String) -> String? {
            guard let text = value?[name]?.string, !text.isEmpty else { return nil }
            return String(
                String.UnicodeScalarView(
                    text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
        }

        func isTrue(_ name: String) -> Bool { value?[name]?.bool ?? false }

        func integer(_ name: String) -> Int64? { value?[name]?.int }

        /// A time in the zone of the style; `nil` without one.
        func time(_ name: String) -> String? {
            guard let seconds = value?[name]?.double, abs(seconds) < 1e11 else { return nil }
            return style.time(Timestamp(milliseconds: Int64(seconds * 1000)), place: self["timeZone"])
        }
    }
}
