import Answers
package import HTTPInterface
package import HTTPServer

/// The entry of all requests to a shard. Reports are always taken. Everything else needs the directory's word within the last
/// minute, and a log that the directory does not refuse.
package final class ShardDoor: Sendable {
    private let door: Door
    private let follower: DirectoryFollower

    /// Routes about the process itself.
    private static let ownRoutes: Set<String> = ["/healthz", "/metrics", "/openapi.json"]

    package init(door: Door, follower: DirectoryFollower) { (self.door, self.follower) = (door, follower) }

    /// Answers a request exactly once, on any thread.
    package func handle(_ request: HTTPRequest, respond: @escaping @Sendable (HTTPResponse) -> Void) {
        guard !Self.ownRoutes.contains(request.path), let problem = follower.problem else {
            return door.handle(request, respond: respond)
        }
        let method = request.isHead ? "GET" : request.method
        // A refused report may be lost for good. A report of a device that the directory has removed does no harm: the
        // shard shows it to no one before it has followed.
        if let (route, _, home) = door.routes.place(of: method, request.path), home == .caller,
            case .report = route.work, follower.now.trouble == nil
        {
            return door.handle(request, respond: respond)
        }
        respond(problem.response)
    }
}
