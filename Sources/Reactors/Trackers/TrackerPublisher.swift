import Answers
import Log
import MQTT
import Projections
import Synchronization
import Tables
import Threading
import Whereabouts

/// Keeps the trackers of webhooks of the kind `homeAssistant` up to date at the broker, as retained messages. The read
/// of a content is recorded before the content is published.
///
/// A tracker is wanted as long as its webhook exists, its token may read the location, its person does not pause, and
/// the person's newest fix is neither withdrawn nor of a time of a pause.
/// The publisher clears the retained messages of all other trackers of this log. It learns of these from the broker:
/// the configurations arrive as messages, once after each connection and then as they change. So the service remembers
/// nothing about an erased person.
final class TrackerPublisher: Sendable {
    private let topics: TrackerTopics
    private let sources: FeedSources
    /// Used on the broker's thread only.
    private let context: UncheckedBox<AnswerContext>
    private var decisions: Decisions { sources.decisions }
    private let state = Mutex(State())
    /// The recorded contents that have not left, by webhook. The log's thread adds to it.
    private let recorded = Mutex<[WebhookID: Recorded]>([:])
    /// The recorded test messages that have not left; `nil` if the log has refused the record.
    private let recordedTests = Mutex<[WebhookID: Repeatable?]>([:])

    /// A recorded content of a tracker.
    private struct Recorded {
        let source: Source
        let zone: String
        /// `nil` if the log has refused the record.
        let attributes: Repeatable?
    }

    private struct State {
        /// The trackers that the broker retains.
        var retained: Set<String> = []
        /// The published contents on this connection, by webhook.
        var published: [WebhookID: Published] = [:]
        /// The webhooks whose content is being recorded.
        var recording: Set<WebhookID> = []
        /// The test messages that are being recorded or have left on this connection, by webhook.
        var tests: [WebhookID: Int64] = [:]
        /// The calls of ``due()``.
        var ticks = 0
    }

    /// The input from which the content of a tracker is made.
    private struct Source: Hashable {
        /// The number of the newest fix.
        let fix: Int64
        let regions: [RegionID]
    }

    /// The published content of a tracker.
    private struct Published {
        var source: Source
        let zone: String
        /// By the monotonic clock, in milliseconds.
        let at: Int64
        /// A newer source with the same region, which waits for ``sameZoneMilliseconds``.
        var waiting: Source?
    }

    /// A wanted tracker.
    private struct Wish {
        let person: PersonID
        let subject: Handle
        let caller: Caller
        let permit: Permit
        let question: ReadQuestion
        let source: Source
        /// The event that asked for a test message, until the broker has it.
        let test: Int64?
    }

    /// The calls of ``due()`` between two checks of the wanted trackers. A pause reaches the broker within half a
    /// second.
    private static let ticksPerLook = 5
    /// The least time between two publications with the same region, because each costs a recorded read and a commit.
    private static let sameZoneMilliseconds: Int64 = 60_000

    init(prefix: String, _ sources: FeedSources) throws {
        topics = TrackerTopics(prefix: prefix, log: sources.decisions.log.id)
        self.sources = sources
        let reader = try LogReader.opened(sources.decisions.log)
        context = UncheckedBox(
            AnswerContext(host: sources.views.host, reader: reader, gazetteer: sources.gazetteer))
    }

    /// The topic filter of the retained configurations, to which the publisher subscribes.
    var filter: String { topics.filter }

    /// The filter of test messages, to which the publisher subscribes: one that comes back has arrived.
    var testFilter: String { topics.testFilter }

    /// Notes a retained configuration or a test message; `false` if the message is not about a tracker.
    func take(_ message: BrokerMessage) -> Bool {
        if topics.isTest(message.topic) {
            noteTest(message.topic)
            return true
        }
        guard let name = topics.name(inTopic: message.topic) else { return false }
        // The tracker's own configuration is cleared last.
        guard message.topic == topics.configurations(name)[0] || !message.payload.isEmpty else { return true }
        state.withLock { state in
            if message.payload.isEmpty { state.retained.remove(name) } else { state.retained.insert(name) }
        }
        return true
    }

    /// Forgets the state of the last connection. Everything is published again, and the broker sends the retained
    /// configurations again.
    func begin() {
        state.withLock { state in
            state.retained = []
            state.published = [:]
            state.tests = [:]
        }
    }

    /// The messages to publish now. Called ten times a second while connected, on the broker's thread.
    func due() -> [BrokerPublication] {
        let isTime = state.withLock { state in
            state.ticks += 1
            return state.ticks % Self.ticksPerLook == 0
        }
        let contents = recorded.withLock { contents in
            defer { contents = [:] }
            return contents
        }
        let tests = recordedTests.withLock { tests in
            defer { tests = [:] }
            return tests
        }
        guard isTime || !contents.isEmpty || !tests.isEmpty else { return [] }
        let now = decisions.log.questions.now()
        // Publishes only trackers that are wanted now: a content that was recorded before a pause is dropped.
        let wishes = wishes(at: decisions.clock())
        var messages = clearings(wishes)
        for (id, content) in contents { messages += publications(of: content, id, wishes[id], at: now) }
        for (id, test) in tests {
            if wishes[id] != nil, let test {
                messages.append(BrokerPublication(topic: topics.test(topics.name(of: id)), payload: test.body))
            } else {
                state.withLock { $0.tests[id] = nil }
            }
        }
        for (id, wish) in wishes {
            record(id, wish, at: now)
            if let number = wish.test { recordTest(number, id, wish) }
        }
        return messages
    }

    /// Records a test message of a tracker that Home Assistant knows, once on each connection until it comes back.
    private func recordTest(_ number: Int64, _ id: WebhookID, _ wish: Wish) {
        let isNew = state.withLock { state in
            guard state.published[id] != nil, state.tests[id] != number else { return false }
            state.tests[id] = number
            return true
        }
        guard isNew else { return }
        let question = ReadQuestion(subject: wish.subject, question: .live, from: nil, to: nil, purpose: nil)
        let now = decisions.clock()
        guard
            case .success(let permit) = decisions.log.withStanding({
                $0.authorize(wish.caller, toRead: question, at: now)
            })
        else { return }
        let computed = Gate.Computed(body: TrackerTopics.testPayload, count: 1, asOf: number)
        sources.views.gate.record(question, permitted: permit, computed, by: wish.caller) { [self] test in
            recordedTests.withLock { $0[id] = .some(test) }
        }
    }

    /// Settles the test message that the broker has handed back to its subscribers, of which the service is one.
    private func noteTest(_ topic: String) {
        let found = decisions.log.withStanding { standing in
            standing.webhooks.all.first { id, webhook in
                webhook.terms.kind == .homeAssistant && webhook.testOutcome == .waiting
                    && topics.test(topics.name(of: id)) == topic
            }
        }
        guard let (id, webhook) = found, let test = webhook.test else { return }
        decisions.log.submit(.settleWebhook(id, .told(upTo: test.number)), by: .house, correlation: .random()) { _ in }
    }

    /// The messages with a recorded content, if it is still wanted; with the configurations before the first.
    private func publications(
        of content: Recorded, _ id: WebhookID, _ wish: Wish?, at now: Int64
    ) -> [BrokerPublication] {
        let isFirst = state.withLock { state in
            state.recording.remove(id)
            guard wish != nil, content.attributes != nil else { return false }
            // Also if the broker does not let the service read what it retains.
            state.retained.insert(topics.name(of: id))
            defer { state.published[id] = Published(source: content.source, zone: content.zone, at: now) }
            return state.published[id] == nil
        }
        guard let wish, let attributes = content.attributes else { return [] }
        let name = topics.name(of: id)
        var messages: [(String, [UInt8])] = []
        if isFirst { messages += zip(topics.configurations(name), topics.payloads(name, of: wish.subject)) }
        messages.append((topics.attributes(name), attributes.body))
        messages.append((topics.state(name), Array(content.zone.utf8)))
        return messages.map { BrokerPublication(topic: $0, payload: $1, isRetained: true) }
    }

    /// The wanted trackers.
    private func wishes(at now: Timestamp) -> [WebhookID: Wish] {
        decisions.log.withStanding { standing in
            var wishes: [WebhookID: Wish] = [:]
            for (id, webhook) in standing.webhooks.all where webhook.terms.kind == .homeAssistant {
                guard let person = standing.persons[webhook.person], let subject = person.handle,
                    !person.sharing.pauses.contains(where: { $0.contains(now) }),
                    let newest = person.countedFix,
                    !person.sharing.pauses.contains(where: { $0.contains(newest.timestamp) }),
                    let caller = standing.caller(of: webhook, at: now)
                else { continue }
                let question = ReadQuestion(subject: subject, question: .location, from: nil, to: nil, purpose: nil)
                guard case .success(let permit) = standing.authorize(caller, toRead: question, at: now) else {
                    continue
                }
                wishes[id] = Wish(
                    person: webhook.person, subject: subject, caller: caller, permit: permit, question: question,
                    source: Source(fix: newest.number, regions: person.regions),
                    test: webhook.testOutcome == .waiting ? webhook.test?.number : nil)
            }
            return wishes
        }
    }

    /// The empty messages that remove unwanted trackers. The configurations come last, so that an interrupted clearing
    /// is repeated.
    private func clearings(_ wishes: [WebhookID: Wish]) -> [BrokerPublication] {
        let wanted = Set(wishes.keys.map(topics.name(of:)))
        let unwanted = state.withLock { state in
            state.published = state.published.filter { wishes[$0.key] != nil }
            let unwanted = state.retained.subtracting(wanted)
            state.retained.subtract(unwanted)
            return unwanted
        }
        return unwanted.sorted().flatMap { name in
            [topics.state(name), topics.attributes(name)] + topics.configurations(name).reversed()
        }.map { BrokerPublication(topic: $0, payload: [], isRetained: true) }
    }

    /// Records the content of a tracker if it may differ from the published one. Blocks for a read of a projection, not
    /// for the commit.
    private func record(_ id: WebhookID, _ wish: Wish, at now: Int64) {
        let (published, isRecording) = state.withLock { ($0.published[id], $0.recording.contains(id)) }
        guard !isRecording, published?.source != wish.source else { return }
        let isEarly = published.map { now < $0.at + Self.sameZoneMilliseconds } ?? false
        if isEarly, published?.waiting == wish.source { return }
        // If the projection has not folded the fix, or cannot be read now, the next call tries again.
        guard let newest = try? context.value.newestFix(of: wish.person), newest.asOf >= wish.source.fix,
            let fix = newest.value?.fix
        else { return }
        let regions = decisions.log.withStanding { standing in wish.source.regions.compactMap { standing.regions[$0] } }
        let shown = TrackerState(fix, in: regions)
        if isEarly, published?.zone == shown.zone {
            return state.withLock { $0.published[id]?.waiting = wish.source }
        }
        state.withLock { _ = $0.recording.insert(id) }
        let computed = Gate.Computed(body: shown.attributes, count: 1, asOf: newest.asOf)
        sources.views.gate.record(wish.question, permitted: wish.permit, computed, by: wish.caller) {
            [self] attributes in
            recorded.withLock {
                $0[id] = Recorded(source: wish.source, zone: shown.zone, attributes: attributes)
            }
        }
    }
}
