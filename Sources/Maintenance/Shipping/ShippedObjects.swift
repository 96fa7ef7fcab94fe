import Cryptography
import Glibc
import JSON
import Log
import Threading
import Transparency
import Whereabouts

// `shipping.json` in the data directory says what a command has shipped:
//
//     {"format":1,"command":"5d41…","log":"6b1c…","epoch":1,"shipped":4711,"range":"9f3a…","leaf":"c0de…"}
//
// `command` is SHA-256 of the words of the command: another command may write to another place, which gets all events.
// `range` and `leaf` are the tree and the leaf at event `shipped`. Without the file, all events are shipped again, as
// other objects of the same content.

/// Ships by a command: each batch is an object, and so are the keys and the configuration.
final class ShippedObjects: ShippingPlace {
    private let command: ShippingCommand
    private let origin: ShippedBatch.Origin
    private let state: String
    private let sha256 = SHA256()

    private static let format: Int64 = 1

    init(_ command: ShippingCommand, _ directory: DataDirectory, _ log: EventLog) {
        (self.command, state) = (command, directory.shippingState)
        origin = .init(log: log.id, epoch: log.epoch)
    }

    /// The words, each with its length, so that no two commands have one text.
    private var commandDigest: Digest {
        sha256.hash(command.words.flatMap { Array("\($0.utf8.count):\($0)".utf8) })
    }

    func open() throws(ShippingFault) -> Shipped {
        guard let bytes = DataDirectory.read(state, atMost: 1 << 16), let root = try? JSONDocument.parse(bytes).root,
            root["format"]?.int == Self.format, root["command"]?.string == commandDigest.hex,
            root["log"]?.string == "\(origin.log)", root["epoch"]?.int == origin.epoch,
            let shipped = root["shipped"]?.int, let range = root["range"]?.string.flatMap({ Hex.decode($0) }),
            let leaf = root["leaf"]?.string.flatMap({ Hex.decode($0) }).flatMap({ Digest(bytes: $0) }),
            let range = CompactRange(size: shipped, bytes: range)
        else { return .nothing }
        return Shipped(range: range, leaf: leaf)
    }

    func put(_ bytes: [UInt8], of batch: ShippedBatch) throws(ShippingFault) {
        try command.run(path(ShippedName(first: batch.first, last: batch.last).text), bytes)
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("format", Self.format)
        writer.field("command", commandDigest.hex)
        writer.field("log", "\(origin.log)")
        writer.field("epoch", origin.epoch)
        writer.field("shipped", batch.last)
        writer.field("range", Hex.encode(batch.after.bytes))
        writer.field("leaf", batch.events[batch.events.count - 1].leaf.hex)
        writer.endObject()
        try ShippingFault.logged { () throws(LogError) in
            try DataDirectory.writePrivate(writer.bytes + [UInt8(ascii: "\n")], to: state)
        }
    }

    func put(_ keys: borrowing KeysCopy) throws(ShippingFault) -> Bool {
        try command.run(path(BackupFile.keys), from: keys.descriptor)
        // An erasure meanwhile is noticed by its generation, and the keys are shipped again.
        return true
    }

    func put(configuration: [UInt8]) throws(ShippingFault) {
        try command.run(path(BackupFile.configuration), configuration)
    }

    func close() {}

    private func path(_ name: String) -> String { "\(origin.folder)/\(name)" }
}
