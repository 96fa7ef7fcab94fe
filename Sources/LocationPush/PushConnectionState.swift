/// The life of one APNs connection as a value: inputs in, actions out, no socket and no clock.
///
/// It knows how many requests may be open, when silence means death, and which broken requests were certainly not
/// processed. Rules: Apple, "Sending notification requests to APNs"; RFC 9113 sections 5.1.2, 6.8 and 8.7.
package struct PushConnectionState: Sendable {
    /// Something that happened on the connection.
    package enum Input: Sendable, Equatable {
        /// The peer's SETTINGS arrived, with the number of streams it allows from now on.
        case settings(maxConcurrentStreams: Int)
        /// A request was opened; only as many as ``capacity`` allows.
        case opened(stream: Int32)
        /// All requests opened so far have been handed to the system.
        case flushed
        /// The response's status arrived.
        case status(stream: Int32, Int)
        /// The response is complete.
        case answered(stream: Int32)
        /// The stream is gone, in order or by a reset.
        case streamClosed(stream: Int32, errorCode: UInt32)
        /// We no longer wait for the stream and reset it.
        case abandoned(stream: Int32)
        /// GOAWAY: streams above `lastStream` were not processed.
        case goAway(lastStream: Int32)
        /// Bytes arrived, whatever they said.
        case received
        /// Our PING was answered.
        case pingAcknowledged
        /// A push waits to be sent.
        case wanted
        /// The connection is to be left for a new one once its streams are answered.
        case retire
        /// Time has passed; see ``nextTimerMs``.
        case tick
        /// The socket is gone.
        case lost
    }

    /// How a request ended.
    package enum Ending: Sendable, Equatable {
        /// With a status.
        case answered
        /// Certainly not processed: it may always be sent again.
        case notProcessed
        /// Written, not answered: it may have been processed.
        case unknown
    }

    /// What the owner of the socket has to do.
    package enum Action: Sendable, Equatable {
        /// The request on this stream has ended.
        case finish(stream: Int32, Ending)
        /// Send a PING.
        case ping
        /// Close the socket for this reason and report ``Input/lost``.
        case close(String)
    }

    private enum Phase: Equatable {
        case awaitingSettings, open, draining
    }

    /// The last stream id a client may use is 2^31-1; a few are left so that a GOAWAY crossing ours does no harm.
    static let lastStreamIDUsed: Int32 = 0x7FFF_FFFF - 64

    private let timing: PushTiming
    private var phase = Phase.awaitingSettings
    private var limit = 0
    /// Open streams, each with its status, or 0 before that is known.
    private var streams: [Int32: Int] = [:]
    private var unwritten: Set<Int32> = []
    private let openedAtMs: Int64
    private var lastReceivedMs: Int64
    private var busySinceMs: Int64
    private var pingSentMs: Int64?
    /// An idle connection is being tried with a PING before it carries a push.
    private var isProving = false

    /// A connection whose handshake has just ended.
    package init(timing: PushTiming, atMs now: Int64) {
        self.timing = timing
        self.openedAtMs = now
        self.lastReceivedMs = now
        self.busySinceMs = now
    }

    /// How many requests may be opened now. 0 until the first SETTINGS: APNs begins with 1, and streams above its
    /// limit are refused or cost the connection.
    package var capacity: Int {
        phase == .open && !isProving ? max(0, limit - streams.count) : 0
    }

    /// Whether as many requests are open as the peer allows.
    package var isFull: Bool { phase == .open && !isProving && streams.count >= limit }

    /// Whether the connection takes no new requests any more.
    package var isDraining: Bool { phase == .draining }

    /// Requests that are open.
    package var openStreams: Int { streams.count }

    /// When ``Input/tick`` is next due, in milliseconds of the clock passed to ``handle(_:atMs:)``.
    package var nextTimerMs: Int64 {
        if phase == .awaitingSettings { return openedAtMs + timing.settingsMs }
        if let pingSentMs { return max(pingSentMs, lastReceivedMs) + timing.pingAnswerMs }
        if !streams.isEmpty { return max(lastReceivedMs, busySinceMs) + timing.pingAfterSilenceMs }
        return lastReceivedMs + timing.pingWhenIdleMs
    }

    /// Takes an input and says what follows from it.
    ///
    /// - Parameter now: milliseconds of a monotonic clock.
    package mutating func handle(_ input: Input, atMs now: Int64) -> [Action] {
        switch input {
        case .settings(let maxConcurrentStreams):
            limit = maxConcurrentStreams
            if phase == .awaitingSettings { phase = .open }
        case .opened(let stream):
            if streams.isEmpty { busySinceMs = now }
            streams[stream] = 0
            unwritten.insert(stream)
            if stream >= Self.lastStreamIDUsed { phase = .draining }
        case .flushed:
            unwritten.removeAll(keepingCapacity: true)
        case .status(let stream, let status):
            if streams[stream] != nil { streams[stream] = status }
        case .answered(let stream):
            return finish(stream, .answered) + closeIfDrained()
        case .streamClosed(let stream, let errorCode):
            return finish(stream, ending(of: stream, errorCode: errorCode)) + closeIfDrained()
        case .abandoned(let stream):
            streams[stream] = nil
            unwritten.remove(stream)
            return closeIfDrained()
        case .goAway(let lastStream):
            phase = .draining
            let dropped = streams.keys.filter { $0 > lastStream }.sorted()
            return dropped.flatMap { finish($0, .notProcessed) } + closeIfDrained()
        case .received:
            lastReceivedMs = now
            isProving = false
        case .pingAcknowledged:
            lastReceivedMs = now
            isProving = false
            pingSentMs = nil
        case .wanted:
            let isSilent = now - lastReceivedMs >= timing.pingBeforeReuseMs
            if phase == .open && streams.isEmpty && isSilent && !isProving {
                isProving = true
                return ping(now)
            }
        case .retire:
            phase = .draining
            return closeIfDrained()
        case .tick:
            return tick(now)
        case .lost:
            phase = .draining
            return streams.keys.sorted().flatMap { stream in
                finish(stream, ending(of: stream, errorCode: HTTP2ErrorCode.internalError))
            }
        }
        return []
    }

    private mutating func tick(_ now: Int64) -> [Action] {
        guard now >= nextTimerMs else { return [] }
        if phase == .awaitingSettings { return [.close("no SETTINGS within \(timing.settingsMs) ms")] }
        if pingSentMs != nil { return [.close("PING not answered within \(timing.pingAnswerMs) ms")] }
        return ping(now)
    }

    private mutating func ping(_ now: Int64) -> [Action] {
        guard pingSentMs == nil else { return [] }
        pingSentMs = now
        return [.ping]
    }

    private mutating func finish(_ stream: Int32, _ ending: Ending) -> [Action] {
        guard streams.removeValue(forKey: stream) != nil else { return [] }
        unwritten.remove(stream)
        return [.finish(stream: stream, ending)]
    }

    /// A known status is an answer even if its body never came: APNs had decided.
    private func ending(of stream: Int32, errorCode: UInt32) -> Ending {
        if streams[stream, default: 0] != 0 { return .answered }
        if errorCode == HTTP2ErrorCode.refusedStream || unwritten.contains(stream) { return .notProcessed }
        return .unknown
    }

    private func closeIfDrained() -> [Action] {
        phase == .draining && streams.isEmpty ? [.close("drained")] : []
    }
}
