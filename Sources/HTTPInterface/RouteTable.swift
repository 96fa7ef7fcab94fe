package import HTTPServer
import Whereabouts

/// Every address of a service: finds the route of a request.
package struct RouteTable: Sendable {
    /// The routes of the API, with their descriptions.
    package let operations: [Operation]
    /// Every route, those of the page included.
    package let routes: [Route]
    /// Where the requests of each of ``routes`` belong in a house with shards.
    let homes: [Home]
    /// The places in ``routes`` of those without variable parts, by path.
    private let literals: [String: [Int]]

    package init(_ operations: [Operation], pages: [Route] = []) {
        self.operations = operations
        let routes = operations.map(\.route) + pages
        self.routes = routes
        homes =
            operations.map { operation in
                guard let home = Home.of(operation.route.method, operation.route.path) else {
                    preconditionFailure("\(operation.route.path) needs a home in the table of Home.swift.")
                }
                return home
            } + pages.map { _ in .directory }
        literals = Dictionary(grouping: routes.indices.filter { !routes[$0].pattern.contains("*") }) { routes[$0].path }
    }

    /// The route with this literal path, found without splitting the path: the fast way for reports.
    func literal(_ method: String, _ path: String) -> Route? { index(literal: method, path).map { routes[$0] } }

    /// The place of ``literal(_:_:)`` in ``routes``.
    func index(literal method: String, _ path: String) -> Int? {
        literals[path]?.first { routes[$0].method == method }
    }

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
