package import Cryptography
package import Whereabouts

extension HeadsCommitment {
    /// The commitment in the stored body of a `HeadsCommitted`; `nil` if the body is none.
    package init?(stored body: UnsafeRawBufferPointer) {
        var reader = CBORReader(body)
        guard (try? reader.array()) == 1 else { return nil }
        let clear = UnsafeRawBufferPointer(rebasing: body.dropFirst(1))
        guard
            let event = try? EventCoding.decode(kind: .headsCommitted, in: .house, clear: clear, parts: []),
            case .headsCommitted(let heads) = event
        else { return nil }
        self = heads
    }

    /// The commitments of its entries, in order.
    package var commitments: [Digest] {
        stride(from: 0, to: commits.count, by: Self.commitmentBytes).compactMap {
            Digest(bytes: commits[$0..<min($0 + Self.commitmentBytes, commits.count)])
        }
    }
}
