import Replies
import Whereabouts

/// The `location` of an answer as text.
struct LocationText {
    let location: LocationItem
    /// The present time, for the age.
    let now: Timestamp

    /// Place, coordinate with accuracy unless only names are shown, and time with age, one line each.
    var lines: String {
        var lines: [String] = []
        let place = Text.place(location.place)
        if !place.isEmpty { lines.append(place) }
        if let at = location.at {
            let (first, second) = Text.coordinate(of: at)
            var coordinate = "\(first), \(second)"
            if let accuracy = location.horizontalAccuracy, accuracy >= 0 {
                coordinate += " ± " + Text.meters(accuracy)
            }
            if location.precision != "exact" { coordinate += " (shown to the \(location.precision))" }
            lines.append(coordinate)
        } else {
            lines.append(place.isEmpty ? "a place without a name" : "(the name alone is shown)")
        }
        let time = Timestamp(location.timestamp)
        let age = LocalTime.duration(seconds: now.seconds(since: time))
        lines.append("\(LocalTime.text(time, in: location.place?.timeZone)), \(age) ago")
        return lines.joined(separator: "\n")
    }
}
