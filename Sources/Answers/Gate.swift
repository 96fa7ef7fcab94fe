import Cryptography
package import HTTPServer
package import Log
package import Projections
import Tables
package import Whereabouts

/// Bytes about a person whose record is durable. Only the gate makes them, and every sender of recorded data requires
/// them: a route as its answer, a stream as its next part. So no such bytes leave without their record. The type is
/// noncopyable, so each value is sent once.
package struct Disclosed: ~Copyable, Sendable {
    private var response: HTTPResponse

    fileprivate init(_ response: HTTPResponse) { self.response = response }

    /// The length of the body in bytes.
    package var count: Int { response.body.count }

    /// The same answer with other headers; its receipt stays.
    package consuming func with(headers: [(name: String, value: String)]) -> Disclosed {
        response.headers = headers + response.headers.filter { $0.name == Receipts.header }
        return self
    }

    /// The same answer as the start of a stream. The later bytes are recorded separately.
    package consuming func opening(_ stream: DisclosingStream) -> Disclosed {
        stream.connection.write(response.body)
        response.body = []
        response.stream = stream.connection
        return self
    }

    /// Appends the bytes of another recorded answer.
    package consuming func followed(by other: consuming Disclosed) -> Disclosed {
        response.body += other.leave().body
        return self
    }

    /// The answer as the server sends it.
    package consuming func leave() -> HTTPResponse { response }
}

/// Bytes about a person whose record is durable, for a target that may get them more than once: a webhook's message is
/// posted until its target has it. Only the gate makes them.
package struct Repeatable: Sendable {
    /// The bytes to send.
    package let body: [UInt8]

    fileprivate init(_ body: [UInt8]) { self.body = body }
}

/// Joins JSON arrays about several persons into one array. Each array is recorded separately.
package struct DisclosedArray: ~Copyable {
    private var body: [UInt8] = []

    /// An array without elements.
    package init() {}

    /// Adds the elements of an array.
    package mutating func append(_ part: consuming Disclosed) {
        let elements = part.leave().body.dropFirst().dropLast()
        if !body.isEmpty, !elements.isEmpty { body.append(UInt8(ascii: ",")) }
        body += elements
    }

    /// The whole array.
    package consuming func ended() -> Disclosed { Disclosed(.json([UInt8(ascii: "[")] + body + [UInt8(ascii: "]")])) }
}

/// The one way out for a person's data: each read is authorized against the newest standing, computed, recorded, and
/// only then sent. If the grant ends or the person is erased before the record, the answer is dropped.
package struct Gate: Sendable {
    /// The log, which has the last word.
    package let decisions: Decisions
    /// The promises that go with answers.
    package let receipts: Receipts
    /// The projections. A read waits until they have folded the person's last withdrawal of fixes.
    let host: ProjectionHost

    package init(decisions: Decisions, receipts: Receipts, host: ProjectionHost) {
        (self.decisions, self.receipts, self.host) = (decisions, receipts, host)
    }

    /// An answer computed from stored data, not recorded and not sent yet.
    package struct Computed: Sendable {
        /// The bytes to send. Their SHA-256 is recorded, before any compression.
        package let body: [UInt8]
        /// The bytes of a long answer, instead of ``body``, and their SHA-256.
        let spooled: (source: HTTPStream.Source, hash: Hash256)?
        /// The number of items that the answer shows, for the record.
        package let count: Int64
        /// The number of the last event that the answer takes into account.
        package let asOf: Int64
        /// The envelopes that the answer hands over, for the record; `nil` for other answers.
        package var envelopes: DisclosedEnvelopes?
        /// The headers of this answer; the headers that all answers have are added later.
        package let headers: [(name: String, value: String)]

        package init(
            body: [UInt8], count: Int64, asOf: Int64,
            headers: [(name: String, value: String)] = [(name: "Content-Type", value: "application/json")]
        ) {
            (self.body, self.count, self.asOf, self.headers) = (body, count, asOf, headers)
            spooled = nil
        }

        /// A long answer.
        ///
        /// - Parameter hash: The SHA-256 of all its bytes.
        init(
            spooled: HTTPStream.Source, hash: Hash256, count: Int64, asOf: Int64,
            headers: [(name: String, value: String)]
        ) {
            (body, self.count, self.asOf, self.headers) = ([], count, asOf, headers)
            self.spooled = (spooled, hash)
        }

        /// The SHA-256 of the bytes.
        var hash: Hash256 { spooled?.hash ?? Hash256(SHA256().hash(body)) }

        /// The answer 200. Only the gate may send it, after the record.
        fileprivate var response: HTTPResponse {
            var response = HTTPResponse(status: 200, headers: headers, body: body)
            response.stream = spooled.map { HTTPStream($0.source) }
            return response
        }
    }

    /// The conditions under which an answer from stored data is computed.
    package struct Reading {
        /// The caller's right to the subject's data: precision, times and reason.
        package let permit: Permit
        /// The time of the read, just before its record. Values that depend on time alone, such as a visit's
        /// `provisional`, are computed for this moment.
        package let now: Timestamp
        /// The requested range.
        package let from, to: Timestamp?
        /// The read that this one continues, if it is a further page.
        package let begun: Asks.Begun?
        /// The name by which further pages continue this read; `nil` if the caller has no limit and so needs none.
        package let cursorName: RequestID?
        /// How the caller sees event numbers.
        package let references: References

        /// The same with another time of the read, for an answer as of that time.
        package func asOf(_ moment: Timestamp) -> Reading {
            Reading(
                permit: permit, now: moment, from: from, to: to, begun: begun, cursorName: cursorName,
                references: references)
        }
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
    package func read(
        _ exchange: Exchange, _ question: ReadQuestion,
        compute: (Reading) throws(Problem) -> Computed
    ) throws(Problem) -> Disclosed {
        let now = decisions.clock()
        let caller = exchange.caller
        let references = decisions.references(for: caller)
        let reading = decisions.log.withStanding { standing -> Reading? in
            guard case .success(let permit) = standing.authorize(caller, toRead: question, at: now) else { return nil }
            let begun = standing.begun(question, under: permit, by: caller.principal, at: now)
            if begun == nil,
                standing.secondsUntil(
                    .read, under: permit.verdict, of: caller.principal, about: permit.subject, at: now) != nil
            {
                return nil
            }
            let isLimited = if case .granted = permit.verdict { true } else { false }
            // The read that this page continues is on record, and not here yet.
            if isLimited, begun == nil, question.continuing != nil, decisions.log.isFollowed { return nil }
            return Reading(
                permit: permit, now: begun?.at ?? now, from: question.from, to: question.to, begun: begun,
                cursorName: isLimited ? begun?.id ?? exchange.id : nil, references: references)
        }
        guard let reading else {
            // The writer decides again, records the refusal and gives the reason.
            try decisions.append(exchange, .recordRefusedRead(question))
            throw .noSuchPerson
        }
        try waitForWithdrawals(of: reading.permit, question.question)
        let computed = try compute(reading)
        let receipt = try decisions.append(exchange, Self.record(question, reading.permit, computed))
        var response = computed.response
        response.headers += receipts.headers(of: receipt)
        return Disclosed(response)
    }

    /// Waits until the tables have folded the last withdrawal of a fix of the person. The writer checks it again.
    ///
    /// - Throws: 503 if they do not get that far in a bounded time.
    private func waitForWithdrawals(
        of permit: Permit, _ question: LocationRead.Question
    ) throws(Problem) {
        guard question.showsFixes else { return }
        let number = decisions.log.withStanding { $0.persons[permit.subject]?.withdrawn.through ?? 0 }
        guard number > 0 else { return }
        let isThere = host.wait(
            for: number, in: [CurrentTable.name, TimelineTable.name], milliseconds: Self.withdrawalMilliseconds)
        guard isThere else { throw Problem(Refusal.outdated) }
    }

    /// The longest wait for a withdrawal to be folded; usually it is some milliseconds.
    private static let withdrawalMilliseconds = 10_000

    /// Answers the operator with data about many persons: each person's audit shows the read.
    ///
    /// - Parameters:
    ///   - persons: The principal that each item of the answer is about; those that are not persons are skipped.
    ///   - body: The whole answer.
    package func read(
        _ exchange: Exchange, about persons: some Sequence<PersonID>, _ body: [UInt8], asOf: Int64
    ) throws(Problem) -> Disclosed {
        var counts: [PersonID: Int64] = [:]
        for person in persons { counts[person, default: 0] += 1 }
        let purpose = try exchange.purpose()
        for (person, count) in counts.sorted(by: { $0.key < $1.key }) {
            guard let handle = decisions.log.withStanding({ $0.persons[person]?.handle }) else { continue }
            let question = ReadQuestion(subject: handle, question: .events, from: nil, to: nil, purpose: purpose)
            _ = try read(exchange, question) { _ in Computed(body: body, count: count, asOf: asOf) }
        }
        return Disclosed(.json(body))
    }

    /// Answers the operator with events as they are stored. Their parts stay sealed, so nothing is disclosed.
    package func sealed(_ body: [UInt8]) -> Disclosed { Disclosed(.json(body)) }

    /// Answers a location query that has its fix, after the disclosure is on record. Returns at once; `respond` is
    /// called on the log's thread.
    ///
    /// - Parameter content: Makes the record of the fix's disclosure from the hash of the bytes.
    package func disclose(
        _ exchange: Exchange, query: QueryID, fix: Int64, precision: Precision,
        _ computed: Computed, _ respond: @escaping @Sendable (HTTPResponse) -> Void,
        content: (Hash256) -> Disclosure.Content
    ) {
        let content = content(Hash256(SHA256().hash(computed.body)))
        let command = Command.disclose(query, content: content, precision: precision, fix: fix)
        decisions.log.submit(command, by: exchange.caller, correlation: exchange.id) { result in
            switch result {
            case .success(let receipt): receipts.add(to: computed.response, of: receipt, exchange.caller, respond)
            case .failure(let failure): respond(Problem(failure).response)
            }
        }
    }

    /// Answers a device's own report with its friends' newest places, each recorded as a disclosure. If one permit no
    /// longer holds, the whole answer is dropped.
    package func answerDevice(
        _ exchange: Exchange, friends: [Permit], body: [UInt8]
    ) throws(Problem) -> Disclosed {
        let hash = Hash256(SHA256().hash(body))
        try decisions.append(exchange, .answerDevice(friends: friends, asOf: decisions.log.head, answerHash: hash))
        return Disclosed(.json(body))
    }

    /// Records the next part of a stream as a read. Blocks for a commit.
    ///
    /// - Parameter correlation: The id of the request that opened the stream.
    /// - Throws: ``AppendFailure`` if the permit no longer holds or the record cannot be written: nothing leaves then.
    package func follow(
        _ question: ReadQuestion, permitted permit: Permit, _ part: Computed, by caller: Caller, correlation: RequestID
    ) throws(AppendFailure) -> Disclosed {
        _ = try decisions.log.appendAndWait(
            Self.record(question, permit, part), by: caller, correlation: correlation)
        return Disclosed(part.response)
    }

    /// Records a message about a person as a read. Returns at once.
    ///
    /// - Parameter then: Is called on the log's thread, with the bytes once they are on record, or without them if the
    ///   permit no longer holds or the record cannot be written.
    package func record(
        _ question: ReadQuestion, permitted permit: Permit, _ message: Computed, by caller: Caller,
        then: @escaping @Sendable (Repeatable?) -> Void
    ) {
        let command = Self.record(question, permit, message)
        decisions.log.submit(command, by: caller, correlation: .random()) { result in
            if case .success = result { then(Repeatable(message.body)) } else { then(nil) }
        }
    }

    private static func record(_ question: ReadQuestion, _ permit: Permit, _ computed: Computed) -> Command {
        .recordRead(
            question, permitted: permit, asOf: computed.asOf, count: computed.count,
            answerHash: computed.hash, envelopes: computed.envelopes)
    }
}
