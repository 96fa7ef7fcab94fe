import Cryptography
import FileFormats
import Glibc
import JSON
import Log
import Whereabouts

/// The progress of an import, with which it continues after a kill.
///
/// It is stored in a small file in the user's cache, `${XDG_CACHE_HOME:-~/.cache}/whereabouts/imports/KEY.json`, which
/// is replaced as a whole. The key is a hash of the file's beginning and length and of all choices that affect the
/// imported records, so that the same command finds it again. For example:
///
///     {"id":"5f0c…","log":"7f0c…/1","part":0,"records":41000,"people":{"anna":[40998,2,0,0]},"report":{"file":"walk.gpx",…}}
///
/// Without the file, an import begins again at the file's beginning. That is slower and changes nothing: fixes that are in
/// the log count as duplicates.
struct ImportState {
    /// The import's id.
    let id: String
    /// The id and the epoch of the log that the records went to.
    let log: String
    /// Every record before this position is in the log, or was counted.
    let position: FilePosition
    /// The counts up to the position.
    let report: ImportReport
    /// The counts of each person up to the position.
    let people: [Handle: ImportCounts]

    private static let bytesMax = 4 << 20
    /// With more people, no state is kept.
    static let peopleMax = 10_000

    /// The file of an import's state.
    struct Place {
        let path: String

        /// - Parameters:
        ///   - parts: All choices that affect the imported records.
        ///   - head: The SHA-256 of the file's beginning.
        init(_ parts: [String], head: Hash256, byteCount: Int) {
            let text = (parts + ["\(byteCount)"]).joined(separator: "\u{0}")
            let key = SHA256().hash(Array(text.utf8) + head.bytes)
            path = "\(ImportState.folder)/\(Hex.encode(key.bytes.prefix(16))).json"
        }
    }

    static var folder: String {
        let folder = getenv("XDG_CACHE_HOME").map { String(cString: $0) } ?? ""
        let base = folder.isEmpty ? (getenv("HOME").map { String(cString: $0) } ?? ".") + "/.cache" : folder
        return base + "/whereabouts/imports"
    }

    /// The state at a place; `nil` if there is none, or if it cannot be read.
    init?(_ place: Place) {
        guard let bytes = DataDirectory.read(place.path, atMost: Self.bytesMax),
            let root = (try? JSONDocument.parse(bytes))?.root, let id = root["id"]?.string, Identifier128(id) != nil,
            let log = root["log"]?.string,
            let part = root["part"]?.int, let records = root["records"]?.int,
            [part, records].allSatisfy((0...Limits.importedRecords).contains),
            let json = root["report"], let report = ImportReport(json)
        else { return nil }
        var people: [Handle: ImportCounts] = [:]
        if let members = root["people"]?.members {
            for (name, value) in members {
                guard let handle = Handle(name), let counts = value.array.map({ $0.compactMap(\.int) }),
                    counts.count == 4, counts.allSatisfy((0...Limits.importedRecords).contains)
                else { return nil }
                people[handle] = ImportCounts(
                    new: counts[0], duplicate: counts[1], visits: counts[2], rejected: counts[3])
            }
        }
        (self.id, self.log, position) = (id, log, FilePosition(part: Int(part), records: Int(records)))
        (self.report, self.people) = (report, people)
    }

    init(id: String, log: String, position: FilePosition, report: ImportReport, people: [Handle: ImportCounts]) {
        (self.id, self.log, self.position, self.report, self.people) = (id, log, position, report, people)
    }

    /// Replaces the file. If that fails, the older state stays, from which an import is continued as well.
    func save(_ place: Place) {
        guard people.count <= Self.peopleMax else { return }
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("id", id)
        writer.field("log", log)
        writer.field("part", position.part)
        writer.field("records", position.records)
        writer.object("people") { object in
            for (handle, counts) in people.sorted(by: { $0.key < $1.key }) {
                object.array(handle.text) { array in
                    for count in [counts.new, counts.duplicate, counts.visits, counts.rejected] { array.value(count) }
                }
            }
        }
        writer.key("report")
        writer.raw(report.json)
        writer.endObject()
        do throws(LogError) {
            try DataDirectory.makeDirectory(Self.folder)
            try DataDirectory.writePrivate(writer.bytes, to: place.path)
        } catch {}
    }

    static func remove(_ place: Place) { unlink(place.path) }

    /// Removes the state of an import that is undone, so that the same file begins another one.
    static func remove(id: String) { removeAll { $0["id"]?.string == id } }

    /// Removes the states that name a person who is erased: a state has times and a box of their fixes.
    static func remove(person: Handle) { removeAll { $0["people"]?[person.text] != nil } }

    private static func removeAll(where isGone: (JSONValue) -> Bool) {
        guard let folder = opendir(Self.folder) else { return }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name.hasSuffix(".json"),
                let bytes = DataDirectory.read("\(Self.folder)/\(name)", atMost: Self.bytesMax),
                let root = (try? JSONDocument.parse(bytes))?.root, isGone(root)
            else { continue }
            unlink("\(Self.folder)/\(name)")
        }
    }
}
