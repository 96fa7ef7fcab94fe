import Geodesy
package import JSON
package import Whereabouts
import WireFormats

/// A fix in the form of the OwnTracks Recorder: the app's message, with its sender.
package struct RecorderRow {
    /// The fix as the reader may see it.
    package let fix: Fix
    private let person: Handle
    /// The device's handle, or ``RecorderEndpoints/onlyDevice``.
    private let device: String
    /// Whether the reader is the person or the operator; only these see the battery level.
    private let isOwn: Bool
    /// Members after those of the message, such as the address.
    private var more: [(name: String, value: String)] = []

    package init(_ fix: Fix, of person: Handle, _ device: String, isOwn: Bool) {
        (self.fix, self.person, self.device, self.isOwn) = (fix, person, device, isOwn)
    }

    /// Adds a member; `nil` is left out.
    package mutating func add(_ name: String, _ value: String?) {
        if let value { more.append((name, value)) }
    }

    /// - Parameter fields: The requested members; `nil` for all.
    package func write(only fields: Set<String>?, into writer: inout JSONWriter) {
        writer.beginObject()
        writeMembers(only: fields, into: &writer)
        writer.endObject()
    }

    /// Writes the members into an open object. `batt` is in percent; `isotst` and `disptst` are in UTC.
    package func writeMembers(only fields: Set<String>?, into writer: inout JSONWriter) {
        func isWanted(_ name: String) -> Bool { fields?.contains(name) ?? true }
        func text(_ name: String, _ value: String) { if isWanted(name) { writer.field(name, value) } }
        text("_type", "location")
        text("tid", String(person.text.prefix(2)))
        OwnTracksAnswer.writeMembers(of: fix, where: isWanted, into: &writer)
        if isOwn, isWanted("batt"), let level = fix.batteryLevel {
            writer.field("batt", Int64((level * 100).rounded()))
        }
        text("username", person.text)
        text("device", device)
        text("topic", "owntracks/\(person.text)/\(device)")
        let time = String(ISO8601.text(of: fix.timestamp).prefix(19))
        text("isotst", time + "Z")
        text("disptst", time.replacing("T", with: " "))
        for (name, value) in more { text(name, value) }
    }
}

/// The answer formats of the Recorder's `/api/0/locations`.
package struct RecorderForm {
    /// `json`, `geojson`, `linestring` or `raw`.
    package let format: String
    /// The requested members of each row; `nil` for all. `raw` ignores them.
    package let fields: Set<String>?

    package init(format: String, fields: Set<String>?) {
        self.format = format
        self.fields = fields
    }

    /// The answer with all rows in their order.
    package func answer(_ rows: [RecorderRow], asOf: Int64) -> Gate.Computed {
        var writer = JSONWriter()
        switch format {
        case "raw":
            return Gate.Computed(
                body: rows.flatMap(line), count: Int64(rows.count), asOf: asOf,
                headers: [("Content-Type", "text/plain; charset=utf-8")])
        case "geojson":
            writer.beginObject()
            writer.field("type", "FeatureCollection")
            writer.array("features") { writer in
                for row in rows {
                    writer.beginObject()
                    writer.field("type", "Feature")
                    writer.object("geometry") { writer in
                        writer.field("type", "Point")
                        writer.key("coordinates")
                        position(row, into: &writer)
                    }
                    writer.object("properties") { row.writeMembers(only: fields, into: &$0) }
                    writer.endObject()
                }
            }
            writer.endObject()
        case "linestring":
            writer.beginObject()
            writer.field("type", "Feature")
            writer.object("properties") { _ in }
            writer.object("geometry") { writer in
                writer.field("type", "LineString")
                writer.array("coordinates") { writer in for row in rows { position(row, into: &writer) } }
            }
            writer.endObject()
        default:
            writer.beginObject()
            writer.field("count", rows.count)
            writer.array("data") { writer in for row in rows { row.write(only: fields, into: &writer) } }
            writer.field("status", 200)
            writer.endObject()
        }
        return Gate.Computed(body: writer.bytes, count: Int64(rows.count), asOf: asOf)
    }

    /// Longitude and latitude, as in GeoJSON.
    private func position(_ row: RecorderRow, into writer: inout JSONWriter) {
        writer.beginArray()
        writer.value(row.fix.coordinate.longitude)
        writer.value(row.fix.coordinate.latitude)
        writer.endArray()
    }

    /// A line of the Recorder's files, as `ocat` reads them: time, topic padded to 18 characters, message.
    private func line(_ row: RecorderRow) -> [UInt8] {
        var writer = JSONWriter()
        row.write(only: nil, into: &writer)
        let time = ISO8601.text(of: row.fix.timestamp).prefix(19)
        return Array("\(time)Z\t*                 \t".utf8) + writer.bytes + [UInt8(ascii: "\n")]
    }
}
