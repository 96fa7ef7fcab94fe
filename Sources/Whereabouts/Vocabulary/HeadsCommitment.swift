/// What all persons' own logs were up to an event, in the words of the log itself.
///
/// An entry of a person's log is `[1, version, recorded at, commit]`. Version and time are columns of its event, so with
/// the commitments below, the root of every person's log follows from the log without a key, also after an erasure.
package struct HeadsCommitment: Hashable, Sendable {
    /// The most commitments of one event: 64 kB. More take several events.
    package static let commitmentsMax = 2000
    /// The bytes of a commitment.
    package static let commitmentBytes = 32

    /// The name of the service, which begins the name of each person's log. Another name than before begins all of
    /// these logs again, from event 1.
    package let name: String
    /// The newest event that is covered. Later events are covered by a later commitment.
    package let upTo: Int64
    /// The number of leaves in the tree of the heads.
    package let size: Int64
    /// The root of the tree of the heads.
    package let root: Hash256
    /// For each event of a person's audit after the previous commitment, in the order of their numbers: the 32 bytes of
    /// its entry's commitment; zeros for an event that can no longer be opened.
    package let commits: [UInt8]

    package init(name: String, upTo: Int64, size: Int64, root: Hash256, commits: [UInt8]) {
        (self.name, self.upTo, self.size, self.root, self.commits) = (name, upTo, size, root, commits)
    }
}
