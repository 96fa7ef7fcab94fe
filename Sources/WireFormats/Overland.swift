import Geodesy
import JSON
package import Whereabouts

/// The batches of Overland, `POST /overland` (Overland-iOS, README and `GLManager.m`).
///
///     {"locations": [{"type": "Feature", "geometry": {"type": "Point", "coordinates": [9.25, 46.5]},
///                     "properties": {"timestamp": "2026-01-01T08:00:00-0700", "horizontal_accuracy": 5, …}}, …],
///      "current": Feature, "trip": {…}}
package enum Overland {
    /// The body of the answer. The app repeats its whole batch unless the answer is exactly this.
    package static let answer: [UInt8] = Array(#"{"result":"ok"}"#.utf8)

    /// Reads the body of one request: a batch, or a message of the app's OwnTracks mode, which uses the same address.
    ///
    /// Never fails: each location becomes one report, in order, and so does `current`, the newest fix while the app
    /// still has older ones to send. An item that is not a fix, for example a trip or `will_terminate`, is a message.
    ///
    /// - Parameter now: The time of the house, to find fixes in the future.
    package static func reports(from body: [UInt8], now: Timestamp) -> [Report] {
        guard body.count <= Limits.ingestBodyBytes else { return [.rejected(.tooLarge)] }
        guard let root = try? JSONDocument.message(body[...]) else { return [.rejected(.notJSON)] }
        guard root.kind == .object else { return [.rejected(.unknownType)] }
        if root["_type"] != nil { return OwnTracks.reports(from: body, now: now) }
        guard let list = root["locations"], let locations = list.array else { return [.rejected(.unknownType)] }
        guard list.count <= Limits.batchCommands else { return [.rejected(.tooLarge)] }
        var remainder = Remainder()
        var reports = locations.map { report(of: $0, now: now, &remainder).about($0) }
        if let current = root["current"], !current.isNull, reports.count < Limits.batchCommands {
            reports.append(report(of: current, now: now, &remainder).about(current))
        }
        return reports
    }

    private static func report(of feature: JSONValue, now: Timestamp, _ remainder: inout Remainder) -> Report {
        guard let properties = feature["properties"]?.membersInPlace else { return .rejected(.unknownType) }
        // Visits, trips and events of the app have an action or a type, and some of them a place.
        for member in properties where member.key == "action" || member.key == "type" {
            guard let word = member.value.string else { continue }
            if word == "visit" { return visit(feature, now: now) }
            return .message(word, properties.lazy.filter { $0.key != member.key })
        }
        var draft = FixDraft()
        if let position = feature["geometry"]?["coordinates"]?.array {
            var numbers = position.makeIterator()
            draft.longitude = numbers.next()?.double ?? .nan
            draft.latitude = numbers.next()?.double ?? .nan
        }
        for member in properties where !read(member.key, member.value, into: &draft) { remainder.append(member) }
        draft.remainder = remainder.take()
        return draft.report(now: now)
    }

    /// A visit that iOS detected. Its dates are `null` for iOS's "distant past" and "distant future"; its time is that
    /// of the callback.
    private static func visit(_ feature: JSONValue, now: Timestamp) -> Report {
        let properties = feature["properties"]
        var place = feature["geometry"]?["coordinates"]?.array?.makeIterator()
        guard let longitude = place?.next(), let latitude = place?.next() else { return .rejected(.missingField) }
        guard let longitude = longitude.double, let latitude = latitude.double,
            let coordinate = try? Coordinate(latitude: latitude, longitude: longitude)
        else { return .rejected(.badCoordinate) }
        return (properties?["timestamp"].map(time) ?? .missing).report(now: now) { timestamp in
            // Older apps write the distant past and future as the years 1 and 4001.
            let possible = Limits.oldestFix...now.adding(seconds: Limits.futureRejectedSeconds)
            func seen(_ name: String) -> Timestamp? {
                properties?[name]?.dateTime.flatMap { possible.contains($0) ? $0 : nil }
            }
            return .sighting(
                .visit(
                    VisitReport(
                        timestamp: timestamp, coordinate: coordinate,
                        horizontalAccuracy: properties?["horizontal_accuracy"]?.double.flatMap(Sentinel.nonNegative),
                        arrival: seen("arrival_date"), departure: seen("departure_date"))))
        }
    }

    private static func time(_ value: JSONValue) -> ReportedTime {
        value.dateTime.map(ReportedTime.at) ?? .unreadable
    }

    private static func read(_ key: JSONKey, _ value: JSONValue, into draft: inout FixDraft) -> Bool {
        switch key {
        case "timestamp": draft.time = time(value)
        case "horizontal_accuracy": return value.read(into: &draft.horizontalAccuracy)
        case "altitude": return value.read(into: &draft.altitude)
        case "vertical_accuracy": return value.read(into: &draft.verticalAccuracy)
        case "speed": return value.readNonNegative(into: &draft.speed)
        case "speed_accuracy": return value.readNonNegative(into: &draft.speedAccuracy)
        case "course": return value.readCourse(into: &draft.course)
        case "course_accuracy": return value.readNonNegative(into: &draft.courseAccuracy)
        case "battery_level": return value.readBattery(full: 1, into: &draft.batteryLevel)
        default: return false
        }
        return true
    }
}
