import Answers
package import HTTPInterface
package import HTTPServer
import JSON
package import Log
package import Readers
import Replies
import Synchronization
package import Whereabouts

/// The entry of all requests to a house with shards, in the directory's process: answers what the directory decides, and
/// passes everything else on to the shard to which the route belongs (`Home`).
///
/// A shard finds the caller by itself, decides, records and answers as any house. The edge only chooses the shard, so a wrong
/// choice shows nothing: a shard knows no other shard's people.
package final class EdgeDoor: Sendable {
    private let door: Door
    private let loop: DirectoryLoop
    private let links: [ShardNumber: WriterLink]
    private let figures: ShardFigures
    private let log: EventLog
    /// The requests that are passed on now.
    private let underWay = Atomic<Int>(0)
    /// The shards of queries that were found.
    private let queries = Mutex([String: ShardNumber]())

    /// The most requests that are passed on at once; further ones get 503.
    static let underWayMax = 1024
    /// The most queries whose shards are remembered.
    private static let queriesMax = 65_536
    /// The header of an answer whose change some shards do not have yet.
    package static let behindHeader = "Whereabouts-Shards-Behind"

    package init(door: Door, loop: DirectoryLoop, links: [ShardNumber: WriterLink], log: EventLog) {
        (self.door, self.loop, self.links, self.log) = (door, loop, links, log)
        figures = loop.figures
    }

    /// Ends every request under way.
    package func stop() { for link in links.values { link.stop() } }

    /// Answers a request exactly once, on any thread.
    package func handle(_ request: HTTPRequest, respond: @escaping @Sendable (HTTPResponse) -> Void) {
        let method = request.isHead ? "GET" : request.method
        guard let (route, parameters, home) = door.routes.place(of: method, request.path) else {
            return door.handle(request, respond: respond)
        }
        if home == .directory { return decide(request, method, route, respond) }
        // Someone without credentials gets the directory's refusal.
        guard let caller = door.caller(of: request, route), caller.scopes != .inspect else {
            return door.handle(request, respond: respond)
        }
        switch home {
        case .directory: return
        case .nowhere(let sentence): respond(Problem(501, "Not in a house with shards", sentence).response)
        case .subject: pass(request, to: shard(of: Handle(parameters[0])), respond)
        case .device: pass(request, to: shard(ofDevice: Handle(parameters[0])), respond)
        case .caller: pass(request, to: shard(of: caller), respond)
        case .number:
            if let number = Int64(parameters[0]) {
                pass(request, to: ShardNumber(ofID: number), respond)
            } else {
                pass(request, to: shard(of: caller), respond)
            }
        case .query: find(request, parameters[0], respond)
        case .each: merge(request, respond)
        }
    }

    /// Has the directory decide. The answer to a change waits until the shards have it, so that a revoked token is refused
    /// there, and a new person known, when the caller hears of it.
    private func decide(
        _ request: HTTPRequest, _ method: String, _ route: Route, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        guard method != "GET" else { return door.handle(request, respond: respond) }
        door.handle(request) { [loop, log] response in
            guard response.status < 300, route.path != FactsEndpoint.path else { return respond(response) }
            loop.hold(log.head) { behind in
                var response = response
                if !behind.isEmpty {
                    let numbers = behind.map { "\($0.rawValue)" }.joined(separator: ", ")
                    response.headers.append((Self.behindHeader, numbers))
                }
                respond(response)
            }
        }
    }

    // MARK: The shard

    private func shard(of handle: Handle?) -> ShardNumber? {
        handle.flatMap { handle in
            log.withStanding { standing in standing.person(handle).flatMap { standing.home(of: $0) } }
        }
    }

    private func shard(ofDevice handle: Handle?) -> ShardNumber? {
        handle.flatMap { handle in
            log.withStanding { standing in
                standing.device(handle).flatMap { standing.devices[$0]?.person }.flatMap { standing.home(of: $0) }
            }
        }
    }

    private func shard(of caller: Caller) -> ShardNumber? {
        log.withStanding { standing in
            standing.person(behind: caller.principal).flatMap { standing.home(of: $0) }
        }
    }

    // MARK: Passing on

    /// Passes a request on; without a shard to the first one, which refuses it on record like any other unknown person.
    private func pass(
        _ request: HTTPRequest, to shard: ShardNumber?, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        guard let shard = shard ?? loop.shards.first, let link = links[shard] else {
            return respond(Self.silence(shard).response)
        }
        if let trouble = figures[shard].trouble {
            return respond(Problem(503, "Shard refused", trouble, retryAfterSeconds: 60).response)
        }
        guard let passage = WriterLink.Passage(request) else { return respond(Problem.notFound.response) }
        guard underWay.add(1, ordering: .relaxed).newValue <= Self.underWayMax else {
            underWay.subtract(1, ordering: .relaxed)
            return respond(Problem.busy(1).response)
        }
        let receiver = PassingReceiver(silence: Self.silence(shard)) { [self] isAnswered in
            underWay.subtract(1, ordering: .relaxed)
            figures.change(shard) { state in
                state.passedOn += 1
                if !isAnswered { state.unanswered += 1 }
            }
        } respond: {
            respond($0)
        }
        link.pass(passage, to: receiver)
    }

    /// The answer for a shard that does not answer. Nothing was read, recorded or changed, as far as this process knows.
    private static func silence(_ shard: ShardNumber?) -> Problem {
        Problem(
            503, "No shard", "Shard \(shard?.rawValue ?? 0) does not answer; send the same request again later.",
            retryAfterSeconds: 1)
    }

    // MARK: Several shards

    /// Asks the shards for a query, one after the other, until one knows it.
    private func find(
        _ request: HTTPRequest, _ query: String, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        if let shard = queries.withLock({ $0[query] }) { return pass(request, to: shard, respond) }
        find(request, query, loop.shards[...], silent: nil, respond)
    }

    private func find(
        _ request: HTTPRequest, _ query: String, _ left: ArraySlice<ShardNumber>, silent: HTTPResponse?,
        _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        guard let shard = left.first else { return respond(silent ?? Problem.notFound.response) }
        pass(request, to: shard) { [self] response in
            switch response.status {
            case 404: find(request, query, left.dropFirst(), silent: silent, respond)
            case 503: find(request, query, left.dropFirst(), silent: silent ?? response, respond)
            default:
                queries.withLock { queries in
                    if queries.count >= Self.queriesMax { queries = [:] }
                    if response.status < 300 { queries[query] = shard }
                }
                respond(response)
            }
        }
    }

    /// Asks all shards, and makes one list of theirs. If one does not answer, there is no list: it would look complete.
    private func merge(_ request: HTTPRequest, _ respond: @escaping @Sendable (HTTPResponse) -> Void) {
        var plain = request
        plain.headers.removeAll { ["accept-encoding", "if-none-match"].contains($0.name.lowercased()) }
        let asked = plain
        let parts = Mutex((left: loop.shards.count, answers: [ShardNumber: HTTPResponse]()))
        for shard in loop.shards {
            pass(asked, to: shard) { [self] response in
                let all = parts.withLock { parts -> [ShardNumber: HTTPResponse]? in
                    parts.answers[shard] = response
                    parts.left -= 1
                    return parts.left == 0 ? parts.answers : nil
                }
                if let all { respond(merged(loop.shards.compactMap { all[$0] })) }
            }
        }
    }

    private func merged(_ answers: [HTTPResponse]) -> HTTPResponse {
        if let other = answers.first(where: { $0.status != 200 || $0.stream != nil }) {
            return other.status == 200 ? Problem.busy(1).response : other
        }
        var items: [SharedItem] = []
        for answer in answers {
            guard let root = try? JSONDocument.parse(answer.body).root,
                let people = try? SharedPeople.read(root)
            else { return Problem.broken.response }
            items += people.items
        }
        return .reply(SharedPeople(items: items.sorted { $0.handle < $1.handle }))
    }
}
