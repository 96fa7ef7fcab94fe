package import Cryptography

// The heads of all persons' logs as one tree (RFC 9162, section 2.1.1). A person's number is the place of their leaf, so
// that the tree is dense and a place beyond its size means that the person has no log.
//
//     leaf i = SHA-256(0x00 ‖ CBOR [1, i, size, root])
//
//     84              an array of four
//     01              the form of the leaf
//     02              the number of the person
//     18 2a           42 entries
//     58 20 …         the root of the person's log
//
// A number without a person, for example that of a device, has a log without entries: size 0, root SHA-256("").

/// The tree over the heads of all persons' logs, each of which may change.
///
/// Cost: 64 bytes a number; a change costs as many node hashes as the tree has levels.
package struct HeadsTree: Sendable {
    /// The hashes of the complete nodes, the leaves first.
    private var levels: [[Digest]] = [[]]

    /// The tree of no leaves.
    package init() {}

    /// The number of leaves.
    package var size: Int64 { Int64(levels[0].count) }

    /// The leaf of a person's log.
    package static func leaf(index: Int64, size: Int64, root: Digest, _ sha256: SHA256) -> Digest {
        var bytes: [UInt8] = [0x84, 0x01]
        PersonLogEntry.append(index, to: &bytes)
        PersonLogEntry.append(size, to: &bytes)
        bytes += [0x58, 0x20]
        root.withBytes { bytes.append(contentsOf: $0) }
        return sha256.leaf(bytes)
    }

    /// Sets the head of a person's log; numbers below that have none yet get logs without entries.
    package mutating func set(_ index: Int64, size: Int64, root: Digest, _ sha256: SHA256) {
        let leaf = Self.leaf(index: index, size: size, root: root, sha256)
        while self.size < index {
            append(Self.leaf(index: self.size, size: 0, root: sha256.hash([]), sha256), sha256)
        }
        if self.size == index { return append(leaf, sha256) }
        levels[0][Int(index)] = leaf
        var place = Int(index)
        for level in 1..<max(levels.count, 1) {
            place /= 2
            guard place < levels[level].count else { return }
            levels[level][place] = sha256.node(levels[level - 1][2 * place], levels[level - 1][2 * place + 1])
        }
    }

    private mutating func append(_ leaf: Digest, _ sha256: SHA256) {
        levels[0].append(leaf)
        var level = 0
        while levels[level].count.isMultiple(of: 2) {
            let count = levels[level].count
            let parent = sha256.node(levels[level][count - 2], levels[level][count - 1])
            level += 1
            if level == levels.count { levels.append([]) }
            levels[level].append(parent)
        }
    }

    /// The root; SHA-256 of nothing for an empty tree.
    package func root(_ sha256: SHA256) -> Digest {
        MerkleProof.root(over: 0..<size, sha256) { levels[$0][Int($1)] }
    }
}

/// The heads of all persons' logs, folded from the log of the house: each event of a person's audit adds an entry.
///
/// Cost: one leaf and about one node for each entry, and a path for each person at each commitment.
package struct HouseHeads: Sendable {
    /// The name under which the persons' logs have their names; `nil` before the first commitment.
    package private(set) var name: String?
    /// The newest event whose commitments are folded.
    package private(set) var upTo: Int64 = 0
    private var logs: [Int64: CompactRange] = [:]
    private var touched: Set<Int64> = []
    private var tree = HeadsTree()

    /// No logs.
    package init() {}

    /// Begins the next commitment. A changed name begins all logs again, from event 1.
    package mutating func begin(as name: String) {
        if name == self.name { return }
        self = HouseHeads()
        self.name = name
    }

    /// Adds the next entry of a person's log.
    package mutating func append(
        _ commit: Digest, person: Int64, version: Int64, recordedAtMs: Int64, _ sha256: SHA256
    ) {
        logs[person, default: CompactRange()].append(
            PersonLogEntry(version: version, recordedAtMs: max(0, recordedAtMs), commit: commit).leaf(sha256), sha256)
        touched.insert(person)
    }

    /// The number of leaves and the root of the tree, with all entries up to this event.
    package mutating func commit(_ upTo: Int64, _ sha256: SHA256) -> (size: Int64, root: Digest) {
        for person in touched.sorted() {
            guard let log = logs[person] else { continue }
            tree.set(person, size: log.size, root: log.root(sha256), sha256)
        }
        touched = []
        self.upTo = upTo
        return (tree.size, tree.root(sha256))
    }
}
