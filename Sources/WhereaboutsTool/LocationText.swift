import JSON
import Whereabouts

/// The `location` of an answer as text.
struct LocationText {
    let location: JSONValue
    /// The present time, for the age.
    let now: Timestamp

    /// Place, coordinate with accuracy, and time with age, one line each.
    var lines: String {
        var lines: [String] = []
        let place = Text.place(location["place"])
        if !place.isEmpty { lines.append(place) }
        let (first, second) = Text.coordinate(of: location)
        var coordinate = "\(first), \(second)"
        if let accuracy = location["horizontalAccuracy"]?.double, accuracy >= 0 {
            coordinate += " ± " + Text.meters(accuracy)
        }
        if let precision = location["precision"]?.string, precision != "exact" {
            coordinate += " (shown to the \(precision))"
        }
        lines.append(coordinate)
        if let time = location.time("timestamp") {
            let age = LocalTime.duration(seconds: now.seconds(since: time))
            lines.append("\(LocalTime.text(time, in: location["place"]?["timeZone"]?.string)), \(age) ago")
        }
        return lines.joined(separator: "\n")
    }
}
