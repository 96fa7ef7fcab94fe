/// A shard of a house whose people are in several logs, by its number in the configuration.
package struct ShardNumber: Hashable, Sendable, Comparable {
    package let rawValue: Int64

    /// The numbers that there can be: the ids that a shard gives have the number above 40 bits, and stay exact in JSON.
    package static let range: ClosedRange<Int64> = 1...255

    /// `nil` for a number out of ``range``.
    package init?(rawValue: Int64) {
        guard Self.range.contains(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    /// The shard that gave an id; `nil` for an id of the directory or of a house without shards.
    package init?(ofID id: Int64) { self.init(rawValue: id >> Self.idBits) }

    /// The first id that the shard gives: 2⁴⁰ times its number, and one. The directory's are below all of them.
    package var firstID: Int64 { rawValue << Self.idBits + 1 }

    private static let idBits: Int64 = 40

    package static func < (a: ShardNumber, b: ShardNumber) -> Bool { a.rawValue < b.rawValue }
}

/// How long the log of a shard is, and its root there, as the directory has checked it.
package struct ShardSize: Hashable, Sendable {
    package let shard: ShardNumber
    /// The id of the shard's log.
    package let log: Identifier128
    package let epoch: Int64
    /// The number of the newest event.
    package let size: Int64
    /// The root of the Merkle tree over the events up to that one.
    package let root: Hash256

    package init(shard: ShardNumber, log: Identifier128, epoch: Int64, size: Int64, root: Hash256) {
        (self.shard, self.log, self.epoch, self.size, self.root) = (shard, log, epoch, size, root)
    }
}

/// The sizes of shards, in the order of their numbers, each at most once.
package struct ShardSizes: Hashable, Sendable {
    package let all: [ShardSize]

    package init(_ sizes: some Sequence<ShardSize>) {
        all = Dictionary(sizes.map { ($0.shard, $0) }) { _, newer in newer }.values.sorted { $0.shard < $1.shard }
    }

    /// The size of a shard; `nil` if it is not among them.
    package subscript(shard: ShardNumber) -> ShardSize? { all.first { $0.shard == shard } }

    // Of each shard 72 bytes, big-endian: number (8), id of the log (16), epoch (8), size (8), root (32).
    static let bytesOfOne = 72

    /// The bytes of all.
    var bytes: [UInt8] {
        all.flatMap { size in
            Self.bytes(size.shard.rawValue) + size.log.bytes + Self.bytes(size.epoch) + Self.bytes(size.size)
                + size.root.bytes
        }
    }

    /// `nil` unless these are the ``bytes`` of sizes.
    init?(bytes: [UInt8]) {
        guard bytes.count.isMultiple(of: Self.bytesOfOne) else { return nil }
        var sizes: [ShardSize] = []
        for start in stride(from: 0, to: bytes.count, by: Self.bytesOfOne) {
            let one = bytes[start..<start + Self.bytesOfOne]
            func number(_ place: Int) -> Int64 {
                one[(start + place)..<(start + place + 8)].reduce(0) { $0 << 8 | Int64($1) }
            }
            let log = Array(one[(start + 8)..<(start + 24)]).withUnsafeBytes { Identifier128(bytes: $0) }
            guard let shard = ShardNumber(rawValue: number(0)), let log, number(24) >= 1, number(32) >= 1,
                sizes.last.map({ $0.shard < shard }) ?? true, let root = Hash256(bytes: Array(one.suffix(32)))
            else { return nil }
            sizes.append(ShardSize(shard: shard, log: log, epoch: number(24), size: number(32), root: root))
        }
        all = sizes
    }

    private static func bytes(_ number: Int64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * Int64($0))) }
    }
}
