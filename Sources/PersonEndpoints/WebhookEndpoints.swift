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

/// Webhooks: URLs to which the service posts events, and the outcomes of the posts.
///
/// For the person with the scope `manage`, and the operator; another caller gets 404. Each message is recorded as a
/// read before it is posted.
struct WebhookEndpoints: Sendable {
    let decisions: Decisions
    let views: Views
    let webhookDeliverer: WebhookDeliverer?

    /// `POST /v1/people/*/webhooks`: adds a webhook, and shows its secret once.
    ///
    /// The body has `url`, which must be of an origin that the operator allows, and optionally `topics`, by default
    /// all. Answers 201 with `id`, `url`, `topics`, `secret` and `number`. The webhook acts with the caller's token: if
    /// that is revoked, it falls silent.
    ///
    /// - Throws: 409 if the operator allows no targets, 422 if not this one.
    ///
    /// May call: the person only, with the scopes `manage` and `audit`, and with a token instead of a session.
    /// Recorded as `WebhookAdded`, with the URL and the secret sealed. 422 past ``Limits/webhooksPerPerson``
    /// webhooks.
    func add(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let body = try exchange.object("url", "topics")
        let handle = try exchange.handle(0)
        let now = decisions.clock()
        // A caller without the right must not learn which targets are allowed.
        guard
            case .success = decisions.log.withStanding({
                $0.authorize(exchange.caller, to: .manage, about: handle, at: now)
            })
        else { throw .noSuchPerson }
        guard let deliverer = webhookDeliverer else {
            throw Problem(
                409, "Webhooks are off", "The operator has not allowed any target; see \"webhooks\" in the README.")
        }
        let text = try body.requiredText("url")
        guard text.utf8.count <= Limits.webhookURLBytes, let url = PostURL(text) else {
            throw .invalid(
                "\"url\" must be a URL of https in at most \(Limits.webhookURLBytes) ASCII characters, without user and fragment."
            )
        }
        guard deliverer.allows(url) else {
            throw .refused(
                "The operator has not allowed \(url.origin); choose an allowed target, or ask the operator.")
        }
        // Standard Webhooks requires 24 to 64 bytes.
        let target = WebhookTarget(url: url.text, secret: exchange.secretBytes)
        let topics = try Self.topics(of: body)
        let (id, receipt) = try decisions.append(exchange, .addWebhook(of: handle, target, topics))
        let references = decisions.references(for: exchange.caller)
        return HTTPResponse.created(
            receipt, references,
            MadeWebhook(
                id: references.name(id.rawValue, .webhook), url: url.text, topics: topics.words,
                secret: "whsec_" + Base64.encode(target.secret)))
    }

    /// The topics of a body; all if there are none.
    ///
    /// - Throws: 400 for an empty list or an unknown word.
    private static func topics(of body: JSONValue) throws(Problem) -> FeedTopics {
        guard let given = body["topics"], !given.isNull else { return .all }
        var words: [String] = []
        if let items = given.array { for item in items { words.append(item.string ?? "") } }
        guard let topics = FeedTopics(words: words), !topics.isEmpty else {
            throw .invalid("\"topics\" must be a list of \(FeedTopics.words.joined(separator: ", ")).")
        }
        return topics
    }

    /// `GET /v1/people/*/webhooks`: the person's webhooks, a recorded read on one page, without their secrets.
    ///
    /// `state` is `active`, `retrying` (the present message is not accepted yet), `silent` (the target is no longer
    /// allowed, or the token no longer valid) or `stopped` (too many dead letters). `told` is the place up to which
    /// messages were posted.
    ///
    /// `tries`, `status`, `reason` and `nextTry` describe the present message if it is not accepted yet, and are
    /// absent otherwise.
    func list(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        let now = decisions.clock()
        return try views.read(exchange, context, .settings, from: nil) { reading in
            let (webhooks, asOf) = decisions.log.withStanding { standing in
                let ids = standing.webhooks.of(reading.permit.subject)
                let found = ids.compactMap { id in
                    standing.webhooks[id].map { (id, $0, hasVoice: standing.caller(of: $0, at: now) != nil) }
                }
                return (found, standing.place)
            }
            let references = reading.references
            return PageWriter.page(webhooks, next: nil, asOf: asOf, references) { item in
                let (id, webhook, hasVoice) = item
                let target = Self.target(of: id, context)
                let url = target.flatMap { PostURL($0.url) }
                let isAllowed = url.map { webhookDeliverer?.allows($0) ?? false } ?? false
                let trouble = webhookDeliverer?.trouble(of: id)
                let state =
                    if webhook.isStopped { "stopped" } else if !isAllowed || !hasVoice { "silent" } else {
                        trouble == nil ? "active" : "retrying"
                    }
                return WebhookItem(
                    id: references.name(id.rawValue, .webhook), url: target?.url, topics: webhook.topics.words,
                    token: references.name(webhook.token.rawValue, .token), state: state,
                    told: references.place(webhook.place), deadLetters: Int64(webhook.letters.count),
                    tries: trouble.map { Int64($0.tries) }, status: (trouble?.outcome.status).map { Int64($0) },
                    reason: trouble?.outcome.reason, nextTry: trouble.map { Moment($0.nextTry) })
            }
        }
    }

    /// The target from the event that added the webhook; `nil` if the event is erased.
    private static func target(of id: WebhookID, _ context: AnswerContext) -> WebhookTarget? {
        guard case .webhookAdded(_, _, let part)? = (try? context.reader.event(id.rawValue))?.event.event else {
            return nil
        }
        return part.content
    }

    /// `DELETE /v1/people/*/webhooks/*`: removes a webhook with its dead letters.
    ///
    /// Recorded as `WebhookRemoved`. A post under way may still arrive.
    ///
    /// - Throws: 404 for a webhook that is removed or another person's.
    func remove(_ exchange: Exchange) throws(Problem) -> Command {
        .removeWebhook(WebhookID(rawValue: try exchange.number(1, .webhook, decisions)), of: try exchange.handle(0))
    }

    /// `GET /v1/people/*/webhooks/*/dead-letters`: the messages that were given up, without their content, which only
    /// the target may see.
    ///
    /// A recorded read of settings. An unknown webhook has an empty list.
    func deadLetters(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        let id = WebhookID(rawValue: try exchange.number(1, .webhook, decisions))
        return try views.read(exchange, context, .settings, from: nil) { reading in
            let (letters, asOf) = decisions.log.withStanding { standing in
                let webhook = standing.webhooks[id].flatMap { $0.person == reading.permit.subject ? $0 : nil }
                return (webhook?.letters.sorted { $0.key < $1.key } ?? [], standing.place)
            }
            let references = reading.references
            let own = decisions.references(of: reading.permit.subject)
            return PageWriter.page(letters, next: nil, asOf: asOf, references) { letter in
                let recorded = (try? context.reader.event(letter.key.rawValue))?.event
                var item = DeadLetterItem(
                    id: references.name(letter.key.rawValue, .deadLetter),
                    message: WebhookMessage.id(of: letter.value, by: id, own))
                if let recorded, case .webhookFailed(let failure) = recorded.event {
                    item.failedAt = Moment(recorded.recordedAt)
                    item.tries = Int64(failure.tries)
                    item.status = failure.status.map { Int64($0) }
                    item.reason = failure.reason
                }
                return item
            }
        }
    }

    /// `POST /v1/people/*/webhooks/*/dead-letters/*/retry`: posts a message again that the webhook gave up on. The act
    /// is recorded first. The answer 202 comes before the post; the list shows the outcome.
    ///
    /// Recorded as `OperatorActed(retryMessage)` in the person's audit, also if the person retries.
    ///
    /// - Throws: 404 for a letter that is settled or of another webhook.
    func retry(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let (id, letter) = try letter(exchange)
        try decisions.append(exchange, .retryDeadLetter(letter, of: id, try exchange.handle(0)))
        webhookDeliverer?.retry(letter, of: id)
        let item = MadeItem(id: decisions.references(for: exchange.caller).name(letter.rawValue, .deadLetter))
        return .json(item.bytes, status: 202)
    }

    /// `DELETE /v1/people/*/webhooks/*/dead-letters/*`: removes a message from the list without posting it.
    ///
    /// Recorded as `WebhookSettled`. The receiver never gets the message.
    func discard(_ exchange: Exchange) throws(Problem) -> Command {
        let (id, letter) = try letter(exchange)
        return .discardDeadLetter(letter, of: id, try exchange.handle(0))
    }

    /// The webhook and the dead letter in the path, from the caller's references.
    ///
    /// - Throws: 404 if one of the two is not a reference that the caller was given.
    private func letter(_ exchange: Exchange) throws(Problem) -> (WebhookID, DeadLetterID) {
        (
            WebhookID(rawValue: try exchange.number(1, .webhook, decisions)),
            DeadLetterID(rawValue: try exchange.number(2, .deadLetter, decisions))
        )
    }
}
