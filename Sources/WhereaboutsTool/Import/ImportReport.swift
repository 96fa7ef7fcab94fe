import Answers
import Geodesy
import JSON
import ReferenceSystems
import Whereabouts

/// The result of importing one file.
struct ImportReport {
    let file: String
    /// The format's name; known when the file has been read.
    var format: String
    /// What ``rejected`` counts, for example "line".
    var placeWord = "line"
    /// The records of the file, with any outcome.
    var read = 0
    var new = 0
    /// New fixes with the time and place of another fix that differ in something else; not counted in ``new``.
    var twins = 0
    var duplicate = 0
    var untimed = 0
    /// Visits of another system, new ones and those in the log already.
    var visits = 0
    var knownVisits = 0
    /// Regions and corrections of an archive, new ones and those that exist already.
    var settings = 0
    var knownSettings = 0
    /// By reason, in the order of first occurrence.
    private(set) var rejected: [(reason: String, count: Int, firstAt: Int)] = []
    /// The time range of the file's fixes in the log, new or not.
    private(set) var firstFix: Timestamp?
    private(set) var lastFix: Timestamp?
    /// The box around every track point with a place on earth, with or without a time.
    private(set) var box: (south: Double, west: Double, north: Double, east: Double)?
    /// The operations that converted the coordinates to WGS 84; `nil` without `--crs`.
    var operations: CoordinateReferenceSystem.UsedOperations?
    /// Why the file could not be read to its end: a sentence without its subject, the file. For example
    /// `was not imported. It is empty.`
    var failure: String?
    /// The sentence with the file's path.
    var fault: String? { failure.map { "\(file) \($0)" } }
    /// The id by which the import can be undone; `nil` if it was not begun, because no record could be sent.
    var undoID: String?

    init(file: String, format: String) {
        (self.file, self.format) = (file, format)
    }

    /// Reads what ``json`` writes, without the operations and the fault; `nil` if it has another form, or a count that no
    /// import can have.
    init?(_ json: JSONValue) {
        guard let file = json["file"]?.string, let format = json["format"]?.string else { return nil }
        self.init(file: file, format: format)
        func count(_ name: String, in object: JSONValue?) -> Int { Int(object?[name]?.int ?? 0) }
        (read, new, duplicate) = (count("read", in: json), count("new", in: json), count("duplicate", in: json))
        (twins, untimed) = (count("twins", in: json), count("untimed", in: json))
        (visits, knownVisits) = (count("new", in: json["visits"]), count("duplicate", in: json["visits"]))
        for rejected in json["rejected"]?.array.map(Array.init) ?? [] {
            self.rejected.append(
                (rejected.text("reason"), count("count", in: rejected), count("firstAt", in: rejected)))
        }
        let counts = [read, new, duplicate, twins, untimed, visits, knownVisits] + self.rejected.map(\.count)
        guard counts.allSatisfy({ (0...Int(Limits.importedRecords)).contains($0) }) else { return nil }
        firstFix = json["firstFix"]?.double.flatMap { Timestamp(seconds: $0) }
        lastFix = json["lastFix"]?.double.flatMap { Timestamp(seconds: $0) }
        if let box = json["bbox"]?.array.map({ $0.compactMap(\.double) }), box.count == 4 {
            self.box = (box[0], box[1], box[2], box[3])
        }
    }

    /// Adds the counts of another part of the same file.
    mutating func add(_ other: ImportReport) {
        read += other.read
        new += other.new
        duplicate += other.duplicate
        twins += other.twins
        untimed += other.untimed
        visits += other.visits
        knownVisits += other.knownVisits
        settings += other.settings
        knownSettings += other.knownSettings
        for (reason, count, line) in other.rejected {
            if let index = rejected.firstIndex(where: { $0.reason == reason }) {
                rejected[index].count += count
                rejected[index].firstAt = min(rejected[index].firstAt, line)
            } else {
                rejected.append((reason, count, line))
            }
        }
        if let first = other.firstFix { firstFix = min(firstFix ?? first, first) }
        if let last = other.lastFix { lastFix = max(lastFix ?? last, last) }
        if let theirs = other.box {
            let before = box ?? theirs
            box = (
                min(before.south, theirs.south), min(before.west, theirs.west), max(before.north, theirs.north),
                max(before.east, theirs.east)
            )
        }
    }

    /// Whether no record of the file is in the log.
    private var hasNothing: Bool { firstFix == nil && visits + knownVisits + settings + knownSettings == 0 }

    var rejectedCount: Int { rejected.reduce(0) { $0 + $1.count } }

    /// - Parameter line: The record's line in the file. Batches of several devices may report out of order.
    mutating func reject(_ reason: String, line: Int) {
        if let index = rejected.firstIndex(where: { $0.reason == reason }) {
            rejected[index].count += 1
            rejected[index].firstAt = min(rejected[index].firstAt, line)
        } else {
            rejected.append((reason, 1, line))
        }
    }

    /// The reason why no record of any file became a fix in the log; `nil` if one did.
    static func whyNothingWasUsable(in reports: [ImportReport]) -> String? {
        guard reports.allSatisfy({ $0.hasNothing }) else { return nil }
        let read = reports.reduce(0) { $0 + $1.read }
        guard read > 0 else { return "Nothing was imported: no record has a coordinate." }
        var counts: [String: Int] = [:]
        for report in reports {
            for rejected in report.rejected { counts[rejected.reason, default: 0] += rejected.count }
            if report.untimed > 0 { counts["without a time", default: 0] += report.untimed }
        }
        let reasons = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
            "\(Text.count($0.value)) \($0.key)"
        }
        return
            "Nothing was imported: none of the \(Text.count(read)) records can be used (\(reasons.joined(separator: ", ")))."
    }

    mutating func cover(_ time: Timestamp, _ place: Coordinate) {
        firstFix = min(firstFix ?? time, time)
        lastFix = max(lastFix ?? time, time)
        cover(place)
    }

    mutating func cover(_ place: Coordinate) {
        let (latitude, longitude) = (place.latitude, place.longitude)
        let before = box ?? (latitude, longitude, latitude, longitude)
        box = (
            min(before.south, latitude), min(before.west, longitude), max(before.north, latitude),
            max(before.east, longitude)
        )
    }

    /// One line: `{"file","format","read","new","duplicate","twins","untimed",`
    /// `"rejected":[{"reason","count","firstAt"}],"firstFix","lastFix","bbox"}`. `firstAt` is a line of the file, `bbox` is
    /// [min latitude, min longitude, max latitude, max longitude]; times and box are `null` when no fix came in. A file with
    /// visits has `visits`: `{"new","duplicate"}`, an archive with regions or corrections `settings` likewise. A file imported with `--crs` has `operations`, as answers have them; one not
    /// read to its end has `error`. `read` is the sum of all counts.
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("file", file)
        writer.field("format", format)
        writer.field("import", undoID)
        writer.field("read", read)
        writer.field("new", new)
        writer.field("duplicate", duplicate)
        writer.field("twins", twins)
        writer.field("untimed", untimed)
        if visits + knownVisits > 0 {
            writer.object("visits") { object in
                object.field("new", visits)
                object.field("duplicate", knownVisits)
            }
        }
        if settings + knownSettings > 0 {
            writer.object("settings") { object in
                object.field("new", settings)
                object.field("duplicate", knownSettings)
            }
        }
        writer.array("rejected") { array in
            for (reason, count, line) in rejected {
                array.beginObject()
                array.field("reason", reason)
                array.field("count", count)
                array.field("firstAt", line)
                array.endObject()
            }
        }
        for (key, time) in [("firstFix", firstFix), ("lastFix", lastFix)] {
            writer.key(key)
            if let time { writer.unixSeconds(milliseconds: time.milliseconds) } else { writer.null() }
        }
        writer.key("bbox")
        if let box {
            writer.beginArray()
            for number in [box.south, box.west, box.north, box.east] { writer.value(number) }
            writer.endArray()
        } else {
            writer.null()
        }
        if let operations {
            writer.key("operations")
            operations.write(into: &writer)
        }
        writer.field("error", fault)
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    /// The reports of all files as text, with a sentence for each reason of a rejection.
    static func text(of reports: [ImportReport]) -> String {
        var table = Table(
            "FILE", "FORMAT", ">READ", ">NEW", ">DUPLICATE", ">TWINS", ">VISITS", ">UNTIMED", ">REJECTED", "FIRST FIX",
            "LAST FIX")
        for report in reports {
            table.add(
                report.file, report.format, Text.count(report.read), Text.count(report.new),
                Text.count(report.duplicate), Text.count(report.twins),
                Text.count(report.visits + report.knownVisits), Text.count(report.untimed),
                Text.count(report.rejectedCount), report.firstFix.map { LocalTime.text($0) } ?? "",
                report.lastFix.map { LocalTime.text($0) } ?? "")
        }
        var text = table.text
        for report in reports {
            if report.settings + report.knownSettings > 0 {
                text +=
                    "\(report.file.printable): regions and corrections: \(Text.count(report.settings)) added, \(Text.count(report.knownSettings)) known already.\n"
            }
            for (reason, count, line) in report.rejected {
                text +=
                    "\(report.file.printable): \(Text.count(count)) rejected as \(reason), the first at \(report.placeWord) \(line).\n"
            }
        }
        return text
    }
}
