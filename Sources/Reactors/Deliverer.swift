package import Answers
import Cryptography
import HTTPServer
package import Log
import Projections
import Synchronization
import Tables
import Threading
package import Whereabouts

/// Sends events about persons to their open streams, and locations to those of share links, with one thread for all
/// streams.
///
/// Each batch is recorded, and the record durable, before its bytes are handed over. If the caller may not see the
/// batch any more, the stream ends instead. ``PersonFeed`` decides the content.
package final class Deliverer: Sendable {
    /// The state that callers share with the thread, guarded by ``state``.
    private struct State {
        /// Streams opened since the thread looked last.
        var arrived: [LiveStream] = []
        /// The same for share links.
        var arrivedLinks: [LinkStream] = []
        /// The room that all open streams take, including those that have arrived.
        var room = StreamRoom()
        var isStopping = false
    }

    /// How long the thread waits for an event before it looks at deadlines and closed streams.
    private static let idleMilliseconds = 200
    /// How long an event waits for the visits and crossings that the timeline derives from it. Later ones are sent
    /// separately.
    private static let newsMilliseconds = 200
    /// The most events read from the log at a time.
    private static let eventsAtOnce = 1000

    private let state = Monitor(State())
    /// The thread; `nil` before the start and after the stop.
    private let thread = Mutex<WorkerThread?>(nil)
    private let log: EventLog
    private let clock: @Sendable () -> Timestamp

    /// Starts no thread yet; see ``start(_:)``.
    package init(log: EventLog, clock: @escaping @Sendable () -> Timestamp) {
        (self.log, self.clock) = (log, clock)
    }

    /// Begins to deliver. Throws if the log cannot be opened for reading.
    package func start(_ sources: FeedSources) throws {
        let reader = UncheckedBox(try LogReader.opened(log))
        thread.withLock {
            $0 = WorkerThread { [self] in
                run(
                    sources,
                    AnswerContext(host: sources.views.host, reader: reader.value, gazetteer: sources.gazetteer))
            }
        }
    }

    /// Ends all streams and waits for the thread. Streams added afterwards end at once.
    package func stop() {
        state.change { $0.isStopping = true }
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    /// Reserves room for a stream of `person`, which goes to ``add(_:)`` or is given back. Must be called before the
    /// read is recorded, because a recorded read must be answered.
    ///
    /// - Parameter tree: The person's invitation tree.
    /// - Throws: 429 if the person or the tree has too many open streams, 503 if the house has or the service is
    ///   stopping.
    package func reserve(for person: PersonID, of tree: PersonID) throws(Problem) {
        let problem = state.read { (state) -> Problem? in
            guard !state.isStopping else { return .busy(10) }
            return state.room.take(for: person, of: tree)
        }
        if let problem { throw problem }
    }

    /// Gives back reserved room.
    package func release(_ person: PersonID) { state.read { $0.room.giveBack(of: person) } }

    /// Takes over a stream that has room. If the service is stopping, the stream ends at once.
    package func add(_ stream: LiveStream) {
        let isStopping = state.change { state in
            if !state.isStopping { state.arrived.append(stream) }
            return state.isStopping
        }
        if isStopping { stream.stream.finish() }
    }

    /// Takes over the stream of a share link, as ``add(_:)``.
    package func add(_ stream: LinkStream) {
        let isStopping = state.change { state in
            if !state.isStopping { state.arrivedLinks.append(stream) }
            return state.isStopping
        }
        if isStopping { stream.stream.finish() }
    }

    /// The thread: takes in new streams, waits for events, delivers, sends heartbeats and closes streams that are over.
    private func run(_ sources: FeedSources, _ context: AnswerContext) {
        var streams: [LiveStream] = []
        var links: [LinkStream] = []
        var nextHeartbeat = log.questions.now() + Limits.liveHeartbeatSeconds * 1000
        while !state.read({ $0.isStopping }) {
            if streams.isEmpty, links.isEmpty {
                let isWanted = state.wait { state in
                    state.isStopping || !state.arrived.isEmpty || !state.arrivedLinks.isEmpty ? true : nil
                }
                guard isWanted == true else { break }
            }
            var arrived = state.read { state in
                links += state.arrivedLinks
                defer { (state.arrived, state.arrivedLinks) = ([], []) }
                return state.arrived
            }
            for index in arrived.indices {
                let missed = arrived[index].missed
                arrived[index].missed = []
                give(missed, to: arrived[index], through: sources.views.gate)
            }
            streams += arrived
            let head = log.waitForHead(
                after: streams.map(\.feed.logged).min() ?? log.head, milliseconds: Self.idleMilliseconds)
            deliver(upTo: head, to: &streams, sources, context)
            let left = deliver(to: links, sources, context)
            for gone in Set(links.map(\.correlation)).subtracting(left.map(\.correlation)) {
                if let holder = links.first(where: { $0.correlation == gone })?.holder { release(holder) }
            }
            links = left
            let now = clock()
            let steady = log.questions.now()
            if steady >= nextHeartbeat {
                for stream in streams.map(\.stream) + links.map(\.stream) { stream.writeHeartbeat() }
                nextHeartbeat = steady + Limits.liveHeartbeatSeconds * 1000
            }
            close(&streams, at: now)
        }
        let late = state.read { $0.arrived.map(\.stream) + $0.arrivedLinks.map(\.stream) }
        for stream in streams.map(\.stream) + links.map(\.stream) + late { stream.finish() }
    }

    /// Ends the streams of callers who may no longer see them, and forgets the streams that are over.
    private func close(_ streams: inout [LiveStream], at now: Timestamp) {
        let isAllowed = log.withStanding { standing in
            streams.map { stream in
                guard standing.isValid(stream.caller, at: now) else { return false }
                return (try? standing.authorize(stream.caller, toRead: stream.question, at: now).get()) != nil
            }
        }
        var left: [LiveStream] = []
        var gone: [PersonID] = []
        for (stream, isAllowed) in zip(streams, isAllowed) {
            if !isAllowed { stream.stream.finish() }
            if isAllowed, !stream.stream.isOver { left.append(stream) } else { gone.append(stream.person) }
        }
        guard !gone.isEmpty else { return }
        streams = left
        for person in gone { release(person) }
    }

    /// Gives each stream the items of its feed up to `head`, and those that depend on the clock or a projection alone.
    private func deliver(
        upTo head: Int64, to streams: inout [LiveStream], _ sources: FeedSources, _ context: AnswerContext
    ) {
        var place = streams.map(\.feed.logged).min() ?? head
        repeat {
            let events = place < head ? (try? context.reader.events(after: place, limit: Self.eventsAtOnce)) ?? [] : []
            if place < head, events.isEmpty { return }
            place = events.last?.event.number ?? place
            var told: [[FeedItem]] = []
            for index in streams.indices {
                let writer = sources.writer(of: streams[index].person, in: streams[index].languages)
                told.append(streams[index].feed.take(events.lazy.map(\.event), upTo: place, writer))
            }
            if streams.contains(where: \.feed.mayHaveNews) {
                _ = sources.views.host.wait(for: place, in: [TimelineTable.name], milliseconds: Self.newsMilliseconds)
            }
            for index in streams.indices {
                let writer = sources.writer(of: streams[index].person, in: streams[index].languages)
                var items = told[index]
                do throws(Problem) {
                    items += try streams[index].feed.takeNews(writer, context, sources)
                    items += try streams[index].feed.takeAnswers(
                        for: streams[index].caller, writer, context, sources)
                } catch {
                    // A view that cannot be read now is read later. A client too far behind reconnects and gets the
                    // reason.
                    if error.status == 410 { streams[index].stream.finish() }
                }
                give(items, to: streams[index], through: sources.views.gate)
            }
        } while place < head && !state.read { $0.isStopping }
    }

    /// Records the items of a stream as reads, one for each kind of data, then sends them. The last item has the id for
    /// a return.
    ///
    /// Blocks for a commit for each kind. If the caller may no longer see the stream, or a record fails, the stream
    /// ends.
    private func give(_ items: [FeedItem], to stream: LiveStream, through gate: Gate) {
        guard !items.isEmpty, !stream.stream.isOver else { return }
        let now = clock()
        var parts: [(question: ReadQuestion, permit: Permit, items: [FeedItem])] = []
        for question in [LocationRead.Question.live, .visits, .crossings] {
            let part = items.filter { $0.question == question }
            let asked = ReadQuestion(
                subject: stream.question.subject, question: question, from: nil, to: nil,
                purpose: stream.question.purpose)
            switch log.withStanding({ $0.authorize(stream.caller, toRead: asked, at: now) }) {
            case .success(let permit): if !part.isEmpty { parts.append((asked, permit, part)) }
            case .failure: if question == .live { return stream.stream.finish() }
            }
        }
        var leaving: Disclosed?
        for (index, part) in parts.enumerated() {
            var shown: [UInt8] = []
            for (place, item) in part.items.enumerated() {
                let isLast = index == parts.count - 1 && place == part.items.count - 1
                shown += LiveStream.bytes(of: item, id: isLast ? stream.references.place(stream.feed.place) : nil)
            }
            let computed = Gate.Computed(
                body: shown, count: Int64(part.items.count), asOf: stream.feed.place, headers: [])
            do throws(AppendFailure) {
                let next = try gate.follow(
                    part.question, permitted: part.permit, computed, by: stream.caller,
                    correlation: stream.correlation)
                if let before = leaving.take() { leaving = before.followed(by: next) } else { leaving = consume next }
            } catch {
                // Without a record, nothing is sent: the client reconnects and gets the missed news.
                return stream.stream.finish()
            }
        }
        if let leaving { stream.stream.write(leaving) }
    }
}
