import Answers
import Cryptography
import Log
import Posting
import Whereabouts

/// The rounds of the deliverer's thread, ten times a second and after each notice: which webhook has news, which
/// message may leave, and how the messages that left have ended. Used by that thread only.
final class WebhookRounds {
    /// The state of one webhook's delivery.
    private struct Course {
        enum Phase {
            /// No message, or the next one may be recorded now.
            case idle
            /// The first message waits for its record, its turn or its answer; or its failure waits for the record of
            /// that.
            case underWay
            /// Until a time of the monotonic clock.
            case pausing(until: Int64)
        }

        /// The target, checked against the allowed targets.
        let destination: WebhookDestination
        /// Whether the code of an unconfirmed address was mailed or given up since the start.
        var hasMailedCode = false
        /// Where the feed continues; `nil` until it is read for the first time.
        var feed: WebhookFeed?
        /// The messages that were read and not settled, in order.
        var messages: [WebhookMessage] = []
        var phase = Phase.idle
        /// The tries of the first message.
        var tries: Int64 = 0
        /// The versions of the person's streams and the log's head when the feed was read last.
        var seen: [Int64] = []

        /// Whether the log has grown since, or the projections had not folded all of it then.
        func mayHaveNews(_ now: [Int64]) -> Bool {
            guard let feed, let head = seen.last else { return true }
            return feed.place < head || seen.dropLast() != now.dropLast()
        }
    }

    /// A webhook in the standing, as of this round.
    private struct Look {
        let webhook: Standing.Webhook
        let subject: Handle
        /// `nil` if nothing may be shown to the target.
        let caller: Caller?
        let seen: [Int64]
    }

    /// A message that is recorded or being recorded.
    private struct Sending {
        let message: WebhookMessage
        /// The message once it is on record.
        var recorded: Repeatable?
        /// Set while the post is under way.
        var origin: String?
    }

    /// The posts under way to one origin: a slow target takes no connection from others.
    private static let postsPerOrigin = 16

    private unowned let deliverer: WebhookDeliverer
    private let sources: FeedSources
    private var decisions: Decisions { sources.decisions }
    /// The thread's own connections to the projections.
    private let context: AnswerContext
    /// The webhooks of the standing in this round.
    private var looks: [WebhookID: Look] = [:]
    /// The deliveries of webhooks with an allowed target.
    private var courses: [WebhookID: Course] = [:]
    /// Webhooks whose target is not allowed, or was erased.
    private var barred: Set<WebhookID> = []
    /// The messages on their way, from the record to the end of the post.
    private var sendings: [WebhookDeliverer.Errand: Sending] = [:]
    /// Recorded messages that have not left, in the order in which they came.
    private var ready: [WebhookDeliverer.Errand] = []
    /// The posts under way, by origin.
    private var posting: [String: Int] = [:]

    init(_ deliverer: WebhookDeliverer, _ sources: FeedSources, _ context: AnswerContext) {
        (self.deliverer, self.sources, self.context) = (deliverer, sources, context)
    }

    /// One round. Reads the log and projections, but never waits for a commit or a target.
    func go(_ notices: [WebhookDeliverer.Notice]) {
        let now = decisions.clock()
        look(at: now)
        for notice in notices {
            switch notice {
            case .recorded(let errand, let recorded): noteRecord(of: errand, recorded)
            case .answered(let errand, let outcome): noteAnswer(to: errand, outcome, at: now)
            case .failureRecorded(let id, let isDurable): noteFailure(of: id, isDurable: isDurable, at: now)
            case .retry(let letter, let id): retry(letter, of: id, at: now)
            }
        }
        for (id, look) in looks { advance(id, look, at: now) }
        post(at: now)
    }

    // MARK: Webhooks to serve

    /// Looks at all webhooks of the standing, and forgets those that are gone.
    private func look(at now: Timestamp) {
        looks = decisions.log.withStanding { standing in
            var looks: [WebhookID: Look] = [:]
            for (id, webhook) in standing.webhooks.all where webhook.terms.kind != .homeAssistant {
                guard let subject = standing.persons[webhook.person]?.handle else { continue }
                let caller = standing.caller(of: webhook, at: now).flatMap { caller in
                    (try? standing.authorize(caller, toRead: Self.reading(.live, of: subject), at: now).get())
                        .map { _ in caller }
                }
                let streams = [StreamID.audit(webhook.person), .track(webhook.person)]
                looks[id] = Look(
                    webhook: webhook, subject: subject, caller: caller,
                    seen: streams.map { standing.version(of: $0) } + [standing.place])
            }
            return looks
        }
        for id in courses.keys where looks[id] == nil {
            courses[id] = nil
            deliverer.note(nil, of: id)
        }
        // Posts under way are counted until they return.
        sendings = sendings.filter { looks[$0.key.webhook] != nil || $0.value.origin != nil }
    }

    private static func reading(_ question: LocationRead.Question, of subject: Handle) -> ReadQuestion {
        ReadQuestion(subject: subject, question: question, from: nil, to: nil, purpose: nil)
    }

    /// Whether the webhook has a target to which messages may be sent. An event that is not durable yet is read later.
    private func hasCourse(_ id: WebhookID) -> Bool {
        if courses[id] != nil { return true }
        guard !barred.contains(id), let event = (try? context.reader.event(id.rawValue))?.event.event else {
            return false
        }
        guard case .webhookAdded(_, _, let terms, let part) = event, let target = part.content,
            let destination = WebhookDestination(target, terms.kind, in: deliverer, sources.views.timeZones)
        else {
            barred.insert(id)
            return false
        }
        courses[id] = Course(destination: destination)
        return true
    }

    // MARK: The next message

    /// Takes the next step for one webhook: read its feed, or record its next message.
    private func advance(_ id: WebhookID, _ look: Look, at now: Timestamp) {
        guard look.caller != nil, !look.webhook.isStopped else { return rest(id) }
        guard hasCourse(id), let course = courses[id] else { return }
        switch course.phase {
        case .underWay: return
        case .pausing(let until): guard until <= decisions.log.questions.now() else { return }
        case .idle: break
        }
        if sendings[.next(id)] != nil {
            // A further try; its record exists.
            ready.append(.next(id))
            courses[id]?.phase = .underWay
            return
        }
        if look.webhook.isUnconfirmed {
            if !offerCode(id, look, at: now) { return }
        } else if course.messages.isEmpty, course.mayHaveNews(look.seen) {
            read(id, look)
        }
        if let message = courses[id]?.messages.first {
            if record(message, .next(id), look, at: now) { courses[id]?.phase = .underWay } else { finish(id) }
        }
    }

    /// Makes the code the next message of an unconfirmed address, unless it was mailed, given up or has ended.
    private func offerCode(_ id: WebhookID, _ look: Look, at now: Timestamp) -> Bool {
        guard let course = courses[id], case .mail(_, let target, _) = course.destination else { return false }
        if !course.messages.isEmpty { return true }
        let item = FeedPlace(number: id.rawValue, ordinal: 0)
        guard !course.hasMailedCode, look.webhook.place < item.number, look.webhook.isToTell(item),
            let until = look.webhook.codeUntil, now < until
        else { return false }
        courses[id]?.messages = [WebhookMessage(code: target.confirmationCode, of: look.subject, item)]
        return true
    }

    /// Reads the next messages of the feed. Messages that were settled before a restart are left out.
    private func read(_ id: WebhookID, _ look: Look) {
        guard var course = courses[id] else { return }
        do throws(Problem) {
            if course.feed == nil {
                course.feed = try WebhookFeed(id, look.webhook, context, sources)
            }
            let messages = try course.feed?.next(context, sources) ?? []
            course.messages = messages.filter { look.webhook.isToTell($0.item) }
            course.seen = look.seen
        } catch {
            // A view that cannot be read now is read in the next round.
        }
        courses[id] = course
    }

    /// Forgets the webhook's next messages. They are found again from its place in the standing.
    private func rest(_ id: WebhookID) {
        guard let course = courses[id], sendings[.next(id)]?.origin == nil else { return }
        sendings[.next(id)] = nil
        courses[id] = Course(destination: course.destination, hasMailedCode: course.hasMailedCode)
        deliverer.note(nil, of: id)
    }

    /// Removes the first message, whatever its outcome.
    private func finish(_ id: WebhookID) {
        sendings[.next(id)] = nil
        guard var course = courses[id], !course.messages.isEmpty else { return }
        let message = course.messages.removeFirst()
        (course.phase, course.tries) = (.idle, 0)
        // The item of the code is the webhook itself, and no feed has that item.
        let isCode = message.item.number == id.rawValue
        if isCode { course.hasMailedCode = true }
        courses[id] = course
        deliverer.note(nil, of: id)
        let place = isCode ? id.rawValue : course.feed?.place
        if course.messages.isEmpty, let place { settle(id, .told(upTo: place)) }
    }

    /// Records how far the webhook has been posted, or the end of a dead letter.
    private func settle(_ id: WebhookID, _ settlement: WebhookSettlement) {
        // A settlement that the log does not take is repeated after a restart, under the same id.
        decisions.log.submit(.settleWebhook(id, settlement), by: .house, correlation: .random()) { _ in }
    }

    // MARK: On record, and out

    /// Records the message as a read of its content; `false` if the webhook's token no longer has that right.
    private func record(
        _ message: WebhookMessage, _ errand: WebhookDeliverer.Errand, _ look: Look, at now: Timestamp
    ) -> Bool {
        let question = Self.reading(message.question, of: look.subject)
        guard let caller = look.caller, let destination = courses[errand.webhook]?.destination,
            case .success(let permit) = decisions.log.withStanding({ $0.authorize(caller, toRead: question, at: now) })
        else { return false }
        sendings[errand] = Sending(message: message)
        let computed = Gate.Computed(body: destination.body(of: message), count: 1, asOf: message.item.number)
        sources.views.gate.record(question, permitted: permit, computed, by: caller) { [deliverer] recorded in
            deliverer.notify(.recorded(errand, recorded))
        }
        return true
    }

    /// Puts a recorded message in line to leave. Without the record, the webhook tries again in the next round.
    private func noteRecord(of errand: WebhookDeliverer.Errand, _ recorded: Repeatable?) {
        if let recorded, sendings[errand] != nil {
            sendings[errand]?.recorded = recorded
            return ready.append(errand)
        }
        sendings[errand] = nil
        if case .next(let id) = errand { courses[id]?.phase = .idle }
    }

    /// Posts the messages in line, as far as their origins have room. A message whose webhook may no longer show it is
    /// dropped.
    private func post(at now: Timestamp) {
        var left: [WebhookDeliverer.Errand] = []
        for errand in ready {
            guard let sending = sendings[errand], sending.origin == nil, let recorded = sending.recorded else {
                continue
            }
            guard let course = courses[errand.webhook], let look = looks[errand.webhook], look.caller != nil else {
                sendings[errand] = nil
                continue
            }
            let origin = course.destination.origin
            guard posting[origin, default: 0] < Self.postsPerOrigin else {
                left.append(errand)
                continue
            }
            posting[origin, default: 0] += 1
            sendings[errand]?.origin = origin
            let references = decisions.references(of: look.webhook.person)
            deliverer.send(recorded, sending.message, to: course.destination, for: errand, references, at: now)
        }
        ready = left
    }

    // MARK: Outcomes

    /// Settles a message that its target accepted, or pauses its webhook.
    private func noteAnswer(to errand: WebhookDeliverer.Errand, _ outcome: PostOutcome, at now: Timestamp) {
        guard let sending = sendings[errand], let origin = sending.origin else { return }
        posting[origin, default: 1] -= 1
        if posting[origin] == 0 { posting[origin] = nil }
        sendings[errand]?.origin = nil
        switch errand {
        case .letter(let letter, let id):
            sendings[errand] = nil
            if outcome.isTaken { settle(id, .taken(letter)) }
        case .next(let id):
            guard let webhook = looks[id]?.webhook else {
                sendings[errand] = nil
                return
            }
            if outcome.isTaken { finish(id) } else { noteRefusal(of: sending.message, id, webhook, outcome, at: now) }
        }
    }

    /// Pauses a webhook after a failed post. After the last try, or the status 410, gives the message up as a dead
    /// letter.
    private func noteRefusal(
        of message: WebhookMessage, _ id: WebhookID, _ webhook: Standing.Webhook, _ outcome: PostOutcome,
        at now: Timestamp
    ) {
        guard var course = courses[id] else { return }
        course.tries += 1
        defer { courses[id] = course }
        // The messages before it are settled, however long this one takes.
        if webhook.place < message.item.number - 1 { settle(id, .told(upTo: message.item.number - 1)) }
        guard course.tries < WebhookPatience.tries, !course.destination.isHopeless(outcome) else {
            let failure = WebhookFailure(
                webhook: id, item: message.item, tries: course.tries, status: outcome.status, reason: outcome.reason,
                message: .open(WebhookFailure.Message(question: message.question, body: message.body)))
            decisions.log.submit(.failWebhook(failure), by: .house, correlation: .random()) { [deliverer] result in
                deliverer.notify(.failureRecorded(id, isDurable: result.isSuccess))
            }
            return
        }
        let pauseSeconds = WebhookPatience.pauseSeconds(
            after: course.tries, atLeastSeconds: outcome.retryAfterSeconds, jitter: .random(in: 0...1))
        let next = now.adding(seconds: pauseSeconds)
        course.phase = .pausing(until: decisions.log.questions.now() + (next.milliseconds - now.milliseconds))
        deliverer.note(WebhookDeliverer.Trouble(tries: course.tries, outcome: outcome, nextTry: next), of: id)
    }

    /// Goes on to the next message once the failure is on record.
    private func noteFailure(of id: WebhookID, isDurable: Bool, at now: Timestamp) {
        guard isDurable else {
            courses[id]?.phase = .pausing(until: decisions.log.questions.now() + 1000)
            return
        }
        finish(id)
    }

    /// Records a dead letter as a read again and puts it in line. Does nothing if it is settled or under way.
    private func retry(_ letter: DeadLetterID, of id: WebhookID, at now: Timestamp) {
        let errand = WebhookDeliverer.Errand.letter(letter, of: id)
        guard let look = looks[id], look.webhook.letters[letter] != nil, sendings[errand] == nil, hasCourse(id),
            case .webhookFailed(let failure)? = (try? context.reader.event(letter.rawValue))?.event.event,
            let content = failure.message.content
        else { return }
        let message = WebhookMessage(item: failure.item, question: content.question, body: content.body)
        _ = record(message, errand, look, at: now)
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
