package import Whereabouts

/// The mark of one fix in the index: a keyed hash, and the number of its event.
package struct FixMark: Hashable, Comparable, Sendable {
    /// The bits of ``hash`` that follow from the other members of the fix. They find the equal fix among, for example,
    /// a thousand fixes of one device, time and place, without opening the rest. The 40 bits above follow from the
    /// identity.
    package static let contentBits: UInt64 = 0xFF_FFFF

    /// The hash of the fix (`FixIdentities.hash(of:device:)` of the log).
    package let hash: UInt64
    /// The number of the event that reported the fix.
    package let number: Int64
    /// The owner of the device, so that an erasure finds the mark.
    package let person: PersonID

    package init(hash: UInt64, number: Int64, person: PersonID) {
        (self.hash, self.number, self.person) = (hash, number, person)
    }

    /// The order in a run: by hash, then by number. Inlined, because the log sorts millions of marks.
    @inlinable
    package static func < (one: FixMark, other: FixMark) -> Bool {
        one.hash == other.hash ? one.number < other.number : one.hash < other.hash
    }
}
