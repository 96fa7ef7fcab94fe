package import Cryptography
import Glibc
import SQLite
package import Whereabouts

// `log.witness`, beside `log.sqlite`, records the newest event outside of the write-ahead log, so that a loss at the
// end of the log is noticed. It has two slots of 512 bytes, written in turn, so that a write torn by a power cut leaves
// the other slot. A slot, integers big-endian:
//
//     offset  bytes
//          0      8   "wbwitn01"
//          8     16   id of the log
//         24      8   epoch
//         32      8   number of the newest event, 0 if there is none
//         40     32   its leaf, zeros if there is none
//         72     32   SHA-256 of bytes 0 to 71
//        104    408   zeros
//
// For example, the slot of an empty log begins with 77 62 77 69 74 6E 30 31. The slot with the higher number counts.
//
// A slot is written after each commit, and synced with each checkpoint and at the stop. It is never ahead of the log,
// because a commit is on disk before its slot is written.

/// An event that was durable, so that the log of this id must have it.
package struct LogWitness: Hashable, Sendable {
    /// The id of the log.
    package let log: Identifier128
    /// The epoch in which the event was durable.
    let epoch: Int64
    /// The number of the event; 0 for an empty log.
    let number: Int64
    /// `nil` if `number` is 0.
    let leaf: Digest?

    /// - Parameters:
    ///   - log: The id of the log.
    ///   - epoch: The epoch of the log when the event was noted.
    ///   - number: The number of the event, 0 for an empty log.
    ///   - leaf: The leaf of the event, `nil` for an empty log.
    package init(log: Identifier128, epoch: Int64, number: Int64, leaf: Digest?) {
        (self.log, self.epoch, self.number, self.leaf) = (log, epoch, number, leaf)
    }

    /// Checks that the log has the event. A log of another id or of a higher epoch, after a restore or an accepted
    /// loss, is not checked.
    ///
    /// - Throws: ``LogError/lost(_:)`` if the log lacks the event, or has another one under its number.
    package func check(_ identity: LogIdentity, _ reader: LogReader) throws(LogError) {
        guard log == identity.id, epoch >= identity.epoch, number > 0 else { return }
        if epoch == identity.epoch, number <= identity.size, try reader.leaf(of: number) == leaf { return }
        throw .lost(LogLoss(has: identity.size, known: number, epoch: epoch))
    }

    /// The loss by the newest of `witnesses`; `nil` if the log has all their events.
    package static func loss(_ identity: LogIdentity, _ reader: LogReader, _ witnesses: [LogWitness]) throws(LogError)
        -> LogLoss?
    {
        for witness in witnesses.sorted(by: { ($0.epoch, $0.number) > ($1.epoch, $1.number) }) {
            do throws(LogError) { try witness.check(identity, reader) } catch {
                guard case .lost(let loss) = error else { throw error }
                return loss
            }
        }
        return nil
    }
}

/// Durable events that are missing from the log.
package struct LogLoss: Hashable, Sendable {
    /// The number of the newest event that the log has.
    package let has: Int64
    /// The number of the newest event known to have been durable. It is at most ``has`` if the log has another event
    /// under this number.
    package let known: Int64
    /// The epoch of that event.
    let epoch: Int64
    /// Whether the log is on a database server, whose other standbys may have the events.
    let isOnServer: Bool

    /// A loss; see the properties.
    package init(has: Int64, known: Int64, epoch: Int64, isOnServer: Bool = false) {
        (self.has, self.known, self.epoch, self.isOnServer) = (has, known, epoch, isOnServer)
    }

    /// The first number whose event is lost.
    package var from: Int64 { known > has ? has + 1 : known }
}

extension LogLoss: CustomStringConvertible {
    /// The loss, and advice for the operator.
    package var description: String {
        let what =
            if known > has {
                "The log ends at event \(has), and event \(known) was durable before: \(known - has) events are lost."
            } else {
                "Event \(known) of the log, which ends at event \(has), is not the one that was durable under this number."
            }
        return what
            + (isOnServer ? " If another standby of the database has them, promote that one instead." : "")
            + " Restore the newest backup into an empty directory, or start without them with `serve --accept-loss`, "
            + "which records the loss."
    }
}

/// The file `log.witness`. Only the thread whose turn it is to write the log uses it.
package final class WitnessFile {
    private static let slotBytes = 512
    private static let contentBytes = 72
    private static let mark: [UInt8] = Array("wbwitn01".utf8)

    private let path: String
    /// Below 0 before the first note, so that a start that appends nothing does not change the file.
    private var descriptor: Int32 = -1
    private let sha256 = SHA256()
    private var slot: [UInt8] = []
    private var next = 0
    private var isFailing = false

    /// The path of the witness: `log.witness` beside `log.sqlite`.
    package static func path(besideLog path: String) -> String {
        (path.hasSuffix(".sqlite") ? String(path.dropLast(7)) : path) + ".witness"
    }

    package init(besideLog path: String) { self.path = Self.path(besideLog: path) }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Notes the newest durable event. Cost: one system call without fsync. The first note creates the file again.
    package func note(_ witness: LogWitness) {
        Self.write(witness, to: &slot, sha256)
        let isWritten = descriptor < 0 ? make() : overwrite()
        // The older note in the file stays true.
        if !isWritten, !isFailing {
            Diagnostics.note("witness.behind", "\(path) cannot be written: \(String(cString: strerror(errno))).")
        }
        isFailing = !isWritten
    }

    /// Makes the file with the note in both slots.
    private func make() -> Bool {
        guard (try? DataDirectory.writePrivate(slot + slot, to: path)) != nil else { return false }
        descriptor = open(path, O_WRONLY | O_CLOEXEC)
        return descriptor >= 0
    }

    /// Writes the note into the slot that has the older one.
    private func overwrite() -> Bool {
        defer { next = 1 - next }
        return slot.withUnsafeBytes {
            pwrite(descriptor, $0.baseAddress, $0.count, off_t(next * Self.slotBytes)) == $0.count
        }
    }

    /// Makes the notes durable.
    func sync() { if descriptor >= 0 { fdatasync(descriptor) } }

    /// The witnesses in a file, one for each valid slot; none if there is no file.
    package static func read(_ path: String) -> [LogWitness] {
        guard let bytes = DataDirectory.read(path, atMost: 4 * slotBytes) else { return [] }
        let sha256 = SHA256()
        return stride(from: 0, to: bytes.count - slotBytes + 1, by: slotBytes).compactMap { start in
            let content = Array(bytes[start..<start + contentBytes])
            guard content.starts(with: mark),
                Digest(bytes: bytes[start + contentBytes..<start + contentBytes + 32]) == sha256.hash(content),
                let log = content[8..<24].withUnsafeBytes({ Identifier128(bytes: $0) })
            else { return nil }
            let number = integer(content[32..<40])
            return LogWitness(
                log: log, epoch: integer(content[24..<32]), number: number,
                leaf: number == 0 ? nil : Digest(bytes: content[40..<72]))
        }
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> Int64 {
        Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }

    private static func write(_ witness: LogWitness, to slot: inout [UInt8], _ sha256: SHA256) {
        slot.removeAll(keepingCapacity: true)
        slot.append(contentsOf: mark)
        slot.append(contentsOf: witness.log.bytes)
        for value in [witness.epoch, witness.number] {
            withUnsafeBytes(of: value.bigEndian) { slot.append(contentsOf: $0) }
        }
        (witness.leaf ?? Digest(words: (0, 0, 0, 0))).withBytes { slot += $0 }
        sha256.hash(slot).withBytes { slot += $0 }
        slot += repeatElement(0, count: slotBytes - slot.count)
    }
}
