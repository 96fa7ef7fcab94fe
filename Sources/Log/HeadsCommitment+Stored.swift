package import Cryptography
package import Whereabouts

extension HeadsCommitment {
    /// The commitments of its entries, in order.
    package var commitments: [Digest] {
        stride(from: 0, to: commits.count, by: Self.commitmentBytes).compactMap {
            Digest(bytes: commits[$0..<min($0 + Self.commitmentBytes, commits.count)])
        }
    }
}
