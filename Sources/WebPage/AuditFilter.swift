import HTTPServer
import JSON

/// The filter of the audit in the address of the page, by who and by outcome, for lists without scripts. `view-audit.js`
/// has the same rules.
struct AuditFilter: Sendable {
    /// What the field of outcomes offers, by the names of their texts.
    static let outcomes = ["asked", "answered", "noAnswer", "refused", "read", "change", "own", "all"]

    /// The asker, the reader or whoever changed something; empty for everyone.
    let who: String
    /// One of ``outcomes``; empty for what others did.
    let outcome: String

    /// Words that are no outcome count as none.
    init(_ request: HTTPRequest) {
        who = request.parameter("who") ?? ""
        outcome = request.parameter("outcome").flatMap { Self.outcomes.contains($0) ? $0 : nil } ?? ""
    }

    /// Whether an entry of the audit is shown.
    func shows(_ entry: JSONValue) -> Bool {
        let actor = entry["requester"]?.string ?? entry["reader"]?.string ?? entry["actor"]?.string
        guard who.isEmpty || actor == who else { return false }
        return switch outcome {
        // One's own readings, for example by this page, are on record too, but are not what the list is for.
        case "": Self.outcome(of: entry) != "own" || !who.isEmpty
        case "all": true
        case "asked": entry["kind"]?.string == "query"
        default: Self.outcome(of: entry) == outcome
        }
    }

    /// Whether an entry is a question or a reading by somebody else.
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
