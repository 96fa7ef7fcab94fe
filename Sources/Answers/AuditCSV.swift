package import Replies
import Whereabouts
import WireFormats

// RFC 4180: CRLF, first a line of column names, quotes around a cell with a comma, a quote or a line break. For example
//
//     number,at,kind,query,who,what,purpose,outcome,…
//     31,2026-05-04T08:00:00.000Z,query,6b1c…,friend,where now,late for dinner,answered,…
//     33,2026-05-04T08:00:00.020Z,push,6b1c…,walker-phone,attempt 1 production priority 10 token 5f3a09c1,,accepted 200,…

/// A page of an audit as comma-separated values: one line for each entry. A query is followed by one line for each
/// push, one for the fix and one for each time the fix was shown.
package enum AuditCSV {
    /// The column names, in the order of the cells.
    package static let columns = [
        "number", "at", "kind", "query", "who", "what", "purpose", "outcome", "grant", "precision", "latitude",
        "longitude", "horizontalAccuracy", "timestamp", "place", "rows", "latencyMilliseconds", "proof",
    ]

    /// The first line: the column names.
    package static var head: String { line(columns) }

    /// The lines of one entry of `GET …/audit`. Times are ISO 8601 in UTC, coordinates in degrees, accuracies in
    /// meters; a cell is empty if the entry does not have the value.
    package static func lines(for entry: AuditItem) -> String {
        switch entry {
        case .query(let query): return lines(for: query)
        case .read(let read):
            return line([
                read.number.text, time(read.at), "read", "", text(read.reader), text(read.question),
                text(read.purpose), outcome(read.verdict) ?? text(read.verdict.verdict), grant(read.verdict),
                text(read.precision), "", "", "", "", "", "\(read.count)", "", text(read.proof?.words),
            ])
        case .act(let act):
            let what = [
                text(act.act), text(act.projection), act.version.map { "version \($0)" } ?? "",
                act.epoch.map { "epoch \($0)" } ?? "",
            ].filter { !$0.isEmpty }
            return line(
                [
                    "", time(act.at), "act", "", text(act.actor), what.joined(separator: " "), "",
                    act.failedAt == nil ? "" : "failed",
                ] + blank(10))
        case .change(let change):
            let what = [
                text(change.event), text(change.name), text(change.other?.handle), text(change.hours),
                change.asksEachTime == true ? "asking each time" : "", change.until.map { "until \(time($0))" } ?? "",
            ].filter { !$0.isEmpty }
            return line([
                change.number.text, time(change.at), "change", "", text(change.actor), what.joined(separator: " "), "",
                "", "", text(change.precision), "", "", "", "", "", "", "", text(change.proof?.words),
            ])
        case .other(let entry): return line(["", time(entry.at), text(entry.kind)] + blank(15))
        }
    }

    /// A line for the query, then one for the consent, each push, the fix and each disclosure. The latencies of the fix
    /// and of the first disclosure are in their lines.
    private static func lines(for query: AuditQueryItem) -> String {
        let id = text(query.id)
        var lines = line([
            query.number.text, time(query.at), "query", id, text(query.requester), "where now", text(query.purpose),
            outcome(query.verdict) ?? query.end ?? "open", grant(query.verdict), "", "", "", "", "", "", "", "",
            text(query.proof?.words),
        ])
        if let consent = query.consent {
            lines += line(["", time(query.consentAt), "consent", id, "", "", "", consent] + blank(10))
        }
        for push in query.pushes {
            let outcome = [text(push.outcome), push.status.map { "\($0)" } ?? "", text(push.reason)]
                .filter { !$0.isEmpty }
            let what = [
                "attempt \(push.attempt)", text(push.environment), push.priority.map { "priority \($0)" } ?? "",
                push.tokenHash.map { "token \(text($0))" } ?? "",
            ].filter { !$0.isEmpty }
            lines += line(
                [
                    "", time(push.at), "push", id, text(push.device), what.joined(separator: " "), "",
                    outcome.joined(separator: " "),
                ] + blank(5)
                    + [time(push.startedAt), "", "", push.durationMilliseconds.map { "\($0)" } ?? "", ""])
        }
        if let fix = query.fix {
            lines += line(
                [fix.number.text, time(fix.receivedAt), "fix", id, text(fix.device), "", "", ""] + blank(5)
                    + [time(fix.timestamp), "", "", query.latency?.fixReceived.map { "\($0)" } ?? "", ""])
        }
        var isFirst = true
        for shown in query.disclosed {
            let latency = isFirst ? query.latency?.disclosed.map { "\($0)" } : nil
            var (latitude, longitude) = ("", "")
            if case .degrees(let north, let east)? = shown.place {
                (latitude, longitude) = (number(north), number(east))
            }
            lines += line([
                shown.number.text, time(shown.at), "shown", id, text(query.requester), "", "", "", "",
                text(shown.precision), latitude, longitude, shown.horizontalAccuracy.map(number) ?? "",
                time(shown.timestamp), text(shown.placeName), "", latency ?? "", "",
            ])
            isFirst = false
        }
        return lines
    }

    /// Empty cells, for the columns that a line does not use.
    private static func blank(_ count: Int) -> [String] { [String](repeating: "", count: count) }

    /// `refused: REASON`; `nil` for a question that was allowed.
    private static func outcome(_ verdict: VerdictItem) -> String? { verdict.reason.map { "refused: \($0)" } }

    private static func grant(_ verdict: VerdictItem) -> String { text(verdict.grant?.text) }

    /// A text cell. A text that begins like a formula gets an apostrophe, because a spreadsheet must not run it.
    private static func text(_ text: String?) -> String {
        guard let text, let first = text.utf8.first else { return "" }
        return "=+-@\t\r\n".utf8.contains(first) ? "'" + text : text
    }

    /// A number as the answer has it: a whole one without a fraction.
    private static func number(_ number: Double) -> String { Int64(exactly: number).map { "\($0)" } ?? "\(number)" }

    /// A time as ISO 8601.
    private static func time(_ moment: Moment?) -> String {
        moment.map { ISO8601.text(of: Timestamp(milliseconds: $0.milliseconds)) } ?? ""
    }

    /// One line with its line break.
    private static func line(_ cells: [String]) -> String {
        precondition(cells.count == columns.count, "A line has a cell for each column.")
        return cells.map(quoted).joined(separator: ",") + "\r\n"
    }

    /// A cell, in quotes only if it needs them.
    private static func quoted(_ cell: String) -> String {
        let quote = UInt8(ascii: "\"")
        guard cell.utf8.contains(where: { $0 == quote || ",\r\n".utf8.contains($0) }) else { return cell }
        // Byte by byte: a quote followed by a combining accent is one `Character`, but still ends a cell in other
        // programs.
        let doubled = cell.utf8.flatMap { $0 == quote ? [quote, quote] : [$0] }
        return "\"" + String(decoding: doubled, as: UTF8.self) + "\""
    }
}
