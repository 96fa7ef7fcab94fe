import SQLite
import Whereabouts

/// One thing told of a person as it happens.
struct FeedItem {
    /// What reading it needs the right to, and what it is recorded as.
    let question: LocationRead.Question
    /// Its name, as server-sent events have one.
    let event: String
    /// Number of the event with which it came to be known; 0 when it came with none.
    let number: Int64
    /// When it happened.
    let at: Timestamp
    /// A JSON object.
    let data: [UInt8]
}

/// What is told of a person as it happens, from a number of the log on: the events of the person's audit stream, the
/// timeline's news, and what becomes of the person's own questions, whose ends are no events about the person.
///
/// Told at least once: whoever comes back with ``place`` gets everything that happened since.
struct PersonFeed {
    let person: PersonID
    /// Everything up to this number has been given.
    var place: Int64 { min(logged, told ?? logged) }
    /// Number of the last event that was looked at.
    private(set) var logged: Int64
    /// Number up to which the timeline's news were given; `nil` when neither they nor the own questions are wanted.
    private var told: Int64?
    /// Whether something was reported that the timeline may make news of, and that was not looked at yet.
    private(set) var mayHaveNews: Bool
    /// What is known of how others ask, so that a finding is told when it is made.
    private var patterns: AskPatterns
    /// The own questions that are followed, with what was told of them last.
    private var asked: [QueryID: String]

    /// News looked for at once; who is behind by more is to read the timeline instead.
    static let newsAtOnce = 10_000

    /// - Parameters:
    ///   - told: up to which number the timeline's news are known; `nil` when who listens may not read it.
    ///   - asked: own questions to follow, with what is known of them; none (``nothingTold``) tells what there is.
    init(of person: PersonID, after logged: Int64, told: Int64?, asked: [QueryID: String], patterns: AskPatterns) {
        (self.person, self.logged, self.told, self.asked, self.patterns) = (person, logged, told, asked, patterns)
        mayHaveNews = told != nil
    }

    static let nothingTold = ""

    /// Looks at events after ``logged``, in the order of their numbers; those of others are passed over.
    ///
    /// - Parameter number: that of the last event there is, which need not be among them.
    mutating func take(
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
            case .fixReported, .regionAdded, .regionRemoved: mayHaveNews = told != nil
            case .inputRejected(let device, let reason, _, let input):
                items.append(writer.item(of: event, rejected: input.content, from: device, reason))
            default: break
            }
            guard event.stream == .audit(person), let item = writer.item(of: event) else { continue }
            items.append(item)
            for step in AskPatterns.Step.steps(of: event) { items += patterns.note(step).map(writer.item(of:)) }
        }
        logged = max(logged, number)
        return items
    }

    /// Looks at what the timeline has made of the events that were looked at.
    ///
    /// - Throws: 503 when it cannot be read just now, and its news are found later; 410 when there are too many.
    mutating func takeNews(
        _ writer: FeedWriter, _ context: AnswerContext, _ service: Service
    ) throws(Problem) -> [FeedItem] {
        guard let told, told < logged else { return [] }
        guard mayHaveNews else {
            self.told = logged
            return []
        }
        let corrections = ReadEndpoints.corrections(of: person, service)
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

    /// Looks at what has become of the own questions, as their asker may see it.
    mutating func takeAnswers(
        for caller: Caller, _ writer: FeedWriter, _ context: AnswerContext, _ service: Service
    ) throws(Problem) -> [FeedItem] {
        if asked.isEmpty { return [] }
        let now = service.clock()
        let durable = service.log.head
        let looks = service.log.withStanding { standing in
            asked.keys.map { id in
                (
                    id,
                    view: QueryView(
                        id, for: caller, in: standing, at: now, service.log.questions, durable: durable),
                    subject: standing.queries[id]?.subject
                )
            }
        }
        var items: [FeedItem] = []
        for (id, view, subject) in looks {
            // One that is no longer known was about somebody who was erased.
            let status = try view.map { (view) throws(Problem) in view.status(try view.fix(context.reader)) }
            let word = status ?? QueryView.Seen.noAnswerWord
            if asked[id] == word { continue }
            items.append(writer.item(of: id, about: subject, status: word, at: now))
            asked[id] = word == QueryView.Seen.pendingWord ? word : nil
        }
        return items
    }
}

extension Problem {
    static let tooMuchSince = Problem(
        410, "Gone", "Too much has happened since; read the audit, and open the stream without Last-Event-ID.")
}
