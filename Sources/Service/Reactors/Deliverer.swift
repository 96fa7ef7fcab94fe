import Cryptography
import HTTPServer
import Synchronization
import Whereabouts

/// Gives what happens about persons to the streams they have open. One thread for all of them.
///
/// Each batch is on record, and durable, before its bytes are handed over; whoever may not see it any more has the stream
/// ended instead. What is told is the feed's (``PersonFeed``).
final class Deliverer: Sendable {
    private struct State {
        /// Streams opened since the thread looked last.
        var arrived: [LiveStream] = []
        /// How many each person has open, the arrived ones among them.
        var open: [PersonID: Int] = [:]
        var isStopping = false
    }

    private static let idleMilliseconds = 200
    /// What the timeline makes of an event is told with it if it is there by then, otherwise later.
    private static let newsMilliseconds = 200
    private static let eventsAtOnce = 1000

    private let state = Monitor(State())
    private let thread = Mutex<WorkerThread?>(nil)
    private let log: EventLog
    private let clock: @Sendable () -> Timestamp

    init(log: EventLog, clock: @escaping @Sendable () -> Timestamp) {
        (self.log, self.clock) = (log, clock)
    }

    /// Begins to deliver for the service, which outlives it.
    func start(_ service: Service) throws {
        let reader = UncheckedBox(try LogReader.opened(log))
        thread.withLock {
            $0 = WorkerThread { [self, unowned service] in
                run(
                    service, AnswerContext(host: service.host, reader: reader.value, gazetteer: service.gazetteer))
            }
        }
    }

    func stop() {
        state.change { $0.isStopping = true }
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    /// Keeps room for a stream of `person`, to be given to ``add(_:)`` or back; `false` when the person, or the house, has
    /// too many open, or the service is stopping. To be asked before the reading is recorded: what is on record is given.
    func reserve(for person: PersonID) -> Bool {
        state.read { state in
            let own = state.open[person, default: 0]
            guard !state.isStopping, own < Limits.liveStreamsPerPerson,
                state.open.values.reduce(0, +) < Limits.liveStreams
            else { return false }
            state.open[person] = own + 1
            return true
        }
    }

    /// Gives back room that was kept.
    func release(_ person: PersonID) {
        state.read { state in
            let count = state.open[person, default: 1] - 1
            state.open[person] = count > 0 ? count : nil
        }
    }

    /// Takes a stream over, for which there is room. It ends at once when the service is stopping.
    func add(_ stream: LiveStream) {
        let isStopping = state.change { state in
            if !state.isStopping { state.arrived.append(stream) }
            return state.isStopping
        }
        if isStopping { stream.stream.finish() }
    }

    private func run(_ service: Service, _ context: AnswerContext) {
        var streams: [LiveStream] = []
        var nextHeartbeat = log.questions.now() + Limits.liveHeartbeatSeconds * 1000
        while !state.read({ $0.isStopping }) {
            if streams.isEmpty {
                let isWanted = state.wait { $0.isStopping || !$0.arrived.isEmpty ? true : nil }
                guard isWanted == true else { break }
            }
            var arrived = state.read { state in
                defer { state.arrived = [] }
                return state.arrived
            }
            for index in arrived.indices {
                let missed = arrived[index].missed
                arrived[index].missed = []
                give(missed, to: arrived[index])
            }
            streams += arrived
            let head = log.waitForHead(
                after: streams.map(\.feed.logged).min() ?? log.head, milliseconds: Self.idleMilliseconds)
            deliver(upTo: head, to: &streams, service, context)
            let now = clock()
            let steady = log.questions.now()
            if steady >= nextHeartbeat {
                for stream in streams { stream.stream.write(Array(LiveEndpoint.heartbeat.utf8)) }
                nextHeartbeat = steady + Limits.liveHeartbeatSeconds * 1000
            }
            close(&streams, at: now)
        }
        for stream in streams + state.read({ $0.arrived }) { stream.stream.finish() }
    }

    /// Ends the streams of whoever may not see them any more, and forgets those that are over.
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

    /// Gives each stream what its feed tells of the log up to `head`, and of what only the clock or a projection changes.
    private func deliver(
        upTo head: Int64, to streams: inout [LiveStream], _ service: Service, _ context: AnswerContext
    ) {
        var place = streams.map(\.feed.logged).min() ?? head
        repeat {
            let events = place < head ? (try? context.reader.events(after: place, limit: Self.eventsAtOnce)) ?? [] : []
            if place < head, events.isEmpty { return }
            place = events.last?.event.number ?? place
            var told: [[FeedItem]] = []
            for index in streams.indices {
                let writer = FeedWriter(of: streams[index].person, service, in: streams[index].languages)
                told.append(streams[index].feed.take(events.lazy.map(\.event), upTo: place, writer))
            }
            if streams.contains(where: \.feed.mayHaveNews) {
                _ = service.host.wait(for: place, in: [TimelineTable.name], milliseconds: Self.newsMilliseconds)
            }
            for index in streams.indices {
                let writer = FeedWriter(of: streams[index].person, service, in: streams[index].languages)
                var items = told[index]
                do throws(Problem) {
                    items += try streams[index].feed.takeNews(writer, context, service)
                    items += try streams[index].feed.takeAnswers(
                        for: streams[index].caller, writer, context, service)
                } catch {
                    // What cannot be read now is found later; who is too far behind comes back, and is told so.
                    if error.status == 410 { streams[index].stream.finish() }
                }
                give(items, to: streams[index])
            }
        } while place < head && !state.read { $0.isStopping }
    }

    /// Records what the stream is to show as readings, each of what it reads, and then shows it.
    private func give(_ items: [FeedItem], to stream: LiveStream) {
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
        var bytes: [UInt8] = []
        for (index, part) in parts.enumerated() {
            var shown: [UInt8] = []
            for (place, item) in part.items.enumerated() {
                let isLast = index == parts.count - 1 && place == part.items.count - 1
                shown += LiveEndpoint.bytes(of: item, id: isLast ? stream.references.place(stream.feed.place) : nil)
            }
            let record = Command.recordRead(
                part.question, permitted: part.permit, asOf: stream.feed.place, count: Int64(part.items.count),
                answerHash: Hash256(SHA256().hash(shown)))
            do throws(AppendFailure) {
                _ = try log.appendAndWait(record, by: stream.caller, correlation: stream.correlation)
            } catch {
                // Not on record, not told: the client comes back, and asks for what it missed.
                return stream.stream.finish()
            }
            bytes += shown
        }
        stream.stream.write(bytes)
    }
}
