import JSON
package import Replies
package import Whereabouts
import WireFormats

extension RecorderItem {
    /// A fix as the reader may see it.
    ///
    /// - Parameters:
    ///   - device: The device's handle, or ``RecorderEndpoints/onlyDevice``.
    ///   - isOwn: Whether the reader is the person or the operator; only these see the battery level.
    package init(_ fix: Fix, of person: Handle, _ device: String, isOwn: Bool) {
        let time = String(ISO8601.text(of: fix.timestamp).prefix(19))
        let level = isOwn ? fix.batteryLevel : nil
        self.init(
            tid: String(person.text.prefix(2)), point: OwnTracksPoint(fix),
            batt: level.map { Int64(($0 * 100).rounded()) }, username: person.text, device: device,
            isotst: time + "Z", disptst: time.replacing("T", with: " "))
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
    package func answer(_ rows: [RecorderItem], asOf: Int64) -> Gate.Computed {
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
                    writer.object("properties") { $0.members(of: row, only: fields) }
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
            writer.array("data") { writer in for row in rows { writer.value(row, only: fields) } }
            writer.field("status", 200)
            writer.endObject()
        }
        return Gate.Computed(body: writer.bytes, count: Int64(rows.count), asOf: asOf)
    }

    /// Longitude and latitude, as in GeoJSON.
    private func position(_ row: RecorderItem, into writer: inout JSONWriter) {
        writer.beginArray()
        writer.value(row.point.lon)
        writer.value(row.point.lat)
        writer.endArray()
    }

    /// A line of the Recorder's files, as `ocat` reads them: time, topic padded to 18 characters, message.
    private func line(_ row: RecorderItem) -> [UInt8] {
        Array("\(row.isotst)\t*                 \t".utf8) + row.bytes + [UInt8(ascii: "\n")]
    }
}
