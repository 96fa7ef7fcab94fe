import Cryptography
import Glibc
package import Whereabouts

extension Timestamp {
    /// The time of the house.
    package static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}

extension Identifier128 {
    /// A new random UUID.
    package static func random() -> Identifier128 {
        randomBytes(16).withUnsafeBytes {
            Identifier128(
                random: $0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
    }
}
