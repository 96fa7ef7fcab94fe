import Answers
import Log
package import Posting
import Projections
import Synchronization
import Threading
package import Whereabouts

/// Posts the items of persons' feeds to the targets of their webhooks. A message leaves after the read that it shows is
/// recorded. The messages of one webhook leave one after the other, and each is repeated until the target accepts it or
/// ``WebhookPatience/tries`` are used up.
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
    /// Sends the posts on one thread. Loopback addresses are allowed only for an origin that names this machine.
    private let poster: Poster
    private let inbox = Monitor(Inbox())
    /// The thread that runs ``WebhookRounds``.
    private let rounds = Mutex<WorkerThread?>(nil)
    /// The failures of present messages.
    private let troubles = Mutex<[WebhookID: Trouble]>([:])
    /// The counts of posts since the start, for the metrics, by class of the status or by fault.
    private let outcomes = Mutex<[String: Int64]>([:])

    /// Starts no thread yet; see ``start(_:)``.
    package init(_ configuration: ServiceConfiguration.Webhooks) {
        targets = Set(configuration.targets)
        let allowsPrivate = configuration.allowsPrivateAddresses
        poster = Poster(trustFile: configuration.caFile) { origin in
            AddressRule(allowsLoopback: origin.isLoopback, allowsPrivate: allowsPrivate)
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
    func send(_ message: Repeatable, to url: PostURL, headers: [String], for errand: Errand) {
        poster.send(Post(to: url, headers: headers, body: message.body)) { [self] outcome in
            outcomes.withLock { $0[outcome.word, default: 0] += 1 }
            notify(.answered(errand, outcome))
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
