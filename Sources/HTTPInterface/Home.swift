/// The log of a house with shards to which the requests of a route belong. The directory's process passes a request on to
/// the shard. Without shards, every route is answered where it arrives.
package enum Home: Hashable, Sendable {
    /// The directory: people, devices, tokens, sessions, places on earth, and the directory's own log.
    case directory
    /// The shard of the person whom the first variable part of the path names.
    case subject
    /// The shard of the owner of the device that the first variable part of the path names.
    case device
    /// The caller's own shard; for a device, that of its owner.
    case caller
    /// The shard that gave the number in the path to the operator. A person's own name for it is known in their own shard.
    case number
    /// The shard that knows the query in the path: they are asked one after the other.
    case query
    /// All shards. Their lists become one.
    case each
    /// None yet. The sentence says what to do instead.
    case nowhere(String)
}

extension Home {
    /// The home of a route; `nil` for a route that neither the table names nor the path settles. ``RouteTable`` refuses such
    /// a route, so that no request goes to the wrong log unnoticed.
    static func of(_ method: String, _ path: String) -> Home? {
        if let home = table["\(method) \(path)"] ?? table[path] { return home }
        if path.hasPrefix("/v1/people/*/") { return .subject }
        if path.hasPrefix("/v1/devices/*/") { return .device }
        if houseWide.contains(where: { path == $0 || path.hasPrefix($0 + "/") }) { return .directory }
        return nil
    }

    /// The beginnings of paths that concern the directory alone.
    private static let houseWide = [
        "/v1/people", "/v1/account-invitations", "/v1/accounts", "/v1/auditors", "/v1/backups", "/v1/events", "/v1/log",
        "/v1/projections", "/v1/verify", "/v1/geocode", "/v1/places", "/v1/sign-in-codes", "/v1/tokens", "/session",
        "/healthz", "/readyz", "/metrics", "/openapi.json", "/api/0/version",
    ]

    private static let table: [String: Home] = {
        var table: [String: Home] = [
            // The directory decides these, although their paths name a person or a device.
            "DELETE /v1/people/*": .directory,
            "POST /v1/people/*/devices": .directory,
            "/v1/people/*/tokens": .directory,
            "DELETE /v1/devices/*": .directory,
            "POST /v1/devices/*/tokens": .directory,
            // By the caller.
            "/v1/live": .caller,
            // By the id.
            "DELETE /v1/grants/*": .number,
            "/v1/location-queries/*": .query,
            // Over all.
            "/v1/shared-with-me": .each,
        ]
        for path in reports { table[path] = .caller }
        for (paths, sentence) in refused { for path in paths { table[path] = .nowhere(sentence) } }
        return table
    }()

    /// The reports of devices, by the key of the device.
    private static let reports = [
        "/v1/fixes", "/v1/reports", "/v1/envelopes", "/owntracks", "/pub", "/overland", "/osmand",
        "/ulogger/client/index.php", "/index.php/apps/phonetrack/logGet/*/*", "/index.php/apps/phonetrack/logPost/*/*",
        "/index.php/apps/phonetrack/logPostMultiple/*/*", "/api/webhook/*",
    ]

    private static let refused: [([String], String)] = [
        (
            ["/v1/people/*/invitations", "/v1/invitations/*", "/v1/redemptions"],
            "Invitations do not work in a house with shards; give a grant to the person's handle instead."
        ),
        (
            ["/v1/people/*/links", "/v1/links/*", "/v1/link-openings"],
            "Share links do not work in a house with shards; give a grant to a person's handle instead."
        ),
        (
            ["/v1/people/*/asked"],
            "A house with shards has no list of all your questions; each person's audit has yours about that person."
        ),
        (
            ["/api/0/list", "/api/0/last", "/api/0/locations"],
            "The Recorder's reads do not work in a house with shards; use the addresses under /v1."
        ),
        (
            [
                "/v1/imports", "/v1/imports/*/batches", "/v1/imports/*/ends", "/v1/imports/*/restorations",
                "/v1/imports/*/withdrawals",
            ],
            "In a house with shards, send an import to the address of the person's shard."
        ),
        (
            ["/v1/retention", "/v1/push-budgets"],
            "Each shard of the house has its own; ask at the address of the shard."
        ),
    ]
}

extension RouteTable {
    /// The route of a request, the variable parts of its path, and where it belongs; `nil` if no route matches.
    package func place(of method: String, _ path: String) -> (route: Route, parameters: [String], home: Home)? {
        find(method, path).map { (routes[$0.index], $0.parameters, homes[$0.index]) }
    }
}
