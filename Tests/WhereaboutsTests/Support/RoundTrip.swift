import Whereabouts

extension EventCoding {
    /// Decodes the result of ``encode(_:in:)`` or a form from a table; `sealed` has the parts that cannot be opened,
    /// and their decoded form.
    static func decoded(
        _ kind: EventKind, _ stream: StreamID, clear: [UInt8], parts: [[UInt8]],
        sealed: (Int) -> OpenedPart? = { _ in nil }
    ) throws(CBORError) -> Event {
        // Copies that outlive the closures: one buffer for each part.
        let buffers = parts.map { part in
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: part.count, alignment: 1)
            buffer.copyBytes(from: part)
            return buffer
        }
        defer { for buffer in buffers { buffer.deallocate() } }
        let opened = buffers.enumerated().map { sealed($0) ?? .open(UnsafeRawBufferPointer($1)) }
        let result: Result<Event, CBORError> = clear.withUnsafeBytes { clear in
            do throws(CBORError) {
                return .success(try decode(kind: kind, in: stream, clear: clear, parts: OpenedParts(opened)))
            } catch { return .failure(error) }
        }
        return try result.get()
    }
}
