extension HeadsCommitment {
    /// The commitment in the stored body of a `HeadsCommitted`; `nil` if the body is none.
    package init?(stored body: UnsafeRawBufferPointer) {
        var reader = CBORReader(body)
        guard (try? reader.array()) == 1 else { return nil }
        let clear = UnsafeRawBufferPointer(rebasing: body.dropFirst(1))
        guard
            let event = try? EventCoding.decode(
                kind: .headsCommitted, in: .house, at: nil, clear: clear, parts: OpenedParts()),
            case .headsCommitted(let heads) = event
        else { return nil }
        self = heads
    }
}
