internal import Glibc

/// `CLOCK_MONOTONIC`: time since an arbitrary moment. Setting the time of day does not change it.
package enum MonotonicClock {
    /// Seconds, with a resolution of a nanosecond.
    package static var seconds: Double { seconds(of: CLOCK_MONOTONIC) }

    /// The seconds that the processor has worked for the calling thread.
    package static var workSeconds: Double { seconds(of: CLOCK_THREAD_CPUTIME_ID) }

    /// Whole milliseconds.
    package static var milliseconds: Int64 { milliseconds(of: CLOCK_MONOTONIC) }

    /// Whole milliseconds of `CLOCK_BOOTTIME`, which includes the time that the machine sleeps.
    package static var millisecondsWithSleep: Int64 { milliseconds(of: CLOCK_BOOTTIME) }

    private static func seconds(of clock: clockid_t) -> Double {
        let time = time(of: clock)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func milliseconds(of clock: clockid_t) -> Int64 {
        let time = time(of: clock)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    private static func time(of clock: clockid_t) -> timespec {
        var time = timespec()
        clock_gettime(clock, &time)
        return time
    }
}
