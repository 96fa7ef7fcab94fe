import Cryptography
import Glibc
import Log
import SQLite
import Transparency
import Whereabouts

/// Where a service ships its events to, from `config.json`.
package enum ShippingTarget: Sendable, Equatable {
    /// An existing directory, for example on another machine.
    case directory(String)
    /// A program with its arguments, run for each batch and each file with the bytes on its standard input. `{name}` in
    /// an argument stands for the name of the file.
    case command([String])
}

/// A target that has taken some events. It belongs to the shipper's thread.
protocol ShippingPlace: AnyObject {
    /// Finds the last event that the target has. Called before all others, and again after each fault.
    func open() throws(ShippingFault) -> Shipped
    /// Ships a batch. It is durable on return.
    func put(_ bytes: [UInt8], of batch: ShippedBatch) throws(ShippingFault)
    /// Replaces the keys.
    ///
    /// - Returns: `false` if keys were destroyed after the copy was made. Nothing was replaced then.
    func put(_ keys: borrowing KeysCopy) throws(ShippingFault) -> Bool
    /// Replaces the copy of `config.json`.
    func put(configuration: [UInt8]) throws(ShippingFault)
    /// Lets others ship there until it is opened again.
    func close()
}

/// The events that a target has.
struct Shipped {
    /// The tree over them.
    let range: CompactRange
    /// The leaf of the last of them; `nil` if there is none.
    let leaf: Digest?

    /// A target without events.
    static let nothing = Shipped(range: CompactRange(), leaf: nil)
}

/// Why shipping does not go on for now. It is tried again.
enum ShippingFault: Error, CustomStringConvertible {
    /// A system call on a file of the target failed.
    case file(path: String, errno: Int32)
    /// Another process ships into the folder.
    case busy(String)
    /// The folder has other events than the log.
    case otherHistory(String)
    /// The folder has events beyond the end of the log.
    case ahead(String, has: Int64, log: Int64)
    /// A file has bytes that are no batch before the end of its last append.
    case damaged(path: String, offset: Int64, String)
    /// Someone else has changed or replaced the file.
    case changed(String)
    /// The command did not succeed.
    case command(String)
    /// An event has more bytes than a batch may have.
    case tooLong(number: Int64)
    /// The tree over the events up to here is not the log's tree.
    case otherTree(number: Int64)
    /// The log, its keys or the list of backups cannot be read or written.
    case log(LogError)

    /// Runs `body` and makes the fault of the log one of shipping.
    static func logged<R>(_ body: () throws(LogError) -> R) throws(ShippingFault) -> R {
        do throws(LogError) { return try body() } catch { throw .log(error) }
    }

    /// As ``logged(_:)``, for a body that has both kinds of faults.
    static func either<R>(_ body: () throws(LogError) -> Result<R, ShippingFault>) throws(ShippingFault) -> R {
        let result = try logged(body)
        return try result.get()
    }

    /// Writes all bytes to a file.
    static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(ShippingFault) {
        var done = 0
        while done < bytes.count {
            let more = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress?.advanced(by: done), bytes.count - done)
            }
            if more < 0, errno == EINTR { continue }
            guard more > 0 else { throw .file(path: path, errno: more < 0 ? errno : EIO) }
            done += more
        }
    }

    /// One sentence with advice for the operator.
    var description: String {
        switch self {
        case .file(let path, let errno): "\(path): \(String(cString: strerror(errno)))."
        case .busy(let folder): "Another process ships into \(folder); stop it, or name another target."
        case .otherHistory(let folder):
            "\(folder) has other events than this log, as after two restores of one copy; move the folder away, and the service ships all events again."
        case .ahead(let folder, let has, let log):
            "\(folder) has events up to \(has), but the log ends at \(log): restore from the folder, or move it away."
        case .damaged(let path, let offset, let why):
            "\(path) is damaged at byte \(offset): \(why). Move its folder away, and the service ships all events again."
        case .changed(let path): "\(path) was changed or replaced by something else."
        case .command(let why): "The command of \"shipping\" \(why)."
        case .tooLong(let number): "Event \(number) is too long for a batch."
        case .otherTree(let number):
            "The events up to \(number) do not give the root that the log has; run whereabouts verify."
        case .log(let error): "\(error)"
        }
    }
}

/// A copy of the keys as of one moment. Its file has no name, so that no key stays in it after an erasure.
struct KeysCopy: ~Copyable {
    /// The copy, open for reading.
    let descriptor: Int32
    /// The highest id of a key in it.
    let highest: Int64
    /// The generation of the keys before the copy was made.
    let generation: Int
    /// The number of keys that were destroyed by then.
    let destroyed: Int64

    /// Copies the keys in the data directory, without a journal, as a backup does.
    init(of keys: KeyRing, in directory: DataDirectory) throws(LogError) {
        let folder = directory.shippedKeys
        let file = folder + "/" + BackupFile.keys
        let generation = keys.currentGeneration
        let highest = try keys.highestID()
        let (descriptor, destroyed) = try BackupList.locked(directory.path) { () throws(LogError) in
            DataDirectory.removeTree(folder)
            defer { DataDirectory.removeTree(folder) }
            try DataDirectory.makeDirectory(folder)
            do throws(SQLiteError) {
                try keys.backup(to: file)
                try BackupMaker.makeOneFile(file)
            } catch { throw .sqlite(error) }
            let destroyed = try KeyRing.destroyedKeys(in: file).count
            let descriptor = open(file, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw .file(path: file, errno: errno) }
            return (descriptor, Int64(destroyed))
        }
        (self.descriptor, self.destroyed, self.highest, self.generation) = (descriptor, destroyed, highest, generation)
    }

    deinit { close(descriptor) }
}
