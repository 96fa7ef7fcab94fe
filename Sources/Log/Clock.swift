import Cryptography
import Glibc
import Synchronization
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
        let (high, low) = randomWords.withLock { words in
            if words.count < 2 {
                words = randomBytes(4096).withUnsafeBytes { Array($0.bindMemory(to: UInt64.self)) }
            }
            return (words.removeLast(), words.removeLast())
        }
        return Identifier128(random: high, low)
    }

    /// Random words, drawn many at a time: one call for random bytes costs as much as sealing a fix, and every request
    /// needs some.
    private static let randomWords = Mutex<[UInt64]>([])
}

extension Int64 {
    /// 53 random bits: the mark of a restore or an accepted loss. Integers of events are within 2⁵³ of 0.
    package static func randomMark() -> Int64 {
        let bits = randomBytes(8).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        return Int64(bits >> 11)
    }
}
