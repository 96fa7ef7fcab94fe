import JSON
import WireFormats

/// The elements of `Records.json`:
///
///     {"locations": [{"latitudeE7": 482083333, "longitudeE7": 163730000, "accuracy": 20, "altitude": 171,
///       "verticalAccuracy": 3, "velocity": 1, "heading": 90, "source": "WIFI", "deviceTag": 1234,
///       "timestamp": "2021-05-04T08:00:00.123Z"}, …]}
///
/// Before 2022 the time is `timestampMs`, a text.
struct GoogleRecords: JSONElements {
    static let arrays = ["locations"]
    private let choices: FileChoices
    private let format: FileFormat
    private(set) var passedOver = PassedOver()

    init(_ choices: FileChoices, _ format: FileFormat) { (self.choices, self.format) = (choices, format) }

    mutating func read(_ element: JSONElement, into records: inout [FileRecord]) throws(FormatFault) {
        let value = element.value
        guard let place = GoogleValues.place(value) else {
            // Activities and scans without a position.
            passedOver.add(.placeholders)
            return
        }
        var draft = FixDraft()
        (draft.latitude, draft.longitude) = (place.latitude, place.longitude)
        let time = value.first(of: ["timestamp", "timestampMs"])?.fileTime ?? .missing
        draft.time = try choices.moment(of: time, format, place: element.place)
        draft.horizontalAccuracy = value["accuracy"]?.number.flatMap(Sentinel.nonNegative)
        draft.altitude = value["altitude"]?.number
        draft.verticalAccuracy = value["verticalAccuracy"]?.number
        draft.speed = value["velocity"]?.number.flatMap(Sentinel.nonNegative)
        draft.course = value["heading"]?.number.flatMap(Sentinel.course)
        var rest = RemainderText()
        rest.add("source", value["source"]?.string)
        if let tag = value["deviceTag"]?.int { rest.add("deviceTag", "\(tag)") }
        draft.remainder = rest.text()
        records.append(FileRecord(draft, place: element.place, now: choices.now))
    }
}
