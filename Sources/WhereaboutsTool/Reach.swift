import Glibc
import JSON
import Log

/// Where a command finds the service: in a data directory on this computer, or at an address.
///
/// The first of these decides: `--data`, `--url`, `--profile`, the environment's `WHEREABOUTS_URL`, its
/// `WHEREABOUTS_PROFILE`, and last the standard data directory. An address needs a token: `--token`,
/// `WHEREABOUTS_TOKEN`, or the one stored in the profile.
enum Reach {
    /// The data directory at this path; the operator's token is in it.
    case directory(String)
    case server(Server)

    /// A service at an address, as a profile stores it.
    struct Server: Sendable {
        /// For example `https://where.example`, without a path.
        let url: String
        let token: String
        let source: TokenSource
        /// A PEM file of the certificates to trust; `nil` for the system's.
        var trustFile: String?

        /// Whether the token is a person's own, so that no token needs to be issued to act as that person.
        var isPersons: Bool { token.hasPrefix("wp_") }
    }

    /// The source of a token, for an error that names it.
    enum TokenSource: Sendable {
        case option
        case environment
        case profile(String)
        case file(String)

        /// Completes "the token …".
        var words: String {
            switch self {
            case .option: "from --token"
            case .environment: "from WHEREABOUTS_TOKEN"
            case .profile(let name): "of the profile \"\(name)\""
            case .file(let path): "in \(path)"
            }
        }
    }

    /// The text that distinguishes one service from another.
    var text: String {
        switch self {
        case .directory(let path):
            guard let real = realpath(path, nil) else { return path }
            defer { free(real) }
            return String(cString: real)
        case .server(let server): return server.url
        }
    }

    /// Reads the command line and the environment.
    ///
    /// - Throws: ``ToolError/usage(_:)`` if two of them contradict each other, or an address has no token.
    init(_ invocation: Invocation) throws(ToolError) {
        let (data, url, profile) = (
            invocation[GlobalOptions.data], Self.url(of: invocation), invocation[GlobalOptions.profile]
        )
        guard [data, url, profile].count(where: { $0 != nil }) <= 1 else {
            throw .usage("Give only one of --data, --url and --profile.")
        }
        if let data {
            self = .directory(data)
        } else if let url = url ?? (profile == nil ? Self.variable("WHEREABOUTS_URL") : nil) {
            guard let (token, source) = Self.token(of: invocation) else {
                throw .usage("--url needs a token: set WHEREABOUTS_TOKEN, give --token, or add a profile.")
            }
            self = .server(
                Server(url: url, token: token, source: source, trustFile: Self.variable("WHEREABOUTS_CA_FILE")))
        } else if let name = profile ?? Self.variable("WHEREABOUTS_PROFILE") {
            guard let server = try Profiles.read()[name] else {
                throw .usage("There is no profile \"\(name)\"; \"whereabouts profile list\" lists them.")
            }
            self = .server(server)
        } else {
            self = .directory(DataDirectory.standardPath)
        }
    }

    /// The token of the command line or the environment.
    static func token(of invocation: Invocation) -> (token: String, source: TokenSource)? {
        if let token = invocation[GlobalOptions.token] { return (token, .option) }
        return variable("WHEREABOUTS_TOKEN").map { ($0, .environment) }
    }

    /// The service's address on the command line. The `--url` of `webhook add` is the webhook's; that command reaches a
    /// remote service by a profile or the environment.
    static func url(of invocation: Invocation) -> String? {
        let command = invocation.command
        let isOwn = (command.requires + command.accepts).contains { $0.name == GlobalOptions.url.name }
        return isOwn ? nil : invocation[GlobalOptions.url]
    }

    static func variable(_ name: String) -> String? {
        getenv(name).flatMap { $0.pointee == 0 ? nil : String(cString: $0) }
    }
}

/// The stored services by name, in `${XDG_CONFIG_HOME:-~/.config}/whereabouts/profiles.json`:
///
///     {"home":{"url":"https://where.example","token":"wp_…","caFile":"/etc/ca.pem"}}
///
/// The file holds tokens, so only its owner may read it.
enum Profiles {
    private static let bytesMax = 1 << 20

    static var path: String {
        let folder = getenv("XDG_CONFIG_HOME").map { String(cString: $0) } ?? ""
        if !folder.isEmpty { return folder + "/whereabouts/profiles.json" }
        return (getenv("HOME").map { String(cString: $0) } ?? ".") + "/.config/whereabouts/profiles.json"
    }

    /// - Throws: ``ToolError/data(_:)`` if the file exists and does not have this form.
    static func read() throws(ToolError) -> [String: Reach.Server] {
        guard access(path, F_OK) == 0 else { return [:] }
        guard let bytes = DataDirectory.read(path, atMost: bytesMax) else {
            throw .data("\(path) cannot be read: \(lastSystemError()).")
        }
        guard let members = (try? JSONDocument.parse(bytes))?.root.members else {
            throw .data("\(path) is not a JSON object; correct or remove it.")
        }
        var servers: [String: Reach.Server] = [:]
        for (name, value) in members {
            guard let url = value["url"]?.string, let token = value["token"]?.string else {
                throw .data("In \(path), the profile \"\(name)\" needs \"url\" and \"token\", each a text.")
            }
            servers[name] = Reach.Server(
                url: url, token: token, source: .profile(name), trustFile: value["caFile"]?.string)
        }
        return servers
    }

    static func write(_ servers: [String: Reach.Server]) throws(ToolError) {
        var writer = JSONWriter()
        writer.beginObject()
        for (name, server) in servers.sorted(by: { $0.key < $1.key }) {
            writer.object(name) { object in
                object.field("url", server.url)
                object.field("token", server.token)
                if let file = server.trustFile { object.field("caFile", file) }
            }
        }
        writer.endObject()
        do throws(LogError) {
            try DataDirectory.makeDirectory(String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]))
            try DataDirectory.writePrivate(writer.bytes + [UInt8(ascii: "\n")], to: path)
        } catch { throw .data("\(error)") }
    }
}
