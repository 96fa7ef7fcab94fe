import AuditTables
import Projections
package import SQLite
import Tables
package import Whereabouts

/// Patterns in how others ask about a person, for findings and feeds.
extension Views {
    /// How far back findings reach.
    private static let findingSeconds: Int64 = 90 * 86_400
    /// The most steps of each kind that are read, the newest ones.
    private static let findingRows = 20_000

    /// The patterns up to now, or up to an event; with the time zone that defines night, and the number of the last
    /// event.
    ///
    /// - Throws: 503 if the audit has not folded the event `number` within ten seconds.
    package func patterns(
        about person: PersonID, through number: Int64? = nil, _ context: AnswerContext
    ) throws(Problem) -> (patterns: AskPatterns, zone: String, asOf: Int64) {
        if let number {
            guard host.wait(for: number, in: [AuditTable.name], milliseconds: 10_000) else { throw .busy(1) }
        }
        let (name, zone) = try zone(of: person, context)
        var patterns = AskPatterns(zone: zone)
        let since = decisions.clock().adding(seconds: -Self.findingSeconds)
        let (steps, asOf) = try context.read(AuditTable.name) { (connection) throws(SQLiteError) in
            try AuditReader.steps(about: person, since: since, limit: Self.findingRows, in: connection)
        }
        for step in steps where step.number <= number ?? .max { patterns.note(step) }
        return (patterns, name, asOf)
    }

    /// The time zone that defines night: that of the person's newest location, or UTC without one.
    private func zone(
        of person: PersonID, _ context: AnswerContext
    ) throws(Problem) -> (name: String, rules: ZoneRules?) {
        let (newest, _) = try context.newestFix(of: person)
        guard let fix = newest?.fix, let name = context.timeZone(at: fix.coordinate),
            let rules = timeZones.rules(
                name, from: decisions.clock().adding(seconds: -Self.findingSeconds), to: decisions.clock())
        else { return ("Etc/UTC", nil) }
        return (name, rules)
    }
}

extension AuditReader {
    /// The acts of others toward a person since a time, in log order; the newest `limit` of each kind. The person's own
    /// reads are left out. A read that was shown makes two steps: an ask and a showing.
    package static func steps(
        about subject: PersonID, since: Timestamp, limit: Int, in connection: borrowing Connection
    ) throws(SQLiteError) -> [AskPatterns.Step] {
        var steps: [AskPatterns.Step] = []
        for query in try queries(about: subject, limit: limit, in: connection) where query.recordedAt >= since {
            guard query.verdict != .own else { continue }
            steps.append(
                AskPatterns.Step(
                    number: query.number, requester: query.requester, at: query.recordedAt,
                    what: .ask(isRefused: query.verdict.isRefused)))
        }
        for disclosure in try disclosures(about: subject, limit: limit, in: connection) {
            guard disclosure.recordedAt >= since, disclosure.disclosure.verdict != .own else { continue }
            steps.append(
                AskPatterns.Step(
                    number: disclosure.number, requester: disclosure.disclosure.requester, at: disclosure.recordedAt,
                    what: .shown(disclosure.disclosure.precision)))
        }
        for read in try reads(about: subject, limit: limit, in: connection) where read.recordedAt >= since {
            guard read.read.verdict != .own else { continue }
            let step = { (what: AskPatterns.Step.What) in
                AskPatterns.Step(number: read.number, requester: read.read.reader, at: read.recordedAt, what: what)
            }
            steps.append(step(.ask(isRefused: read.read.verdict.isRefused)))
            if !read.read.verdict.isRefused { steps.append(step(.shown(read.read.precision))) }
        }
        return steps.sorted { $0.number < $1.number }
    }
}
