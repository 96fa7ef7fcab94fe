import JSON
import WhereaboutsClient

/// `profile add|list|remove`: remote services, stored under names.
enum ProfileCommands {
    private static let trustFile = Option(
        name: "ca-file", placeholder: "FILE", help: "a PEM file with your own CA (default: the system's certificates)",
        form: "a path", read: { $0.isEmpty ? nil : $0 })

    static let all = [
        Command(
            words: ["profile", "add"], summary: "Store a service's address and a token under a name.",
            operands: .one("NAME"), requires: [GlobalOptions.url], accepts: [GlobalOptions.token, trustFile],
            details: """
                The token is read from --token, WHEREABOUTS_TOKEN or the first line of standard input, in this order. For
                example, with an operator's token in a file:

                  whereabouts profile add home --url https://where.example < token
                  whereabouts --profile home visits --person anna --from yesterday
                """, reach: .nothing, run: add),
        Command(words: ["profile", "list"], summary: "List the stored services.", reach: .nothing, run: list),
        Command(
            words: ["profile", "remove"], summary: "Delete a stored service and its token.", operands: .one("NAME"),
            reach: .nothing, run: remove),
    ]

    private static func add(_ invocation: Invocation) throws(ToolError) {
        let url = invocation.required(GlobalOptions.url)
        guard let transport = WireTransport(url, trustFile: invocation[trustFile]) else {
            throw .usage(
                "--url must be http:// or https:// with a host and no path, for example https://where.example.")
        }
        transport.close()
        guard let token = Reach.token(of: invocation)?.token ?? readLine() else {
            throw .usage("Give the token with --token, in WHEREABOUTS_TOKEN, or on standard input.")
        }
        guard token.utf8.count <= 128, token.utf8.allSatisfy({ (0x21...0x7e).contains($0) }), !token.isEmpty else {
            throw .usage("This is not a token; a token is wp_ or wo_ and 43 characters.")
        }
        var servers = try Profiles.read()
        let name = invocation.operands[0]
        servers[name] = Reach.Server(url: url, token: token, source: .profile(name), trustFile: invocation[trustFile])
        try Profiles.write(servers)
        invocation.console.line("Stored \(name) in \(Profiles.path).")
    }

    private static func list(_ invocation: Invocation) throws(ToolError) {
        var table = Table("NAME", "URL", "TOKEN")
        for (name, server) in try Profiles.read().sorted(by: { $0.key < $1.key }) {
            table.add(name, server.url, String(server.token.prefix(3)) + "…")
        }
        invocation.console.result(table.text.utf8)
    }

    private static func remove(_ invocation: Invocation) throws(ToolError) {
        var servers = try Profiles.read()
        guard servers.removeValue(forKey: invocation.operands[0]) != nil else {
            throw .data("There is no profile \"\(invocation.operands[0])\".")
        }
        try Profiles.write(servers)
    }
}
