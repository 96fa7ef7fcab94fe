import Answers
import Cryptography
import HTTPInterface
import HTTPServer
import JSON
import Log
import Posting
import Reactors
import Replies
import Whereabouts

extension WebhookEndpoints {
    /// `POST /v1/people/*/webhooks`: adds a webhook, and shows its secret once.
    ///
    /// The body has `kind`, by default `webhook`, and the members of that kind:
    /// - `webhook`: `url`, of an origin that the operator allows
    /// - `ntfy`: `url` of the topic, of an allowed origin; optionally `token`, `priority`, `detailedTitle`, `language`
    ///   and `zone`
    /// - `email`: `address`, and optionally `detailedTitle`, `language` and `zone`
    /// - `homeAssistant`: nothing
    ///
    /// All but `homeAssistant` take `topics`, by default all but silence, and `silentAfter` for the topic silence. The
    /// webhook acts with the caller's token: if the token is revoked, it sends nothing. A session of the page issues a
    /// token for the webhook, which only reads and is revoked with the webhook.
    ///
    /// May call: the person only, with the scopes `manage` and `audit`. Recorded as `WebhookAdded`, with the target and
    /// the secret sealed, for a session after `TokenIssued`.
    ///
    /// - Throws: 409 if the operator allows no targets of the kind; 422 if the operator does not allow this target, or
    ///   for too many webhooks.
    func add(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let body = try exchange.object(
            "kind", "url", "address", "token", "priority", "detailedTitle", "topics", "silentAfter", "language", "zone")
        let handle = try exchange.handle(0)
        let now = decisions.clock()
        // A caller without the right must not learn which targets are allowed.
        guard
            case .success(let permit) = decisions.log.withStanding({
                $0.authorize(exchange.caller, to: .manage, about: handle, at: now)
            })
        else { throw .noSuchPerson }
        let kind = try Self.kind(of: body)
        let target = try target(of: kind, body, secret: exchange.secretBytes)
        let silentAfter = try Self.silentAfter(of: body)
        let topics = try Self.topics(of: body, kind, isSilenceWanted: silentAfter != nil)
        if kind == .email, webhookDeliverer?.mayMailCode(for: permit.subject, at: now) != true {
            throw Problem(
                429, "Too often",
                "A person can add \(Limits.codesPerDay.person) addresses a day; try again tomorrow.",
                retryAfterSeconds: 86_400)
        }
        let terms = NoticeTerms(
            kind: kind, silentAfterSeconds: silentAfter,
            codeHash: kind == .email ? WebhookTarget.codeHash(target.confirmationCode) : nil)
        let (id, receipt) = try decisions.append(
            exchange, .addWebhook(of: handle, target, topics, terms, ownToken: Self.ownToken()))
        let references = decisions.references(for: exchange.caller)
        return HTTPResponse.created(
            receipt, references,
            MadeWebhook(
                id: references.name(id.rawValue, .webhook), url: target.url, topics: topics.words,
                secret: kind == nil ? "whsec_" + Base64.encode(target.secret) : nil))
    }

    /// The hash of the token that a webhook gets from a session; the decision does not use it for other callers. No
    /// token with a random hash is known.
    private static func ownToken() -> Hash256 {
        var random = SystemRandomNumberGenerator()
        return Hash256(words: (random.next(), random.next(), random.next(), random.next()))
    }

    /// The kind of a body; `nil` for signed JSON.
    private static func kind(of body: JSONValue) throws(Problem) -> NoticeKind? {
        guard let word = try body.optionalText("kind"), word != NoticeKind.signedWord else { return nil }
        guard let kind = NoticeKind.allCases.first(where: { $0.word == word }) else {
            throw .invalid("\"kind\" must be one of \(NoticeKind.words.joined(separator: ", ")).")
        }
        return kind
    }

    /// The members of a body that each kind takes, in addition to `kind`, `topics` and `silentAfter`.
    private static func members(of kind: NoticeKind?) -> [String] {
        switch kind {
        case nil: ["url"]
        case .ntfy?: ["url", "token", "priority", "detailedTitle", "language", "zone"]
        case .email?: ["address", "detailedTitle", "language", "zone"]
        case .homeAssistant?: []
        }
    }

    /// The target of a body, checked against the allowed targets.
    private func target(
        of kind: NoticeKind?, _ body: JSONValue, secret: [UInt8]
    ) throws(Problem) -> WebhookTarget {
        let word = kind?.word ?? NoticeKind.signedWord
        let taken = Self.members(of: kind)
        for name in ["url", "address", "token", "priority", "detailedTitle", "language", "zone"]
        where !taken.contains(name) {
            guard body[name].map(\.isNull) ?? true else {
                throw .refused("\"\(name)\" does not belong to the kind \(word); leave it out.")
            }
        }
        let isDetailed = try body.flag("detailedTitle", default: false)
        let wording = try wording(of: body)
        switch kind {
        case nil:
            // Standard Webhooks requires 24 to 64 bytes.
            return WebhookTarget(url: try url(of: body).text, secret: secret)
        case .ntfy?:
            let url = try url(of: body)
            let token = try body.optionalText("token") ?? ""
            guard token.utf8.count <= Self.tokenBytes, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw .refused(
                    "\"token\" must be an access token of the ntfy server in at most \(Self.tokenBytes) ASCII characters, for example tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2."
                )
            }
            let priority = body["priority"].flatMap { $0.isNull ? nil : $0 }
            guard priority.map({ (1...5).contains($0.int ?? 0) }) ?? true else {
                throw .invalid("\"priority\" must be a whole number from 1 (least) to 5 (most urgent).")
            }
            return WebhookTarget(
                url: url.text, secret: Array(token.utf8), priority: priority?.int, showsDetailInTitle: isDetailed,
                wording: wording)
        case .email?:
            guard webhookDeliverer?.sendsMail ?? false else {
                throw Problem(
                    409, "Mail is off", "The operator has not configured a mail relay; see \"mail\" in the README.")
            }
            guard let address = MailAddress(try body.optionalText("address") ?? "") else {
                throw .refused("\"address\" must be one mail address, for example anna@example.org.")
            }
            return WebhookTarget(address: address, key: secret, showsDetailInTitle: isDetailed, wording: wording)
        case .homeAssistant?:
            guard hasTrackers else {
                throw Problem(
                    409, "Trackers are off",
                    "The operator has not allowed trackers at the MQTT broker; see \"mqtt\" in the README.")
            }
            return WebhookTarget(url: "mqtt:", secret: [])
        }
    }

    /// The language and zone of a body's texts: English without one, and the zone of each message's place.
    private func wording(of body: JSONValue) throws(Problem) -> NoticeWording {
        let word = try body.optionalText("language")
        guard let language = NoticeWording.Language.allCases.first(where: { $0.word == word ?? "en" }) else {
            throw .invalid("\"language\" must be one of \(NoticeWording.Language.words.joined(separator: ", ")).")
        }
        let zone = try body.optionalText("zone")
        guard zone.map(views.timeZones.has) ?? true else {
            throw .refused("\"zone\" must be a name of the IANA database, for example Europe/Vienna.")
        }
        return NoticeWording(language: language, zone: zone)
    }

    /// Longer than any access token of ntfy.
    private static let tokenBytes = 128

    /// The URL of a body, of an allowed origin.
    private func url(of body: JSONValue) throws(Problem) -> PostURL {
        guard let deliverer = webhookDeliverer, deliverer.allowsTargets else {
            throw Problem(
                409, "Webhooks are off", "The operator has not allowed any target; see \"webhooks\" in the README.")
        }
        guard let text = try body.optionalText("url") else {
            throw .refused("\"url\" is missing: the address of the server or of the ntfy topic.")
        }
        guard text.utf8.count <= Limits.webhookURLBytes, let url = PostURL(text) else {
            throw .invalid(
                "\"url\" must be an https URL of at most \(Limits.webhookURLBytes) ASCII characters, without a user or fragment."
            )
        }
        guard deliverer.allows(url) else {
            throw .refused(
                "The operator has not allowed \(url.origin); choose an allowed target, or ask the operator.")
        }
        return url
    }

    /// The length of a silence; `nil` without one.
    private static func silentAfter(of body: JSONValue) throws(Problem) -> Int64? {
        guard let value = body["silentAfter"], !value.isNull else { return nil }
        guard let seconds = value.int, Limits.silenceSeconds.contains(seconds) else {
            throw .invalid(
                "\"silentAfter\" must be \(Limits.silenceSeconds.lowerBound) to \(Limits.silenceSeconds.upperBound) seconds, for example 3600."
            )
        }
        return seconds
    }

    /// The topics of a body; the usual ones if there are none, and silence if a length is given.
    private static func topics(
        of body: JSONValue, _ kind: NoticeKind?, isSilenceWanted: Bool
    ) throws(Problem) -> FeedTopics {
        let given = body["topics"].flatMap { $0.isNull ? nil : $0 }
        if kind == .homeAssistant {
            guard given == nil, !isSilenceWanted else {
                throw .refused("A Home Assistant tracker has no topics; leave out \"topics\" and \"silentAfter\".")
            }
            return []
        }
        guard let given else { return isSilenceWanted ? .all : .usual }
        var words: [String] = []
        if let items = given.array { for item in items { words.append(item.string ?? "") } }
        guard let topics = FeedTopics(words: words), !topics.isEmpty else {
            throw .invalid("\"topics\" must be a list of \(FeedTopics.words.joined(separator: ", ")).")
        }
        guard topics.contains(.silence) == isSilenceWanted else {
            throw .refused(
                "The topic silence and \"silentAfter\" (in seconds, for example 3600) go together; give both.")
        }
        return topics
    }
}
