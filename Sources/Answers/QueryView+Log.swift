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

    /// The fix or the envelope that answered, if the grant shows it.
    ///
    /// Cost: one read of the log.
    package func answer(_ reader: LogReader) throws(Problem) -> Answer? {
        guard let answer else { return nil }
        let found: (event: RecordedEvent, leaf: Digest)?
        do throws(LogError) { found = try reader.event(answer) } catch { throw .broken }
        switch found?.event.event {
        case .fixReported(_, _, .open(let fix)): return shown(.open(fix))
        case .sealedFixReported(_, _, .open(let sealed)): return Answer(sealed).flatMap(shown)
        default: throw .notFound
        }
    }
}
