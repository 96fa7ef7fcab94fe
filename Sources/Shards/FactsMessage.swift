import Cryptography
import JSON
import Log
package import Whereabouts

// A shard asks the directory for its facts by a sealed `POST /shards/facts` (`ReaderSeal.swift` in Readers):
//
//     {"shard":1,"log":"0f9c…","epoch":1,"after":120,"size":4711,"root":"9f…","from":4000,"proof":["b1…"]}
//
// `after` is the event of the directory up to which the shard has all facts, durably. `size` and `root` are those of the
// shard's own log; `proof` shows that its first `from` events are the log that the directory has witnessed (RFC 9162,
// section 2.1.4). All four may be missing: then the shard only asks.
//
// The directory answers as soon as it has facts, or after ten seconds without any:
//
//     {"directory":"6ba7…","upTo":130,"witnessed":4000,"items":[{"stream":5,"kind":4,"actor":1,"request":"6ba7…",
//      "clear":"a201…","parts":["a1…"]}]}
//
// `witnessed` is the size to prove from with the next message; it may be missing. An item is an event in the form in which
// the log stores it before sealing (`EventCoding`). Bytes are hexadecimal digits. Status 409 refuses the shard: `detail` says why.

/// A message of a shard.
package struct FactsRequest: Sendable, Equatable {
    /// The growth of the shard's log since the directory has witnessed it.
    package struct Growth: Sendable, Equatable {
        package let size: Int64
        package let root: Hash256
        /// The size that the proof begins with; 0 without one.
        package let from: Int64
        package let proof: [Hash256]

        package init(size: Int64, root: Hash256, from: Int64, proof: [Hash256]) {
            (self.size, self.root, self.from, self.proof) = (size, root, from, proof)
        }
    }

    /// The most bytes of a message.
    static let bytesMax = 16 << 10
    /// A proof has at most two hashes for each level of a tree of 2⁶² leaves.
    static let proofMax = 128

    package let shard: ShardNumber
    package let log: Identifier128
    package let epoch: Int64
    package let after: Int64
    package let growth: Growth?

    package init(shard: ShardNumber, log: Identifier128, epoch: Int64, after: Int64, growth: Growth?) {
        (self.shard, self.log, self.epoch, self.after, self.growth) = (shard, log, epoch, after, growth)
    }

    /// The bytes of the message.
    package var bytes: [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        writer.beginObject()
        writer.field("shard", shard.rawValue)
        writer.field("log", log.description)
        writer.field("epoch", epoch)
        writer.field("after", after)
        if let growth {
            writer.field("size", growth.size)
            writer.field("root", Hex.encode(growth.root.bytes))
            writer.field("from", growth.from)
            writer.array("proof") { array in
                for hash in growth.proof { array.value(Hex.encode(hash.bytes)) }
            }
        }
        writer.endObject()
        return writer.bytes
    }

    /// `nil` for bytes of another form.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.bytesMax, let root = try? JSONDocument.parse(bytes).root,
            let shard = root["shard"]?.int.flatMap({ ShardNumber(rawValue: $0) }),
            let log = root["log"]?.string.flatMap({ Identifier128($0) }), let epoch = root["epoch"]?.int, epoch >= 1,
            let after = root["after"]?.int, after >= 0
        else { return nil }
        (self.shard, self.log, self.epoch, self.after) = (shard, log, epoch, after)
        guard let size = root["size"]?.int else {
            growth = nil
            return
        }
        guard size >= 1, let head = root["root"]?.hash, let from = root["from"]?.int, from >= 0,
            let items = root["proof"]?.array.map(Array.init), items.count <= Self.proofMax
        else { return nil }
        let proof = items.compactMap(\.hash)
        guard proof.count == items.count else { return nil }
        growth = Growth(size: size, root: head, from: from, proof: proof)
    }
}

extension JSONValue {
    /// 64 hexadecimal digits.
    fileprivate var hash: Hash256? { string.flatMap { Hex.decode($0) }.flatMap { Hash256(bytes: $0) } }
}

/// The answer of the directory.
package struct FactsAnswer: Sendable {
    /// The most facts of an answer; a shard asks again for the rest.
    static let itemsMax = 256
    /// The most bytes of an answer. A fact has less than a kibibyte.
    static let bytesMax = 1 << 20

    package let facts: DirectoryFacts
    /// The size of the shard's log that the directory has witnessed; 0 if none.
    package let witnessed: Int64

    package init(facts: DirectoryFacts, witnessed: Int64) { (self.facts, self.witnessed) = (facts, witnessed) }

    /// The bytes of the message.
    package var bytes: [UInt8] {
        var writer = JSONWriter(capacity: 256 + 256 * facts.items.count)
        writer.beginObject()
        writer.field("directory", facts.directory.description)
        writer.field("upTo", facts.upTo)
        writer.field("witnessed", witnessed)
        writer.array("items") { array in
            var written = FactWriter()
            for item in facts.items {
                written.reset()
                let encoded = written.write(item.event, in: item.stream, at: nil)
                array.beginObject()
                array.field("stream", item.stream.rawValue)
                array.field("kind", encoded.kind.rawValue)
                array.field("actor", item.actor.rawValue)
                array.field("request", item.correlation.description)
                array.field("clear", written.withClear(of: encoded) { Hex.encode($0) })
                array.array("parts") { parts in
                    for part in written.parts(of: encoded) {
                        parts.value(written.withPlaintext(of: part) { Hex.encode($0) })
                    }
                }
                array.endObject()
            }
        }
        writer.endObject()
        return writer.bytes
    }

    /// `nil` for bytes of another form.
    ///
    /// - Parameter after: As in the request.
    package init?(_ bytes: [UInt8], after: Int64) {
        guard bytes.count <= Self.bytesMax, let root = try? JSONDocument.parse(bytes).root,
            let directory = root["directory"]?.string.flatMap({ Identifier128($0) }), let upTo = root["upTo"]?.int,
            let witnessed = root["witnessed"]?.int, witnessed >= 0,
            let given = root["items"]?.array.map(Array.init), given.count <= Self.itemsMax
        else { return nil }
        let items = given.compactMap(Self.item)
        guard items.count == given.count else { return nil }
        facts = DirectoryFacts(directory: directory, after: after, upTo: upTo, items: items)
        self.witnessed = witnessed
    }

    private static func item(_ given: JSONValue) -> DirectoryFacts.Item? {
        guard let stream = given["stream"]?.int, let kind = given["kind"]?.int.flatMap({ EventKind(rawValue: $0) }),
            DirectoryFacts.kinds.contains(kind), let actor = given["actor"]?.int,
            let request = given["request"]?.string.flatMap({ Identifier128($0) }),
            let clear = given["clear"]?.string.flatMap({ Hex.decode($0) }),
            let parts = given["parts"]?.array?.map({ $0.string.flatMap { Hex.decode($0) } }), parts.count <= 1
        else { return nil }
        let stored = StreamID(rawValue: stream)
        var event: Event?
        clear.withUnsafeBytes { clear in
            if parts.isEmpty {
                event = try? EventCoding.decode(kind: kind, in: stored, at: nil, clear: clear, parts: OpenedParts())
            } else if let part = parts[0] {
                event = part.withUnsafeBytes {
                    try? EventCoding.decode(
                        kind: kind, in: stored, at: nil, clear: clear, parts: OpenedParts([.open($0)]))
                }
            }
        }
        return event.map {
            DirectoryFacts.Item(
                event: $0, stream: stored, actor: PrincipalID(rawValue: actor), correlation: request)
        }
    }
}
