import Geodesy

// A region as events, the standing and the timeline store it: a map of
//
//     1 identifier · a circle: 2, 3 center in degrees, 4 radius in meters · a polygon: 5 its vertices, latitude and
//     longitude in turn · 6, 7 false: entries, exits are not reported · 8 when it was created in its app

extension Region: FieldShape {
    private static let rest: [ShapeField] = [
        .optional(6, .shape("false"), "entries are not reported"),
        .optional(7, .shape("false"), "exits are not reported"),
        .optional(8, .moment, "when it was created in its app; absent: not by an app"),
    ]

    package static let forms: [[ShapeField]] = [
        [
            ShapeField(1, .text, "name"), ShapeField(2, .latitude, "latitude of the center"),
            ShapeField(3, .longitude, "longitude of the center"), ShapeField(4, .real, "radius in meters"),
        ] + rest,
        [
            ShapeField(1, .text, "name"),
            ShapeField(5, .shape("[6* (int / float)]"), "latitude and longitude of each vertex, as degrees"),
        ] + rest,
    ]

    package static func read(from fields: inout FieldReader) throws(CBORError) -> Region? { try Region(from: &fields) }

    package func show(in shown: inout ShownFields) {
        shown.add("identifier", .text(identifier))
        shown.add("region", .region(self))
    }

    package func write(to fields: inout FieldWriter) {
        fields.text(1, identifier)
        switch area {
        case .circle(let circle):
            fields.degrees(2, circle.center.latitude)
            fields.degrees(3, circle.center.longitude)
            fields.double(4, circle.radiusMeters)
        case .polygon(let polygon):
            fields.degrees(5, polygon.vertices.flatMap { [$0.latitude, $0.longitude] })
        }
        fields.bool(6, notifyOnEntry ? nil : false)
        fields.bool(7, notifyOnExit ? nil : false)
        fields.timestamp(8, waypoint)
    }

    init(from fields: inout FieldReader) throws(CBORError) {
        let identifier = try require(try fields.text(1))
        let area: Area
        if let latitude = try fields.degrees(2) {
            guard let longitude = try fields.degrees(3), let radius = try fields.double(4),
                let center = try? Coordinate(latitude: latitude, longitude: longitude),
                let circle = try? Circle(center: center, radiusMeters: radius)
            else { throw .unexpected }
            area = .circle(circle)
        } else {
            let degrees = try require(try fields.degreesList(5))
            guard degrees.count % 2 == 0 else { throw .unexpected }
            var vertices: [Coordinate] = []
            for index in stride(from: 0, to: degrees.count, by: 2) {
                guard let vertex = try? Coordinate(latitude: degrees[index], longitude: degrees[index + 1]) else {
                    throw .unexpected
                }
                vertices.append(vertex)
            }
            guard let polygon = try? Polygon(vertices: vertices) else { throw .unexpected }
            area = .polygon(polygon)
        }
        self.init(
            identifier: identifier, area: area, notifyOnEntry: try fields.bool(6) ?? true,
            notifyOnExit: try fields.bool(7) ?? true, waypoint: try fields.timestamp(8))
    }

    /// The bytes that a table stores.
    package var encoded: [UInt8] {
        var fields = FieldWriter(capacity: 64)
        write(to: &fields)
        return fields.finish()
    }

    /// The inverse of ``encoded``; `nil` if the bytes are not a region.
    package init?(encoded bytes: [UInt8]) {
        let read: Region? = bytes.withUnsafeBytes { bytes in
            do throws(CBORError) {
                var fields = try FieldReader(bytes)
                let region = try Region(from: &fields)
                try fields.end()
                return region
            } catch { return nil }
        }
        guard let read else { return nil }
        self = read
    }
}
