import Answers
import AuditTables
import Cryptography
import Gazetteer
import HTTPServer
import Log
import Projections
import Reactors
import SQLite
import Tables
import Whereabouts

/// `GET /v1/live`: events about the caller as server-sent events (HTML Living Standard, section 9.2). For example
///
///     event: query
///     data: {"number":"r8Vu2…","at":1777881600,"query":"6b1c…","requester":"friend","purpose":"late for dinner",…}
///
///     id: rQ2x0…
///     event: end
///     data: {"number":"rk9Ea…","at":1777881607,"query":"6b1c…","end":"answered"}
///
/// If several events are sent together, only the last has an id: a client that comes back with it has seen all of them.
///
/// A stream is for one person, with the rights of its token; it ends when the token is revoked. Idle streams send a
/// comment every `Limits.liveHeartbeatSeconds`.
struct LiveEndpoint: Sendable {
    let decisions: Decisions
    let views: Views
    let deliverer: Deliverer
    let sources: FeedSources

    /// The events of the caller that a returning client may have missed. A client further behind reads the audit.
    private static let eventsCaughtUp = 10_000
    /// A comment shows the client that the stream is open. Clients reconnect after two seconds.
    static let opening = ": open\nretry: 2000\n\n"
    /// Opens the stream: sends the missed events first, then hands it to ``Deliverer``.
    ///
    /// `Last-Event-ID` names the last event that the client has. Without it, the stream begins now. The opening is a
    /// recorded read; each later batch is recorded by the deliverer.
    ///
    /// A viewer of a live share link gets the link's stream instead.
    ///
    /// - Throws: 400 for an id that this stream never sent, 404 for a caller who is neither a person nor a viewer of a
    ///   live link, 410 if the client missed more than `eventsCaughtUp` events, 429 or 503 if the caller, their tree or
    ///   the service has too many streams.
    ///
    /// Cost: one answering thread until the deliverer takes over the stream, and no thread after that. A reader who
    /// leaves more than ``Limits/liveBytesWaiting`` unread is cut off.
    func open(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        let person = PersonID(rawValue: exchange.caller.principal.rawValue)
        guard let handle = decisions.log.withStanding({ $0.persons[person]?.handle }) else {
            return try openLink(exchange, context)
        }
        let head = decisions.log.head
        let references = decisions.references(of: person)
        let after = try exchange.request.header("last-event-id").map { (text) throws(Problem) -> Int64 in
            guard let place = references.place(text) else {
                throw .invalid("Last-Event-ID must be the id of an event that this stream gave.")
            }
            // An id from before an older backup was restored may name a place beyond the head.
            return min(place, head)
        }
        let question = ReadQuestion(
            subject: handle, question: .live, from: nil, to: nil, purpose: try exchange.purpose())
        let languages = exchange.languages(context)
        // Everything that can fail is done before the read is recorded.
        var found: (feed: PersonFeed, missed: [FeedItem])?
        let opened: Disclosed
        do throws(Problem) {
            opened = try views.gate.read(exchange, question) { (_) throws(Problem) in
                if !exchange.request.isHead {
                    var feed = try feed(of: person, after: after, head, exchange.caller, context)
                    let missed =
                        after == nil ? [] : try missed(&feed, head, exchange.caller, context, languages)
                    try deliverer.reserve(for: person, of: decisions.log.withStanding { $0.tree(of: person) })
                    found = (feed, missed)
                }
                return Gate.Computed(body: Array(Self.opening.utf8), count: 0, asOf: after ?? head)
            }
        } catch {
            if found != nil { deliverer.release(person) }
            throw error
        }
        let answer = opened.with(headers: [("Content-Type", "text/event-stream")])
        guard let (feed, missed) = found else { return answer }
        let bytes = missed.reduce(answer.count) {
            $0 + LiveStream.bytes(of: $1, id: references.place(head)).count
        }
        let stream = DisclosingStream(bytesMax: Limits.liveBytesWaiting + bytes)
        let live = LiveStream(
            caller: exchange.caller, question: question, correlation: exchange.id, stream: stream, feed: feed,
            missed: missed, languages: languages, references: references)
        let response = answer.opening(stream)
        deliverer.add(live)
        return response
    }

    /// The feed as it was at event `after`, or from now on.
    ///
    /// - Parameters:
    ///   - after: The last event that the client has; `nil` for a stream that begins now.
    ///   - head: The newest durable event.
    private func feed(
        of person: PersonID, after: Int64?, _ head: Int64, _ caller: Caller,
        _ context: AnswerContext
    ) throws(Problem) -> PersonFeed {
        let patterns = try views.patterns(about: person, through: after ?? head, context).patterns
        guard FeedBounds.hasNews(caller.scopes) else {
            return PersonFeed(of: person, after: after ?? head, told: nil, asked: [:], patterns: patterns)
        }
        var since: Timestamp?
        if let after, after > 0 {
            do throws(LogError) { since = try context.reader.event(after)?.event.recordedAt } catch { throw .broken }
        }
        let now = decisions.clock()
        let asked = decisions.log.withStanding { standing in
            standing.queries.all.filter { _, query in
                query.requester == person.principal && query.number <= head && (since ?? now) <= query.deadline
            }
        }
        // Without an id to continue from, present states are not sent, only changes.
        let known = after == nil ? QueryView.Seen.pendingWord : PersonFeed.nothingTold
        return PersonFeed(
            of: person, after: after ?? head, told: after ?? min(head, views.host.place(of: TimelineTable.name)),
            asked: asked.filter { after != nil || $0.value.end == nil }.mapValues { _ in known }, patterns: patterns)
    }

    /// The person's events after the feed's place, found by the index of streams.
    ///
    /// Waits until the projections have folded all events up to `head`, at most ten seconds (then 503).
    ///
    /// - Throws: 410 past ``eventsCaughtUp`` events.
    private func missed(
        _ feed: inout PersonFeed, _ head: Int64, _ caller: Caller, _ context: AnswerContext,
        _ languages: [Language]
    ) throws(Problem) -> [FeedItem] {
        let needed = [StreamIndexTable.name, AuditTable.name] + (feed.mayHaveNews ? [TimelineTable.name] : [])
        guard views.host.wait(for: head, in: needed, milliseconds: 10_000) else { throw .busy(1) }
        let (person, after) = (feed.person, feed.place)
        let audit = StreamID.audit(person)
        let (numbers, place) = try context.read(StreamIndexTable.name) { (connection) throws(SQLiteError) in
            let last = decisions.log.withStanding { $0.version(of: audit) }
            let first = try StreamIndexReader.version(after: after, in: audit, last: last, connection)
            return try StreamIndexReader.numbers(
                of: audit, fromVersion: first, count: Self.eventsCaughtUp + 1, in: connection)
        }
        guard numbers.count <= Self.eventsCaughtUp else { throw .tooMuchSince }
        // Rejected reports are in the person's other stream, with the fixes.
        let rejected = try context.read(AuditTable.name) { (connection) throws(SQLiteError) in
            try AuditReader.rejections(of: person, after: after, in: connection).map(\.number)
        }
        var events: [RecordedEvent] = []
        for number in (numbers + rejected.value.filter { $0 <= place }).sorted() {
            let found: (event: RecordedEvent, leaf: Digest)?
            do throws(LogError) { found = try context.reader.event(number) } catch { throw .broken }
            if let event = found?.event { events.append(event) }
        }
        let writer = sources.writer(of: person, in: languages)
        return feed.take(events, upTo: place, writer) + (try feed.takeNews(writer, context, sources))
            + (try feed.takeAnswers(for: caller, writer, context, sources))
    }

}
