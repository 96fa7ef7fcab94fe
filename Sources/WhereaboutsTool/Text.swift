import Glibc
import Replies

/// Numbers and places as text.
enum Text {
    /// Six decimals, about a decimeter; empty for an absent number.
    static func degrees(_ number: Double?) -> String {
        number.map { fixed($0, decimals: 6) } ?? ""
    }

    /// Latitude and longitude, or x and y in another reference system: degrees with six decimals, meters with two;
    /// empty outside the system's area.
    static func coordinate(of point: MapPoint) -> (String, String) {
        switch point {
        case .degrees(let latitude, let longitude): return (degrees(latitude), degrees(longitude))
        case .planar(let x, let y):
            let decimals = abs(x) <= 360 && abs(y) <= 90 ? 6 : 2
            return (fixed(x, decimals: decimals), fixed(y, decimals: decimals))
        case .outside: return ("", "")
        }
    }

    /// For example `12 m`, `1.2 km` or `340 km`.
    static func meters(_ number: Double?) -> String {
        guard let number else { return "" }
        if number < 1000 { return "\(Int(number.rounded())) m" }
        return number < 100_000 ? fixed(number / 1000, decimals: 1) + " km" : "\(Int((number / 1000).rounded())) km"
    }

    /// With groups of three digits, for example `12,345`.
    static func count(_ number: Int) -> String {
        var digits = ""
        for (index, digit) in String(number.magnitude).reversed().enumerated() {
            if index > 0 && index % 3 == 0 { digits.append(",") }
            digits.append(digit)
        }
        return (number < 0 ? "-" : "") + String(digits.reversed())
    }

    /// A number with its noun, for example `1 fix`, `2 entries` or `12,345 receipts`. English nouns with a regular plural.
    static func count(_ number: Int, _ noun: String) -> String {
        guard number != 1 else { return "1 \(noun)" }
        if noun.hasSuffix("y") { return "\(count(number)) \(noun.dropLast())ies" }
        return "\(count(number)) \(noun)\(noun.hasSuffix("x") ? "es" : "s")"
    }

    /// The place of an answer, for example `Vienna, Austria` or `Arlington, Virginia, United States`.
    static func place(_ place: PlacemarkItem?) -> String {
        guard let place, let name = place.name else { return "" }
        let country = place.country ?? place.countryCode
        let area = place.administrativeArea.flatMap { $0 == name ? nil : ", " + $0 }
        return name + (area ?? "") + (country.map { ", " + $0 } ?? "")
    }

    /// The text in lines of at most `width` characters, broken at spaces.
    static func wrapped(_ text: String, width: Int) -> String {
        var lines = [""]
        for word in text.split(separator: " ") {
            if !lines[lines.count - 1].isEmpty, lines[lines.count - 1].count + 1 + word.count > width {
                lines.append("")
            }
            lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
        }
        return lines.joined(separator: "\n")
    }

    /// Rounded half away from zero in decimal; printf rounds the exact binary value.
    static func fixed(_ number: Double, decimals: Int) -> String {
        var buffer = [CChar](repeating: 0, count: 64)
        let count = withVaList([Int32(decimals), number]) { vsnprintf(&buffer, buffer.count, "%.*f", $0) }
        return String(decoding: buffer.prefix(max(0, Int(count))).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
