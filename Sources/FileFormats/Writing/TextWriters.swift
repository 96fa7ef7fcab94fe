import Geodesy
import JSON
import Whereabouts
import WireFormats

/// A collection of points (RFC 7946). The properties have the names and units of `FixJSON`.
struct GeoJSONWriter: FixWriting {
    private var count = 0

    mutating func begin(name: String, into bytes: inout [UInt8]) {
        bytes.append("{\"type\":\"FeatureCollection\",\"features\":[")
    }

    mutating func add(_ fix: Fix, device: String?, into bytes: inout [UInt8]) {
        bytes.append(count == 0 ? "\n" : ",\n")
        count += 1
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("type", "Feature")
        writer.object("geometry") { writer in
            writer.field("type", "Point")
            writer.array("coordinates") { writer in
                writer.value(fix.coordinate.longitude)
                writer.value(fix.coordinate.latitude)
                if let altitude = fix.altitude { writer.value(altitude) }
            }
        }
        writer.object("properties") { writer in
            writer.field("timestamp", milliseconds: fix.timestamp.milliseconds)
            writer.field("device", device)
            writer.field("horizontalAccuracy", fix.horizontalAccuracy)
            writer.field("ellipsoidalAltitude", fix.ellipsoidalAltitude)
            writer.field("verticalAccuracy", fix.verticalAccuracy)
            writer.field("floor", fix.floor)
            writer.field("speed", fix.speed)
            writer.field("speedAccuracy", fix.speedAccuracy)
            writer.field("course", fix.course)
            writer.field("courseAccuracy", fix.courseAccuracy)
            writer.field("batteryLevel", fix.batteryLevel)
        }
        writer.endObject()
        bytes += writer.bytes
    }

    mutating func finish(into bytes: inout [UInt8]) { bytes.append("\n]}\n") }
}

/// A table with a head (RFC 4180): UTC, and the unit of each column in its name. A handle needs no quotes.
struct CSVWriter: FixWriting {
    private static let columns: [(name: String, value: @Sendable (Fix) -> Double?)] = [
        ("latitude_deg", { $0.coordinate.latitude }), ("longitude_deg", { $0.coordinate.longitude }),
        ("altitude_m", { $0.altitude }), ("horizontal_accuracy_m", { $0.horizontalAccuracy }),
        ("vertical_accuracy_m", { $0.verticalAccuracy }), ("speed_mps", { $0.speed }),
        ("speed_accuracy_mps", { $0.speedAccuracy }), ("course_deg", { $0.course }),
        ("course_accuracy_deg", { $0.courseAccuracy }), ("floor", { $0.floor.map(Double.init) }),
        ("battery_level", { $0.batteryLevel }),
    ]

    mutating func begin(name: String, into bytes: inout [UInt8]) {
        bytes.append("time_utc,\(Self.columns.map(\.name).joined(separator: ",")),device\r\n")
    }

    mutating func add(_ fix: Fix, device: String?, into bytes: inout [UInt8]) {
        let numbers = Self.columns.map { $0.value(fix).map(FileText.decimal) ?? "" }
        bytes.append(
            "\(ISO8601.text(of: fix.timestamp)),\(numbers.joined(separator: ",")),\(device ?? "")\r\n")
    }

    mutating func finish(into bytes: inout [UInt8]) {}
}

/// The lines of the OwnTracks Recorder's files: time, topic padded to 18 characters, message. A message has the members
/// that the app sent and this service does not interpret.
struct OwnTracksWriter: FixWriting {
    mutating func begin(name: String, into bytes: inout [UInt8]) {}

    mutating func add(_ fix: Fix, device: String?, into bytes: inout [UInt8]) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("_type", "location")
        OwnTracksAnswer.writeMembers(of: fix, into: &writer)
        if let level = fix.batteryLevel { writer.field("batt", Int64((level * 100).rounded())) }
        if let rest = fix.remainder.flatMap({ try? JSONDocument.parse(Array($0.utf8)).root.members }) {
            for (name, value) in rest where !Self.written.contains(name) {
                writer.key(name)
                writer.value(value)
            }
        }
        writer.endObject()
        bytes.append("\(ISO8601.text(of: fix.timestamp).prefix(19))Z\t*                 \t")
        bytes += writer.bytes
        bytes.append("\n")
    }

    mutating func finish(into bytes: inout [UInt8]) {}

    /// The members written from the fix itself.
    private static let written: Set<String> = [
        "_type", "lat", "lon", "tst", "acc", "alt", "vac", "vel", "cog", "batt",
    ]
}

/// JSON lines in this project's own form; see `FixJSON`.
struct FixLineWriter: FixWriting {
    mutating func begin(name: String, into bytes: inout [UInt8]) {}

    mutating func add(_ fix: Fix, device: String?, into bytes: inout [UInt8]) {
        var writer = JSONWriter()
        FixJSON.write(fix, into: &writer)
        bytes += writer.bytes
        bytes.append("\n")
    }

    mutating func finish(into bytes: inout [UInt8]) {}
}
