internal import Glibc

/// A moment, read from two clocks at once.
package struct PushTime: Sendable, Equatable {
    /// Milliseconds since 1970 UTC. May step when the clock is set.
    package let unixMs: Int64
    /// Milliseconds of a clock that never steps and counts while the machine sleeps; its zero means nothing.
    package let monotonicMs: Int64

    /// A moment.
    package init(unixMs: Int64, monotonicMs: Int64) {
        self.unixMs = unixMs
        self.monotonicMs = monotonicMs
    }
}

/// Where the sender reads the time: passed in, so that tests choose it.
package struct PushClock: Sendable {
    /// The present moment.
    package let now: @Sendable () -> PushTime

    /// A clock that answers with `now`.
    package init(now: @escaping @Sendable () -> PushTime) {
        self.now = now
    }

    /// The system's clocks, `CLOCK_REALTIME` and `CLOCK_BOOTTIME`.
    package static let system = PushClock {
        PushTime(unixMs: milliseconds(CLOCK_REALTIME), monotonicMs: milliseconds(CLOCK_BOOTTIME))
    }

    private static func milliseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// The intervals the sender waits. The defaults are those of Apple's documentation and common practice.
package struct PushTiming: Sendable {
    /// Milliseconds to look up, connect and shake hands before the next address is tried.
    package var connectMs: Int64 = 10_000
    /// Milliseconds a new connection may take until its first SETTINGS.
    package var settingsMs: Int64 = 10_000
    /// Milliseconds from a request's HEADERS until the sender gives it up. After two in a row, it abandons the connection.
    package var requestMs: Int64 = 10_000
    /// Milliseconds of silence with requests outstanding before a PING.
    package var pingAfterSilenceMs: Int64 = 15_000
    /// Milliseconds of silence after which an idle connection is tried with a PING before it carries a push.
    package var pingBeforeReuseMs: Int64 = 60_000
    /// Milliseconds of silence after which an idle connection is kept alive with a PING (Apple: an hour).
    package var pingWhenIdleMs: Int64 = 3_600_000
    /// Milliseconds until an unanswered PING means that the connection is dead.
    package var pingAnswerMs: Int64 = 5_000
    /// The pauses in milliseconds before the second, third and fourth try of a push, each varied by up to a quarter. Each
    /// further pause is twice the one before, at most ``retryMsMax`` and half of the time left until the push's deadline,
    /// and at least the last of these.
    package var retryMs: [Int64] = [500, 2_000, 5_000]
    /// The longest pause between two tries, in milliseconds, unless APNs asks for a longer one.
    package var retryMsMax: Int64 = 120_000
    /// Milliseconds before connecting again after a connection that could not be made or answered nothing, shortened
    /// by up to a half; doubled each time. After a connection that did answer, the next one is made at once.
    package var reconnectMs: Int64 = 500
    /// The longest wait between reconnections, in milliseconds.
    package var reconnectMsMax: Int64 = 30_000
    /// Milliseconds that pushes wait for a stream, with every connection at its limit, before another is opened.
    package var connectWhenFullMs: Int64 = 250
    /// Milliseconds without a push after which a connection beside the first is closed. Long, because APNs takes quick
    /// opening and closing for an attack.
    package var closeSpareMs: Int64 = 900_000
    /// Milliseconds the queue is held after a configuration alarm, doubled each time it is repeated.
    package var holdMs: Int64 = 60_000
    /// The longest hold, in milliseconds.
    package var holdMsMax: Int64 = 900_000
    /// The defaults.
    package init() {}
}
