import Answers
import HTTPInterface
import HTTPServer
import JSON
import Log
import Replies
import Whereabouts

/// Undoing an import: the fixes that it brought are withdrawn, and can be restored.
///
/// An import's events have its id as their correlation. A fix that was in the log before made no event, so these are
/// the fixes that only this import brought.
struct ImportEndpoints: Sendable {
    let decisions: Decisions

    /// The fixes that one request withdraws or restores, at most.
    static let fixesAtOnce = 10_000

    /// `POST /v1/imports/*/withdrawals`: withdraws the next fixes of an import. Repeated until `next` is null, it
    /// withdraws all. After an interruption, the caller begins again without `after`.
    func withdraw(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        try revise(exchange, context) { .withdrawFixes($0, $1, of: $2) }
    }

    /// `POST /v1/imports/*/restorations`: as ``withdraw(_:_:)``, and restores.
    func restore(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        try revise(exchange, context) { .restoreFixes($0, $1, of: $2) }
    }

    /// Fixes of one device whose events follow each other.
    private struct Run {
        let person: PersonID
        let device: DeviceID
        var numbers: ClosedRange<Int64>
        var time: ClosedRange<Timestamp>
    }

    private func revise(
        _ exchange: Exchange, _ context: AnswerContext,
        _ command: (FixNumbers, FixRevision, Handle) -> Command
    ) throws(Problem) -> HTTPResponse {
        // The writer checks each command; an import without fixes has none.
        guard exchange.caller.principal == .operator, exchange.caller.scopes.contains([.operate, .manage]) else {
            throw .notFound
        }
        guard let id = Identifier128(exchange.parameters[0]) else {
            throw .invalid("The import's id in the address must be a UUID.")
        }
        let body = try exchange.object("reason", "after")
        let reason = try body.requiredText("reason")
        let after = try body.optionalInteger("after") ?? 0
        guard after >= 0 else { throw .refused("\"after\" must be the \"next\" of the answer before.") }
        let events: [RecordedEvent]
        do throws(LogError) {
            events = try context.reader.fixes(correlation: id, after: after, limit: Self.fixesAtOnce)
        } catch { throw .broken }
        var count: Int64 = 0
        for run in Self.runs(of: events) {
            guard let handle = decisions.log.withStanding({ $0.persons[run.person]?.handle }) else { continue }
            let fixes = FixNumbers(device: run.device, numbers: run.numbers)
            try decisions.append(exchange, command(fixes, FixRevision(time: run.time, reason: reason), handle))
            count += Int64(run.numbers.count)
        }
        let next = events.count == Self.fixesAtOnce ? events.last?.number : nil
        return .reply(RevisedImport(fixes: count, next: next))
    }

    /// The runs of fixes, each at most as long as a batch. Fixes that can no longer be read are in none.
    private static func runs(of events: [RecordedEvent]) -> [Run] {
        var runs: [Run] = []
        for event in events {
            guard let person = event.stream.person, case .fixReported(let device, _, .open(let fix)) = event.event
            else {
                continue
            }
            let moment = fix.timestamp
            if var run = runs.last, run.person == person, run.device == device,
                run.numbers.upperBound + 1 == event.number, run.numbers.count < Limits.batchCommands
            {
                run.numbers = run.numbers.lowerBound...event.number
                run.time = min(run.time.lowerBound, moment)...max(run.time.upperBound, moment)
                runs[runs.count - 1] = run
            } else {
                runs.append(
                    Run(person: person, device: device, numbers: event.number...event.number, time: moment...moment))
            }
        }
        return runs
    }
}
