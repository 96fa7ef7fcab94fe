import CCurl
import CSupport
import Glibc

/// A mail server that takes mails from this service (RFC 5321, RFC 6409).
package struct MailRelay: Hashable, Sendable {
    /// When TLS begins.
    package enum Security: Hashable, Sendable {
        /// With the connection, as at port 465.
        case tls
        /// By STARTTLS, as at port 587. Without it nothing is sent.
        case startTLS
        /// No TLS; only for a relay on this machine.
        case none
    }

    package let host: String
    package let port: Int
    package let security: Security
    /// `nil` without a sign-in.
    package let user: String?
    package let password: String?
    /// PEM file of certificates to trust instead of the system's.
    package let trustFile: String?

    package init(
        host: String, port: Int, security: Security, user: String? = nil, password: String? = nil,
        trustFile: String? = nil
    ) {
        (self.host, self.port, self.security) = (host, port, security)
        (self.user, self.password, self.trustFile) = (user, password, trustFile)
    }

    fileprivate var url: String { "\(security == .tls ? "smtps" : "smtp")://\(host):\(port)" }
}

/// An address of mail in its common form, `local@domain`: a dot-atom and a domain of letters, digits and hyphens (RFC
/// 5321, section 4.1.2), in ASCII. Quoted names, comments, address literals and lists are refused, so an address cannot
/// contain a line end, a second address or an SMTP option.
package struct MailAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address, as it was given.
    package let text: String

    /// The part behind the at sign.
    package var domain: Substring { text[text.index(after: text.firstIndex(of: "@") ?? text.startIndex)...] }

    /// `nil` for any other text. At most 254 bytes (RFC 5321, section 4.5.3.1.3), of which 64 before the at sign.
    package init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count == 2, text.utf8.count <= 254, (1...64).contains(parts[0].count) else { return nil }
        func atoms(_ part: Substring.UTF8View.SubSequence) -> [Substring.UTF8View.SubSequence] {
            part.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        }
        let isLocalPart = atoms(parts[0]).allSatisfy { atom in
            !atom.isEmpty && atom.allSatisfy { Self.isLetterOrDigit($0) || Self.marks.contains($0) }
        }
        let labels = atoms(parts[1])
        let isDomain = labels.allSatisfy { label in
            (1...63).contains(label.count) && label.first != Self.hyphen && label.last != Self.hyphen
                && label.allSatisfy { Self.isLetterOrDigit($0) || $0 == Self.hyphen }
        }
        guard isLocalPart, isDomain else { return nil }
        self.text = text
    }

    package var description: String { text }

    private static let hyphen = UInt8(ascii: "-")
    /// The characters of an atom other than letters and digits (RFC 5322, section 3.2.3).
    private static let marks = Set("!#$%&'*+-/=?^_`{|}~".utf8)

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

/// One mail with one recipient.
package struct Mail: Sendable {
    package let relay: MailRelay
    /// The sender in the envelope and the head.
    package let sender: MailAddress
    package let recipient: MailAddress
    /// Head and body, with line ends of CR LF.
    package let content: [UInt8]
    /// The time limit, including the connection. Relays may check a mail for a while before they accept it.
    package static let milliseconds = 60_000

    package init(relay: MailRelay, sender: MailAddress, recipient: MailAddress, content: [UInt8]) {
        (self.relay, self.sender, self.recipient, self.content) = (relay, sender, recipient, content)
    }
}

/// One mail under way.
final class MailTransfer: Transfer {
    let handle: UnsafeMutableRawPointer
    let completion: @Sendable (PostOutcome) -> Void
    private let options: UnsafeMutablePointer<mail_options>
    private let content: UnsafeMutableBufferPointer<UInt8>

    init(_ mail: Mail, _ completion: @escaping @Sendable (PostOutcome) -> Void) {
        self.completion = completion
        options = .allocate(capacity: 1)
        content = .allocate(capacity: max(1, mail.content.count))
        _ = content.update(fromContentsOf: mail.content)
        func copy(_ text: String?) -> UnsafePointer<CChar>? { text.flatMap { strdup($0) }.map { UnsafePointer($0) } }
        options.initialize(
            to: mail_options(
                url: copy(mail.relay.url), starts_tls: mail.relay.security == .startTLS ? 1 : 0,
                user: copy(mail.relay.user), password: copy(mail.relay.password),
                trust_file: copy(mail.relay.trustFile), sender: copy("<\(mail.sender)>"),
                recipients: curl_slist_append(nil, "<\(mail.recipient)>"), content: content.baseAddress,
                content_bytes: mail.content.count, sent_bytes: 0, connect_milliseconds: Poster.connectMilliseconds,
                milliseconds: Mail.milliseconds))
        guard let handle = mail_prepare(options) else { preconditionFailure("Out of memory.") }
        self.handle = handle
    }

    deinit {
        curl_easy_cleanup(handle)
        let given = options.pointee
        curl_slist_free_all(given.recipients)
        for text in [given.url, given.user, given.password, given.trust_file, given.sender] {
            free(UnsafeMutableRawPointer(mutating: text))
        }
        options.deallocate()
        content.deallocate()
    }

    func finish(_ code: CURLcode) {
        let status = post_status(handle)
        // If a relay refuses, the transfer fails in libcurl with the relay's reply as the status.
        let isAnswer = code == CURLE_OK || code != CURLE_OPERATION_TIMEDOUT && (400...599).contains(status)
        completion(
            isAnswer
                ? .answered(status: status, retryAfterSeconds: 0, headers: [:]) : .failed(PostFault(code)))
    }
}
