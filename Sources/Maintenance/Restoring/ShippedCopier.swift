import Cryptography
import Glibc
import Log
import Transparency
import Whereabouts

/// The part of a shipped folder after the last restored event.
package struct ShippedRest: Sendable, Equatable {
    /// The number of later events. They are counted by the numbers in the batches, and not verified.
    package let later: Int64
    /// The bytes at the end of the newest file that belong to no whole batch, as after a power cut; 0 if there are none.
    package let incompleteBytes: Int64
}

/// Makes a log from the batches in a folder, up to an event.
///
/// Each batch is checked as a whole, also the one with the last event, so that the tree over the copied events is shown to
/// be the beginning of a tree that the service has committed to. `LogVerifier` then computes every leaf of the copy.
/// Memory is bounded by one batch.
struct ShippedCopier {
    private let folder: String
    private let point: RestorePoint
    private let path: String
    private let secret: [UInt8]
    private let sha256 = SHA256()
    private var store: SQLiteLogEngine?
    private var origin: ShippedBatch.Origin?
    /// The tree over the events of all batches that were read.
    private var range = CompactRange()
    /// The tree over the copied events, and when the last of them was recorded.
    private var copied: (range: CompactRange, recordedAt: Timestamp?) = (CompactRange(), nil)
    /// Whether the last event to copy has been found.
    private var isOver = false
    /// An object that is no whole batch, as a command that was cut off leaves. Another object may have its events.
    private var skipped: Skipped?

    /// An object that was not read, until its events are found elsewhere.
    private struct Skipped {
        let last: Int64
        let bytes: Int64
        let isIncomplete: Bool
        let sentence: String
    }

    /// - Parameters:
    ///   - log: The path of the log to make.
    ///   - keys: The keys of the folder.
    init(folder: String, point: RestorePoint, log path: String, keys: KeyRing) {
        (self.folder, self.point, self.path) = (folder, point, path)
        secret = ShippedBatch.secret(of: keys)
    }

    /// Copies the events.
    ///
    /// - Throws: `RestoreError` if a batch before the wanted event is damaged or missing, or if the folder does not have
    ///   the event; `LogError`.
    mutating func copy() throws -> (BackupManifest, ShippedRest) {
        let names = try ShippedName.all(in: folder)
        var incompleteBytes: Int64 = 0
        var last: Int64 = 0
        for (index, name) in names.enumerated() {
            let file = try ShippedFile(folder + "/" + name.text, secret, sha256)
            if !isOver { incompleteBytes = try copy(file, name, isNewest: index == names.count - 1) }
            last = max(last, range.size, try file.lastNumber() ?? 0)
        }
        if let skipped, !isOver {
            guard skipped.isIncomplete else { throw RestoreError.broken(skipped.sentence, events: range.size) }
            incompleteBytes += skipped.bytes
        }
        try checkPoint()
        guard let origin, let recordedAt = copied.recordedAt else {
            throw RestoreError.notShipped("\(folder) has no whole batch of events; name another folder.")
        }
        let manifest = BackupManifest(
            log: origin.log, epoch: origin.epoch, events: copied.range.size, root: copied.range.root(sha256),
            madeAt: recordedAt)
        return (manifest, ShippedRest(later: last - copied.range.size, incompleteBytes: incompleteBytes))
    }

    /// Copies the batches of a file up to the wanted event.
    ///
    /// - Returns: The number of bytes after the last whole batch, which the newest file may have.
    private mutating func copy(_ file: ShippedFile, _ name: ShippedName, isNewest: Bool) throws -> Int64 {
        while !isOver {
            switch try file.next() {
            case .batch(let batch): try take(batch, of: file)
            case .end: return 0
            case .broken(let broken):
                let bytes = try file.size() - broken.offset
                if isNewest, broken.isIncomplete, broken.isTail { return bytes }
                let sentence = "A batch is damaged at byte \(broken.offset) of \(file.path): \(broken.sentence)"
                guard let last = name.last else { throw RestoreError.broken(sentence, events: range.size) }
                if last > range.size, skipped == nil {
                    skipped = Skipped(
                        last: last, bytes: bytes, isIncomplete: broken.isIncomplete, sentence: sentence)
                }
                return 0
            }
        }
        return 0
    }

    /// Checks that a batch continues the others, and copies its events.
    private mutating func take(_ batch: ShippedBatch, of file: ShippedFile) throws {
        if origin == nil {
            origin = batch.origin
            store = try SQLiteLogEngine(newAt: path, id: batch.origin.log, epoch: batch.origin.epoch)
        }
        guard batch.origin == origin else {
            throw RestoreError.broken("\(file.path) has events of another log or epoch", events: range.size)
        }
        guard batch.first <= range.size + 1 else {
            throw RestoreError.broken(
                skipped?.sentence
                    ?? "The events \(range.size + 1) to \(batch.first - 1) are missing before \(file.path)",
                events: range.size)
        }
        // A batch whose outcome was unknown came again.
        let known = Int(min(range.size, batch.last) - batch.first + 1)
        for event in batch.events.prefix(known) where try store?.leaf(of: event.header.number) != event.leaf {
            throw RestoreError.broken(
                "\(file.path) has another event \(event.header.number) than the files before it", events: range.size)
        }
        let fresh = batch.events.dropFirst(known)
        if fresh.isEmpty { return }
        var after = range
        for event in fresh { after.append(event.leaf, sha256) }
        // The batch is whole by itself; its tree must also continue this one.
        guard after.subtrees == batch.after.subtrees else {
            throw RestoreError.broken(
                "The root of the batch with the events \(batch.first) to \(batch.last) in \(file.path) is not the root over the events before it",
                events: range.size)
        }
        try copy(fresh)
        range = after
        if let skipped, skipped.last <= range.size { self.skipped = nil }
    }

    /// Copies the events up to the wanted one.
    private mutating func copy(_ events: ArraySlice<LogReader.StoredEvent>) throws {
        let end = events.firstIndex { event in
            switch point {
            case .newest: false
            case .number(let number): event.header.number > number
            case .time(let time): event.header.recordedAt > time
            }
        }
        let wanted = events[..<(end ?? events.endIndex)]
        if let last = wanted.last {
            for event in wanted { copied.range.append(event.leaf, sha256) }
            copied.recordedAt = last.header.recordedAt
            try store?.copy(wanted, epoch: origin?.epoch ?? 1, range: copied.range)
        } else if copied.recordedAt == nil, case .time = point, let first = events.first {
            throw RestoreError.notShipped(
                "The first event was recorded at \(first.header.recordedAt.milliseconds / 1000) (Unix seconds); name that time or a later one with --until."
            )
        }
        isOver = end != nil || point == .number(copied.range.size)
    }

    /// Throws if the folder ends before the wanted event.
    private func checkPoint() throws(RestoreError) {
        guard case .number(let number) = point else { return }
        guard number >= 1 else { throw .notShipped("Events are counted from 1; name a higher number with --number.") }
        guard number == copied.range.size else {
            throw .notShipped(
                copied.range.size == 0
                    ? "\(folder) has no whole batch of events; name another folder."
                    : "\(folder) ends with event \(copied.range.size); name it or an earlier one with --number.")
        }
    }
}
