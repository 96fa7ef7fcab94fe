import Cryptography
import HTTPServer
import Synchronization
import Whereabouts

/// Gives what happens about persons to the streams they have open. One thread for all of them.
///
/// Each batch is on record, and durable, before its bytes are handed over; whoever may not see it any more has the stream
/// ended instead.
final class Deliverer: Sendable {
    private struct State {
        /// Streams opened since the thread looked last.
        var arrived: [LiveStream] = []
        /// How many each person has open, the arrived ones among them.
        var open: [PersonID: Int] = [:]
        var isStopping = false
    }

    private static let idleMilliseconds = 200
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
        thread.withLock { $0 = WorkerThread { [self, unowned service] in run(service, reader.value) } }
    }

    func stop() {
        state.change { $0.isStopping = true }
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    /// `false` when the person, or the house, has too many open.
    func add(_ stream: LiveStream) -> Bool {
        state.change { state in
            let own = state.open[stream.person, default: 0]
            guard !state.isStopping, own < Limits.liveStreamsPerPerson,
                state.open.values.reduce(0, +) < Limits.liveStreams
            else { return false }
            state.open[stream.person] = own + 1
            state.arrived.append(stream)
            return true
        }
    }

    private func run(_ service: Service, _ reader: LogReader) {
        var streams: [LiveStream] = []
        var nextHeartbeat = clock().adding(seconds: Limits.liveHeartbeatSeconds)
        while !state.read({ $0.isStopping }) {
            if streams.isEmpty {
                let isWanted = state.wait { $0.isStopping || !$0.arrived.isEmpty ? true : nil }
                guard isWanted == true else { break }
            }
            streams += state.read { state in
                defer { state.arrived = [] }
                return state.arrived
            }
            let head = log.waitForHead(
                after: streams.map(\.place).min() ?? log.head, milliseconds: Self.idleMilliseconds)
            deliver(upTo: head, to: &streams, service, reader)
            let now = clock()
            if now >= nextHeartbeat || nextHeartbeat > now.adding(seconds: 2 * Limits.liveHeartbeatSeconds) {
                for stream in streams { stream.stream.write(Array(LiveWriter.heartbeat.utf8)) }
                nextHeartbeat = now.adding(seconds: Limits.liveHeartbeatSeconds)
            }
            close(&streams, at: now)
        }
        for stream in streams { stream.stream.finish() }
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
        state.change { state in
            for person in gone {
                let count = state.open[person, default: 1] - 1
                state.open[person] = count > 0 ? count : nil
            }
        }
    }

    private func deliver(upTo head: Int64, to streams: inout [LiveStream], _ service: Service, _ reader: LogReader) {
        guard var place = streams.map(\.place).min() else { return }
        while place < head {
            guard let events = try? reader.events(after: place, limit: Self.eventsAtOnce), let last = events.last else {
                return
            }
            for index in streams.indices where streams[index].place < last.event.number {
                give(events.map(\.event), to: &streams[index], service, upTo: last.event.number)
                streams[index].place = last.event.number
            }
            place = last.event.number
        }
    }

    private func give(
        _ events: [RecordedEvent], to stream: inout LiveStream, _ service: Service, upTo number: Int64
    ) {
        let writer = LiveWriter(person: stream.person, service: service)
        var texts: [String] = []
        for event in events where event.number > stream.place && event.stream == .audit(stream.person) {
            guard let text = writer.text(of: event) else { continue }
            texts.append(text)
            for step in AskPatterns.Step.steps(of: event) {
                texts += stream.patterns.note(step).map { writer.text(of: $0) }
            }
        }
        guard !texts.isEmpty, !stream.stream.isOver else { return }
        let bytes = Array(texts.joined().utf8)
        let now = clock()
        let (caller, question) = (stream.caller, stream.question)
        guard
            case .success(let permit) = log.withStanding({ $0.authorize(caller, toRead: question, at: now) })
        else { return stream.stream.finish() }
        let record = Command.recordRead(
            stream.question, permitted: permit, asOf: number, count: Int64(texts.count),
            answerHash: Hash256(SHA256().hash(bytes)))
        do throws(AppendFailure) {
            _ = try log.appendAndWait(record, by: stream.caller, correlation: stream.correlation)
        } catch {
            // Not on record, not told: the client comes back, and asks for what it missed.
            return stream.stream.finish()
        }
        stream.stream.write(bytes)
    }
}
