internal import CZlib

/// Compresses bytes to bare deflate (RFC 1951) in pieces of any size, as a member of a zip file has it.
///
/// The wrapper of zlib's `deflate`. Its memory is about 256 KiB, whatever the stream's length.
package struct Deflater: ~Copyable {
    // zlib's state points back to the stream, which therefore must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    /// The bytes that were given.
    package private(set) var bytesIn = 0
    /// The bytes that came out.
    package private(set) var bytesOut = 0
    /// The CRC-32 of the bytes that were given.
    package private(set) var checksum = CRC32()

    /// The room for one step's output.
    private static let stepBytes = 64 << 10

    /// - Precondition: There is memory for zlib's state.
    package init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // A negative window is bare deflate.
        let status = deflateInit2_(
            stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            CInt(MemoryLayout<z_stream>.size))
        precondition(status == Z_OK, "There is no memory to compress a file.")
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Compresses some bytes, and appends the output so far to `output`.
    package mutating func add(_ bytes: [UInt8], into output: inout [UInt8]) {
        var rest = bytes[...]
        // zlib counts in 32 bits.
        while !rest.isEmpty {
            let piece = rest.prefix(1 << 30)
            rest = rest.dropFirst(piece.count)
            bytesIn += piece.count
            checksum.add(piece)
            piece.withUnsafeBufferPointer { input in
                // zlib reads through it and never writes.
                stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.pointee.avail_in = UInt32(input.count)
                run(Z_NO_FLUSH, into: &output)
                stream.pointee.next_in = nil
            }
        }
    }

    /// Ends the stream, and appends the rest of its output. Nothing can be added after it.
    package mutating func finish(into output: inout [UInt8]) { run(Z_FINISH, into: &output) }

    private mutating func run(_ flush: CInt, into output: inout [UInt8]) {
        let stream = stream
        var isFull = true
        while isFull {
            let step = [UInt8](unsafeUninitializedCapacity: Self.stepBytes) { room, written in
                stream.pointee.next_out = room.baseAddress
                stream.pointee.avail_out = UInt32(room.count)
                let status = deflate(stream, flush)
                precondition(status != Z_STREAM_ERROR, "A stream is not used after its end.")
                written = room.count - Int(stream.pointee.avail_out)
            }
            stream.pointee.next_out = nil
            // If there is room left, zlib has no more output.
            isFull = step.count == Self.stepBytes
            bytesOut += step.count
            output += step
        }
    }
}
