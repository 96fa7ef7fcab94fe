/// A report that was rejected.
package struct RejectedInput: Hashable, Sendable {
    /// The SHA-256 of the whole report.
    package let hash: Hash256
    /// The first ``Limits/rejectedBytes`` bytes of the report.
    package let head: [UInt8]

    package init(hash: Hash256, head: [UInt8]) { (self.hash, self.head) = (hash, head) }
}
