internal import CZlib

/// The checksum of zip and gzip files (ITU-T V.42), of bytes that come in pieces; zlib's `crc32_z`.
package struct CRC32: Hashable, Sendable {
    /// The checksum of the bytes so far; 0 without any.
    package private(set) var value: UInt32 = 0

    /// The checksum of no bytes.
    package init() {}

    /// Adds some bytes.
    package mutating func add(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBufferPointer { input in
            value = UInt32(truncatingIfNeeded: crc32_z(uLong(value), input.baseAddress, z_size_t(input.count)))
        }
    }
}
