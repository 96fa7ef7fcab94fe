import Answers
package import HTTPInterface
package import HTTPServer
package import Log
import Synchronization
import Whereabouts

/// The entry of a reader's requests: answers what a reader may answer, and passes everything else on.
///
/// A read is answered here if its answer depends on the projections alone (``AnsweredByReaders``) and the reader is close
/// behind the log. Its record is durable at the process that writes the log before the answer leaves. Whatever does not end
/// with 200 here, for example because a right has ended or a token is too new, is passed on, so that every refusal is the
/// one of the process that writes the log.
///
/// Without that process, reads that need no record are still answered; everything else gets 503 with `Retry-After`.
package final class ReaderDoor: Sendable {
    private let door: Door
    private let link: WriterLink
    private let figures: ReaderFigures
    private let log: EventLog
    /// The patterns of the routes whose requests are answered here.
    private let reads: [[String]]
    /// The requests that are passed on now.
    private let underWay = Atomic<Int>(0)
    /// The title of the answer to a request that another reader has passed on.
    package static let title = "A reader"
    /// The most of them; further ones get 503.
    static let underWayMax = 1024

    /// Routes without a person, answered here whether or not the log can be written: the path, and whether the reader's own
    /// answer counts whatever its status.
    private static let ownRoutes: [String: Bool] = [
        "/healthz": true, "/readyz": true, "/openapi.json": false, "/metrics": true, "/v1/geocode/forward": false,
        "/v1/geocode/reverse": false,
    ]

    package init(door: Door, link: WriterLink, log: EventLog, figures: ReaderFigures) {
        (self.door, self.link, self.log, self.figures) = (door, link, log, figures)
        reads = door.routes.routes.filter(AnsweredByReaders.includes).map(\.pattern)
    }

    /// The body that a route takes; as at the process that writes the log.
    package func bodyLimit(_ method: String, _ path: String) -> HTTPBodyLimit { door.routes.bodyLimit(method, path) }

    /// Answers a request exactly once, on any thread.
    package func handle(_ request: HTTPRequest, respond: @escaping @Sendable (HTTPResponse) -> Void) {
        if request.header(WriterLink.passedHeader.lowercased()) != nil {
            var answer = Problem(
                503, Self.title, "This is a reader; \"writers\" in config.json must name processes that write.",
                retryAfterSeconds: 1
            ).response
            answer.headers.append((WriterLink.roleHeader, "reader"))
            return respond(answer)
        }
        let isGet = request.method == "GET" || request.isHead
        if isGet, let isOwn = Self.ownRoutes[request.path] {
            if request.path == "/readyz", let problem { return respond(problem.response) }
            return door.handle(request) { [self] answer in
                if isOwn || answer.status == 200 { respond(answer) } else { pass(request, respond) }
            }
        }
        guard isGet, figures.state.isFresh, log.failure == nil, isAnsweredHere(request.path) else {
            return pass(request, respond)
        }
        door.handle(request) { [self] answer in
            if answer.status == 200 { respond(answer) } else { pass(request, respond) }
        }
    }

    /// Why the reader is not ready; `nil` if it is.
    private var problem: Problem? {
        let state = figures.state
        if let trouble = state.databaseTrouble {
            return Problem(503, "Behind", "\(trouble) Reads are passed on.", retryAfterSeconds: 5)
        }
        if !state.isWriterReachable {
            return Problem(
                503, "No writer", "The process that writes the log does not answer, so no read can be recorded.",
                retryAfterSeconds: 1)
        }
        if !state.isFresh {
            return Problem(
                503, "Behind", "The reader is \(state.eventsBehind) events behind the log. Reads are passed on.",
                retryAfterSeconds: 1)
        }
        return nil
    }

    private func isAnsweredHere(_ path: String) -> Bool {
        let parts = Route.parts(path)
        return reads.contains { Route.match(parts, $0) != nil }
    }

    // MARK: Passing on

    private func pass(_ request: HTTPRequest, _ respond: @escaping @Sendable (HTTPResponse) -> Void) {
        guard let passage = WriterLink.Passage(request) else { return respond(Problem.notFound.response) }
        guard underWay.add(1, ordering: .relaxed).newValue <= Self.underWayMax else {
            underWay.subtract(1, ordering: .relaxed)
            return respond(Problem.busy(1).response)
        }
        let receiver = PassingReceiver { [self] isAnswered in
            underWay.subtract(1, ordering: .relaxed)
            figures.count { counts in
                if isAnswered { counts.passedOn += 1 } else { counts.unanswered += 1 }
            }
        } respond: {
            respond($0)
        }
        link.pass(passage, to: receiver)
    }
}
