import Cryptography
package import Log
package import Whereabouts

extension QueryView {
    /// - Parameter questions: The clock that gives the remaining time.
    package init?(
        _ id: QueryID, for caller: Caller, in standing: borrowing Standing, at now: Timestamp,
        _ questions: QuestionClock, durable: Int64
    ) {
        self.init(id, for: caller, in: standing, at: now, durable: durable) { questions.left(of: id, $0, at: now) > 0 }
    }

    /// The fix that answered, if the grant shows it.
    ///
    /// Cost: one read of the log.
    package func fix(_ reader: LogReader) throws(Problem) -> Fix? {
        guard let answer else { return nil }
        let found: (event: RecordedEvent, leaf: Digest)?
        do throws(LogError) { found = try reader.event(answer) } catch { throw .broken }
        guard case .fixReported(_, _, .open(let fix)) = found?.event.event else { throw .notFound }
        return shown(fix)
    }
}
