internal import Glibc

/// `CLOCK_MONOTONIC`: time since an arbitrary moment. Setting the time of day does not change it.
package enum MonotonicClock {
    /// Seconds, with a resolution of a nanosecond.
    package static var seconds: Double {
        let time = now
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Whole milliseconds.
    package static var milliseconds: Int64 {
        let time = now
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    private static var now: timespec {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time
    }
}
