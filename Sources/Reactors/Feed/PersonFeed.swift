package import Answers
import Log
import Projections
import SQLite
import Tables
package import Whereabouts

/// One item of a person's feed.
package struct FeedItem {
    /// The right that the item needs, which is also the read that is recorded for it.
    package let question: LocationRead.Question
    /// The event name in server-sent events.
    package let event: String
    /// The number of the event that brought the item about, or 0.
    package let number: Int64
    /// When it happened.
    package let at: Timestamp
    /// The content, a JSON object.
    package let data: [UInt8]
    /// The silence that the item reports; `nil` for other items. A webhook posts only silences of the length that it
    /// chose.
    package var silence: Silence?
}

/// The feed of a person from a place in the log on: the events of the person's audit stream, the timeline's news, and
/// changes of the person's own questions, whose ends are not events about the person.
///
/// Delivery is at least once: a client that returns with ``place`` gets everything since then. A value, owned by one
/// thread.
package struct PersonFeed {
    /// The person whose feed it is.
    package let person: PersonID
    /// The number up to which every item has been given.
    package var place: Int64 { FeedBounds.place(logged: logged, told: told) }
    /// The number of the last event examined.
    private(set) var logged: Int64
    /// The number up to which the timeline's news were given; `nil` if the feed has neither news nor own questions.
    private var told: Int64?
    /// Whether reports have arrived that can become news of the timeline and were not examined yet.
    package private(set) var mayHaveNews: Bool
    /// The patterns of others' questions, so that a finding appears as soon as it is made.
    private var patterns: AskPatterns
    /// The own questions in the feed, with the state that was shown last.
    private var asked: [QueryID: String]

    /// The news read at once. A client further behind reads the timeline instead.
    static let newsAtOnce = 10_000

    /// - Parameters:
    ///   - told: The number up to which the timeline's news have been sent; `nil` if the caller may not read them.
    ///   - asked: The own questions to follow, with their known states; with ``nothingTold`` the feed begins with the
    ///     present states.
    package init(
        of person: PersonID, after logged: Int64, told: Int64?, asked: [QueryID: String], patterns: AskPatterns
    ) {
        (self.person, self.logged, self.told, self.asked, self.patterns) = (person, logged, told, asked, patterns)
        mayHaveNews = told != nil
    }

    /// The state of an own question before the feed has given any.
    package static let nothingTold = ""

    /// Examines events after ``logged`` in log order; events of other persons are ignored. Reads nothing but the
    /// events.
    ///
    /// - Parameter number: The number of the newest event of the log, which need not be among them.
    package mutating func take(
        _ events: some Sequence<RecordedEvent>, upTo number: Int64, _ writer: FeedWriter
    ) -> [FeedItem] {
        var items: [FeedItem] = []
        for event in events where event.number > logged {
            if told != nil, case .locationQueried(let query) = event.event, query.requester == person.principal,
                !query.verdict.isRefused
            {
                asked[query.id] = Self.nothingTold
            }
            guard event.stream.person == person else { continue }
            switch event.event {
            case .fixReported, .fixesWithdrawn, .fixesRestored, .visitsWithdrawn, .visitsRestored, .regionAdded,
                .regionRemoved:
                mayHaveNews = told != nil
            case .inputRejected(let device, let reason, _, let input):
                items.append(writer.item(of: event, rejected: input.content, from: device, reason))
            // It does not change the timeline; if it is in the audit stream, it becomes an item below.
            default: event.event.isPassedOver(by: .feed)
            }
            guard event.stream == .audit(person), let item = writer.item(of: event) else { continue }
            items.append(item)
            for step in AskPatterns.Step.steps(of: event) { items += patterns.note(step).map(writer.item(of:)) }
        }
        logged = max(logged, number)
        return items
    }

    /// Examines the timeline's news of the events examined so far.
    ///
    /// - Throws: 503 if the timeline cannot be read now, in which case its news follow later; 410 if there are too
    ///   many.
    package mutating func takeNews(
        _ writer: FeedWriter, _ context: AnswerContext, _ sources: FeedSources
    ) throws(Problem) -> [FeedItem] {
        guard let told, told < logged else { return [] }
        guard mayHaveNews else {
            self.told = logged
            return []
        }
        let corrections = sources.decisions.corrections(of: person)
        let (news, asOf) = try context.read(TimelineTable.name) { [person] (connection) throws(SQLiteError) in
            try TimelineReader.told(
                of: person, after: told, limit: Self.newsAtOnce, corrected: corrections, context.geocentric,
                in: connection)
        }
        guard news.count < Self.newsAtOnce else { throw .tooMuchSince }
        mayHaveNews = asOf < logged
        self.told = max(told, asOf)
        return news.map { writer.item(of: $0, context) }
    }

    /// Examines the own questions, as their requester may see them, and gives those whose state has changed. A question
    /// is forgotten once it is no longer pending.
    ///
    /// Cost: one read of the log for each question that has a fix.
    package mutating func takeAnswers(
        for caller: Caller, _ writer: FeedWriter, _ context: AnswerContext, _ sources: FeedSources
    ) throws(Problem) -> [FeedItem] {
        if asked.isEmpty { return [] }
        let now = sources.decisions.clock()
        let durable = sources.decisions.log.head
        let looks = sources.decisions.log.withStanding { standing in
            asked.keys.map { id in
                (
                    id,
                    view: QueryView(
                        id, for: caller, in: standing, at: now, sources.decisions.log.questions, durable: durable),
                    subject: standing.queries[id]?.subject
                )
            }
        }
        var items: [FeedItem] = []
        for (id, view, subject) in looks {
            // A question that is no longer known was about a person who has been erased.
            let status = try view.map { (view) throws(Problem) in view.status(try view.answer(context.reader)) }
            let word = status ?? QueryView.Seen.noAnswerWord
            if asked[id] == word { continue }
            items.append(writer.item(of: id, about: subject, status: word, at: now))
            asked[id] = word == QueryView.Seen.pendingWord ? word : nil
        }
        return items
    }
}

extension Problem {
    /// 410: the caller missed more than a stream can repeat.
    package static let tooMuchSince = Problem(
        410, "Gone", "Too much has happened since; read the audit, and open the stream without Last-Event-ID.")
}
