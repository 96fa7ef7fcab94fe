import Whereabouts
import WireFormats

/// The fixes and visits of a KML file (OGC KML 2.3, Google's extensions):
///
///     <gx:Track><when>2010-05-28T02:02:09Z</when><gx:coord>-122.207881 37.371915 156</gx:coord></gx:Track>
///     <Placemark><TimeStamp><when>2010-05-28T02:02:09Z</when></TimeStamp>
///       <Point><coordinates>-122.207881,37.371915,156</coordinates></Point></Placemark>
///     <Placemark><TimeSpan><begin>…</begin><end>…</end></TimeSpan><Point>…</Point></Placemark>
///
/// A track's `when` and `coord` elements are paired in their order. A point with a span of time is a visit. A line with
/// a span has two times for all of its points; nothing is interpolated. A line without a time has points without a
/// time.
struct KMLSteps: XMLSteps {
    static let textBytes = 1 << 20
    static let root = "kml"
    /// The points of a track that wait for its speeds and accuracies, which come after them.
    static let waitingMax = 100_000
    /// The times of a track that wait for their coordinates.
    static let timesMax = 4_000_000

    private let choices: FileChoices
    private(set) var passedOver = PassedOver()

    private var track: Track?
    private var placemark: Placemark?
    /// The open elements that give a meaning to those inside.
    private var array: String?

    private struct Track {
        var times: [ReportedTime] = []
        var timesTaken = 0
        var points: [(place: Coordinates, line: Int)] = []
        var pointsTaken = 0
        var waiting: [(draft: FixDraft, line: Int)] = []
        /// The waiting points whose speeds and so on can still come; none once the bound is passed.
        var isWaiting = true
        var filled: [String: Int] = [:]
    }

    private struct Placemark {
        var time = ReportedTime.missing
        var begin = ReportedTime.missing
        var end = ReportedTime.missing
        var hasSpan = false
        var points: [Coordinates] = []
        var lines: [[Coordinates]] = []
        var longLines = 0
        var geometry = ""
        var line = 0
    }

    private struct Coordinates {
        var longitude, latitude: Double
        var altitude: Double?
    }

    init(_ choices: FileChoices) { self.choices = choices }

    mutating func take(_ step: XMLStep, into records: inout [FileRecord]) throws(FormatFault) {
        switch step {
        case .begin(let name, let attributes, let line):
            switch name {
            case "Track": track = Track()
            case "Placemark":
                placemark = Placemark()
                placemark?.line = line
            case "TimeSpan": placemark?.hasSpan = true
            case "Point", "LineString", "LinearRing": placemark?.geometry = name
            case "SimpleArrayData": array = attributes.first { $0.name == "name" }?.value.lowercased()
            default: break
            }
        case .end(let name, let text, let line): try end(name, text, line, into: &records)
        }
    }

    private mutating func end(
        _ name: String, _ text: String?, _ line: Int, into records: inout [FileRecord]
    ) throws(FormatFault) {
        switch name {
        case "when":
            let time = try moment(text, line)
            if track == nil {
                placemark?.time = time
            } else {
                guard (track?.times.count ?? 0) < Self.timesMax else {
                    throw .malformed(.kml, "a track has more than \(Self.timesMax) times before its coordinates.")
                }
                track?.times.append(time)
                pair(into: &records)
            }
        case "begin":
            let time = try moment(text, line)
            placemark?.begin = time
        case "end":
            let time = try moment(text, line)
            placemark?.end = time
        case "coord":
            guard let waiting = track?.points.count else { return }
            guard waiting < Self.timesMax else {
                throw .malformed(.kml, "a track has more than \(Self.timesMax) coordinates before its times.")
            }
            track?.points.append((Self.coordinates(text ?? "", " "), line))
            pair(into: &records)
        case "value": fill(text)
        case "SimpleArrayData": array = nil
        case "Track": endTrack(into: &records)
        case "coordinates": take(coordinates: text)
        case "Placemark":
            if let placemark { endPlacemark(placemark, into: &records) }
            placemark = nil
        default: break
        }
    }

    private func moment(_ text: String?, _ line: Int) throws(FormatFault) -> ReportedTime {
        guard let text else { return .unreadable }
        let time = FileTime(text)
        // A year or a date is a valid time in KML, and no time of a fix.
        if time == .unreadable, text.utf8.allSatisfy({ (0x2D...0x39).contains($0) || DecimalText.isWhiteSpace($0) }) {
            return .missing
        }
        return try choices.moment(of: time, .kml, place: line)
    }

    // MARK: Tracks

    /// Makes points of the times and coordinates that are both there.
    private mutating func pair(into records: inout [FileRecord]) {
        while var open = track, open.timesTaken < open.times.count, open.pointsTaken < open.points.count {
            track = nil
            let time = open.times[open.timesTaken]
            let point = open.points[open.pointsTaken]
            open.timesTaken += 1
            open.pointsTaken += 1
            if open.pointsTaken == open.points.count {
                open.points.removeAll(keepingCapacity: true)
                open.pointsTaken = 0
            }
            if open.timesTaken == open.times.count {
                open.times.removeAll(keepingCapacity: true)
                open.timesTaken = 0
            }
            var draft = FixDraft()
            (draft.latitude, draft.longitude) = (point.place.latitude, point.place.longitude)
            (draft.altitude, draft.time) = (point.place.altitude, time)
            if open.isWaiting {
                open.waiting.append((draft, point.line))
                if open.waiting.count > Self.waitingMax {
                    open.isWaiting = false
                    records += open.waiting.map { FileRecord($0.draft, place: $0.line, now: choices.now) }
                    open.waiting = []
                }
            } else {
                records.append(FileRecord(draft, place: point.line, now: choices.now))
            }
            track = open
        }
    }

    /// Takes a value of `ExtendedData`; the values of an array are in the order of the points.
    private mutating func fill(_ text: String?) {
        guard let array, track?.isWaiting == true else { return }
        let index = track?.filled[array] ?? 0
        track?.filled[array] = index + 1
        guard let number = text.flatMap({ DecimalText.parse($0.utf8) }), let known = track?.waiting.count,
            index < known
        else { return }
        switch array {
        case "speed": track?.waiting[index].draft.speed = Sentinel.nonNegative(number)
        case "accuracy", "horizontalaccuracy": track?.waiting[index].draft.horizontalAccuracy = number
        case "bearing", "course", "heading":
            track?.waiting[index].draft.course = Sentinel.course(number)
        default: break
        }
    }

    private mutating func endTrack(into records: inout [FileRecord]) {
        guard let track else { return }
        records += track.waiting.map { FileRecord($0.draft, place: $0.line, now: choices.now) }
        let left = track.points.count - track.pointsTaken + (track.times.count - track.timesTaken)
        if left > 0 {
            passedOver.note("A track has more times than coordinates, or the reverse; the rest was skipped.")
            passedOver.add(.pointsWithoutPlace, left)
        }
        self.track = nil
    }

    // MARK: Placemarks

    private mutating func take(coordinates text: String?) {
        guard placemark != nil else { return }
        guard let text else {
            placemark?.longLines += 1
            return
        }
        let tuples = text.utf8.split(whereSeparator: DecimalText.isWhiteSpace)
            .map { Self.coordinates(String(decoding: Array($0), as: UTF8.self), ",") }
        let geometry = placemark?.geometry
        if geometry == "Point", let first = tuples.first { placemark?.points.append(first) }
        if geometry == "LineString" { placemark?.lines.append(tuples) }
    }

    private mutating func endPlacemark(_ placemark: Placemark, into records: inout [FileRecord]) {
        passedOver.add(.pathsWithTwoTimes, placemark.hasSpan ? placemark.lines.count : placemark.longLines)
        for place in placemark.points {
            if placemark.hasSpan {
                var draft = VisitDraft()
                (draft.latitude, draft.longitude) = (place.latitude, place.longitude)
                (draft.arrival, draft.departure) = (placemark.begin, placemark.end)
                records.append(FileRecord(place: placemark.line, content: draft.content(now: choices.now)))
            } else if placemark.time == .missing {
                passedOver.add(.wayPoints)
            } else {
                records.append(record(place, placemark.time, placemark.line))
            }
        }
        guard !placemark.hasSpan else { return }
        for line in placemark.lines {
            for place in line { records.append(record(place, .missing, placemark.line)) }
        }
    }

    private func record(_ place: Coordinates, _ time: ReportedTime, _ line: Int) -> FileRecord {
        var draft = FixDraft()
        (draft.latitude, draft.longitude) = (place.latitude, place.longitude)
        (draft.altitude, draft.time) = (place.altitude, time)
        return FileRecord(draft, place: line, now: choices.now)
    }

    /// `lon,lat[,alt]` or `lon lat [alt]`; NaN for any other text.
    private static func coordinates(_ text: String, _ separator: Unicode.Scalar) -> Coordinates {
        let parts = text.utf8.split(omittingEmptySubsequences: separator == " ") {
            $0 == UInt8(ascii: separator) || separator == " " && DecimalText.isWhiteSpace($0)
        }
        func number(_ index: Int) -> Double? { index < parts.count ? DecimalText.parse(parts[index]) : nil }
        return Coordinates(longitude: number(0) ?? .nan, latitude: number(1) ?? .nan, altitude: number(2))
    }
}
