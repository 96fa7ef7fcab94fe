import Cryptography
import Glibc
package import Whereabouts

extension Timestamp {
    /// The current time of the system's clock.
    package static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}

extension Identifier128 {
    /// A new random UUID.
    package static func random() -> Identifier128 {
        let (high, low) = twoRandomWords()
        return Identifier128(random: high, low)
    }
}

extension Int64 {
    /// 53 random bits: the mark of a restore or an accepted loss. Integers of events are within 2⁵³ of 0.
    package static func randomMark() -> Int64 {
        let bits = randomBytes(8).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        return Int64(bits >> 11)
    }
}
