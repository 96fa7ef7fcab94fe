import HTTPServer
import JSON
import Replies

/// Seconds since 1970 UTC, with at most three decimals.
public typealias UnixTime = Double

extension ServiceClient {
    /// The outcome of a question.
    public enum Answer: Sendable, Equatable {
        /// The phone reported its location.
        case now(Location)
        /// The phone did not report; this is the last known location.
        case lastKnown(Location)
        /// Nothing is shown. The person sees the reason, the requester does not.
        case none
    }

    /// The kind of requester.
    public enum Initiation: String, Sendable {
        /// A person waits for the answer: the phone is woken at once.
        case user
        /// The requester's own service asks: the phone is woken when it suits the battery.
        case server
    }

    /// Asks where a person is: wakes the phone and waits for its report. The question, its purpose and the answer are
    /// recorded before this returns, and the person sees them.
    ///
    /// Cancelling the task does not cancel the question.
    ///
    /// - Parameters:
    ///   - person: The person's handle.
    ///   - purpose: Why you ask. The person reads it.
    ///   - waitSeconds: How long to wait for the answer, 1 to 3600.
    /// - Throws: 404 as a ``ClientError/problem(_:)`` without a grant, the same as for a person who does not exist.
    public func ask(
        where person: String, purpose: String, initiation: Initiation = .user, waitSeconds: Int = 60
    ) async throws -> Answer {
        try Self.answer(
            try await asked(where: person, purpose: purpose, initiation: initiation, waitSeconds: waitSeconds))
    }

    /// The outcome of a question that is over, or was waited for in vain.
    static func answer(_ seen: QueryAnswer) throws(ClientError) -> Answer {
        let location = seen.location.flatMap { Location($0) }
        return switch (seen.status, location) {
        case ("answered", let location?): .now(location)
        case ("answeredFromLastKnown", let location?): .lastKnown(location)
        case ("answered", nil) where seen.envelope != nil:
            throw .service(
                "The person's phone sealed the answer: ask with opening(_:with:) and the file of your keys.")
        case ("noAnswer", _), ("pending", _): .none
        default: throw unexpected(APIPath.locationQuery.parts("*"))
        }
    }

    /// Asks, and returns the last answer of the service about the question.
    func asked(
        where person: String, purpose: String, initiation: Initiation, waitSeconds: Int
    ) async throws(ClientError) -> QueryAnswer {
        var body = JSONWriter()
        body.beginObject()
        body.field("purpose", purpose)
        body.field("initiation", initiation.rawValue)
        body.field("deadlineSeconds", waitSeconds)
        body.endObject()
        let asked = try await send("POST", APIPath.peopleLocationQueries.parts(person), body: body.bytes)
        let id = try Self.read(StartedQuery.self, from: asked, APIPath.peopleLocationQueries.parts(person)).id
        let path = APIPath.locationQuery.parts(id)
        // The path of a question does not name the person.
        var asking = self
        asking.receipts = receipts.about(person)
        // The service ends the question at its deadline, and needs a moment to record that.
        let end = ContinuousClock.now + .seconds(waitSeconds + 2)
        while true {
            let left = (end - .now).components.seconds
            let json = try await asking.send(
                "GET", path, query: [("wait", "\(max(0, min(left, Self.longestWaitSeconds)))")])
            let seen = try Self.read(QueryAnswer.self, from: json, path)
            if seen.status != "pending" || left <= 0 { return seen }
            // The service answers at once if it has no room for a waiting request.
            try await Self.pause(seconds: 1)
        }
    }

    /// The longest time that the service lets one request wait.
    private static let longestWaitSeconds: Int64 = 30

    /// The person's last known location, without waking the phone; `nil` if there is none to show. A recorded read.
    public func lastKnownLocation(of person: String) async throws -> Location? {
        let path = APIPath.peopleLocation.parts(person)
        let answer = try Self.read(LocationAnswer.self, from: try await send("GET", path), path)
        guard let item = answer.location else { return nil }
        guard let location = Location(item) else { throw Self.unexpected(path) }
        return location
    }

    /// A page of the person's visits that overlap a time range, in order of time. A recorded read.
    ///
    /// - Parameter after: The ``Page/next`` of the page before.
    public func visits(
        of person: String, from: UnixTime? = nil, to: UnixTime? = nil, after: String? = nil
    ) async throws -> Page<Visit> {
        try await page(.peopleVisits, of: person, from: from, to: to, after: after) { Visit($0) }
    }

    /// A page of the person's entries into and exits from regions in a time range. A recorded read.
    ///
    /// - Parameter after: The ``Page/next`` of the page before.
    public func crossings(
        of person: String, from: UnixTime? = nil, to: UnixTime? = nil, after: String? = nil
    ) async throws -> Page<Crossing> {
        try await page(.peopleCrossings, of: person, from: from, to: to, after: after) { Crossing($0) }
    }

    /// A page of the fixes that the person's devices reported in a time range, in order of time. A recorded read.
    ///
    /// - Parameter after: The ``Page/next`` of the page before.
    public func track(
        of person: String, from: UnixTime? = nil, to: UnixTime? = nil, after: String? = nil
    ) async throws -> Page<Fix> {
        try await page(.peopleTrack, of: person, from: from, to: to, after: after) { Fix($0) }
    }

    /// Reports fixes of the device whose reporting key is the token. They are durable when this returns. A repeated fix
    /// counts as a duplicate.
    ///
    /// - Parameter fixes: At most 1000.
    public func report(_ fixes: [Fix]) async throws -> Receipt {
        let items = fixes.compactMap(\.item)
        guard items.count == fixes.count else { throw ClientError.request("The numbers of a fix must be finite.") }
        var body = JSONWriter()
        body.beginObject()
        body.array("fixes") { array in for item in items { array.value(item) } }
        body.endObject()
        let path = APIPath.fixes.parts()
        return Receipt(try Self.read(ReportOutcome.self, from: try await send("POST", path, body: body.bytes), path))
    }

    private func page<Row: Reply, Item: Sendable>(
        _ list: APIPath, of person: String, from: UnixTime?, to: UnixTime?, after: String?, _ item: (Row) -> Item?
    ) async throws(ClientError) -> Page<Item> {
        let path = list.parts(person)
        let times = [("from", from), ("to", to)].compactMap { name, time in time.map { (name: name, value: "\($0)") } }
        return try Self.page(
            of: try await send("GET", path, query: times + Self.cursor(after)), path, after: after, item)
    }

    func send(
        _ method: String, _ path: [String], query: [(name: String, value: String)] = [], body: [UInt8] = []
    ) async throws(ClientError) -> JSONValue {
        let request = try request(method, path, query: query, body: body)
        var waited = 0
        while true {
            let response = try await transport.answer(awaiting: request)
            guard let pause = Self.pauseSeconds(response), waited < Self.patienceSeconds else {
                return try value(of: response, path)
            }
            try await Self.pause(seconds: pause)
            waited += pause
        }
    }

    private static func pause(seconds: Int) async throws(ClientError) {
        do { try await Task.sleep(for: .seconds(seconds)) } catch { throw .cancelled }
    }
}
