import JSON
import WireFormats

/// The elements of a month of Semantic Location History:
///
///     {"timelineObjects": [
///       {"placeVisit": {"location": {"latitudeE7": …, "longitudeE7": …}, "duration": {"startTimestamp": …,
///         "endTimestamp": …}, "simplifiedRawPath": {"points": […]}}},
///       {"activitySegment": {"startLocation": {…}, "endLocation": {…}, "duration": {…}, "waypointPath": {…},
///         "simplifiedRawPath": {"points": [{"latE7": …, "lngE7": …, "accuracyMeters": 10, "timestamp": …}]}}}]}
///
/// A place visit becomes a visit, the ends of an activity and the points of a path become fixes. Way points have no time;
/// they are counted, not placed in time.
struct GoogleSemantic: JSONElements {
    static let arrays = ["timelineObjects"]
    private let choices: FileChoices
    private let format: FileFormat
    private(set) var passedOver = PassedOver()

    init(_ choices: FileChoices, _ format: FileFormat) { (self.choices, self.format) = (choices, format) }

    mutating func read(_ element: JSONElement, into records: inout [FileRecord]) throws(FormatFault) {
        if let visit = element.value["placeVisit"] {
            try read(visit: visit, element.place, into: &records)
        } else if let activity = element.value["activitySegment"] {
            try read(activity: activity, element.place, into: &records)
        } else {
            passedOver.add(.placeholders)
        }
    }

    private func time(_ object: JSONValue?, _ name: String, _ place: Int) throws(FormatFault) -> ReportedTime {
        let value = object?.first(of: [name, name + "Ms"])
        return try choices.moment(of: value?.fileTime ?? .missing, format, place: place)
    }

    private mutating func read(
        visit: JSONValue, _ place: Int, into records: inout [FileRecord]
    ) throws(FormatFault) {
        var draft = VisitDraft()
        if let found = GoogleValues.place(visit["location"]) ?? GoogleValues.place(visit, "centerLatE7", "centerLngE7")
        {
            (draft.latitude, draft.longitude) = (found.latitude, found.longitude)
        }
        draft.arrival = try time(visit["duration"], "startTimestamp", place)
        draft.departure = try time(visit["duration"], "endTimestamp", place)
        records.append(FileRecord(place: place, content: draft.content(now: choices.now)))
        passedOver.add(.nestedVisits, visit["childVisits"]?.count ?? 0)
        try read(path: visit["simplifiedRawPath"], place, into: &records)
    }

    private mutating func read(
        activity: JSONValue, _ place: Int, into records: inout [FileRecord]
    ) throws(FormatFault) {
        for (end, name) in [("startLocation", "startTimestamp"), ("endLocation", "endTimestamp")] {
            guard let found = GoogleValues.place(activity[end]) else { continue }
            let draft = FixDraft(found, try time(activity["duration"], name, place), accuracy: nil)
            records.append(FileRecord(draft, place: place, now: choices.now))
        }
        try read(path: activity["simplifiedRawPath"], place, into: &records)
        for point in activity["waypointPath"]?["waypoints"]?.list ?? [] {
            guard let found = GoogleValues.place(point, "latE7", "lngE7") else { continue }
            records.append(
                FileRecord(FixDraft(found, .missing, accuracy: nil), place: place, now: choices.now))
        }
        if let parking = activity["parkingEvent"], let found = GoogleValues.place(parking["location"]) {
            let time = try time(parking, "timestamp", place)
            let accuracy = parking["location"]?["accuracyMetres"]?.number
            if time != .missing {
                records.append(
                    FileRecord(FixDraft(found, time, accuracy: accuracy), place: place, now: choices.now))
            }
        }
    }

    private func read(path: JSONValue?, _ place: Int, into records: inout [FileRecord]) throws(FormatFault) {
        for point in path?["points"]?.list ?? [] {
            guard let found = GoogleValues.place(point, "latE7", "lngE7") else { continue }
            let draft = FixDraft(
                found, try time(point, "timestamp", place), accuracy: point["accuracyMeters"]?.number)
            records.append(FileRecord(draft, place: place, now: choices.now))
        }
    }
}
