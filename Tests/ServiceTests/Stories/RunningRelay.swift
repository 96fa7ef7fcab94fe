import Foundation
import JSON
import Posting
import PushStandIn
import TestSupport
import Testing

@testable import Reactors
@testable import Service

/// A mail relay that is not our code, on a free port of the loopback address (`Tests/Conformance/smtp_relay.py`).
final class RunningRelay {
    /// Whether the relay can run here.
    static let isInstalled = Foreign.hasPython(with: "aiosmtpd")

    /// A mail as Python's email package reads it.
    struct Received {
        let json: JSONValue

        var text: String { json["text"]?.string ?? "" }
        var subject: String { json["subject"]?.string ?? "" }
        var recipients: [String] { json["recipients"]?.array?.map { $0.string ?? "" } ?? [] }
        func headers(named name: String) -> [String] {
            let pairs = json["headers"]?.array?.compactMap { $0.array.map(Array.init) } ?? []
            return pairs.filter { $0.first?.string?.lowercased() == name }.compactMap { $0.last?.string }
        }
    }

    let port: Int
    let security: MailRelay.Security
    private let folder = TemporaryFolder()
    private let credentials: PushStandInCredentials
    private let user: String
    private let password = "open sesame"
    private let program: UnsafeMutablePointer<FILE>

    /// - Parameter user: who has to sign in; empty for a relay that takes mails from anyone.
    init(_ security: MailRelay.Security = .none, user: String = "") throws {
        (self.security, self.user) = (security, user)
        credentials = try PushStandInCredentials.make(in: folder.file("credentials"))
        // The program inherits it; it listens before the program runs, so clients need not wait.
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        port = try #require(Loopback.bind(listener))
        let script = Repository.conformance("smtp_relay.py")
        let word =
            switch security {
            case .none: "none"
            case .startTLS: "starttls"
            case .tls: "tls"
            }
        let words = [
            Foreign.python, script, "\(listener)", word, folder.file("mails"), credentials.serverCertificateFile,
            credentials.serverKeyFile, user, password,
        ]
        try #require(listen(listener, 64) == 0)
        program = try #require(popen("exec " + words.map { "'\($0)'" }.joined(separator: " "), "we"))
    }

    deinit { pclose(program) }

    /// The setting for this relay.
    ///
    /// - Parameter trustsIt: whether the setting names the authority of the relay's certificate.
    func setting(password given: String? = nil, trustsIt: Bool = true) throws -> ServiceConfiguration.Mail {
        var mail = ServiceConfiguration.Mail(
            host: "localhost", security: security, from: try #require(MailAddress("whereabouts@example.org")))
        mail.port = Int64(port)
        if trustsIt { mail.caFile = credentials.trustFile }
        if !user.isEmpty {
            mail.user = user
            mail.passwordFile = try folder.write("\(given ?? password)\n", to: "password")
        }
        return mail
    }

    /// The mails so far.
    var received: [Received] {
        guard let text = try? String(contentsOfFile: folder.file("mails"), encoding: .utf8) else { return [] }
        return text.split(separator: "\n").compactMap { line in
            (try? JSONDocument.parse(Array(line.utf8))).map { Received(json: $0.root) }
        }
    }

    /// Waits until there are as many.
    func until(_ count: Int) throws -> [Received] {
        try eventually("\(count) mails") {
            let mails = received
            return mails.count >= count ? mails : nil
        }
    }
}
