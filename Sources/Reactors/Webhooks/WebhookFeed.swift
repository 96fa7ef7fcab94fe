import Answers
import AuditTables
import Log
import Projections
import SQLite
import Tables
import Whereabouts

/// The items that a webhook posts next: its person's feed after a place in the log, in the order of the events behind
/// the items.
///
/// It is read from the log and the projections, and so is the same whenever it is read, for example after a restart, or
/// a day later when the target works again. An item is identified by its event and its place among the items of that
/// event.
struct WebhookFeed {
    /// The event up to which all items have been given.
    private(set) var place: Int64
    private let webhook: WebhookID
    private let person: PersonID
    /// The topics that the webhook asked for; other items are skipped.
    private let topics: FeedTopics
    /// The length of the silences that the webhook chose; silences of other lengths are skipped.
    private let silentAfterSeconds: Int64?
    /// Whether the messages are texts for a person, on a phone or as mail. Such a webhook leaves out a visit or crossing that
    /// was recorded more than ``staleSeconds`` later, and tells the withdrawals of one request once.
    private let isForPeople: Bool
    private var feed: PersonFeed
    /// The request of the last withdrawal or restoration.
    private var revised: Identifier128?
    /// The first event of the person's audit stream that has not been examined.
    private var version: Int64

    /// The most events read at a time; the next call continues after them.
    private static let eventsAtOnce = 100
    /// The age at which a visit or crossing is no news for a person. Imports bring whole histories.
    private static let staleSeconds: Int64 = 86_400
    /// The most news of visits and of crossings read at a time, unless one event brought more.
    private static let newsAtOnce = 500

    /// The feed after the webhook's place in the log.
    ///
    /// - Throws: 503 if the projections have not folded that place yet, or the log or a projection cannot be read now.
    init(
        _ id: WebhookID, _ webhook: Standing.Webhook, _ context: AnswerContext, _ sources: FeedSources
    ) throws(Problem) {
        let (person, place) = (webhook.person, webhook.place)
        guard [AuditTable.name, StreamIndexTable.name].allSatisfy({ sources.views.host.place(of: $0) >= place }) else {
            throw .busy(1)
        }
        let patterns = try sources.views.patterns(about: person, through: place, context).patterns
        (self.webhook, self.person, self.place) = (id, person, place)
        (topics, silentAfterSeconds) = (webhook.topics, webhook.terms.silentAfterSeconds)
        isForPeople = webhook.terms.kind == .ntfy || webhook.terms.kind == .email
        feed = PersonFeed(of: person, after: place, told: nil, asked: [:], patterns: patterns)
        let last = sources.decisions.log.withStanding { $0.version(of: .audit(person)) }
        version = try context.read(StreamIndexTable.name) { (connection) throws(SQLiteError) in
            try StreamIndexReader.version(after: place, in: .audit(person), last: last, connection)
        }.value
    }

    /// The next items in their order, as far as the projections are folded; empty if the feed shows nothing of that.
    ///
    /// - Throws: 503 if something cannot be read now. Nothing is given then, and nothing is lost.
    mutating func next(_ context: AnswerContext, _ sources: FeedSources) throws(Problem) -> [WebhookMessage] {
        let folded = min(
            sources.views.host.place(of: StreamIndexTable.name), sources.views.host.place(of: TimelineTable.name))
        guard folded > place else { return [] }
        var upTo = folded
        var (numbers, _) = try context.read(StreamIndexTable.name) { [self] (connection) throws(SQLiteError) in
            try StreamIndexReader.numbers(
                of: .audit(person), fromVersion: version, count: Self.eventsAtOnce, in: connection)
        }
        if numbers.count == Self.eventsAtOnce, let last = numbers.last { upTo = min(upTo, last) }
        let news = try news(&upTo, context, sources)
        numbers.removeAll { $0 > upTo }
        var events: [RecordedEvent] = []
        for number in numbers {
            do throws(LogError) {
                if let event = try context.reader.event(number)?.event, !isRepeated(event) { events.append(event) }
            } catch { throw .broken }
        }
        let writer = sources.writer(of: person)
        var items = feed.take(events, upTo: upTo, writer)
        items += news.map { writer.item(of: $0, context) }
        items += events.compactMap(test(of:))
        (version, place) = (version + Int64(numbers.count), upTo)
        if isForPeople {
            var recent: [FeedItem] = []
            for item in items where try !isStale(item, context) { recent.append(item) }
            items = recent
        }
        return messages(of: items)
    }

    /// Whether an event withdraws or restores reports by the same request as the last such event, and is left out.
    private mutating func isRepeated(_ recorded: RecordedEvent) -> Bool {
        switch recorded.event {
        case .fixesWithdrawn, .fixesRestored, .visitsWithdrawn, .visitsRestored:
            defer { revised = recorded.correlation }
            return isForPeople && revised == recorded.correlation
        default: return false
        }
    }

    /// The test message that an event asks this webhook for. It is in no other feed, and holds nothing about the person.
    private func test(of recorded: RecordedEvent) -> FeedItem? {
        guard case .operatorActed(.testWebhook(let tested)) = recorded.event, tested == webhook else { return nil }
        return FeedItem(
            question: .live, event: NoticeText.testType, number: recorded.number, at: recorded.recordedAt,
            data: Array("{}".utf8))
    }

    /// Whether an item is about a time long before its event was recorded.
    private func isStale(_ item: FeedItem, _ context: AnswerContext) throws(Problem) -> Bool {
        guard item.question == .visits || item.question == .crossings else { return false }
        do throws(LogError) {
            guard let recorded = try context.reader.event(item.number)?.event else { return false }
            return item.at.adding(seconds: Self.staleSeconds) < recorded.recordedAt
        } catch { throw .broken }
    }

    /// The news up to `upTo`. If there are more than are read at once, `upTo` is lowered to the place where they end.
    private func news(
        _ upTo: inout Int64, _ context: AnswerContext, _ sources: FeedSources
    ) throws(Problem) -> [TimelineReader.Told] {
        guard !topics.isDisjoint(with: [.visit, .crossing]) else { return [] }
        let corrections = sources.decisions.corrections(of: person)
        var limit = Self.newsAtOnce
        while true {
            let (news, _) = try context.read(TimelineTable.name) { [limit] (connection) throws(SQLiteError) in
                try TimelineReader.told(
                    of: person, after: place, limit: limit, corrected: corrections, context.geocentric, in: connection)
            }
            var end = upTo
            for isVisit in [true, false] {
                let kind = news.filter { if case .visit = $0.what { isVisit } else { !isVisit } }
                end = min(end, FeedBounds.complete(kind.map(\.number), limit: limit) ?? end)
            }
            if end > place {
                upTo = end
                return news.filter { $0.number <= end }
            }
            // One event brought all of them, for example the last of an imported history.
            limit *= 10
        }
    }

    /// The messages of the wanted topics. Items of other topics are counted too, so that an ordinal does not depend on
    /// the topics.
    private func messages(of items: [FeedItem]) -> [WebhookMessage] {
        let ordered = items.enumerated().sorted { ($0.element.number, $0.offset) < ($1.element.number, $1.offset) }
        var messages: [WebhookMessage] = []
        var item = FeedPlace(number: 0, ordinal: 0)
        for (_, told) in ordered {
            let ordinal = told.number == item.number ? item.ordinal + 1 : 0
            item = FeedPlace(number: told.number, ordinal: ordinal)
            let isOfLength = told.silence.map { $0.afterSeconds == silentAfterSeconds } ?? true
            let isWanted = FeedTopics(words: [told.event]).map(topics.isSuperset) ?? (told.event == NoticeText.testType)
            if isWanted, isOfLength {
                messages.append(WebhookMessage(told, item))
            }
        }
        return messages
    }
}
