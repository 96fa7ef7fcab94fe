internal import CZlib

/// Bytes in gzip's form (RFC 1952).
///
/// - Returns: `nil` when there is no memory for it (`deflateInit2`), and for more than 4 GiB.
package func gzipped(_ bytes: [UInt8], _ effort: CompressionEffort = .quick) -> [UInt8]? {
    guard let count = UInt32(exactly: bytes.count) else { return nil }
    var stream = z_stream()
    // 15 bits of window, the largest; 16 more for gzip's header instead of zlib's.
    let status = deflateInit2_(
        &stream, effort.level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
        CInt(MemoryLayout<z_stream>.size))
    guard status == Z_OK else { return nil }
    defer { deflateEnd(&stream) }
    let room = Int(deflateBound(&stream, uLong(count)))
    var isDone = false
    let compressed = [UInt8](unsafeUninitializedCapacity: room) { output, written in
        bytes.withUnsafeBufferPointer { input in
            // zlib reads through it and never writes.
            stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.avail_in = count
            stream.next_out = output.baseAddress
            stream.avail_out = UInt32(clamping: room)
            isDone = deflate(&stream, Z_FINISH) == Z_STREAM_END
        }
        written = isDone ? Int(stream.total_out) : 0
    }
    return isDone ? compressed : nil
}

/// How hard to compress.
package enum CompressionEffort: Sendable {
    /// For an answer: zlib's 4 of 9. A page of a track takes a third of the time of the default, and is a few percent
    /// longer.
    case quick
    /// For bytes that are compressed once and sent often: zlib's 9.
    case small

    fileprivate var level: CInt {
        switch self {
        case .quick: 4
        case .small: 9
        }
    }
}
