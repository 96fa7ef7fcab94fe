package import HTTPServer
import Whereabouts

/// Every address of a service: finds the route of a request.
package struct RouteTable: Sendable {
    /// The routes of the API, with their descriptions.
    package let operations: [Operation]
    /// Every route, those of the page included.
    package let routes: [Route]
    /// Routes without variable parts, by path.
    private let literals: [String: [Route]]

    package init(_ operations: [Operation], pages: [Route] = []) {
        self.operations = operations
        routes = operations.map(\.route) + pages
        literals = Dictionary(grouping: routes.filter { !$0.pattern.contains("*") }, by: \.path)
    }

    /// The route with this literal path, found without splitting the path: the fast way for reports.
    func literal(_ method: String, _ path: String) -> Route? { literals[path]?.first { $0.method == method } }

    /// The body that a route takes; the smallest bound for unknown paths.
    package func bodyLimit(_ method: String, _ path: String) -> HTTPBodyLimit {
        let route = literal(method, path) ?? matching(method, Route.parts(path))
        return HTTPBodyLimit(route?.bodyBytes ?? Limits.bodyBytes, receiving: route?.receivedBytes)
    }

    /// The first route whose parts match the path's.
    private func matching(_ method: String, _ parts: [String]) -> Route? {
        routes.first { $0.method == method && $0.match(parts) != nil }
    }
}
