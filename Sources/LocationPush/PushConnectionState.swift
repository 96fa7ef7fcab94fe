/// The life of one APNs connection as a value: inputs in, actions out, no socket and no clock.
///
/// It decides how many requests may be open, when a silent connection is dead, how long a request may take, and which
/// broken requests were certainly not processed. Sources: Apple, "Sending notification requests to APNs"; RFC 9113
/// sections 5.1.2, 6.8 and 8.7.
package struct PushConnectionState: Sendable {
    /// Something that happened on the connection.
    package enum Input: Sendable, Equatable {
        /// The peer's SETTINGS arrived, with the number of streams it allows from now on.
        case settings(maxConcurrentStreams: Int)
        /// A request was opened; only as many as ``capacity`` allows.
        case opened(stream: Int32)
        /// The request's HEADERS are about to be written, so the peer may see them from now on.
        case written(stream: Int32)
        /// The response's status arrived.
        case status(stream: Int32, Int)
        /// The response is complete.
        case answered(stream: Int32)
        /// The stream is gone, in order or by a reset.
        case streamClosed(stream: Int32, errorCode: UInt32)
        /// The sender no longer waits for the stream.
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

    /// Work for the owner of the socket.
    package enum Action: Sendable, Equatable {
        /// The request on this stream has ended.
        case finish(stream: Int32, Ending)
        /// The sender no longer waits for the request on this stream: reset the stream with CANCEL.
        case giveUp(stream: Int32, Ending)
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
    private struct Request {
        let openedMs: Int64
        /// The HTTP status; 0 before it is known.
        var status = 0
        /// Whether its HEADERS may have been sent.
        var isWritten = false
    }

    /// The number of unanswered requests after which the connection is abandoned, even if it answers PINGs.
    private static let unansweredMax = 2

    /// The open streams.
    private var streams: [Int32: Request] = [:]
    /// The streams in the order they were opened; some of them may have ended.
    private var order = StreamLine()
    /// The requests given up since the last answer, and the sum of their waits. With the sum, pushes with short
    /// deadlines recognize a dead connection and do not mistake a slow one for it.
    private var unanswered = (count: 0, waitedMs: Int64(0))
    /// The reason why the connection is abandoned.
    private var leaving = "drained"
    private let openedAtMs: Int64
    private var lastReceivedMs: Int64
    private var busySinceMs: Int64
    private var pingSentMs: Int64?
    /// Whether a PING tests the connection before the next push, because it was idle or did not answer a push.
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
        guard let oldest = order.first, let request = streams[oldest] else { return pingTimerMs }
        return min(pingTimerMs, request.openedMs + timing.requestMs)
    }

    /// The time at which the next PING, or the answer to one, is due.
    private var pingTimerMs: Int64 {
        if let pingSentMs { return max(pingSentMs, lastReceivedMs) + timing.pingAnswerMs }
        if !streams.isEmpty { return max(lastReceivedMs, busySinceMs) + timing.pingAfterSilenceMs }
        return lastReceivedMs + timing.pingWhenIdleMs
    }

    /// Whether the request is open and nothing of it was sent.
    package func isUnwritten(_ stream: Int32) -> Bool { streams[stream]?.isWritten == false }

    /// Takes an input and returns the actions that it requires.
    ///
    /// - Parameter now: milliseconds of a monotonic clock.
    package mutating func handle(_ input: Input, atMs now: Int64) -> [Action] {
        switch input {
        case .settings(let maxConcurrentStreams):
            limit = maxConcurrentStreams
            if phase == .awaitingSettings { phase = .open }
        case .opened(let stream):
            if streams.isEmpty { busySinceMs = now }
            streams[stream] = Request(openedMs: now)
            order.append(stream)
            if stream >= Self.lastStreamIDUsed { phase = .draining }
        case .written(let stream):
            streams[stream]?.isWritten = true
        case .status(let stream, let status):
            streams[stream]?.status = status
        case .answered(let stream):
            return finish(stream, .answered) + closeIfDrained()
        case .streamClosed(let stream, let errorCode):
            return finish(stream, ending(of: stream, errorCode: errorCode)) + closeIfDrained()
        case .abandoned(let stream):
            return giveUp(stream, now) + closeIfDrained()
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
        if pingSentMs != nil, now >= pingTimerMs {
            return [.close("PING not answered within \(timing.pingAnswerMs) ms")]
        }
        var actions: [Action] = []
        while let oldest = order.first, let request = streams[oldest], now - request.openedMs >= timing.requestMs {
            actions += giveUp(oldest, now)
        }
        if now >= pingTimerMs { actions += ping(now) }
        return actions + closeIfDrained()
    }

    /// Ends a request without an answer, and counts it against the connection.
    private mutating func giveUp(_ stream: Int32, _ now: Int64) -> [Action] {
        guard let request = streams[stream] else { return [] }
        let ending = ending(of: stream, errorCode: HTTP2ErrorCode.cancel)
        forget(stream)
        var actions = [Action.giveUp(stream: stream, ending)]
        guard ending != .answered else { return actions }
        unanswered.count += 1
        unanswered.waitedMs += now - request.openedMs
        guard unanswered.waitedMs >= timing.requestMs, phase == .open else { return actions }
        if unanswered.count >= Self.unansweredMax {
            phase = .draining
            leaving = "\(unanswered.count) requests in a row were not answered"
        } else {
            isProving = true
            actions += ping(now)
        }
        return actions
    }

    private mutating func ping(_ now: Int64) -> [Action] {
        guard pingSentMs == nil else { return [] }
        pingSentMs = now
        return [.ping]
    }

    private mutating func finish(_ stream: Int32, _ ending: Ending) -> [Action] {
        guard streams[stream] != nil else { return [] }
        if ending == .answered { unanswered = (0, 0) }
        forget(stream)
        return [.finish(stream: stream, ending)]
    }

    private mutating func forget(_ stream: Int32) {
        streams[stream] = nil
        order.dropEnded { streams[$0] == nil }
    }

    /// A known status is an answer even if its body never came: APNs had decided.
    private func ending(of stream: Int32, errorCode: UInt32) -> Ending {
        guard let request = streams[stream] else { return .unknown }
        if request.status != 0 { return .answered }
        return errorCode == HTTP2ErrorCode.refusedStream || !request.isWritten ? .notProcessed : .unknown
    }

    private func closeIfDrained() -> [Action] {
        phase == .draining && streams.isEmpty ? [.close(leaving)] : []
    }
}

/// Stream ids in the order they were opened. Taking the first costs the same for any length.
private struct StreamLine: Sendable {
    private var streams: [Int32] = []
    private var head = 0

    var first: Int32? { head < streams.count ? streams[head] : nil }

    mutating func append(_ stream: Int32) {
        streams.append(stream)
    }

    /// Drops streams from the front up to the first that has not ended.
    mutating func dropEnded(_ hasEnded: (Int32) -> Bool) {
        while head < streams.count, hasEnded(streams[head]) { head += 1 }
        if head == streams.count || head > 1024 && head > streams.count / 2 {
            streams.removeFirst(head)
            head = 0
        }
    }
}
