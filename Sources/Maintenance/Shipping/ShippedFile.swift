import Cryptography
import Glibc
import Log

// A folder of shipped batches, `<log id>-<epoch>`, has these files:
//
//     events-0000000000000001.batches                        batches one after the other, from this number on
//     events-0000000000000001-0000000000004096.batch         or one batch, of these numbers
//     keys.sqlite  config.json                               as in a backup
//     LOCK                                                   locked by the process that ships
//
// A directory gets files of the first form, a command objects of the second. Objects may overlap, because a batch whose
// outcome is unknown is shipped again.

/// The name of a file with batches.
struct ShippedName: Hashable, Comparable {
    /// The number of its first event.
    let first: Int64
    /// The number of its last event; `nil` for a file to which batches are appended.
    let last: Int64?

    init(first: Int64, last: Int64?) { (self.first, self.last) = (first, last) }

    /// Reads a name; `nil` if it names another file.
    init?(_ text: String) {
        func number(_ digits: Substring) -> Int64? {
            digits.utf8.count == Self.digits && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
                ? Int64(digits) : nil
        }
        guard text.hasPrefix("events-") else { return nil }
        let rest = text.dropFirst("events-".count)
        if rest.hasSuffix(".batches"), let first = number(rest.dropLast(".batches".count)) {
            self.init(first: first, last: nil)
        } else if rest.hasSuffix(".batch") {
            let numbers = rest.dropLast(".batch".count).split(separator: "-", omittingEmptySubsequences: false)
            guard numbers.count == 2, let first = number(numbers[0]), let last = number(numbers[1]) else { return nil }
            self.init(first: first, last: last)
        } else {
            return nil
        }
    }

    private static let digits = 16

    var text: String {
        func padded(_ number: Int64) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, Self.digits - text.utf8.count)) + text
        }
        return last.map { "events-\(padded(first))-\(padded($0)).batch" } ?? "events-\(padded(first)).batches"
    }

    static func < (one: ShippedName, other: ShippedName) -> Bool {
        (one.first, one.last ?? .max) < (other.first, other.last ?? .max)
    }

    /// The files with batches in a folder, in the order of their numbers.
    static func all(in folder: String) throws(LogError) -> [ShippedName] {
        guard let entries = opendir(folder) else { throw .file(path: folder, errno: errno) }
        defer { closedir(entries) }
        var names: [ShippedName] = []
        while let entry = readdir(entries) {
            let text = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let name = ShippedName(text) { names.append(name) }
        }
        return names.sorted()
    }
}

/// Reads the batches of a file one after the other. Memory is bounded by one batch.
final class ShippedFile {
    /// What comes next in the file.
    enum Next {
        case batch(ShippedBatch)
        case end
        case broken(Break)
    }

    /// A place at which no whole batch begins.
    struct Break {
        /// The first byte that belongs to no whole batch.
        let offset: Int64
        /// Why, as part of a sentence.
        let sentence: String
        /// Whether the file ends before the batch does, as after a kill.
        let isIncomplete: Bool
        /// Whether all that follows can be the rest of one append. Otherwise, a whole batch follows, or more bytes than
        /// one batch has, so that the damage came later.
        let isTail: Bool
    }

    let path: String
    private let descriptor: Int32
    /// The most beginnings of a batch that are looked at in the rest of an append.
    private static let triesMax = 16
    private let secret: [UInt8]
    private let sha256: SHA256
    /// The end of the batches that were read.
    private(set) var offset: Int64 = 0

    /// - Parameter secret: `ShippedBatch.secret(of:)`.
    init(_ path: String, _ secret: [UInt8], _ sha256: SHA256) throws(LogError) {
        // Without waiting for a writer, if it is a named pipe.
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw .file(path: path, errno: errno) }
        (self.path, self.secret, self.sha256) = (path, secret, sha256)
    }

    deinit { close(descriptor) }

    /// Reads and checks the next batch.
    func next() throws(LogError) -> Next {
        let rest = try size() - offset
        if rest == 0 { return .end }
        func broken(_ sentence: String, isIncomplete: Bool = false) throws(LogError) -> Next {
            var isTail = rest <= Int64(ShippedBatch.mostBytes)
            if isTail { isTail = try !hasBatch(rest: rest) }
            return .broken(Break(offset: offset, sentence: sentence, isIncomplete: isIncomplete, isTail: isTail))
        }
        guard rest >= ShippedBatch.headBytes else { return try broken("it is cut off", isIncomplete: true) }
        let beginning = try read(ShippedBatch.headBytes, at: offset)
        let head: ShippedBatch.Head
        do throws(BatchDamage) { head = try ShippedBatch.Head(beginning[...]) } catch {
            return try broken(error.sentence)
        }
        guard head.length <= rest else { return try broken("it is cut off", isIncomplete: true) }
        let bytes = try read(head.length, at: offset)
        do throws(BatchDamage) {
            let batch = try ShippedBatch(bytes, secret, sha256)
            offset += Int64(head.length)
            return .batch(batch)
        } catch { return try broken(error.sentence) }
    }

    /// The number of the last event of the batches from here on, by their heads alone; `nil` if there is none.
    func lastNumber() throws(LogError) -> Int64? {
        var (place, last) = (offset, Int64?.none)
        let size = try size()
        while size - place >= Int64(ShippedBatch.headBytes) {
            let bytes = try read(ShippedBatch.headBytes, at: place)
            guard let head = try? ShippedBatch.Head(bytes[...]), Int64(head.length) <= size - place else { break }
            last = head.last
            place += Int64(head.length)
        }
        return last
    }

    /// Whether a whole batch is in the rest of the file, also one that was made under another key-encryption key: such a
    /// file belongs to someone else.
    private func hasBatch(rest: Int64) throws(LogError) -> Bool {
        let bytes = try read(Int(rest), at: offset)
        let least = ShippedBatch.headBytes + ShippedBatch.trailerBytes
        var (start, tries) = (0, 0)
        while start + least <= bytes.count {
            if bytes[start] == ShippedBatch.magic[0], bytes[start...].starts(with: ShippedBatch.magic),
                let head = try? ShippedBatch.Head(bytes[start..<start + ShippedBatch.headBytes]),
                start + head.length <= bytes.count
            {
                tries += 1
                // No append looks like this. To compute many digests would take long.
                if tries > Self.triesMax { return true }
                do throws(BatchDamage) {
                    _ = try ShippedBatch(Array(bytes[start..<start + head.length]), secret, sha256)
                    return true
                } catch { if error == .foreign { return true } }
            }
            start += 1
        }
        return false
    }

    /// The length of the file now.
    func size() throws(LogError) -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .file(path: path, errno: errno) }
        return Int64(status.st_size)
    }

    private func read(_ count: Int, at offset: Int64) throws(LogError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let more = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress?.advanced(by: done), count - done, off_t(offset) + off_t(done))
            }
            if more < 0, errno == EINTR { continue }
            // The file has become shorter meanwhile.
            guard more > 0 else { throw .file(path: path, errno: more < 0 ? errno : EIO) }
            done += more
        }
        return bytes
    }
}
