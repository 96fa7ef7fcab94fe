import HTTPServer

extension Route {
    /// The parameters that the query of the URL may have, in the order of the API description. `nil` outside `/v1`: a
    /// client's own protocol may send others (`/osmand`), and other addresses read nothing about a person (`/healthz`).
    var parameterNames: [String]? { Self.parameterNames["\(method) \(path)"] }

    /// The parameters of each `/v1` route by its method and path, from the API description.
    private static let parameterNames: [String: [String]] = Dictionary(
        uniqueKeysWithValues: all.filter { $0.pattern.first == "v1" }.map { route in
            let key = "\(route.method) \(route.path)"
            return (key, Operation.all[key]?.parameters.map(\.name) ?? [])
        })

    /// Whether the API description requires a body.
    var needsBody: Bool { Self.withBody.contains("\(method) \(path)") }

    private static let withBody = Set(Operation.all.filter { $0.value.body != nil && !$0.value.isBodyOptional }.keys)

    /// The reason to refuse a request with this query; `nil` if every parameter is known and given once.
    ///
    /// Ignoring an unknown parameter can disclose more than was asked for: `track?since=2026-05-01` would return the
    /// whole track.
    func refusal(ofQuery query: [(name: String, value: String)]) -> Problem? {
        guard !query.isEmpty, let known = parameterNames else { return nil }
        var seen: Set<String> = []
        for (name, _) in query {
            guard known.contains(name) else {
                return .unknown(name, "a parameter of this address", takes: known)
            }
            guard seen.insert(name).inserted else {
                return .invalid("\"\(name)\" is given more than once; give it once.")
            }
        }
        return nil
    }
}
