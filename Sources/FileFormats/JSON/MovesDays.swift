import JSON
import WireFormats

/// The days of Moves' `storyline.json`, the app that ended in 2018:
///
///     [{"date": "20121212", "segments": [
///       {"type": "place", "startTime": "20121212T000000Z", "endTime": "20121212T071430+0200",
///        "place": {"id": 1, "type": "home", "location": {"lat": 48.2083, "lon": 16.373}}, "activities": […]},
///       {"type": "move", "activities": [{"activity": "walking", "trackPoints": [{"lat": …, "lon": …, "time": …}]}]}]}]
///
/// A stay over midnight is in both days, with the same times. Points have no accuracy.
struct MovesDays: JSONElements {
    /// The root is the array.
    static let arrays = ["days"]
    private let choices: FileChoices
    private let format: FileFormat
    private(set) var passedOver = PassedOver()

    init(_ choices: FileChoices, _ format: FileFormat) { (self.choices, self.format) = (choices, format) }

    mutating func read(_ element: JSONElement, into records: inout [FileRecord]) throws(FormatFault) {
        for segment in element.value["segments"]?.list ?? [] {
            var hasContent = false
            if let location = segment["place"]?["location"], location["lat"] != nil {
                hasContent = true
                var draft = VisitDraft()
                draft.latitude = location["lat"]?.number
                draft.longitude = location["lon"]?.number
                draft.arrival = try moment(segment["startTime"], element.place)
                draft.departure = try moment(segment["endTime"], element.place)
                records.append(FileRecord(place: element.place, content: draft.content(now: choices.now)))
            }
            for part in [segment] + (segment["activities"]?.list ?? []) {
                for point in part["trackPoints"]?.list ?? [] {
                    hasContent = true
                    var draft = FixDraft()
                    draft.latitude = point["lat"].map { $0.number ?? .nan }
                    draft.longitude = point["lon"].map { $0.number ?? .nan }
                    draft.time = try moment(point["time"], element.place)
                    records.append(FileRecord(draft, place: element.place, now: choices.now))
                }
            }
            // Files such as activities.json have the times without the places.
            if !hasContent { passedOver.add(.placeholders) }
        }
    }

    private func moment(_ time: JSONValue?, _ place: Int) throws(FormatFault) -> ReportedTime {
        try choices.moment(of: time?.fileTime ?? .missing, format, place: place)
    }
}

/// The points of one exercise in Samsung Health's `jsons/com.samsung.shealth.exercise/…location_data.json`:
///
///     [{"start_time": 1655620800000, "latitude": 48.2083, "longitude": 16.373, "altitude": 171.5, "accuracy": 3.9}]
///
/// Times are milliseconds since 1970. An accuracy of 0 is none, as in Android's locations.
struct SamsungLocations: JSONElements {
    /// The root is the array.
    static let arrays = ["points"]
    private let choices: FileChoices
    private let format: FileFormat
    private(set) var passedOver = PassedOver()

    init(_ choices: FileChoices, _ format: FileFormat) { (self.choices, self.format) = (choices, format) }

    mutating func read(_ element: JSONElement, into records: inout [FileRecord]) throws(FormatFault) {
        let point = element.value
        guard point["latitude"] != nil || point["longitude"] != nil else {
            passedOver.add(.pointsWithoutPlace)
            return
        }
        var draft = FixDraft()
        draft.latitude = point["latitude"].map { $0.number ?? .nan }
        draft.longitude = point["longitude"].map { $0.number ?? .nan }
        draft.time = try choices.moment(of: point["start_time"]?.fileTime ?? .missing, format, place: element.place)
        draft.horizontalAccuracy = point["accuracy"]?.number.flatMap { $0 > 0 ? $0 : nil }
        draft.altitude = point["altitude"]?.number
        draft.speed = point["speed"]?.number.flatMap(Sentinel.nonNegative)
        records.append(FileRecord(draft, place: element.place, now: choices.now))
    }
}
