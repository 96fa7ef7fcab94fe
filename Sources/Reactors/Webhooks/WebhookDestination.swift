import Answers
import Cryptography
import Glibc
import Log
package import Posting
package import Whereabouts
import WireFormats

/// The target of a webhook's messages, and their form. The hash of ``body(of:)`` is recorded.
enum WebhookDestination {
    /// Signed JSON.
    case signed(PostURL, key: [UInt8])
    /// The text to a topic of an ntfy server.
    case ntfy(PostURL, WebhookTarget, NoticeStyle)
    /// The text to an address.
    case mail(MailAddress, WebhookTarget, NoticeStyle)

    /// The target of a webhook. `nil` if the operator does not allow it, or for a kind without messages.
    init?(_ target: WebhookTarget, _ kind: NoticeKind?, in deliverer: WebhookDeliverer, _ timeZones: TimeZoneDatabase) {
        let style = NoticeStyle(target.wording, timeZones)
        switch kind {
        case nil, .ntfy?:
            guard let url = PostURL(target.url), deliverer.allows(url) else { return nil }
            self = kind == nil ? .signed(url, key: target.secret) : .ntfy(url, target, style)
        case .email?:
            guard let address = target.mailAddress, deliverer.mailer != nil else { return nil }
            self = .mail(address, target, style)
        case .homeAssistant?: return nil
        }
    }

    /// Messages with an equal name share the limit of posts under way.
    var origin: String {
        switch self {
        case .signed(let url, _), .ntfy(let url, _, _): "\(url.origin)"
        case .mail: "mail"
        }
    }

    /// The bytes that are recorded and sent.
    func body(of message: WebhookMessage) -> [UInt8] {
        switch self {
        case .signed: message.body
        case .ntfy(_, _, let style), .mail(_, _, let style): Array(NoticeText(of: message.body, style).text.utf8)
        }
    }

    /// Whether no further try can succeed, because the relay refuses the address or the mail for good (RFC 3463). A
    /// refused sign-in is tried again, because the operator can repair it.
    func isHopeless(_ outcome: PostOutcome) -> Bool {
        switch self {
        case .signed, .ntfy: outcome.status == WebhookFailure.gone
        case .mail: [550, 551, 553, 554, 556].contains(outcome.status)
        }
    }
}

extension WebhookTarget {
    private static let mailScheme = "mailto:"

    /// The target of an address.
    package init(address: MailAddress, key: [UInt8], showsDetailInTitle: Bool, wording: NoticeWording) {
        self.init(
            url: Self.mailScheme + address.text, secret: key, showsDetailInTitle: showsDetailInTitle, wording: wording)
    }

    /// The address; `nil` for a URL of another scheme.
    var mailAddress: MailAddress? {
        guard url.hasPrefix(Self.mailScheme) else { return nil }
        return MailAddress(String(url.dropFirst(Self.mailScheme.count)))
    }

    /// The code that confirms an address: ten characters of 31, in two groups, for example `H7QKM-29XTD`, which is 49
    /// bits. It follows from the key, so that it can be mailed again after a restart.
    package var confirmationCode: String {
        let letters = Array("ABCDEFGHJKMNPQRSTUVWXYZ23456789")
        let digest = hmacSHA256(key: secret, message: Array("code".utf8)).bytes
        // Each letter from three bytes: the bias is below 2^-19.
        let code = (0..<10).map { index -> Character in
            let number = digest[index * 3..<index * 3 + 3].reduce(0) { $0 << 8 | Int($1) }
            return letters[number % letters.count]
        }
        return String(code.prefix(5)) + "-" + String(code.suffix(5))
    }

    /// The hash of a code as the person types it. Lower case, and missing or other separators, give the same code.
    package static func codeHash(_ code: String) -> Hash256 {
        let plain = code.uppercased().utf8.filter { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
        return Hash256(SHA256().hash(Array(plain)))
    }

    /// The headers of a message to ntfy.
    func ntfyHeaders(_ text: NoticeText) -> [String] {
        var headers = [
            "Content-Type: text/plain; charset=utf-8", "User-Agent: whereabouts",
            "Title: \(HeaderText.encoded(showsDetailInTitle ? text.detail : text.title))",
            "Priority: \(priority ?? text.priority)", "Tags: \(text.tag)",
        ]
        // The token was checked when the webhook was added: it is visible ASCII.
        if !secret.isEmpty { headers.append("Authorization: Bearer \(String(decoding: secret, as: UTF8.self))") }
        return headers
    }
}

/// Text in headers of HTTP and mail.
enum HeaderText {
    /// The longest encoded word (RFC 2047, section 2) leaves room for 45 bytes of text.
    private static let bytesPerWord = 45

    /// The text itself if it is printable ASCII, otherwise encoded words of RFC 2047.
    ///
    /// - Parameter separator: Between two words. It has a line end only for mail, whose lines are short (section 2).
    static func encoded(_ text: String, separator: String = " ") -> String {
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), !text.contains("=?") { return text }
        var words: [[UInt8]] = [[]]
        for character in text.unicodeScalars {
            let bytes = Array(String(character).utf8)
            if words[words.count - 1].count + bytes.count > bytesPerWord { words.append([]) }
            words[words.count - 1] += bytes
        }
        return words.map { "=?UTF-8?B?\(Base64.encode($0))?=" }.joined(separator: separator)
    }
}

/// Makes the mails of notices, for the relay that the operator configured.
struct Mailer {
    let relay: MailRelay
    let sender: MailAddress

    /// The bytes of a line of Base64 in a mail (RFC 2045, section 6.8).
    private static let lineBytes = 57

    /// A mail with a recorded text.
    ///
    /// - Parameters:
    ///   - id: The message's id, the same each time the message is mailed.
    ///   - text: The message, for its title.
    func mail(
        _ message: Repeatable, to address: MailAddress, _ target: WebhookTarget, id: String, _ text: NoticeText,
        at now: Timestamp
    ) -> Mail {
        let title = text.tag == "key" ? text.title : target.showsDetailInTitle ? text.detail : text.subject
        var lines = [
            "From: Whereabouts <\(sender)>", "To: <\(address)>",
            "Subject: \(HeaderText.encoded(title, separator: "\r\n "))",
            "Date: \(Self.date(now))", "Message-ID: <\(id)@\(sender.domain)>", "Auto-Submitted: auto-generated",
            "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: base64", "",
        ]
        var body: [UInt8] = []
        for byte in message.body + [UInt8(ascii: "\n")] {
            if byte == UInt8(ascii: "\n") { body.append(UInt8(ascii: "\r")) }
            body.append(byte)
        }
        for start in stride(from: 0, to: body.count, by: Self.lineBytes) {
            lines.append(Base64.encode(Array(body[start..<min(start + Self.lineBytes, body.count)])))
        }
        let content = Array((lines.joined(separator: "\r\n") + "\r\n").utf8)
        return Mail(relay: relay, sender: sender, recipient: address, content: content)
    }

    /// The time in the form of RFC 5322, section 3.3, for example `Mon, 4 May 2026 08:00:07 +0000`.
    static func date(_ now: Timestamp) -> String {
        let text = ISO8601.text(of: now)
        let (date, time) = (text.prefix(10).split(separator: "-"), text.dropFirst(11).prefix(8))
        let days = Int((Double(now.milliseconds) / 86_400_000).rounded(.down))
        // 1970-01-01 was a Thursday.
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][((days % 7) + 7) % 7]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let month = months[(Int(date[1]) ?? 1) - 1]
        return "\(weekday), \(Int(date[2]) ?? 1) \(month) \(date[0]) \(time) +0000"
    }
}

extension Mailer {
    /// - Throws: ``LogError`` if the password file cannot be read.
    init(_ mail: ServiceConfiguration.Mail) throws(LogError) {
        var password: String?
        if let path = mail.passwordFile {
            guard let bytes = DataDirectory.read(path, atMost: 4096) else { throw .file(path: path, errno: errno) }
            password = String(decoding: bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...], as: UTF8.self)
        }
        relay = MailRelay(
            host: mail.host, port: Int(mail.port), security: mail.security, user: mail.user, password: password,
            trustFile: mail.caFile)
        sender = mail.from
    }
}
