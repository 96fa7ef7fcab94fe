import JSON
package import Whereabouts

/// Reads fixes from GeoJSON (RFC 7946): points with a time in their properties, and lines whose properties have a time
/// for each coordinate.
///
///     {"type":"FeatureCollection","features":[
///       {"type":"Feature","geometry":{"type":"Point","coordinates":[9.25,46.5,410]},
///        "properties":{"timestamp":"2026-01-01T12:00:00Z","horizontalAccuracy":8}},
///       {"type":"Feature","geometry":{"type":"LineString","coordinates":[[9.25,46.5],[9.26,46.5]]},
///        "properties":{"coordTimes":["2026-01-01T12:00:10Z","2026-01-01T12:00:20Z"]}}]}
///
/// The time is the first existing of `timestamp`, `time`, `datetime`, `recorded_at` and `tst`: ISO 8601, Unix seconds,
/// or milliseconds if it is at least 10¹¹. Other properties have the names and units of
/// ``FixJSON``. The times of a line are in `coordTimes` or in `coordinateProperties.times`. A coordinate without a time
/// is not a fix.
package enum GeoJSONTrack {
    private static let timeNames = ["timestamp", "time", "datetime", "recorded_at", "tst"]

    /// The fixes of a file in file order; `nil` if it is not GeoJSON.
    ///
    /// - Parameter now: The time of the house, to find fixes in the future.
    package static func reports(from file: [UInt8], now: Timestamp) -> [Report]? {
        guard let root = try? JSONDocument.parse(file).root, let type = root["type"]?.string else { return nil }
        switch type {
        case "FeatureCollection":
            guard let features = root["features"]?.array else { return nil }
            return features.flatMap { reports(of: $0, now: now) }
        case "Feature": return reports(of: root, now: now)
        default: return nil
        }
    }

    private static func reports(of feature: JSONValue, now: Timestamp) -> [Report] {
        guard let geometry = feature["geometry"], let coordinates = geometry["coordinates"] else { return [] }
        let properties = feature["properties"]
        switch geometry["type"]?.string {
        case "Point":
            let time = timeNames.lazy.compactMap { properties?[$0] }.first
            return [report(coordinates, time, properties, now: now)]
        case "LineString":
            let times = properties?["coordTimes"] ?? properties?["coordinateProperties"]?["times"]
            guard let places = coordinates.array, let moments = times?.array else { return [] }
            return zip(places, moments).map { report($0, $1, nil, now: now) }
        default: return []
        }
    }

    private static func report(
        _ place: JSONValue, _ time: JSONValue?, _ properties: JSONValue?, now: Timestamp
    ) -> Report {
        var draft = FixDraft()
        if let numbers = place.array.map({ $0.map(\.double) }), numbers.count >= 2 {
            draft.longitude = numbers[0] ?? .nan
            draft.latitude = numbers[1] ?? .nan
            if numbers.count > 2 { draft.altitude = numbers[2] }
        }
        draft.time = time.map { Self.time($0).map(ReportedTime.at) ?? .unreadable } ?? .missing
        if let properties {
            _ = properties["horizontalAccuracy"]?.read(into: &draft.horizontalAccuracy)
            _ = properties["verticalAccuracy"]?.read(into: &draft.verticalAccuracy)
            _ = properties["altitude"]?.read(into: &draft.altitude)
            _ = properties["ellipsoidalAltitude"]?.read(into: &draft.ellipsoidalAltitude)
            _ = properties["floor"]?.read(into: &draft.floor)
            _ = properties["speed"]?.readNonNegative(into: &draft.speed)
            _ = properties["course"]?.readCourse(into: &draft.course)
        }
        return draft.report(now: now)
    }

    private static func time(_ value: JSONValue) -> Timestamp? {
        if let number = value.double {
            // As seconds, 10¹¹ would be the year 5138.
            return Timestamp(seconds: abs(number) >= 1e11 ? number / 1000 : number)
        }
        return value.dateTime
    }
}
