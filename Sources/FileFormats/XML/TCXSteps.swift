import WireFormats

/// The track points of the activities in a TCX file:
///
///     <Trackpoint><Time>2007-08-07T02:42:41Z</Time>
///       <Position><LatitudeDegrees>37.8959665</LatitudeDegrees><LongitudeDegrees>-122.4896709</LongitudeDegrees></Position>
///       <AltitudeMeters>3.98</AltitudeMeters><Extensions><TPX><Speed>6.0</Speed></TPX></Extensions></Trackpoint>
///
/// A point without a position is no fix. The points of courses are plans. A time without a zone is UTC.
///
/// Source: Garmin's schemas TrainingCenterDatabase v2 and ActivityExtension v2.
struct TCXSteps: XMLSteps {
    static let textBytes = 256
    static let root = "TrainingCenterDatabase"
    private let choices: FileChoices
    private(set) var passedOver = PassedOver()
    private var isInCourses = false
    private var draft: FixDraft?
    private var line = 0

    init(_ choices: FileChoices) { self.choices = choices }

    mutating func take(_ step: XMLStep, into records: inout [FileRecord]) throws(FormatFault) {
        switch step {
        case .begin("Courses", _, _): isInCourses = true
        case .end("Courses", _, _): isInCourses = false
        case .begin("Trackpoint", _, let line): (draft, self.line) = (FixDraft(), line)
        case .end("Trackpoint", _, _):
            guard let draft else { return }
            self.draft = nil
            if isInCourses {
                passedOver.add(.coursePoints)
            } else if draft.latitude == nil, draft.longitude == nil {
                passedOver.add(.pointsWithoutPlace)
            } else {
                records.append(FileRecord(draft, place: line, now: choices.now))
            }
        case .begin: break
        case .end(let name, let text, _): take(name, text)
        }
    }

    private mutating func take(_ name: String, _ text: String?) {
        guard draft != nil else { return }
        let number = text.flatMap { DecimalText.parse($0.utf8) }
        switch name {
        case "Time":
            draft?.time =
                switch text.map({ FileTime($0, utc: true) }) {
                case .at(let time): .at(time)
                case .missing: .missing
                case .local, .unreadable, nil: .unreadable
                }
        case "LatitudeDegrees": draft?.latitude = number ?? .nan
        case "LongitudeDegrees": draft?.longitude = number ?? .nan
        case "AltitudeMeters": draft?.altitude = number
        case "Speed": draft?.speed = number.flatMap(Sentinel.nonNegative)
        default: break
        }
    }
}
