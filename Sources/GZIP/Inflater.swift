internal import CZlib

/// Expands a stream of deflate (RFC 1951), bare or in gzip's form (RFC 1952), in pieces of any size.
///
/// The wrapper of zlib's `inflate`. Its memory is the window of 32 KiB, whatever the stream's length.
package struct Inflater: ~Copyable {
    /// The form of the stream.
    package enum Form: Sendable {
        /// Deflate without a header, as in zip files.
        case bare
        /// With gzip's header and checksum, which zlib checks.
        case gzip
    }

    /// Why a stream cannot be expanded further.
    package enum Fault: Error, Equatable, Sendable {
        /// The bytes are no such stream, or its checksum is wrong.
        case damaged
    }

    // zlib's state points back to the stream, which therefore must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    /// Whether the end of the stream was reached.
    package private(set) var isAtEnd = false

    /// - Precondition: There is memory for zlib's state.
    package init(_ form: Form) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let bits: CInt =
            switch form {
            case .bare: -15
            case .gzip: 15 + 16
            }
        let status = inflateInit2_(stream, bits, ZLIB_VERSION, CInt(MemoryLayout<z_stream>.size))
        precondition(status == Z_OK, "There is no memory to expand a compressed file.")
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Expands some bytes.
    ///
    /// - Parameters:
    ///   - input: The next bytes of the stream. Those that were not used must be given again.
    ///   - capacity: The most bytes of output.
    /// - Returns: The output, and how many bytes of the input were used.
    /// - Throws: ``Fault``
    package mutating func expand(
        _ input: ArraySlice<UInt8>, capacity: Int
    ) throws(Fault) -> (output: [UInt8], used: Int) {
        guard !isAtEnd else { return ([], 0) }
        let stream = stream
        var status = Z_OK
        var used = 0
        let output = [UInt8](unsafeUninitializedCapacity: capacity) { room, written in
            input.withUnsafeBufferPointer { bytes in
                // zlib reads through it and never writes.
                stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
                stream.pointee.avail_in = UInt32(clamping: bytes.count)
                stream.pointee.next_out = room.baseAddress
                stream.pointee.avail_out = UInt32(clamping: room.count)
                let given = Int(stream.pointee.avail_in)
                status = inflate(stream, Z_NO_FLUSH)
                used = given - Int(stream.pointee.avail_in)
                written = room.count - Int(stream.pointee.avail_out)
            }
            stream.pointee.next_in = nil
            stream.pointee.next_out = nil
        }
        switch status {
        case Z_STREAM_END: isAtEnd = true
        // Z_BUF_ERROR: neither input nor room was left, which is no fault.
        case Z_OK, Z_BUF_ERROR: break
        default: throw .damaged
        }
        return (output, used)
    }

    /// Begins another stream of the same form.
    package mutating func restart() {
        isAtEnd = false
        let status = inflateReset(stream)
        precondition(status == Z_OK, "zlib resets a stream that it made.")
    }
}
