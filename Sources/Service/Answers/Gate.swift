import Cryptography
import HTTPServer
import Whereabouts

/// The one way by which a person's data leaves the house: authorized against the newest standing, computed, recorded, and
/// only then sent. If the grant ends or the person is erased in between, the answer is thrown away.
enum Gate {
    /// What an answer from stored data shows.
    struct Computed: Sendable {
        let body: [UInt8]
        let count: Int64
        let asOf: Int64
        /// Of the answer, before what every one has.
        var headers = [(name: "Content-Type", value: "application/json")]

        var response: HTTPResponse { HTTPResponse(status: 200, headers: headers, body: body) }
    }

    /// What an answer from stored data is computed under.
    struct Reading {
        let permit: Permit
        /// The time of the read, just before its record. Anything that depends on time alone, such as `provisional` of a
        /// visit, is computed for this moment.
        let now: Timestamp
        /// The range asked for.
        let from, to: Timestamp?
        /// The read that this one goes on with, if it is a further page.
        let begun: Asks.Begun?
        /// What further pages name to go on with this read; `nil` for whoever needs not.
        let cursorName: RequestID?
        /// How the caller sees numbers.
        let references: References
    }

    /// Answers a question about a person from stored data.
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
            // The writer looks again, and says why.
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

    /// Answers a location query whose fix is there, once the disclosure is on record. `content` says what of the fix the
    /// bytes show, given their hash.
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

    /// Answers with what `answer` makes of the receipt once the command's events are durable; no thread waits for that.
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

    /// Answers a device's own message with the newest places of its owner's friends, each on record.
    static func answerDevice(
        _ service: Service, _ exchange: Exchange, friends: [Permit], body: [UInt8]
    ) throws(Problem) -> HTTPResponse {
        let hash = Hash256(SHA256().hash(body))
        try append(
            service, exchange, .answerDevice(friends: friends, asOf: service.log.head, answerHash: hash))
        return .json(body)
    }

    @discardableResult
    static func append(_ service: Service, _ exchange: Exchange, _ command: Command) throws(Problem) -> Receipt {
        do throws(AppendFailure) {
            return try service.log.appendAndWait(command, by: exchange.caller, correlation: exchange.id)
        } catch { throw Problem(error) }
    }
}
