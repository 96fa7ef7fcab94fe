import JSON
import Replies
import Whereabouts
import WireFormats

/// A message of a webhook as a person reads it: a title and a sentence or two. Times are in UTC. For example
///
///     A region was crossed
///     Entered school at 2026-05-04 08:00 UTC.
struct NoticeText: Hashable {
    /// The kind of notice, without names. For example `Your location was shown`.
    let title: String
    /// The notice in one or two sentences. Has no line ends, except in a message with a code.
    let text: String
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
    init(of body: [UInt8]) {
        let root = (try? JSONDocument.parse(body))?.root
        let type = root?["type"]?.string ?? ""
        let data = Members(value: root?["data"])
        (title, tag, priority) = Self.heads[type] ?? ("A notice", "bell", 3)
        text = Self.text(type, data)
    }

    /// By type: title, tag, priority.
    private static let heads: [String: (String, String, Int64)] = [
        "query": ("A question about your location", "question", 3),
        "consent": ("Consent to a question", "raised_hand", 3),
        "push": ("A phone was woken", "iphone", 2),
        "end": ("A question has ended", "checkered_flag", 2),
        "disclosure": ("Your location was shown", "eyes", 3),
        "read": ("Your history was read", "eyes", 3),
        "change": ("A setting has changed", "gear", 3),
        "finding": ("A pattern of questions", "warning", 4),
        "visit": ("A visit", "house", 3),
        "crossing": ("A region was crossed", "round_pushpin", 3),
        "silence": ("A phone is silent", "mute", 4),
        codeType: ("Confirm this address", "key", 3),
        testType: ("A test", "white_check_mark", 3),
    ]

    private static func text(_ type: String, _ data: Members) -> String {
        let somebody = data["requester"] ?? data["reader"] ?? "Someone"
        switch type {
        case "query":
            let refusal = data["refused"].map { " The question was refused (\($0))." } ?? ""
            return "\(somebody) asks where you are\(data["purpose"].map { ": \($0)" } ?? "").\(refusal)"
        case "consent":
            return "A question was \(data["consent"] == "asked" ? "put to you" : data["consent"] ?? "answered")."
        case "push": return "A push to \(data["device"] ?? "your phones"): \(data["outcome"] ?? "unknown")."
        case "end": return "A question about your location has ended: \(data["end"] ?? "unknown")."
        case "disclosure":
            let place = data["place"].map { " near \($0)" } ?? ""
            return "\(somebody) was shown your location\(place), \(data["precision"] ?? "")."
        case "read": return "\(somebody) read your \(data["question"] ?? "data")."
        case "change": return "\(data["event"] ?? "A change") by \(data["actor"] ?? "someone")."
        case "finding": return "The questions by \(somebody) show a pattern: \(data["pattern"] ?? "unknown")."
        case "visit":
            let place = data["place"] ?? "a place"
            if data.isTrue("withdrawn") { return "A visit to \(place) was withdrawn." }
            guard let departure = data.time("departure") else { return "Arrived at \(place)\(data.at("arrival"))." }
            return "Left \(place) at \(departure)."
        case "crossing":
            let verb = data["type"] == "exit" ? "Left" : "Entered"
            let sentence = "\(verb) \(data["region"] ?? "a region")\(data.at("time"))."
            return data.isTrue("withdrawn") ? "Withdrawn: \(sentence)" : sentence
        case "silence":
            return
                "\(data["device"] ?? "A device") has sent no location for \(duration(data.integer("after") ?? 0)), since \(data.time("since") ?? "long ago")."
        case testType: return "This is a test: notices arrive here."
        case codeType:
            return """
                \(data["person"] ?? "Someone") wants to get notices of their location sharing at this address.
                To agree, enter this code within a day: \(data["code"] ?? "")
                If this is not you, do nothing: no further mail is sent.
                """
        default: return "An event of the type \(type) happened."
        }
    }

    /// For example `15 min`, `2 h` or `30 days`.
    private static func duration(_ seconds: Int64) -> String {
        if seconds % 86_400 == 0 { return seconds == 86_400 ? "a day" : "\(seconds / 86_400) days" }
        return seconds % 3600 == 0 ? "\(seconds / 3600) h" : "\(seconds / 60) min"
    }

    /// The members of the message's data, as text.
    private struct Members {
        let value: JSONValue?

        /// Without line ends and other control characters, which a purpose may hold; `nil` for an empty text.
        subscript(name: String) -> String? {
            guard let text = value?[name]?.string, !text.isEmpty else { return nil }
            return String(
                String.UnicodeScalarView(
                    text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
        }

        func isTrue(_ name: String) -> Bool { value?[name]?.bool ?? false }

        func integer(_ name: String) -> Int64? { value?[name]?.int }

        /// For example `2026-05-04 08:00 UTC`.
        func time(_ name: String) -> String? {
            guard let seconds = value?[name]?.double, abs(seconds) < 1e11 else { return nil }
            let text = ISO8601.text(of: Timestamp(milliseconds: Int64(seconds * 1000)))
            return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5)) UTC"
        }

        func at(_ name: String) -> String { time(name).map { " at \($0)" } ?? "" }
    }
}
