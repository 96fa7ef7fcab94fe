import HTTPServer

extension Route {
    /// The names that the query of the URL may have, in the order described; `nil` where a client's own protocol decides
    /// what else it sends along, as with `/osmand`, and where nothing about a person is read, as with `/healthz`.
    var parameterNames: [String]? { Self.parameterNames["\(method) \(path)"] }

    private static let parameterNames: [String: [String]] = Dictionary(
        uniqueKeysWithValues: all.filter { $0.pattern.first == "v1" }.map { route in
            let key = "\(route.method) \(route.path)"
            return (key, Operation.all[key]?.parameters.map(\.name) ?? [])
        })

    /// Why a request with this query is refused; `nil` when every name is known and comes once.
    ///
    /// A name that is ignored can disclose more than was asked for: `track?form=2026-05-01` would mean the whole track.
    func refusal(ofQuery query: [(name: String, value: String)]) -> Problem? {
        guard !query.isEmpty, let known = parameterNames else { return nil }
        var seen: Set<String> = []
        for (name, _) in query {
            guard known.contains(name) else {
                let shown = String(name.prefix(40))
                return .invalid(
                    known.isEmpty
                        ? "\"\(shown)\" is not a parameter of this address, which takes none; leave it out."
                        : "\"\(shown)\" is not a parameter of this address; it takes \(known.joined(separator: ", ")).")
            }
            guard seen.insert(name).inserted else {
                return .invalid("\"\(name)\" is given more than once; give it once.")
            }
        }
        return nil
    }
}
