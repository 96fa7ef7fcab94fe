import HTTPServer
import JSON

/// The filter of the audit in the address of the page, by who and by outcome, for lists without scripts. `view-audit.js`
/// has the same rules.
struct AuditFilter: Sendable {
    /// The choices of the field for outcomes, by the names of their texts.
    static let outcomes = ["asked", "answered", "noAnswer", "refused", "read", "change", "own", "all"]

    /// The handle of the asker, the reader or the author of a change; empty for everyone.
    let who: String
    /// One of ``outcomes``; empty for all entries by others.
    let outcome: String

    /// Unknown outcomes count as empty.
    init(_ request: HTTPRequest) {
        who = request.parameter("who") ?? ""
        outcome = request.parameter("outcome").flatMap { Self.outcomes.contains($0) ? $0 : nil } ?? ""
    }

    /// Whether an entry of the audit is shown.
    func shows(_ entry: JSONValue) -> Bool {
        let actor = entry["requester"]?.string ?? entry["reader"]?.string ?? entry["actor"]?.string
        guard who.isEmpty || actor == who else { return false }
        return switch outcome {
        // The reader's own reads, for example by this page, are recorded too, but would fill the list.
        case "": Self.outcome(of: entry) != "own" || !who.isEmpty
        case "all": true
        case "asked": entry["kind"]?.string == "query"
        default: Self.outcome(of: entry) == outcome
        }
    }

    /// Whether a list with this filter shows reads of the person whose audit it is.
    func needsOwnReads(of person: String) -> Bool { ["own", "all"].contains(outcome) || who == person }

    /// Whether an entry is a question or a read by another person.
    static func isAsk(_ entry: JSONValue) -> Bool {
        ["query", "read"].contains(entry["kind"]?.string ?? "") && entry["verdict"]?.string != "own"
    }

    /// One of ``outcomes`` other than the first and the last, or `pending`.
    private static func outcome(of entry: JSONValue) -> String {
        let kind = entry["kind"]?.string ?? ""
        let verdict = entry["verdict"]?.string
        if kind == "change" || kind == "act" { return "change" }
        if verdict == "refused" { return "refused" }
        if kind == "read" { return verdict == "own" ? "own" : "read" }
        guard let end = entry["end"]?.string else { return "pending" }
        return end.hasPrefix("answered") ? "answered" : end == "refused" ? "refused" : "noAnswer"
    }
}
