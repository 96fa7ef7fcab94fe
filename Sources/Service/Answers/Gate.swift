import Cryptography
import HTTPServer
import Log
import Whereabouts

/// The one way out for a person's data: each read is authorized against the newest standing, computed, recorded, and
/// only then sent. If the grant ends or the person is erased before the record, the answer is dropped.
enum Gate {
    /// An answer computed from stored data, not recorded and not sent yet.
    struct Computed: Sendable {
        /// The bytes to send. Their SHA-256 is recorded, before any compression.
        let body: [UInt8]
        /// The number of items that the answer shows, for the record.
        let count: Int64
        /// The number of the last event that the answer takes into account.
        let asOf: Int64
        /// The headers of this answer; the headers that all answers have are added later.
        var headers = [(name: "Content-Type", value: "application/json")]

        /// The answer 200. Only the gate may send it, after the record.
        var response: HTTPResponse { HTTPResponse(status: 200, headers: headers, body: body) }
    }

    /// The conditions under which an answer from stored data is computed.
    struct Reading {
        /// The caller's right to the subject's data: precision, times and reason.
        let permit: Permit
        /// The time of the read, just before its record. Values that depend on time alone, such as a visit's
        /// `provisional`, are computed for this moment.
        let now: Timestamp
        /// The requested range.
        let from, to: Timestamp?
        /// The read that this one continues, if it is a further page.
        let begun: Asks.Begun?
        /// The name by which further pages continue this read; `nil` if the caller has no limit and so needs none.
        let cursorName: RequestID?
        /// How the caller sees event numbers.
        let references: References
    }

    /// Answers a question about a person from stored data.
    ///
    /// `compute` runs only if the read is permitted. The writer then checks the permit again; if it no longer holds,
    /// the answer is dropped and the caller gets the refusal. A read is one event, with the question, `count`, `asOf`
    /// and the hash of the bytes.
    ///
    /// - Throws: 404 if the caller may not read, as for an unknown person; 429 if they read too often; what `compute`
    ///   throws.
    ///
    /// Cost: one commit of the log, and `compute`.
    static func read(
        _ service: Service, _ exchange: Exchange, _ question: ReadQuestion,
        compute: (Reading) throws(Problem) -> Computed
    ) throws(Problem) -> HTTPResponse {
        let now = service.clock()
        let caller = exchange.caller
        let references = service.references(for: caller)
        let reading = service.log.withStanding { standing -> Reading? in
            guard case .success(let permit) = standing.authorize(caller, toRead: question, at: now) else { return nil }
            let begun = standing.begun(question, under: permit, by: caller.principal, at: now)
            if begun == nil,
                standing.secondsUntil(
                    .read, under: permit.verdict, of: caller.principal, about: permit.subject, at: now) != nil
            {
                return nil
            }
            let isLimited = if case .granted = permit.verdict { true } else { false }
            return Reading(
                permit: permit, now: begun?.at ?? now, from: question.from, to: question.to, begun: begun,
                cursorName: isLimited ? begun?.id ?? exchange.id : nil, references: references)
        }
        guard let reading else {
            // The writer decides again, records the refusal and gives the reason.
            try append(service, exchange, .recordRefusedRead(question))
            throw .noSuchPerson
        }
        let computed = try compute(reading)
        let hash = Hash256(SHA256().hash(computed.body))
        try append(
            service, exchange,
            .recordRead(
                question, permitted: reading.permit, asOf: computed.asOf, count: computed.count, answerHash: hash))
        return computed.response
    }

    /// Answers a location query that has its fix, after the disclosure is on record. Returns at once; `respond` is
    /// called on the log's thread.
    ///
    /// - Parameter content: Makes the record of the fix's disclosure from the hash of the bytes.
    static func disclose(
        _ service: Service, _ exchange: Exchange, query: QueryID, fix: Int64, precision: Precision,
        _ computed: Computed, _ respond: @escaping @Sendable (HTTPResponse) -> Void,
        content: (Hash256) -> Disclosure.Content
    ) {
        let content = content(Hash256(SHA256().hash(computed.body)))
        submit(service, exchange, .disclose(query, content: content, precision: precision, fix: fix), respond) { _ in
            computed.response
        }
    }

    /// Appends a command and answers with `answer(receipt)` once its events are durable, or with the problem. No thread
    /// waits for that; both closures run on the log's thread and must not block.
    static func submit(
        _ service: Service, _ exchange: Exchange, _ command: Command,
        _ respond: @escaping @Sendable (HTTPResponse) -> Void,
        answer: @escaping @Sendable (Receipt) -> HTTPResponse
    ) {
        service.log.submit(command, by: exchange.caller, correlation: exchange.id) { result in
            switch result {
            case .success(let receipt): respond(answer(receipt))
            case .failure(let failure): respond(Problem(failure).response)
            }
        }
    }

    /// Answers a device's own report with its friends' newest places, each recorded as a disclosure. If one permit no
    /// longer holds, the whole answer is dropped.
    static func answerDevice(
        _ service: Service, _ exchange: Exchange, friends: [Permit], body: [UInt8]
    ) throws(Problem) -> HTTPResponse {
        let hash = Hash256(SHA256().hash(body))
        try append(
            service, exchange, .answerDevice(friends: friends, asOf: service.log.head, answerHash: hash))
        return .json(body)
    }

    /// Appends a command in the caller's name and waits until its events are durable.
    ///
    /// Blocks: call it on an answering thread.
    ///
    /// - Throws: The problem of the refusal or of the log's state, by ``Problem/init(_:)-(AppendFailure)``.
    @discardableResult
    static func append(_ service: Service, _ exchange: Exchange, _ command: Command) throws(Problem) -> Receipt {
        do throws(AppendFailure) {
            return try service.log.appendAndWait(command, by: exchange.caller, correlation: exchange.id)
        } catch { throw Problem(error) }
    }
}
