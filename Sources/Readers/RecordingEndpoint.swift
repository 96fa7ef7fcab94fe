package import Answers
import Cryptography
package import HTTPInterface
import HTTPServer
import Log
import Replies
import Synchronization
import Whereabouts

/// Records the reads that readers of the house have computed, for the process that writes the log.
///
/// `POST /readers/records` is between two processes of one house and one version, so it is no part of the API. Its form is
/// at the head of `RecordMessage.swift`, its credentials are at the head of `ReaderSeal.swift`.
package struct RecordingEndpoint: Sendable {
    static let path = "/readers/records"

    private let decisions: Decisions
    private let receipts: Receipts
    private let door: SealedDoor
    private let figures: ReaderFigures

    package init(decisions: Decisions, receipts: Receipts, seal: ReaderSeal, figures: ReaderFigures) {
        (self.decisions, self.receipts, door, self.figures) = (decisions, receipts, SealedDoor(seal), figures)
    }

    /// The route. Without the seal of the house, it answers like an address that does not exist.
    package var route: Route {
        Route(
            "POST", Self.path, .report(record), .none,
            discloses: .noPerson("For readers of the house: which of their reads are on record."),
            bodyBytes: RecordRequest.bytesMax)
    }

    private func record(_ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void) {
        let now = decisions.clock()
        guard let answer = door.accept(exchange, at: now, respond) else { return figures.count { $0.forged += 1 } }
        guard let request = RecordRequest(exchange.request.body) else {
            return answer(SealedDoor.otherVersion.response)
        }
        guard request.log == decisions.log.id.description, request.epoch == decisions.log.epoch else {
            return answer(Problem(409, "Another log", "The reader follows another log, or another epoch.").response)
        }
        if decisions.log.failure != nil { return answer(Problem.broken.response) }
        submit(request.reads, at: now) { results in
            // A signature takes too long for the log's thread.
            let end = { @Sendable in answer(.json(self.answer(to: results).bytes)) }
            if !receipts.answers.submit(for: .house, { _ in end() }) { end() }
        }
    }

    /// Has each read decided against the newest standing. `completion` gets the outcomes in the order of the reads; `nil` for
    /// a read that is not the writer's answer too.
    private func submit(
        _ reads: [SentRead], at now: Timestamp,
        _ completion: @escaping @Sendable ([Result<Receipt, AppendFailure>?]) -> Void
    ) {
        let commands = decisions.log.withStanding { standing in
            reads.map { Self.command($0, standing, at: now) }
        }
        let rest = Mutex(
            (
                count: 1 + commands.count { $0 != nil },
                results: [Result<Receipt, AppendFailure>?](repeating: nil, count: reads.count)
            ))
        @Sendable func note(_ result: Result<Receipt, AppendFailure>?, at index: Int?) {
            let all = rest.withLock { rest -> [Result<Receipt, AppendFailure>?]? in
                if let index { rest.results[index] = result }
                rest.count -= 1
                return rest.count == 0 ? rest.results : nil
            }
            if let all { completion(all) }
        }
        for (index, item) in commands.enumerated() {
            guard let (command, caller) = item else { continue }
            decisions.log.submit(command, by: caller, correlation: reads[index].request) { note($0, at: index) }
        }
        note(nil, at: nil)
    }

    /// The command that records a read; `nil` unless the caller's token is valid, and the right and the data are the same
    /// here as at the reader. The decision checks the right again.
    private static func command(
        _ read: SentRead, _ standing: borrowing Standing, at now: Timestamp
    ) -> (Command, Caller)? {
        guard AnsweredByReaders.questions.contains(read.question.question),
            let caller = standing.caller(token: read.token, at: now),
            case .success(let permit) = standing.authorize(caller, toRead: read.question, at: now),
            SHA256().hash(standing.readingMark(permit)).bytes == read.mark, read.asOf <= standing.place
        else { return nil }
        let command = Command.recordRead(
            read.question, permitted: permit, asOf: read.asOf, count: read.count, answerHash: read.hash,
            envelopes: read.envelopes)
        return (command, caller)
    }

    private func answer(to results: [Result<Receipt, AppendFailure>?]) -> RecordAnswer {
        let reads = results.map { result -> RecordAnswer.Recorded? in
            guard case .success(let receipt)? = result else { return nil }
            return RecordAnswer.Recorded(
                number: receipt.last, at: receipt.recordedAt, promise: receipts.headers(of: receipt).first?.value)
        }
        figures.count { counts in
            counts.recorded += Int64(reads.count { $0 != nil })
            counts.elsewhere += Int64(reads.count { $0 == nil })
        }
        return RecordAnswer(head: decisions.log.head, reads: reads)
    }
}

/// The reads that readers answer.
enum AnsweredByReaders {
    /// Questions whose answers depend on the projections and the standing alone.
    ///
    /// The audit, the proofs and the live feed are not among them: the process that writes the log makes checkpoints for them
    /// and holds their streams. Neither are settings, nor a preview, which depends on another person's grant.
    static let questions: Set<LocationRead.Question> = [
        .location, .track, .visits, .crossings, .trips, .places, .summary, .envelopes,
    ]

    /// Whether a reader answers the requests of a route, and records them.
    static func includes(_ route: Route) -> Bool {
        guard route.method == "GET", route.path != APIPath.peoplePreview.text, case .recorded = route.work,
            case .recorded(let question) = route.disclosure
        else {
            return false
        }
        return questions.contains(question)
    }
}
