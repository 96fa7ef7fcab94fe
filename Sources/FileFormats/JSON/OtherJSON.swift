import JSON
import Whereabouts
import WireFormats

/// Saved batches of Overland: `{"locations": [Feature, …]}`, see `Overland`.
struct OverlandLocations: JSONElements {
    static let arrays = ["locations"]
    private let choices: FileChoices
    private(set) var passedOver = PassedOver()

    init(_ choices: FileChoices, _ format: FileFormat) { self.choices = choices }

    mutating func read(_ element: JSONElement, into records: inout [FileRecord]) throws(FormatFault) {
        let body = Array(#"{"locations":["#.utf8) + element.text + Array("]}".utf8)
        for report in Overland.reports(from: body, now: choices.now) {
            switch report {
            case .fix, .rejected, .sighting(.visit): records.append(FileRecord(report, place: element.place))
            case .sighting, .authorization, .waypoint, .message: passedOver.add(.otherMessages)
            }
        }
    }
}

/// Polarsteps' `locations.json`: `{"locations": [{"lat": 48.2083, "lon": 16.373, "time": 1767225610.5}]}`.
struct PolarstepsLocations: JSONElements {
    static let arrays = ["locations"]
    private let choices: FileChoices
    private let format: FileFormat
    private(set) var passedOver = PassedOver()

    init(_ choices: FileChoices, _ format: FileFormat) { (self.choices, self.format) = (choices, format) }

    mutating func read(_ element: JSONElement, into records: inout [FileRecord]) throws(FormatFault) {
        var draft = FixDraft()
        draft.latitude = element.value["lat"].map { $0.number ?? .nan }
        draft.longitude = element.value["lon"].map { $0.number ?? .nan }
        draft.time = try choices.moment(
            of: element.value["time"]?.fileTime ?? .missing, format, place: element.place)
        records.append(FileRecord(draft, place: element.place, now: choices.now))
    }
}

/// The timeline items of Arc's JSON export, whose samples have the fields of `CLLocation`; −1 is unknown:
///
///     {"timelineItems": [{"isVisit": true, "startDate": "2026-01-01T08:00:00Z", "endDate": …, "center": {"latitude": …,
///       "longitude": …}, "samples": [{"date": …, "location": {"latitude": …, "longitude": …, "altitude": …,
///       "horizontalAccuracy": …, "verticalAccuracy": …, "speed": …, "course": …, "timestamp": …}}]}]}
struct ArcItems: JSONElements {
    static let arrays = ["timelineItems", "samples"]
    private let choices: FileChoices
    private let format: FileFormat
    private(set) var passedOver = PassedOver()

    init(_ choices: FileChoices, _ format: FileFormat) { (self.choices, self.format) = (choices, format) }

    mutating func read(_ element: JSONElement, into records: inout [FileRecord]) throws(FormatFault) {
        if element.array == "samples" {
            try read(sample: element.value, element.place, into: &records)
            return
        }
        let item = element.value
        if item["isVisit"]?.bool == true, let center = item["center"], center["latitude"] != nil {
            var draft = VisitDraft()
            draft.latitude = center["latitude"]?.number
            draft.longitude = center["longitude"]?.number
            draft.horizontalAccuracy = item["radius"]?["mean"]?.number
            draft.arrival = try choices.moment(
                of: item["startDate"]?.fileTime ?? .missing, format, place: element.place)
            draft.departure = try choices.moment(
                of: item["endDate"]?.fileTime ?? .missing, format, place: element.place)
            records.append(FileRecord(place: element.place, content: draft.content(now: choices.now)))
        }
        for sample in item["samples"]?.list ?? [] {
            try read(sample: sample, element.place, into: &records)
        }
    }

    private mutating func read(
        sample: JSONValue, _ place: Int, into records: inout [FileRecord]
    ) throws(FormatFault) {
        guard let location = sample["location"], !location.isNull else {
            passedOver.add(.pointsWithoutPlace)
            return
        }
        var draft = FixDraft()
        draft.latitude = location["latitude"].map { $0.number ?? .nan }
        draft.longitude = location["longitude"].map { $0.number ?? .nan }
        let time = location.first(of: ["timestamp"]) ?? sample.first(of: ["date"])
        draft.time = try choices.moment(of: time?.fileTime ?? .missing, format, place: place)
        // As in Core Location, a negative accuracy makes the value invalid.
        draft.horizontalAccuracy = location["horizontalAccuracy"]?.number
        draft.verticalAccuracy = location["verticalAccuracy"]?.number
        draft.altitude = location["altitude"]?.number
        draft.speed = location["speed"]?.number.flatMap(Sentinel.nonNegative)
        draft.course = location["course"]?.number.flatMap(Sentinel.course)
        records.append(FileRecord(draft, place: place, now: choices.now))
    }
}

/// GeoPulse's raw GPS data and timeline; speed in km/h, which its other exports call velocity, battery in percent:
///
///     {"dataType": "rawGps", "points": [{"timestamp": "2026-01-01T08:00:00Z", "latitude": …, "longitude": …,
///       "accuracy": 5, "altitude": 171, "speed": 36, "battery": 80}]}
///     {"dataType": "timeline", "stays": [{"timestamp": …, "endTime": …, "latitude": …, "longitude": …}], "trips": […]}
struct GeoPulsePoints: JSONElements {
    static let arrays = ["points", "stays"]
    private let choices: FileChoices
    private let format: FileFormat
    private(set) var passedOver = PassedOver()

    init(_ choices: FileChoices, _ format: FileFormat) { (self.choices, self.format) = (choices, format) }

    mutating func read(_ element: JSONElement, into records: inout [FileRecord]) throws(FormatFault) {
        let point = element.value
        if element.array == "stays" {
            var draft = VisitDraft()
            draft.latitude = point["latitude"]?.number
            draft.longitude = point["longitude"]?.number
            draft.arrival = try choices.moment(
                of: point["timestamp"]?.fileTime ?? .missing, format, place: element.place)
            draft.departure = try choices.moment(
                of: point["endTime"]?.fileTime ?? .missing, format, place: element.place)
            records.append(FileRecord(place: element.place, content: draft.content(now: choices.now)))
            return
        }
        var draft = FixDraft()
        draft.latitude = point["latitude"].map { $0.number ?? .nan }
        draft.longitude = point["longitude"].map { $0.number ?? .nan }
        draft.time = try choices.moment(of: point["timestamp"]?.fileTime ?? .missing, format, place: element.place)
        draft.horizontalAccuracy = point["accuracy"]?.number.flatMap(Sentinel.nonNegative)
        draft.altitude = point["altitude"]?.number
        let speed = point.first(of: ["speed", "velocity"])?.number
        draft.speed = speed.flatMap(Sentinel.nonNegative).map { $0 / 3.6 }
        draft.batteryLevel = point["battery"]?.number.flatMap { (0...100).contains($0) ? $0 / 100 : nil }
        records.append(FileRecord(draft, place: element.place, now: choices.now))
    }
}

/// The lines of a Dawarich archive, `points/YYYY/YYYY-MM.jsonl` and `visits/YYYY/YYYY-MM.jsonl`:
///
///     {"lonlat": "POINT (16.373 48.2083)", "timestamp": 1767225610, "accuracy": 5, "altitude": 171, "velocity": "1.4"}
///     {"started_at": "2026-01-01T08:00:00.000Z", "ended_at": …, "status": "confirmed",
///      "place_reference": {"name": "Home", "latitude": "48.2083", "longitude": "16.373", "visit_radius": 50}}
///
/// A visit that the person has not confirmed is Dawarich's suggestion from the same points, and not imported.
final class DawarichRecords: RecordReader {
    private static let lineBytes = 64 << 10
    private let choices: FileChoices
    private var lines = LineFeeder(bytesMax: lineBytes)
    private(set) var passedOver = PassedOver()

    init(_ choices: FileChoices) { self.choices = choices }

    func read(_ bytes: ArraySlice<UInt8>, into records: inout [FileRecord]) throws(FormatFault) {
        var found: [FileRecord] = []
        defer { records += found }
        try lines.read(bytes) { (line: LineFeeder.Line) throws(FormatFault) in try take(line, &found) }
    }

    func finish(into records: inout [FileRecord]) throws(FormatFault) {
        var found: [FileRecord] = []
        defer { records += found }
        try lines.finish { (line: LineFeeder.Line) throws(FormatFault) in try take(line, &found) }
    }

    private func take(_ line: LineFeeder.Line, _ records: inout [FileRecord]) throws(FormatFault) {
        if line.text.allSatisfy(DecimalText.isWhiteSpace) { return }
        guard !line.isCut else {
            records.append(FileRecord(place: line.number, content: .rejected(.tooLarge)))
            return
        }
        guard let point = try? JSONDocument.parse(Array(line.text)).root else {
            records.append(FileRecord(place: line.number, content: .rejected(.notJSON)))
            return
        }
        if point["started_at"] != nil { return try take(visit: point, line.number, &records) }
        var draft = FixDraft()
        if let place = Self.place(point["lonlat"]?.string ?? "") {
            (draft.longitude, draft.latitude) = place
        }
        draft.time = try choices.moment(of: point["timestamp"]?.fileTime ?? .missing, .dawarich, place: line.number)
        draft.horizontalAccuracy = point["accuracy"]?.number.flatMap(Sentinel.nonNegative)
        draft.verticalAccuracy = point["vertical_accuracy"]?.number
        draft.altitude = point["altitude"]?.number
        draft.speed = point["velocity"]?.number.flatMap(Sentinel.nonNegative)
        draft.course = point["course"]?.number.flatMap(Sentinel.course)
        draft.batteryLevel = point["battery"]?.number.flatMap { (0...100).contains($0) ? $0 / 100 : nil }
        records.append(FileRecord(draft, place: line.number, now: choices.now))
    }

    private func take(visit: JSONValue, _ line: Int, _ records: inout [FileRecord]) throws(FormatFault) {
        guard visit["status"]?.string == "confirmed" else { return passedOver.add(.unconfirmedVisits) }
        let place = visit["place_reference"]
        var draft = VisitDraft()
        draft.latitude = place?["latitude"]?.number
        draft.longitude = place?["longitude"]?.number
        draft.horizontalAccuracy = place?["visit_radius"]?.number
        draft.arrival = try choices.moment(of: visit["started_at"]?.fileTime ?? .missing, .dawarich, place: line)
        draft.departure = try choices.moment(of: visit["ended_at"]?.fileTime ?? .missing, .dawarich, place: line)
        records.append(FileRecord(place: line, content: draft.content(now: choices.now)))
    }

    /// `POINT (lon lat)`.
    private static func place(_ text: String) -> (Double, Double)? {
        guard text.utf8.count <= 96, let open = text.firstIndex(of: "("), let close = text.firstIndex(of: ")"),
            open < close
        else { return nil }
        let parts = text[text.index(after: open)..<close].split(separator: " ")
        guard parts.count >= 2, let longitude = DecimalText.parse(parts[0].utf8),
            let latitude = DecimalText.parse(parts[1].utf8)
        else { return nil }
        return (longitude, latitude)
    }
}
