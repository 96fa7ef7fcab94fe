import JSON
import WireFormats

/// The ways in which Google writes places.
enum GoogleValues {
    /// A coordinate in units of 10⁻⁷ degrees. Old exports have overflowed 32 bits.
    static func degrees(_ value: JSONValue?, max: Double) -> Double? {
        guard let value, !value.isNull else { return nil }
        guard var number = value.number else { return .nan }
        if number > max * 1e7 { number -= 4_294_967_296 }
        return number / 1e7
    }

    /// Latitude and longitude of an object with `latitudeE7` and `longitudeE7`, or another pair of names; `nil` if one is
    /// missing.
    static func place(
        _ object: JSONValue?, _ latitude: String = "latitudeE7", _ longitude: String = "longitudeE7"
    ) -> (latitude: Double, longitude: Double)? {
        guard let latitude = degrees(object?[latitude], max: 90), let longitude = degrees(object?[longitude], max: 180)
        else { return nil }
        return (latitude, longitude)
    }

    /// `"48.83°, 2.25°"`, `"geo:48.83,2.25"` and `"48.83, 2.25"`; `nil` if it is not there, NaN if it is not a place.
    static func place(text value: JSONValue?) -> (latitude: Double, longitude: Double)? {
        guard let value, !value.isNull else { return nil }
        guard let text = value.string, text.utf8.count <= 96 else { return (.nan, .nan) }
        let cleaned = text.replacing("°", with: "").utf8.filter { $0 != 0x20 }
        let digits = cleaned.starts(with: "geo:".utf8) ? cleaned.dropFirst(4) : cleaned[...]
        let parts = digits.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard parts.count >= 2, let latitude = DecimalText.parse(parts[0]), let longitude = DecimalText.parse(parts[1])
        else { return (.nan, .nan) }
        return (latitude, longitude)
    }
}

extension FixDraft {
    /// A draft at a place, whose accuracy is assumed if there is none.
    init(_ place: (latitude: Double, longitude: Double), _ time: ReportedTime, accuracy: Double?) {
        self.init()
        (latitude, longitude, self.time) = (place.latitude, place.longitude, time)
        horizontalAccuracy = accuracy ?? AssumedAccuracy.pathMeters
        if accuracy == nil { remainder = AssumedAccuracy.mark }
    }
}
