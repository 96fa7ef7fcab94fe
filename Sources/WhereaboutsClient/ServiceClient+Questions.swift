import HTTPServer
import JSON

/// Seconds since 1970 UTC, with at most three decimals.
public typealias UnixTime = Double

extension ServiceClient {
    /// How a question ended.
    public enum Answer: Sendable, Equatable {
        /// The phone told where it is.
        case now(Location)
        /// The phone told nothing; this is what is known from before.
        case lastKnown(Location)
        /// Nothing is shown. Why is for the person to know, not for the asker.
        case none
    }

    /// Who wants to know.
    public enum Initiation: String, Sendable {
        /// A person who waits for the answer: the phone is woken at once.
        case user
        /// The asker's own service: the phone is woken when it suits the battery.
        case server
    }

    /// Asks where somebody is: wakes the phone and waits for what it says. The question, its purpose and the answer are on
    /// record before this returns, and the person sees them.
    ///
    /// A task that is cancelled leaves the question to its end.
    ///
    /// - Parameters:
    ///   - person: the handle of whom is asked about.
    ///   - purpose: why, in words for that person.
    ///   - waitSeconds: how long the answer is waited for, 1 to 3600.
    /// - Throws: 404 as a ``ClientError/problem(_:)`` where there is no grant, which is the same as no such person.
    public func ask(
        where person: String, purpose: String, initiation: Initiation = .user, waitSeconds: Int = 60
    ) async throws -> Answer {
        var body = JSONWriter()
        body.beginObject()
        body.field("purpose", purpose)
        body.field("initiation", initiation.rawValue)
        body.field("deadlineSeconds", waitSeconds)
        body.endObject()
        let asked = try await send("POST", ["v1", "people", person, "location-queries"], body: body.bytes)
        guard let id = asked["id"]?.string else { throw Self.unexpected(["v1", "people", person, "location-queries"]) }
        let path = ["v1", "location-queries", id]
        // The service ends the question at its deadline; a little later it has said so.
        let end = ContinuousClock.now + .seconds(waitSeconds + 2)
        while true {
            let left = (end - .now).components.seconds
            let seen = try await send("GET", path, query: [("wait", "\(max(0, min(left, Self.longestWaitSeconds)))")])
            let location = seen["location"].flatMap { Location($0) }
            switch (seen["status"]?.string, location) {
            case ("answered", let location?): return .now(location)
            case ("answeredFromLastKnown", let location?): return .lastKnown(location)
            case ("noAnswer", _): return .none
            case ("pending", _): if left <= 0 { return .none }
            default: throw Self.unexpected(path)
            }
            // Who is not let in to wait is answered at once.
            try await Self.pause(seconds: 1)
        }
    }

    /// The service lets nobody wait longer in one request.
    private static let longestWaitSeconds: Int64 = 30

    /// Where somebody was last, without waking the phone; `nil` where nothing is to be seen. A recorded read.
    public func lastKnownLocation(of person: String) async throws -> Location? {
        let path = ["v1", "people", person, "location"]
        guard let location = try await send("GET", path)["location"] else { throw Self.unexpected(path) }
        if location.isNull { return nil }
        guard let location = Location(location) else { throw Self.unexpected(path) }
        return location
    }

    /// Where somebody stayed: a page of the visits that overlap a time, in their order. A recorded read.
    ///
    /// - Parameter after: the ``Page/next`` of the page before.
    public func visits(
        of person: String, from: UnixTime? = nil, to: UnixTime? = nil, after: String? = nil
    ) async throws -> Page<Visit> {
        try await page("visits", of: person, from: from, to: to, after: after) { Visit($0) }
    }

    /// When somebody came into their regions and left them: a page of a time. A recorded read.
    ///
    /// - Parameter after: the ``Page/next`` of the page before.
    public func crossings(
        of person: String, from: UnixTime? = nil, to: UnixTime? = nil, after: String? = nil
    ) async throws -> Page<Crossing> {
        try await page("crossings", of: person, from: from, to: to, after: after) { Crossing($0) }
    }

    /// What somebody's devices reported: a page of the fixes of a time, in their order. A recorded read.
    ///
    /// - Parameter after: the ``Page/next`` of the page before.
    public func track(
        of person: String, from: UnixTime? = nil, to: UnixTime? = nil, after: String? = nil
    ) async throws -> Page<Fix> {
        try await page("track", of: person, from: from, to: to, after: after) { Fix($0) }
    }

    /// Reports fixes of the device whose reporting key the token is. When it returns they are durable; sent again they
    /// are known.
    ///
    /// - Parameter fixes: at most 1000.
    public func report(_ fixes: [Fix]) async throws -> Receipt {
        guard fixes.allSatisfy(\.isFinite) else { throw ClientError.request("The numbers of a fix are finite.") }
        var body = JSONWriter()
        body.beginObject()
        body.array("fixes") { array in for fix in fixes { fix.write(into: &array) } }
        body.endObject()
        let path = ["v1", "fixes"]
        guard let receipt = Receipt(try await send("POST", path, body: body.bytes)) else { throw Self.unexpected(path) }
        return receipt
    }

    private func page<Item: Sendable>(
        _ list: String, of person: String, from: UnixTime?, to: UnixTime?, after: String?,
        _ item: (JSONValue) -> Item?
    ) async throws(ClientError) -> Page<Item> {
        let path = ["v1", "people", person, list]
        let times = [("from", from), ("to", to)].compactMap { name, time in time.map { (name: name, value: "\($0)") } }
        return try Self.page(
            of: try await send("GET", path, query: times + Self.cursor(after)), path, after: after, item)
    }

    private func send(
        _ method: String, _ path: [String], query: [(name: String, value: String)] = [], body: [UInt8] = []
    ) async throws(ClientError) -> JSONValue {
        let request = try request(method, path, query: query, body: body)
        var waited = 0
        while true {
            let response = try await transport.answer(awaiting: request)
            guard let pause = Self.pauseSeconds(response), waited < Self.patienceSeconds else {
                return try Self.value(of: response)
            }
            try await Self.pause(seconds: pause)
            waited += pause
        }
    }

    private static func pause(seconds: Int) async throws(ClientError) {
        do { try await Task.sleep(for: .seconds(seconds)) } catch { throw .cancelled }
    }
}
