import Answers
import Cryptography
import FileFormats
import JSON
import Whereabouts
import WireFormats

/// An archive while it is written: its members are compressed and hashed piece by piece, so it takes the same memory
/// however long it is.
final class ArchiveFile {
    private struct Entry {
        let name: String
        let items: Int
        let bytes: Int
        let hash: String
    }

    private let answer: SpooledAnswer
    private let sha = SHA256()
    private var zip: ZipFile
    private var waiting: [UInt8] = []
    private var name = ""
    private var items = 0
    private var entries: [Entry] = []

    /// Lines are hashed and compressed together.
    private static let pieceBytes = 64 << 10

    /// - Parameters:
    ///   - answer: Takes the bytes of the file.
    ///   - now: The time of all members.
    init(into answer: SpooledAnswer, at now: Timestamp) {
        self.answer = answer
        zip = ZipFile(at: DosTime(iso: ISO8601.text(of: now)))
    }

    /// Begins a member; the one before has ended.
    func begin(_ name: String) {
        self.name = name
        items = 0
        sha.begin()
        zip.begin(name)
    }

    /// Adds an item with its line feed to the member.
    ///
    /// - Throws: As ``SpooledAnswer/append(_:)``.
    func add(line: [UInt8]) throws(Problem) {
        items += 1
        waiting += line
        if waiting.count >= Self.pieceBytes { try flush() }
    }

    /// Ends the member.
    func end() throws(Problem) {
        try flush()
        let member = zip.endMember()
        entries.append(Entry(name: name, items: items, bytes: member.byteCount, hash: sha.finish().hex))
        try answer.append(zip.takeBytes())
    }

    /// Writes a whole member of one item.
    func write(_ name: String, _ bytes: [UInt8]) throws(Problem) {
        begin(name)
        try add(line: bytes)
        try end()
    }

    /// Writes the manifest and ends the file.
    ///
    /// - Parameter head: Writes the members of the manifest before the list.
    func finish(_ head: (inout JSONWriter) -> Void) throws(Problem) {
        var writer = JSONWriter()
        writer.beginObject()
        head(&writer)
        writer.array("members") { writer in
            for entry in entries {
                writer.beginObject()
                writer.field("name", entry.name)
                writer.field("bytes", entry.bytes)
                writer.field("items", entry.items)
                writer.field("sha256", entry.hash)
                writer.endObject()
            }
        }
        writer.endObject()
        try write("manifest.json", writer.bytes + [UInt8(ascii: "\n")])
        zip.finish()
        try answer.append(zip.takeBytes())
    }

    private func flush() throws(Problem) {
        guard !waiting.isEmpty else { return }
        sha.update(waiting)
        zip.add(waiting)
        waiting.removeAll(keepingCapacity: true)
        try answer.append(zip.takeBytes())
    }
}
