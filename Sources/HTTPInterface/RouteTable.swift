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
    /// The routes with variable parts, in their order, by the number of parts. A search through ``routes`` would copy each
    /// route.
    private let patterns: [Int: [Pattern]]

    private struct Pattern {
        let index: Int
        let method: String
        let parts: [String]
    }

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
        let isLiteral = { (index: Int) in !routes[index].pattern.contains("*") }
        literals = Dictionary(grouping: routes.indices.filter(isLiteral)) { routes[$0].path }
        let others = routes.indices.filter { !isLiteral($0) }
            .map { Pattern(index: $0, method: routes[$0].method, parts: routes[$0].pattern) }
        patterns = Dictionary(grouping: others, by: \.parts.count)
    }

    /// The place of a request's route in ``routes``, and the variable parts of its path; `nil` if no route matches. A literal
    /// path is found without splitting it: the fast way for reports.
    package func find(_ method: String, _ path: String) -> (index: Int, parameters: [String])? {
        if let index = literals[path]?.first(where: { routes[$0].method == method }) { return (index, []) }
        let parts = Route.parts(path)
        for pattern in patterns[parts.count] ?? [] where pattern.method == method {
            if let parameters = Route.match(parts, pattern.parts) { return (pattern.index, parameters) }
        }
        return nil
    }

    /// The methods of all routes of a path.
    func methods(of path: String) -> [String] {
        let parts = Route.parts(path)
        return routes.filter { $0.match(parts) != nil }.map(\.method)
    }

    /// The body that a route takes; the smallest bound for unknown paths.
    package func bodyLimit(_ method: String, _ path: String) -> HTTPBodyLimit {
        guard let index = find(method, path)?.index else { return HTTPBodyLimit(Limits.bodyBytes) }
        return HTTPBodyLimit(routes[index].bodyBytes, receiving: routes[index].receivedBytes)
    }
}
