package import JSON
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
        "longitude", "horizontalAccuracy", "timestamp", "place", "rows", "latencyMilliseconds",
    ]

    /// The first line: the column names.
    package static var head: String { line(columns) }

    /// The lines of one entry of `GET …/audit`. Times are ISO 8601 in UTC, coordinates in degrees, accuracies in
    /// meters; a cell is empty if the entry does not have the value.
    package static func lines(for entry: JSONValue) -> String {
        switch entry["kind"]?.string {
        case "query": return queryLines(entry)
        case "read":
            return line([
                number(entry, "number"), time(entry, "at"), "read", "", text(entry, "reader"), text(entry, "question"),
                text(entry, "purpose"), outcome(entry), number(entry, "grant"), text(entry, "precision"), "", "", "",
                "",
                "", number(entry, "count"), "",
            ])
        case "act":
            let what = [
                text(entry, "act"), text(entry, "projection"), entry["version"] == nil ? "" : "version",
                number(entry, "version"), entry["epoch"] == nil ? "" : "epoch", number(entry, "epoch"),
            ].filter { !$0.isEmpty }
            let outcome = entry["failedAt"] == nil ? "" : "failed"
            return line(
                ["", time(entry, "at"), "act", "", text(entry, "actor"), what.joined(separator: " "), "", outcome]
                    + blank(9))
        default:
            let until = time(entry, "until")
            let what = [
                text(entry, "event"), text(entry, "name"), text(entry, "other"), text(entry, "hours"),
                entry["asksEachTime"]?.bool == true ? "asking each time" : "", until.isEmpty ? "" : "until \(until)",
            ].filter { !$0.isEmpty }
            return line([
                number(entry, "number"), time(entry, "at"), "change", "", text(entry, "actor"),
                what.joined(separator: " "), "", "", "", text(entry, "precision"), "", "", "", "", "", "", "",
            ])
        }
    }

    /// A line for the query, then one for the consent, each push, the fix and each disclosure. The latencies of the fix
    /// and of the first disclosure are in their lines.
    private static func queryLines(_ entry: JSONValue) -> String {
        let id = text(entry, "id"), latency = entry["latency"]
        var lines = line([
            number(entry, "number"), time(entry, "at"), "query", id, text(entry, "requester"), "where now",
            text(entry, "purpose"), outcome(entry), number(entry, "grant"), "", "", "", "", "", "", "", "",
        ])
        if let consent = entry["consent"]?.string {
            lines += line(["", time(entry, "consentAt"), "consent", id, "", "", "", consent] + blank(9))
        }
        for push in entry["pushes"]?.array.map(Array.init) ?? [] {
            let outcome = [text(push, "outcome"), number(push, "status"), text(push, "reason")].filter { !$0.isEmpty }
            let token = text(push, "tokenHash"), priority = number(push, "priority")
            let what = [
                "attempt \(number(push, "attempt"))", text(push, "environment"),
                priority.isEmpty ? "" : "priority \(priority)", token.isEmpty ? "" : "token \(token)",
            ].filter { !$0.isEmpty }
            lines += line(
                [
                    "", time(push, "at"), "push", id, text(push, "device"), what.joined(separator: " "), "",
                    outcome.joined(separator: " "),
                ] + blank(5)
                    + [time(push, "startedAt"), "", ""]
                    + [number(push, "durationMilliseconds")])
        }
        if let fix = entry["fix"] {
            lines += line(
                [number(fix, "number"), time(fix, "receivedAt"), "fix", id, text(fix, "device"), "", "", ""] + blank(5)
                    + [time(fix, "timestamp"), "", "", latency.map { number($0, "fixReceived") } ?? ""])
        }
        var isFirst = true
        for shown in entry["disclosed"]?.array.map(Array.init) ?? [] {
            lines += line([
                number(shown, "number"), time(shown, "at"), "shown", id, text(entry, "requester"), "", "", "", "",
                text(shown, "precision"), number(shown, "latitude"), number(shown, "longitude"),
                number(shown, "horizontalAccuracy"), time(shown, "timestamp"), text(shown, "place"), "",
                isFirst ? latency.map { number($0, "disclosed") } ?? "" : "",
            ])
            isFirst = false
        }
        return lines
    }

    /// Empty cells, for the columns that a line does not use.
    private static func blank(_ count: Int) -> [String] { [String](repeating: "", count: count) }

    /// How a query ended or a read was decided: `refused: REASON`, the end's word, `open`, or the verdict.
    private static func outcome(_ entry: JSONValue) -> String {
        if let reason = entry["reason"]?.string { return "refused: \(reason)" }
        return entry["end"]?.string ?? (entry["kind"]?.string == "query" ? "open" : text(entry, "verdict"))
    }

    /// A text cell. A text that begins like a formula gets an apostrophe, because a spreadsheet must not run it.
    private static func text(_ value: JSONValue, _ name: String) -> String {
        guard let text = value[name]?.string, let first = text.utf8.first else { return "" }
        return "=+-@\t\r\n".utf8.contains(first) ? "'" + text : text
    }

    /// A whole number or a decimal one as the answer has it; empty without a value.
    private static func number(_ value: JSONValue, _ name: String) -> String {
        if let whole = value[name]?.int { return "\(whole)" }
        return value[name]?.double.map { "\($0)" } ?? ""
    }

    /// A time of the answer, in Unix seconds, as ISO 8601.
    private static func time(_ value: JSONValue, _ name: String) -> String {
        value[name]?.double.flatMap { Timestamp(seconds: $0) }.map { ISO8601.text(of: $0) } ?? ""
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
