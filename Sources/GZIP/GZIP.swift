internal import CZlib

/// Bytes in gzip's form (RFC 1952).
///
/// - Returns: `nil` when there is no memory for it (`deflateInit2`), and for more than 4 GiB.
package func gzipped(_ bytes: [UInt8]) -> [UInt8]? {
    guard let count = UInt32(exactly: bytes.count) else { return nil }
    var stream = z_stream()
    // 15 bits of window, the largest; 16 more for gzip's header instead of zlib's.
    let status = deflateInit2_(
        &stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
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

/// zlib's 4 of 9: a page of a track in a third of the time of the default, and a few percent longer.
private let level: CInt = 4
