import Geodesy
import JSON
import Whereabouts
import WireFormats

/// The lines of this service's own archive that are not fixes and can be imported again:
///
///     {"user":"anna","device":"phone","type":"visit","latitude":48.2,"longitude":16.3,"arrival":…,"departure":…,"timestamp":…}
///     {"user":"anna","id":"home","circle":{"latitude":48.2,"longitude":16.3,"radiusMeters":150}}
///     {"user":"anna","type":"merge","from":1767225610,"to":1767229200}
///
/// A visit is one that a device or another system reported. Regions and corrections have the members of the requests
/// that make them. The archive's fixes are read by `FixLineRecords`; its other members say what the service has derived
/// or recorded, and are passed over.
package final class ArchiveLines: RecordReader {
    /// A region with many vertices is the longest line; the service accepts requests of 64 KiB.
    private static let lineBytes = 128 << 10
    private let choices: FileChoices
    private var lines = LineFeeder(bytesMax: lineBytes)
    private(set) var passedOver = PassedOver()

    init(_ choices: FileChoices) { self.choices = choices }

    /// How the archive's first member, `README.txt`, begins. The reader recognizes its own archive by it.
    package static let firstWords = "Everything that a Whereabouts service holds about "
    /// The refusal of a member that has only lists or derived data.
    static let part = FormatFault.refused(
        "lists and what is derived from the fixes, which are not restored", wayOut: "import the whole archive")

    private enum Kind { case visit, region, correction }

    private static func kind(of line: JSONValue) -> Kind? {
        guard line["user"]?.string != nil else { return nil }
        switch line["type"]?.string {
        case "visit": return line["arrival"] != nil || line["departure"] != nil ? .visit : nil
        case "merge", "notVisit": return line["from"] != nil && line["to"] != nil ? .correction : nil
        case "split": return line["at"] != nil ? .correction : nil
        case "rename": return line["name"] != nil ? .correction : nil
        case "samePlace": return line["otherLatitude"] != nil ? .correction : nil
        default: return line["id"] != nil && (line["circle"] != nil || line["polygon"] != nil) ? .region : nil
        }
    }

    /// Whether a file that begins with this line has this form.
    static func isOne(_ line: JSONValue) -> Bool { kind(of: line) != nil }

    func read(_ bytes: ArraySlice<UInt8>, into records: inout [FileRecord]) throws(FormatFault) {
        var found: [FileRecord] = []
        defer { records += found }
        try lines.read(bytes) { (line: LineFeeder.Line) throws(FormatFault) in found += record(of: line) }
    }

    func finish(into records: inout [FileRecord]) throws(FormatFault) {
        var found: [FileRecord] = []
        defer { records += found }
        try lines.finish { (line: LineFeeder.Line) throws(FormatFault) in found += record(of: line) }
    }

    private func record(of line: LineFeeder.Line) -> [FileRecord] {
        if line.text.allSatisfy(DecimalText.isWhiteSpace) { return [] }
        let place = line.number
        guard !line.isCut else { return [FileRecord(place: place, content: .rejected(.tooLarge))] }
        guard let value = try? JSONDocument.parse(Array(line.text)).root else {
            return [FileRecord(place: place, content: .rejected(.notJSON))]
        }
        guard let kind = Self.kind(of: value) else {
            return [FileRecord(place: place, content: .rejected(.unknownType))]
        }
        guard let user = value["user"]?.string.flatMap({ Handle($0) }) else {
            return [FileRecord(place: place, content: .rejected(.missingField))]
        }
        switch kind {
        case .visit:
            let report = ReportJSON.visit(value, now: choices.now)
            var record = FileRecord(report, place: place, user: user)
            record.device = value["device"]?.string.flatMap { Handle($0) }
            return [record]
        case .region: return [setting(.region, value, user, place)]
        case .correction: return [setting(.correction, value, user, place)]
        }
    }

    private func setting(_ kind: ArchivedSetting.Kind, _ value: JSONValue, _ user: Handle, _ place: Int) -> FileRecord {
        guard let members = value.members else { return FileRecord(place: place, content: .rejected(.unknownType)) }
        var writer = JSONWriter()
        writer.beginObject()
        for (key, member) in members where key != "user" {
            // A correction's id is a number of the service that it was made in; a region's is its name.
            if kind == .correction, key == "id" { continue }
            writer.key(key)
            writer.value(member)
        }
        writer.endObject()
        return FileRecord(
            place: place, content: .setting(ArchivedSetting(kind: kind, user: user, request: writer.bytes)))
    }
}
