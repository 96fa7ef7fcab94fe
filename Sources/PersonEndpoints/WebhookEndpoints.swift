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
import WireFormats

/// Webhooks: targets to which the service hands a person's feed, and the outcomes.
///
/// For the person with the scope `manage`, and the operator; another caller gets 404. Each message is recorded as a
/// read before it leaves.
struct WebhookEndpoints: Sendable {
    let decisions: Decisions
    let views: Views
    /// `nil` if the operator allows neither targets nor mail.
    let webhookDeliverer: WebhookDeliverer?
    /// Whether the operator lets persons have trackers at the MQTT broker.
    let hasTrackers: Bool

    /// `GET /v1/people/*/webhooks`: the person's webhooks, a recorded read on one page, without their secrets.
    ///
    /// `state` is `active`, `unconfirmed` (the code that was mailed was not shown), `retrying` (the present message is not
    /// accepted yet), `silent` (the target is no longer allowed, or the token no longer valid) or `stopped` (too many
    /// dead letters). `told` is the place up to which
    /// messages were posted.
    ///
    /// `tries`, `status`, `reason` and `nextTry` describe the present message if it is not accepted yet, and are
    /// absent otherwise. `testedAt` and `testOutcome` describe the last test message.
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
                let trouble = webhookDeliverer?.trouble(of: id)
                let state =
                    if webhook.isStopped { "stopped" } else if !isAllowed(target, webhook.terms.kind) || !hasVoice {
                        "silent"
                    } else if trouble != nil { "retrying" } else { webhook.isUnconfirmed ? "unconfirmed" : "active" }
                return WebhookItem(
                    id: references.name(id.rawValue, .webhook),
                    kind: webhook.terms.kind?.word ?? NoticeKind.signedWord, url: target?.url,
                    topics: webhook.topics.words, silentAfter: webhook.terms.silentAfterSeconds,
                    token: references.name(webhook.token.rawValue, .token), state: state,
                    told: references.place(webhook.place), deadLetters: Int64(webhook.letters.count),
                    tries: trouble.map { Int64($0.tries) }, status: (trouble?.outcome.status).map { Int64($0) },
                    reason: trouble?.outcome.reason, nextTry: trouble.map { Moment($0.nextTry) },
                    testedAt: (webhook.test?.at).map { Moment($0) }, testOutcome: webhook.testOutcome?.word,
                    language: target?.wording?.language.word, zone: target?.wording?.zone)
            }
        }
    }

    /// The target from the event that added the webhook; `nil` if the event is erased.
    private static func target(of id: WebhookID, _ context: AnswerContext) -> WebhookTarget? {
        guard case .webhookAdded(_, _, _, let part)? = (try? context.reader.event(id.rawValue))?.event.event else {
            return nil
        }
        return part.content
    }

    /// Whether the operator allows the target.
    private func isAllowed(_ target: WebhookTarget?, _ kind: NoticeKind?) -> Bool {
        guard let target else { return false }
        return switch kind {
        case nil, .ntfy?: PostURL(target.url).map { webhookDeliverer?.allows($0) ?? false } ?? false
        case .email?: webhookDeliverer?.sendsMail ?? false
        case .homeAssistant?: hasTrackers
        }
    }

    /// `POST /v1/people/*/webhooks/*/confirmation`: confirms an address with the code that was mailed to it; the
    /// messages then begin.
    ///
    /// - Throws: 400 without a code, 422 if it is wrong or too old.
    func confirm(_ exchange: Exchange) throws(Problem) -> Command {
        let code = try exchange.object("code").requiredText("code")
        guard code.utf8.count <= Self.codeBytes else {
            throw .invalid("\"code\" must be the code in the mail, for example H7QKM-29XTD.")
        }
        let id = WebhookID(rawValue: try exchange.number(1, .webhook, decisions))
        return .confirmWebhook(id, of: try exchange.handle(0), codeHash: WebhookTarget.codeHash(code))
    }

    /// Longer than any code with separators.
    private static let codeBytes = 64

    /// `POST /v1/people/*/webhooks/*/test`: sends a message without data about the person, after the messages that wait.
    /// The answer comes before the message; the list shows the outcome.
    ///
    /// Recorded as `OperatorActed(testWebhook)` in the person's audit, also if the person asks for it. The message is
    /// recorded as a read before it leaves, like every other.
    ///
    /// - Throws: 404 for a webhook that is removed or another person's, 422 if it would not send the message, 429 after
    ///   ``Limits/testsPerWebhook``.
    func test(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let id = WebhookID(rawValue: try exchange.number(1, .webhook, decisions))
        let handle = try exchange.handle(0)
        let now = decisions.clock()
        // A caller without the right must not learn which targets are allowed.
        let kind = decisions.log.withStanding { standing -> NoticeKind?? in
            guard case .success(let permit) = standing.authorize(exchange.caller, to: .manage, about: handle, at: now),
                let webhook = standing.webhooks[id], webhook.person == permit.subject
            else { return nil }
            return .some(webhook.terms.kind)
        }
        if let kind, !isAllowed(Self.target(of: id, context), kind) {
            throw .refused("The operator no longer allows this target; ask the operator, or add another webhook.")
        }
        let receipt = try decisions.append(exchange, .testWebhook(id, of: handle))
        return .done(receipt, decisions.references(for: exchange.caller))
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
