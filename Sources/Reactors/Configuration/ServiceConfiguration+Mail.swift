import JSON
package import Posting

extension ServiceConfiguration {
    /// The relay for mails, and their sender.
    package struct Mail: Sendable {
        /// The relay's host name or address.
        package var host: String
        /// The relay's port.
        package var port: Int64
        /// When TLS begins.
        package var security: MailRelay.Security
        /// The user name for the relay; `nil` connects without.
        package var user: String?
        /// The path of the file with the password.
        package var passwordFile: String?
        /// A PEM file of certificates to trust instead of the system's.
        package var caFile: String?
        /// The sender of the mails.
        package var from: MailAddress

        /// A relay at the usual port of the security: 465 for TLS, 587 for STARTTLS, 25 without.
        package init(host: String, security: MailRelay.Security = .tls, from: MailAddress) {
            (self.host, self.security, self.from) = (host, security, from)
            port = Self.port(of: security)
        }

        static func port(of security: MailRelay.Security) -> Int64 {
            switch security {
            case .tls: 465
            case .startTLS: 587
            case .none: 25
            }
        }

        /// Whether the host is this machine, which needs no TLS.
        static func isLoopback(_ host: String) -> Bool {
            host == "localhost" || host == "::1" || host == "[::1]" || host.hasPrefix("127.")
        }
    }

    static func mail(_ value: JSONValue) throws(ReadError) -> Mail {
        guard let members = value.members else { throw .badValue("mail", "an object") }
        var (host, from): (String?, MailAddress?)
        var port: Int64?
        var security = MailRelay.Security.tls
        var (user, passwordFile, caFile): (String?, String?, String?)
        for (key, value) in members {
            switch key {
            case "host": host = try mailHost(value)
            case "port": port = try Self.port(value)
            case "security":
                switch value.string {
                case "tls": security = .tls
                case "starttls": security = .startTLS
                case "none": security = .none
                default: throw .badValue(key, "\"tls\", \"starttls\" or \"none\"")
                }
            case "user": user = try text(value, key)
            case "passwordFile": passwordFile = try text(value, key)
            case "caFile": caFile = try text(value, key)
            case "from":
                guard let address = MailAddress(try text(value, key)) else {
                    throw .badValue(key, "one address, for example \"whereabouts@example.org\"")
                }
                from = address
            default: throw .unknownKey(key, in: "\"mail\"")
            }
        }
        guard let host else { throw .badValue("host", "the relay's host name or address") }
        guard let from else { throw .badValue("from", "one address, for example \"whereabouts@example.org\"") }
        guard security != .none || Mail.isLoopback(host) else {
            throw .badValue("security", "\"tls\" or \"starttls\"; \"none\" is allowed only for a relay on this machine")
        }
        guard (user == nil) == (passwordFile == nil) else {
            throw .badValue("user", "given together with \"passwordFile\"")
        }
        var mail = Mail(host: host, security: security, from: from)
        if let port { mail.port = port }
        (mail.user, mail.passwordFile, mail.caFile) = (user, passwordFile, caFile)
        return mail
    }

    /// A name or an address of IPv4, or one of IPv6 in brackets: it becomes part of a URL.
    private static func mailHost(_ value: JSONValue) throws(ReadError) -> String {
        let host = try text(value, "host")
        guard let url = PostURL("https://\(host)"), url.text == "https://\(host.lowercased())/" else {
            throw .badValue("host", "the relay's host name or address, for example \"smtp.example.org\"")
        }
        return host
    }
}
