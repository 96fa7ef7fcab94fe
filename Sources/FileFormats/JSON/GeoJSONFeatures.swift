import Geodesy
import JSON
import Whereabouts
import WireFormats

/// The features of a GeoJSON file (RFC 7946) in the dialects that programs write.
///
///     {"type": "FeatureCollection", "features": [
///       {"type": "Feature", "geometry": {"type": "Point", "coordinates": [16.373, 48.2083, 171]},
///        "properties": {"time": "2026-01-01T08:00:00Z", "accuracy": 5, "speed": 1.4}},
///       {"type": "Feature", "geometry": {"type": "LineString", "coordinates": [[16.373, 48.2083], …]},
///        "properties": {"coordTimes": ["2026-01-01T08:00:00Z", …]}}]}
///
/// A point needs a time in its properties, a line one for each coordinate. `hdop` is no accuracy in meters and `bs` is no
/// level of a battery, so neither is read; `vel` is in km/h, as OwnTracks writes it.
struct GeoJSONFeatures: JSONElements {
    static let arrays = ["features"]
    private let choices: FileChoices
    private let format: FileFormat
    private(set) var passedOver = PassedOver()

    private static let times = [
        "timestamp", "time", "datetime", "date_time", "recorded_at", "fixTime", "tst", "when", "date", "created_at",
    ]
    private static let accuracies = ["horizontalAccuracy", "horizontal_accuracy", "accuracy", "acc"]
    private static let verticalAccuracies = ["verticalAccuracy", "vertical_accuracy", "vac"]
    private static let altitudes = ["altitude", "ele", "elevation", "alt"]
    private static let speeds: [(name: String, factor: Double)] = [
        ("speed", 1), ("velocity", 1), ("speed_mps", 1), ("speed_kmh", 1 / 3.6), ("vel", 1 / 3.6),
    ]
    private static let courses = ["course", "heading", "bearing", "cog"]
    /// Levels from 0 to 1, and levels from 0 to 100.
    private static let levels = ["batteryLevel", "battery_level"]
    private static let percents = ["battery", "batt", "bat"]

    init(_ choices: FileChoices, _ format: FileFormat) { (self.choices, self.format) = (choices, format) }

    static func isAlone(_ keys: JSONKeys) -> Bool { !keys.isArray && !keys.paths.contains("features") }

    mutating func read(_ element: JSONElement, into records: inout [FileRecord]) throws(FormatFault) {
        let feature = element.value
        let properties = feature["properties"]
        if let action = properties?["action"]?.string, action == "visit" {
            Self.overland(feature, element.place, choices.now, into: &records)
            return
        }
        let geometry = feature["geometry"] ?? feature
        guard let coordinates = geometry["coordinates"] else {
            passedOver.add(.placeholders)
            return
        }
        switch geometry["type"]?.string {
        case "Point":
            try read(point: coordinates, properties, element.place, into: &records)
        case "LineString", "MultiPoint":
            try read(line: coordinates, Self.times(of: properties), element.place, into: &records)
        case "MultiLineString":
            let times = Self.times(of: properties)?.list ?? []
            for (index, line) in coordinates.list.enumerated() {
                try read(
                    line: line, index < times.count ? times[index] : nil, element.place, into: &records)
            }
        default: passedOver.add(.placeholders)
        }
    }

    private static func times(of properties: JSONValue?) -> JSONValue? {
        properties?["coordTimes"] ?? properties?["coordinateProperties"]?["times"] ?? properties?["times"]
    }

    /// A visit in Overland's form.
    private static func overland(
        _ feature: JSONValue, _ place: Int, _ now: Timestamp, into records: inout [FileRecord]
    ) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("locations")
        writer.beginArray()
        writer.value(feature)
        writer.endArray()
        writer.endObject()
        records += Overland.reports(from: writer.bytes, now: now).map { FileRecord($0, place: place) }
    }

    private func read(
        point: JSONValue, _ properties: JSONValue?, _ place: Int, into records: inout [FileRecord]
    ) throws(FormatFault) {
        var draft = Self.draft(at: point)
        let time = properties?.first(of: Self.times)?.fileTime ?? .missing
        draft.time = try choices.moment(of: time, format, place: place)
        func number(_ names: [String]) -> Double? { properties?.first(of: names)?.number }
        draft.horizontalAccuracy = number(Self.accuracies)
        draft.verticalAccuracy = number(Self.verticalAccuracies)
        draft.altitude = draft.altitude ?? number(Self.altitudes)
        draft.ellipsoidalAltitude = number(["ellipsoidalAltitude"])
        if let (name, factor) = Self.speeds.first(where: { number([$0.name]) != nil }) {
            // GeoPulse, which names the source of each point, has its velocity in km/h.
            let isGeoPulses = name == "velocity" && properties?["sourceType"] != nil
            draft.speed = number([name]).flatMap(Sentinel.nonNegative).map { $0 * (isGeoPulses ? 1 / 3.6 : factor) }
        }
        draft.speedAccuracy = number(["speedAccuracy", "speed_accuracy"]).flatMap(Sentinel.nonNegative)
        draft.course = number(Self.courses).flatMap(Sentinel.course)
        draft.courseAccuracy = number(["courseAccuracy", "course_accuracy"]).flatMap(Sentinel.nonNegative)
        draft.floor = number(["floor"]).flatMap(Int64.init(exactly:))
        let level = number(Self.levels) ?? number(Self.percents).map { $0 / 100 }
        draft.batteryLevel = level.flatMap { (0...1).contains($0) ? $0 : nil }
        records.append(FileRecord(draft, place: place, now: choices.now))
    }

    private func read(
        line: JSONValue, _ times: JSONValue?, _ place: Int, into records: inout [FileRecord]
    ) throws(FormatFault) {
        var times = times?.array?.makeIterator()
        for point in line.list {
            var draft = Self.draft(at: point)
            draft.time = try choices.moment(of: times?.next()?.fileTime ?? .missing, format, place: place)
            records.append(FileRecord(draft, place: place, now: choices.now))
        }
    }

    private static func draft(at point: JSONValue) -> FixDraft {
        var draft = FixDraft()
        var numbers = point.array?.makeIterator()
        draft.longitude = numbers?.next()?.number ?? .nan
        draft.latitude = numbers?.next()?.number ?? .nan
        draft.altitude = numbers?.next()?.number
        return draft
    }
}
