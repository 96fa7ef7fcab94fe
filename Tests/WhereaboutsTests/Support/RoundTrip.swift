import Whereabouts

extension EventCoding {
    /// An event's stored form before sealing, with its own bytes.
    struct Stored {
        let kind: EventKind
        let clear: [UInt8]
        let parts: [(person: PersonID, keyClass: KeyClass, plaintext: [UInt8])]
    }

    /// What a writer writes that has written another event before.
    static func encode(_ event: Event, in stream: StreamID, at recordedAt: Timestamp? = nil) -> Stored {
        var facts = FactWriter()
        facts.write(.personErased(PersonID(rawValue: 9)), in: .audit(PersonID(rawValue: 9)), at: nil)
        let encoded = facts.write(event, in: stream, at: recordedAt)
        return Stored(
            kind: encoded.kind, clear: facts.withClear(of: encoded, Array.init),
            parts: facts.parts(of: encoded).map { ($0.person, $0.keyClass, facts.withPlaintext(of: $0, Array.init)) })
    }

    /// Decodes the result of ``encode(_:in:at:)`` or a form from a table; `sealed` has the parts that cannot be opened,
    /// and their decoded form.
    static func decoded(
        _ kind: EventKind, _ stream: StreamID, at recordedAt: Timestamp? = nil, clear: [UInt8], parts: [[UInt8]],
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
                return .success(
                    try decode(kind: kind, in: stream, at: recordedAt, clear: clear, parts: OpenedParts(opened)))
            } catch { return .failure(error) }
        }
        return try result.get()
    }
}
