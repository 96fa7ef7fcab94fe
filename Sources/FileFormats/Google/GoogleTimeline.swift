import JSON
import Whereabouts
import WireFormats

/// The elements of `Timeline.json` (Android) and `location-history.json` (iPhone):
///
///     {"semanticSegments": [
///       {"startTime": "2024-05-04T08:00:00.000+02:00", "endTime": …, "startTimeTimezoneUtcOffsetMinutes": 120,
///         "visit": {"hierarchyLevel": 0, "topCandidate": {"placeLocation": {"latLng": "48.2083°, 16.3730°"}}}},
///       {"startTime": …, "endTime": …, "activity": {"start": {"latLng": …}, "end": {"latLng": …}}},
///       {"startTime": …, "endTime": …, "timelinePath": [{"point": "48.2083°, 16.3730°", "time": …}]}],
///      "rawSignals": [{"position": {"LatLng": …, "accuracyMeters": 13, "timestamp": …}}]}
///
/// The iPhone writes the segments as a root array, places as `"geo:48.2083,16.3730"`, numbers as texts, and the time of a
/// path's point as `durationMinutesOffsetFromStartTime`.
struct GoogleTimeline: JSONElements {
    static let arrays = ["semanticSegments", "rawSignals"]
    private let choices: FileChoices
    private let format: FileFormat
    private(set) var passedOver = PassedOver()

    init(_ choices: FileChoices, _ format: FileFormat) { (self.choices, self.format) = (choices, format) }

    mutating func read(_ element: JSONElement, into records: inout [FileRecord]) throws(FormatFault) {
        let value = element.value
        if element.array == "rawSignals" {
            guard let position = value["position"] else {
                passedOver.add(.placeholders)
                return
            }
            try read(position: position, element.place, into: &records)
            return
        }
        let start = try time(value, "startTime", element.place)
        let end = try time(value, "endTime", element.place)
        if let visit = value["visit"] {
            read(visit: visit, start, end, element.place, into: &records)
        } else if let activity = value["activity"] {
            for (name, time) in [("start", start), ("end", end)] {
                guard let place = Self.place(activity[name]) else { continue }
                records.append(
                    FileRecord(FixDraft(place, time, accuracy: nil), place: element.place, now: choices.now))
            }
        } else if let path = value["timelinePath"]?.array {
            for point in path { try read(point: point, start, element.place, into: &records) }
        } else {
            passedOver.add(.placeholders)
        }
    }

    /// A place as a text, or in an object.
    private static func place(_ value: JSONValue?) -> (latitude: Double, longitude: Double)? {
        guard let value, !value.isNull else { return nil }
        if value.kind != .object { return GoogleValues.place(text: value) }
        return GoogleValues.place(text: value.first(of: ["latLng", "LatLng", "point"]))
    }

    /// The text's own offset says when it was. Where the text has none, the segment's offset in minutes does.
    private func time(_ segment: JSONValue, _ name: String, _ place: Int) throws(FormatFault) -> ReportedTime {
        let time = segment[name]?.fileTime ?? .missing
        if case .local(let milliseconds) = time,
            let minutes = segment["\(name)TimezoneUtcOffsetMinutes"]?.number, abs(minutes) < 1440
        {
            return .at(LocalZone(offsetSeconds: Int64(minutes * 60)).moment(ofLocal: milliseconds))
        }
        return try choices.moment(of: time, format, place: place)
    }

    private mutating func read(
        visit: JSONValue, _ start: ReportedTime, _ end: ReportedTime, _ place: Int, into records: inout [FileRecord]
    ) {
        if visit["isTimelessVisit"]?.bool == true || visit["isTimelessVisit"]?.string == "true" {
            passedOver.add(.timelessVisits)
            return
        }
        if let level = visit["hierarchyLevel"]?.number, level > 0 {
            passedOver.add(.nestedVisits)
            return
        }
        var draft = VisitDraft()
        if let found = Self.place(visit["topCandidate"]?["placeLocation"]) {
            (draft.latitude, draft.longitude) = (found.latitude, found.longitude)
        }
        (draft.arrival, draft.departure) = (start, end)
        records.append(FileRecord(place: place, content: draft.content(now: choices.now)))
    }

    private func read(
        point: JSONValue, _ start: ReportedTime, _ place: Int, into records: inout [FileRecord]
    ) throws(FormatFault) {
        guard let found = Self.place(point["point"]) else {
            records.append(FileRecord(place: place, content: .rejected(.missingField)))
            return
        }
        var time: ReportedTime = .missing
        if let own = point["time"], !own.isNull {
            time = try choices.moment(of: own.fileTime, format, place: place)
        } else if let minutes = point["durationMinutesOffsetFromStartTime"]?.number, abs(minutes) < 1e7 {
            if case .at(let begin) = start { time = .at(begin.adding(seconds: Int64((minutes * 60).rounded()))) }
        }
        records.append(FileRecord(FixDraft(found, time, accuracy: nil), place: place, now: choices.now))
    }

    private func read(position: JSONValue, _ place: Int, into records: inout [FileRecord]) throws(FormatFault) {
        guard let found = GoogleValues.place(text: position.first(of: ["LatLng", "latLng"])) else {
            records.append(FileRecord(place: place, content: .rejected(.missingField)))
            return
        }
        var draft = FixDraft()
        (draft.latitude, draft.longitude) = (found.latitude, found.longitude)
        draft.time = try choices.moment(of: position["timestamp"]?.fileTime ?? .missing, format, place: place)
        draft.horizontalAccuracy = position["accuracyMeters"]?.number.flatMap(Sentinel.nonNegative)
        draft.altitude = position["altitudeMeters"]?.number
        draft.speed = position["speedMetersPerSecond"]?.number.flatMap(Sentinel.nonNegative)
        var rest = RemainderText()
        rest.add("source", position["source"]?.string)
        draft.remainder = rest.text()
        records.append(FileRecord(draft, place: place, now: choices.now))
    }
}

/// The elements of `Timeline Edits.json`:
///
///     {"timelineEdits": [{"deviceId": "…", "rawSignal": {"signal": {"position": {"point": {"latE7": 482083333,
///       "lngE7": 163730000}, "accuracyMm": 13000, "timestamp": "2024-05-04T08:00:00Z"}}}}]}
struct GoogleEdits: JSONElements {
    static let arrays = ["timelineEdits"]
    private let choices: FileChoices
    private let format: FileFormat
    private(set) var passedOver = PassedOver()

    init(_ choices: FileChoices, _ format: FileFormat) { (self.choices, self.format) = (choices, format) }

    mutating func read(_ element: JSONElement, into records: inout [FileRecord]) throws(FormatFault) {
        guard let position = element.value["rawSignal"]?["signal"]?["position"],
            let found = GoogleValues.place(position["point"], "latE7", "lngE7")
        else {
            passedOver.add(.placeholders)
            return
        }
        var draft = FixDraft()
        (draft.latitude, draft.longitude) = (found.latitude, found.longitude)
        draft.time = try choices.moment(
            of: position["timestamp"]?.fileTime ?? .missing, format, place: element.place)
        draft.horizontalAccuracy = position["accuracyMm"]?.number.flatMap(Sentinel.nonNegative).map { $0 / 1000 }
        draft.altitude = position["altitudeMeters"]?.number
        draft.speed = position["speedMetersPerSecond"]?.number.flatMap(Sentinel.nonNegative)
        records.append(FileRecord(draft, place: element.place, now: choices.now))
    }
}
