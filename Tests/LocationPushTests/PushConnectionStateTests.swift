import LocationPush
import Testing

/// The connection's rules on paper: inputs in, actions out. Times are milliseconds on a clock that starts at 0.
@Suite struct PushConnectionStateTests {
    private func open(
        limit: Int = 1000, streams: [Int32] = [], timing: PushTiming = PushTiming(), atMs now: Int64 = 0
    ) -> PushConnectionState {
        var state = PushConnectionState(timing: timing, atMs: now)
        _ = state.handle(.settings(maxConcurrentStreams: limit), atMs: now)
        for stream in streams { send(stream, &state, atMs: now) }
        return state
    }

    private func send(_ stream: Int32, _ state: inout PushConnectionState, atMs now: Int64) {
        _ = state.handle(.opened(stream: stream), atMs: now)
        _ = state.handle(.written(stream: stream), atMs: now)
    }

    /// Requests that may take longer than any silence.
    private var patient: PushTiming {
        var timing = PushTiming()
        timing.requestMs = 60_000
        return timing
    }

    // MARK: - SETTINGS

    @Test func `nothing is sent before the first SETTINGS`() {
        var state = PushConnectionState(timing: PushTiming(), atMs: 0)
        #expect(state.capacity == 0)
        _ = state.handle(.received, atMs: 1)
        #expect(state.capacity == 0)
        _ = state.handle(.settings(maxConcurrentStreams: 1), atMs: 2)
        #expect(state.capacity == 1)
    }

    @Test func `a peer that sends no SETTINGS in time is left`() {
        var state = PushConnectionState(timing: PushTiming(), atMs: 0)
        #expect(state.nextTimerMs == 10_000)
        #expect(state.handle(.tick, atMs: 9_999) == [])
        #expect(state.handle(.tick, atMs: 10_000) == [.close("no SETTINGS within 10000 ms")])
    }

    @Test func `the number of streams follows SETTINGS up and down`() {
        var state = open(limit: 1)
        _ = state.handle(.opened(stream: 1), atMs: 0)
        #expect(state.capacity == 0)
        _ = state.handle(.settings(maxConcurrentStreams: 1000), atMs: 1)
        #expect(state.capacity == 999)
        _ = state.handle(.opened(stream: 3), atMs: 1)
        _ = state.handle(.settings(maxConcurrentStreams: 1), atMs: 2)
        #expect(state.capacity == 0)
        _ = state.handle(.answered(stream: 1), atMs: 3)
        #expect(state.capacity == 0)
        _ = state.handle(.answered(stream: 3), atMs: 3)
        #expect(state.capacity == 1)
        _ = state.handle(.settings(maxConcurrentStreams: 0), atMs: 4)
        #expect(state.capacity == 0)
    }

    // MARK: - Ends of requests

    @Test func `an answered request ends once, whatever follows on its stream`() {
        var state = open(streams: [1])
        _ = state.handle(.status(stream: 1, 200), atMs: 1)
        #expect(state.handle(.answered(stream: 1), atMs: 1) == [.finish(stream: 1, .answered)])
        #expect(state.handle(.streamClosed(stream: 1, errorCode: 0), atMs: 1) == [])
        #expect(state.handle(.streamClosed(stream: 1, errorCode: 8), atMs: 1) == [])
    }

    @Test func `a reset after the status counts as an answer`() {
        var state = open(streams: [1])
        _ = state.handle(.status(stream: 1, 200), atMs: 1)
        #expect(state.handle(.streamClosed(stream: 1, errorCode: 2), atMs: 2) == [.finish(stream: 1, .answered)])
    }

    @Test func `a refused stream was not processed, another reset may have been`() {
        var state = open(streams: [1, 3, 5])
        #expect(state.handle(.streamClosed(stream: 1, errorCode: 7), atMs: 1) == [.finish(stream: 1, .notProcessed)])
        #expect(state.handle(.streamClosed(stream: 3, errorCode: 2), atMs: 1) == [.finish(stream: 3, .unknown)])
        #expect(state.handle(.streamClosed(stream: 5, errorCode: 0), atMs: 1) == [.finish(stream: 5, .unknown)])
    }

    @Test func `a lost connection leaves written requests unknown and unwritten ones unprocessed`() {
        var state = open(streams: [1])
        send(3, &state, atMs: 1)
        send(5, &state, atMs: 1)
        _ = state.handle(.status(stream: 1, 503), atMs: 2)
        _ = state.handle(.opened(stream: 7), atMs: 3)
        #expect(
            state.handle(.lost, atMs: 4) == [
                .finish(stream: 1, .answered), .finish(stream: 3, .unknown), .finish(stream: 5, .unknown),
                .finish(stream: 7, .notProcessed),
            ])
        #expect(state.capacity == 0)
    }

    @Test func `a request given up makes room and ends no second time`() {
        var state = open(limit: 1, streams: [1])
        #expect(state.handle(.abandoned(stream: 1), atMs: 1) == [.giveUp(stream: 1, .unknown)])
        #expect(state.capacity == 1)
        #expect(state.handle(.abandoned(stream: 1), atMs: 1) == [])
        #expect(state.handle(.lost, atMs: 2) == [])
    }

    @Test func `an answer that has begun counts for a request given up`() {
        var state = open(streams: [1])
        _ = state.handle(.status(stream: 1, 200), atMs: 1)
        _ = state.handle(.opened(stream: 3), atMs: 1)
        #expect(state.isUnwritten(3) && !state.isUnwritten(1))
        #expect(state.handle(.abandoned(stream: 1), atMs: 2) == [.giveUp(stream: 1, .answered)])
        #expect(state.handle(.abandoned(stream: 3), atMs: 2) == [.giveUp(stream: 3, .notProcessed)])
    }

    // MARK: - The limit of a request

    @Test func `a request has 10 s, and the connection must then answer a PING before it carries another`() {
        var state = open(streams: [1])
        send(3, &state, atMs: 4_000)
        _ = state.handle(.received, atMs: 9_000)
        #expect(state.nextTimerMs == 10_000)
        #expect(state.handle(.tick, atMs: 9_999) == [])
        #expect(state.handle(.tick, atMs: 10_000) == [.giveUp(stream: 1, .unknown), .ping])
        #expect(state.capacity == 0)
        _ = state.handle(.pingAcknowledged, atMs: 10_030)
        #expect(state.capacity == 999)
        #expect(state.nextTimerMs == 14_000)
    }

    @Test func `a connection that does not answer two requests in a row is abandoned, even if it answers PINGs`() {
        var state = open(streams: [1])
        _ = state.handle(.tick, atMs: 10_000)
        _ = state.handle(.pingAcknowledged, atMs: 10_030)
        send(3, &state, atMs: 11_000)
        #expect(
            state.handle(.tick, atMs: 21_000) == [
                .giveUp(stream: 3, .unknown), .close("2 requests in a row were not answered"),
            ])
        #expect(state.capacity == 0)
    }

    @Test func `requests in flight keep their 10 s on an abandoned connection`() {
        var state = open(streams: [1, 3])
        send(5, &state, atMs: 6_000)
        send(7, &state, atMs: 7_000)
        #expect(state.handle(.tick, atMs: 10_000).prefix(2) == [.giveUp(stream: 1, .unknown), .ping])
        #expect(state.isDraining)
        #expect(state.handle(.answered(stream: 5), atMs: 12_000) == [.finish(stream: 5, .answered)])
        _ = state.handle(.pingAcknowledged, atMs: 12_000)
        #expect(
            state.handle(.tick, atMs: 17_000) == [
                .giveUp(stream: 7, .unknown), .close("2 requests in a row were not answered"),
            ])
    }

    @Test func `an answer in between keeps the connection`() {
        var state = open(streams: [1])
        for round in 0..<20 as Range<Int64> {
            let lost = Int32(4 * round + 1)
            if round > 0 { send(lost, &state, atMs: round * 20_000) }
            _ = state.handle(.tick, atMs: round * 20_000 + 10_000)
            _ = state.handle(.pingAcknowledged, atMs: round * 20_000 + 10_001)
            send(lost + 2, &state, atMs: round * 20_000 + 10_002)
            _ = state.handle(.status(stream: lost + 2, 503), atMs: round * 20_000 + 10_003)
            _ = state.handle(.answered(stream: lost + 2), atMs: round * 20_000 + 10_003)
            #expect(state.capacity == 1000)
        }
    }

    @Test func `several pushes with short deadlines reveal a dead connection`() {
        var state = open()
        for push in 0..<3 as Range<Int64> {
            send(Int32(2 * push + 1), &state, atMs: push * 5_000)
            #expect(state.capacity > 0, "\(push)")
            _ = state.handle(.abandoned(stream: Int32(2 * push + 1)), atMs: push * 5_000 + 4_000)
            _ = state.handle(.received, atMs: push * 5_000 + 4_001)
        }
        #expect(state.isDraining)
    }

    @Test func `many pushes given up quickly do not condemn their connection`() {
        var state = open()
        for push in 0..<9 as Range<Int64> {
            send(Int32(2 * push + 1), &state, atMs: push * 1_000)
            #expect(
                state.handle(.abandoned(stream: Int32(2 * push + 1)), atMs: push * 1_000 + 1_000)
                    == [.giveUp(stream: Int32(2 * push + 1), .unknown)])
        }
        #expect(state.capacity == 1000)
    }

    // MARK: - GOAWAY

    @Test func `after GOAWAY the streams above the last are unprocessed and those below still get answers`() {
        var state = open(streams: [1, 3, 5, 7])
        #expect(
            state.handle(.goAway(lastStream: 3), atMs: 1) == [
                .finish(stream: 5, .notProcessed), .finish(stream: 7, .notProcessed),
            ])
        #expect(state.isDraining)
        #expect(state.capacity == 0)
        #expect(state.handle(.streamClosed(stream: 5, errorCode: 7), atMs: 1) == [])
        #expect(state.handle(.answered(stream: 3), atMs: 2) == [.finish(stream: 3, .answered)])
        #expect(state.handle(.answered(stream: 1), atMs: 3) == [.finish(stream: 1, .answered), .close("drained")])
    }

    @Test func `a graceful GOAWAY in two steps drops streams only at the second`() {
        var state = open(streams: [1, 3])
        #expect(state.handle(.goAway(lastStream: Int32.max), atMs: 1) == [])
        #expect(state.capacity == 0)
        #expect(state.handle(.goAway(lastStream: 1), atMs: 2) == [.finish(stream: 3, .notProcessed)])
    }

    @Test func `GOAWAY on an idle connection closes it at once`() {
        var state = open()
        #expect(state.handle(.goAway(lastStream: 0), atMs: 1) == [.close("drained")])
    }

    @Test func `SETTINGS after GOAWAY do not open the connection again`() {
        var state = open(streams: [1])
        _ = state.handle(.goAway(lastStream: 1), atMs: 1)
        _ = state.handle(.settings(maxConcurrentStreams: 1000), atMs: 2)
        #expect(state.capacity == 0)
    }

    @Test func `a retired connection takes nothing new and closes after its last answer`() {
        var state = open(streams: [1])
        #expect(state.handle(.retire, atMs: 1) == [])
        #expect(state.capacity == 0)
        #expect(state.handle(.answered(stream: 1), atMs: 2) == [.finish(stream: 1, .answered), .close("drained")])
    }

    @Test func `a connection is left before its stream ids run out`() {
        var state = open(streams: [1])
        #expect(state.capacity == 999)
        _ = state.handle(.opened(stream: 2_147_483_585), atMs: 1)
        #expect(state.capacity == 0)
        #expect(state.isDraining)
    }

    // MARK: - PING

    @Test func `silence with a request outstanding is tried with one PING, and no answer means death`() {
        var state = open(streams: [1], timing: patient)
        #expect(state.handle(.tick, atMs: 14_999) == [])
        #expect(state.handle(.tick, atMs: 15_000) == [.ping])
        #expect(state.handle(.tick, atMs: 15_001) == [])
        #expect(state.nextTimerMs == 20_000)
        #expect(state.handle(.tick, atMs: 20_000) == [.close("PING not answered within 5000 ms")])
        #expect(state.handle(.lost, atMs: 20_000) == [.finish(stream: 1, .unknown)])
    }

    @Test func `an answered PING gives the connection another span of silence`() {
        var state = open(streams: [1], timing: patient)
        _ = state.handle(.tick, atMs: 15_000)
        _ = state.handle(.pingAcknowledged, atMs: 15_100)
        #expect(state.nextTimerMs == 30_100)
        #expect(state.handle(.tick, atMs: 30_100) == [.ping])
    }

    @Test func `requests that keep being sent into silence do not put the PING off`() {
        var state = open(streams: [1], timing: patient)
        for second in 1...14 as ClosedRange<Int64> {
            _ = state.handle(.opened(stream: Int32(2 * second + 1)), atMs: second * 1000)
        }
        #expect(state.handle(.tick, atMs: 15_000) == [.ping])
    }

    @Test func `an idle connection is kept alive once an hour`() {
        var state = open()
        #expect(state.nextTimerMs == 3_600_000)
        #expect(state.handle(.tick, atMs: 3_600_000) == [.ping])
        #expect(state.handle(.tick, atMs: 3_605_000) == [.close("PING not answered within 5000 ms")])
    }

    @Test func `a long idle connection proves that it lives before it carries a push`() {
        var state = open()
        #expect(state.handle(.wanted, atMs: 59_999) == [])
        #expect(state.capacity == 1000)
        #expect(state.handle(.wanted, atMs: 60_000) == [.ping])
        #expect(state.capacity == 0)
        #expect(state.handle(.wanted, atMs: 60_001) == [])
        _ = state.handle(.pingAcknowledged, atMs: 60_030)
        #expect(state.capacity == 1000)
        #expect(state.handle(.wanted, atMs: 60_031) == [])
    }

    @Test func `a long idle connection that is dead is closed before anything is sent on it`() {
        var state = open()
        _ = state.handle(.wanted, atMs: 60_000)
        #expect(state.handle(.tick, atMs: 65_000) == [.close("PING not answered within 5000 ms")])
        #expect(state.handle(.lost, atMs: 65_000) == [])
    }
}
