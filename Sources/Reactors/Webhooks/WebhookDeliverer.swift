import Answers
import Log
package import Posting
import Projections
import Synchronization
import Threading
package import Whereabouts

/// Posts and mails the items of persons' feeds to the targets of their webhooks. Each message is sent after the read
/// that it shows is recorded. The messages of one webhook leave one after the other, and each is repeated until the
/// target accepts it or ``WebhookPatience/tries`` are used up.
///
/// The webhook's place is in the standing (`Standing.Webhook.place`), and events move it: a message that was not
/// settled when the process ended is posted again under the same id. One thread decides and reads (``WebhookRounds``),
/// another posts. A webhook that waits for the log or its target delays no other.
package final class WebhookDeliverer: Sendable {
    /// A message to post.
    package enum Errand: Hashable {
        /// The next message of a webhook.
        case next(WebhookID)
        /// A message that was given up, tried once more at the person's request.
        case letter(DeadLetterID, of: WebhookID)

        /// The webhook that the message belongs to.
        package var webhook: WebhookID {
            switch self {
            case .next(let id), .letter(_, let id): id
            }
        }
    }

    /// The causes of a round.
    enum Notice {
        /// The record of a message is durable, so that it may leave, or was not appended.
        case recorded(Errand, Repeatable?)
        /// A post has ended.
        case answered(Errand, PostOutcome)
        /// The event of a given-up message is durable, or was not appended.
        case failureRecorded(WebhookID, isDurable: Bool)
        /// The person wants a given-up message posted again.
        case retry(DeadLetterID, of: WebhookID)
    }

    /// The failures of a webhook's present message, for the list of webhooks.
    package struct Trouble {
        /// The failed posts of the message.
        package let tries: Int64
        /// The outcome of the last one.
        package let outcome: PostOutcome
        /// The time of the next post.
        package let nextTry: Timestamp
    }

    /// Guarded by ``inbox``; a notice wakes the thread of the rounds.
    private struct Inbox {
        var notices: [Notice] = []
        var isStopping = false
    }

    /// The origins that the operator allows.
    private let targets: Set<Origin>
    /// Makes the mails; `nil` without a relay.
    let mailer: Mailer?
    /// The codes mailed lately, for ``mayMailCode(for:at:)``.
    private let codes = Mutex<[(person: PersonID, at: Timestamp)]>([])
    /// Sends the posts on one thread. Loopback addresses are allowed only for an origin that names this machine.
    private let poster: Poster
    private let inbox = Monitor(Inbox())
    /// The thread that runs ``WebhookRounds``.
    private let rounds = Mutex<WorkerThread?>(nil)
    /// The failures of present messages.
    private let troubles = Mutex<[WebhookID: Trouble]>([:])
    /// The counts of posts since the start, for the metrics, by class of the status or by fault.
    private let outcomes = Mutex<[String: Int64]>([:])

    /// `nil` if the operator allows neither targets nor mail. Starts no thread yet; see ``start(_:)``.
    ///
    /// - Throws: `LogError` if the file with the relay's password cannot be read.
    package init?(_ configuration: ServiceConfiguration) throws {
        guard configuration.webhooks != nil || configuration.mail != nil else { return nil }
        targets = Set(configuration.webhooks?.targets ?? [])
        mailer = try configuration.mail.map { try Mailer($0) }
        let allowsPrivate = configuration.webhooks?.allowsPrivateAddresses ?? false
        poster = Poster(trustFile: configuration.webhooks?.caFile) { origin in
            AddressRule(allowsLoopback: origin.isLoopback, allowsPrivate: allowsPrivate)
        }
    }

    /// Whether the operator allows any target.
    package var allowsTargets: Bool { !targets.isEmpty }

    /// Whether a relay is configured.
    package var sendsMail: Bool { mailer != nil }

    /// Counts a code against today's limit (`Limits.codesPerDay`); `false` if the limit is reached. A restart of the
    /// service resets the count.
    package func mayMailCode(for person: PersonID, at now: Timestamp) -> Bool {
        codes.withLock { codes in
            codes.removeAll { $0.at.adding(seconds: 86_400) <= now }
            let ofPerson = codes.count { $0.person == person }
            guard ofPerson < Limits.codesPerDay.person, codes.count < Limits.codesPerDay.all else { return false }
            codes.append((person, now))
            return true
        }
    }

    /// Begins to deliver. Throws if the log cannot be opened for reading.
    package func start(_ sources: FeedSources) throws {
        let reader = UncheckedBox(try LogReader.opened(sources.decisions.log))
        poster.start()
        rounds.withLock {
            $0 = WorkerThread { [self] in
                let context = AnswerContext(
                    host: sources.views.host, reader: reader.value, gazetteer: sources.gazetteer)
                let rounds = WebhookRounds(self, sources, context)
                while let notices = notices() { rounds.go(notices) }
            }
        }
    }

    /// Ends both threads. Posts under way are cut; their messages are posted again after the next start.
    package func stop() {
        inbox.change { $0.isStopping = true }
        poster.stop()
        rounds.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    /// Whether the operator allows the URL's origin.
    package func allows(_ url: PostURL) -> Bool { targets.contains(url.origin) }

    /// Tries a message once more that was given up. It is settled when the target takes it.
    package func retry(_ letter: DeadLetterID, of webhook: WebhookID) { notify(.retry(letter, of: webhook)) }

    /// The failures of a webhook's present message; `nil` without any.
    package func trouble(of webhook: WebhookID) -> Trouble? { troubles.withLock { $0[webhook] } }

    /// The number of webhooks whose present message has failed at least once.
    package var troubled: Int { troubles.withLock { $0.count } }

    /// The posts since the start, by their outcome.
    package var posts: [String: Int64] { outcomes.withLock { $0 } }

    // MARK: For the rounds

    /// The longest pause between two rounds, for retries that become due.
    private static let tickMilliseconds = 100

    /// The notices since the last call, after one tick at the latest; `nil` when the deliverer stops.
    private func notices() -> [Notice]? {
        let notices = inbox.wait(milliseconds: Self.tickMilliseconds) { inbox -> [Notice]? in
            guard !inbox.notices.isEmpty || inbox.isStopping else { return nil }
            defer { inbox.notices = [] }
            return inbox.notices
        }
        return inbox.read { $0.isStopping } ? nil : notices ?? []
    }

    /// Wakes the rounds. Any thread may call it.
    func notify(_ notice: Notice) { inbox.change { $0.notices.append(notice) } }

    /// Hands a recorded message to the poster; its outcome comes back as a notice.
    func send(
        _ recorded: Repeatable, _ message: WebhookMessage, to destination: WebhookDestination, for errand: Errand,
        _ references: References, at now: Timestamp
    ) {
        let completion: @Sendable (PostOutcome) -> Void = { [self] outcome in
            outcomes.withLock { $0[outcome.word, default: 0] += 1 }
            notify(.answered(errand, outcome))
        }
        switch destination {
        case .signed(let url, let key):
            let headers = message.headers(by: errand.webhook, references, key: key, at: now)
            poster.send(Post(to: url, headers: headers, body: recorded.body), completion)
        case .ntfy(let url, let target, let style):
            let headers = target.ntfyHeaders(NoticeText(of: message.body, style))
            poster.send(Post(to: url, headers: headers, body: recorded.body), completion)
        case .mail(let address, let target, let style):
            guard let mailer else { return completion(.failed(.stopped)) }
            let id = WebhookMessage.id(of: message.item, by: errand.webhook, references)
            let text = NoticeText(of: message.body, style)
            poster.send(mailer.mail(recorded, to: address, target, id: id, text, at: now), completion)
        }
    }

    /// Shows the state of a webhook's present message in the list of webhooks; `nil` clears it.
    package func note(_ trouble: Trouble?, of webhook: WebhookID) { troubles.withLock { $0[webhook] = trouble } }
}

extension PostOutcome {
    /// Whether the receiver has accepted the message.
    var isTaken: Bool { if case .answered(200...299, _, _) = self { true } else { false } }

    /// The pause that the receiver asked for; 0 without one.
    package var retryAfterSeconds: Int64 { if case .answered(_, let seconds, _) = self { Int64(seconds) } else { 0 } }
    /// The HTTP status; `nil` without an answer.
    package var status: Int64? { if case .answered(let status, _, _) = self { Int64(status) } else { nil } }
    /// The fault in one word; `nil` if there was an answer.
    package var reason: String? { if case .failed(let fault) = self { fault.rawValue } else { nil } }

    /// The kind of outcome, for metrics.
    fileprivate var word: String {
        switch self {
        case .answered(let status, _, _): "\(status / 100)xx"
        case .failed(let fault): fault.rawValue
        }
    }
}
