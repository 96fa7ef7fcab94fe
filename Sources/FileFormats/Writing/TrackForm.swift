package import Whereabouts

/// The forms in which a track is written to a file. Each is also a ``FileFormat``, so that the file can be imported again.
package enum TrackForm: String, Sendable, CaseIterable {
    /// GPX 1.1, one track with segments.
    case gpx
    /// GeoJSON: one point with properties for each fix.
    case geoJSON = "geojson"
    /// KML 2.2 with Google's `gx:Track`.
    case kml
    /// A table with a head that names the units (RFC 4180).
    case csv
    /// The lines of the OwnTracks Recorder.
    case ownTracks = "owntracks"
    /// JSON lines in this project's own form, which lose nothing.
    case fixes

    /// The usual extension of a file's name.
    package var fileExtension: String {
        switch self {
        case .gpx, .geoJSON, .kml, .csv: rawValue
        case .ownTracks: "rec"
        case .fixes: "jsonl"
        }
    }

    /// The media type.
    package var mediaType: String {
        switch self {
        case .gpx: "application/gpx+xml"
        case .geoJSON: "application/geo+json"
        case .kml: "application/vnd.google-earth.kml+xml"
        case .csv: "text/csv; charset=utf-8"
        case .ownTracks: "text/plain; charset=utf-8"
        case .fixes: "application/jsonl"
        }
    }
}

/// Writes fixes to a file of one form, in constant memory:
///
///     var file = TrackFile(.gpx, of: anna)
///     for fix in fixes { file.add(fix, device: nil); output(file.takeBytes()) }
///     file.finish()
///     output(file.takeBytes())
///
/// Fixes come in the order of time. The members that a form has come back equal when the file is imported:
///
/// | form | members |
/// |---|---|
/// | `gpx` | time, place, altitude, horizontal and vertical accuracy, speed, course, floor |
/// | `geojson` | as `gpx`, and the accuracies of speed and course, the ellipsoidal altitude, the battery |
/// | `kml` | time, place, altitude, horizontal accuracy, speed, course |
/// | `csv` | as `gpx`, and the accuracies of speed and course, the battery |
/// | `owntracks` | time in whole seconds, place, battery in percent, the app's other members, and in whole numbers the altitude, accuracies, speed in km/h and course |
/// | `fixes` | all |
package struct TrackFile: ~Copyable {
    private var writer: any FixWriting
    private var bytes: [UInt8] = []

    /// Begins a file.
    ///
    /// - Parameter person: The person whose fixes they are; GPX and KML have it as the name of the track.
    package init(_ form: TrackForm, of person: Handle) {
        writer =
            switch form {
            case .gpx: GPXWriter()
            case .geoJSON: GeoJSONWriter()
            case .kml: KMLWriter()
            case .csv: CSVWriter()
            case .ownTracks: OwnTracksWriter()
            case .fixes: FixLineWriter()
            }
        writer.begin(name: person.text, into: &bytes)
    }

    /// Adds a fix.
    ///
    /// - Parameter device: The handle of the device that reported it; `nil` if the reader may not know it.
    package mutating func add(_ fix: Fix, device: String?) { writer.add(fix, device: device, into: &bytes) }

    /// Ends the file. Nothing can be added after it.
    package mutating func finish() { writer.finish(into: &bytes) }

    /// The bytes since the last call.
    package mutating func takeBytes() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }
}

/// The one shape of all writers: fixes in, bytes out.
protocol FixWriting {
    /// Writes the beginning of the file.
    mutating func begin(name: String, into bytes: inout [UInt8])
    /// Writes a fix, at once or later.
    mutating func add(_ fix: Fix, device: String?, into bytes: inout [UInt8])
    /// Writes the rest and the end of the file.
    mutating func finish(into bytes: inout [UInt8])
}

/// Where a line through the fixes is cut.
struct SegmentCut {
    /// The longest silence within a segment, in seconds. A straight line across a longer one would invent a route. Our
    /// choice.
    static let gapSeconds = 1800.0
    private var last: Timestamp?

    /// Whether the fix begins a segment. The first one does.
    mutating func begins(with fix: Fix) -> Bool {
        defer { last = fix.timestamp }
        return last.map { fix.timestamp.seconds(since: $0) > Self.gapSeconds } ?? true
    }
}

/// Numbers and texts in files.
enum FileText {
    /// The shortest decimal number that reads back equal, without an exponent, which XML's decimals do not have.
    static func decimal(_ number: Double) -> String {
        let text = number.description
        // By bytes: by characters, a table takes twice the time.
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "e")),
            let exponent = Int(text[text.index(after: mark)...])
        else {
            let isWhole = text.utf8.count > 2 && text.utf8.suffix(2).elementsEqual(".0".utf8)
            return isWhole ? String(decoding: text.utf8.dropLast(2), as: UTF8.self) : text
        }
        let isNegative = text.hasPrefix("-")
        let mantissa = text[..<mark].drop { $0 == "-" }
        let parts = mantissa.split(separator: ".", omittingEmptySubsequences: false)
        let whole = String(parts[0])
        // "5e-05" has no part after the point, and "5.0e-05" an empty one.
        let fraction = parts.count > 1 && parts[1] != "0" ? String(parts[1]) : ""
        let digits = whole + fraction
        let point = whole.count + exponent
        let plain: String
        if point <= 0 {
            plain = "0." + String(repeating: "0", count: -point) + digits
        } else if point >= digits.count {
            plain = digits + String(repeating: "0", count: point - digits.count)
        } else {
            plain = digits.prefix(point) + "." + digits.dropFirst(point)
        }
        return (isNegative ? "-" : "") + plain
    }

    /// The text with the characters escaped that XML gives a meaning.
    static func xml(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}

extension [UInt8] {
    mutating func append(_ text: String) { append(contentsOf: text.utf8) }
}
