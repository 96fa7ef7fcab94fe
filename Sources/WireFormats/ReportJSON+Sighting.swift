import Geodesy
package import JSON
package import Whereabouts

extension ReportJSON {
    static func sighting(_ kind: Sighting.Kind, _ item: JSONValue, at timestamp: Timestamp) -> Report {
        switch kind {
        case .heading: heading(item, timestamp)
        case .beacon: beacon(item, timestamp)
        case .visit: visit(item, timestamp)
        case .crossing: crossing(item, timestamp)
        }
    }

    private static func heading(_ item: JSONValue, _ timestamp: Timestamp) -> Report {
        guard let value = item["magneticHeading"] else { return .rejected(.missingField) }
        guard let magnetic = value.double.flatMap(Sentinel.course) else {
            return .rejected(.badValue)
        }
        return .sighting(
            .heading(
                HeadingReport(
                    timestamp: timestamp, magneticHeading: magnetic,
                    trueHeading: item["trueHeading"]?.double.flatMap(Sentinel.course),
                    headingAccuracy: item["headingAccuracy"]?.double.flatMap(Sentinel.nonNegative))))
    }

    private static func beacon(_ item: JSONValue, _ timestamp: Timestamp) -> Report {
        guard let name = item["uuid"], let major = item["major"], let minor = item["minor"],
            let proximity = item["proximity"], let rssi = item["rssi"]
        else { return .rejected(.missingField) }
        guard let uuid = name.string.flatMap({ Identifier128($0.lowercased()) }), let major = major.int,
            let minor = minor.int, let proximity = proximity.int, let rssi = rssi.int,
            (0...65_535).contains(major), (0...65_535).contains(minor), (0...3).contains(proximity),
            (-200...100).contains(rssi)
        else { return .rejected(.badValue) }
        return .sighting(
            .beacon(
                BeaconReport(
                    timestamp: timestamp, uuid: uuid, major: major, minor: minor, proximity: proximity,
                    accuracy: item["accuracy"]?.double.flatMap(Sentinel.nonNegative), rssi: rssi)))
    }

    private static func visit(_ item: JSONValue, _ timestamp: Timestamp) -> Report {
        guard let latitude = item["latitude"], let longitude = item["longitude"] else {
            return .rejected(.missingField)
        }
        guard let latitude = latitude.double, let longitude = longitude.double,
            let coordinate = try? Coordinate(latitude: latitude.positiveZero, longitude: longitude.positiveZero)
        else { return .rejected(.badCoordinate) }
        var dates: [Timestamp?] = []
        for name in ["arrival", "departure"] {
            guard let value = item[name], !value.isNull else {
                dates.append(nil)
                continue
            }
            guard let date = time(value), date >= Limits.oldestFix else { return .rejected(.badTimestamp) }
            dates.append(date)
        }
        return .sighting(
            .visit(
                VisitReport(
                    timestamp: timestamp, coordinate: coordinate,
                    horizontalAccuracy: item["horizontalAccuracy"]?.double.flatMap(Sentinel.nonNegative),
                    arrival: dates[0], departure: dates[1])))
    }

    private static func crossing(_ item: JSONValue, _ timestamp: Timestamp) -> Report {
        guard let region = item["region"], let crossing = item["crossing"] else { return .rejected(.missingField) }
        guard let region = region.string, (1...Limits.regionNameCharacters).contains(region.unicodeScalars.count),
            let word = crossing.string, ["enter", "exit"].contains(word)
        else { return .rejected(.badValue) }
        return .sighting(.crossing(CrossingReport(timestamp: timestamp, region: region, isEntry: word == "enter")))
    }

    /// Writes the members that ``reports(from:now:)`` reads of a sighting, without braces.
    package static func writeMembers(of sighting: Sighting, into writer: inout JSONWriter) {
        writer.field("type", sighting.kind.word)
        switch sighting {
        case .heading(let heading):
            writer.field("magneticHeading", heading.magneticHeading)
            writer.field("trueHeading", heading.trueHeading)
            writer.field("headingAccuracy", heading.headingAccuracy)
            writer.field("timestamp", milliseconds: heading.timestamp.milliseconds)
        case .beacon(let beacon):
            writer.field("uuid", beacon.uuid.description)
            writer.field("major", beacon.major)
            writer.field("minor", beacon.minor)
            writer.field("proximity", beacon.proximity)
            writer.field("accuracy", beacon.accuracy)
            writer.field("rssi", beacon.rssi)
            writer.field("timestamp", milliseconds: beacon.timestamp.milliseconds)
        case .visit(let visit):
            writer.field("latitude", visit.coordinate.latitude)
            writer.field("longitude", visit.coordinate.longitude)
            writer.field("horizontalAccuracy", visit.horizontalAccuracy)
            writer.field("arrival", milliseconds: visit.arrival?.milliseconds)
            writer.field("departure", milliseconds: visit.departure?.milliseconds)
            writer.field("timestamp", milliseconds: visit.timestamp.milliseconds)
        case .crossing(let crossing):
            writer.field("region", crossing.region)
            writer.field("crossing", crossing.isEntry ? "enter" : "exit")
            writer.field("timestamp", milliseconds: crossing.timestamp.milliseconds)
        }
    }
}
