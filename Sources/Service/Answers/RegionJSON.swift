import Geodesy
import JSON
import Whereabouts

/// The shape of a region as callers write and read it.
///
/// A circle is `{"circle": {"latitude", "longitude", "radiusMeters"}}`, a polygon `{"polygon": …}` with a GeoJSON geometry
/// (RFC 7946 §3.1.6) of one ring: its positions are longitude and latitude, and may go on with altitudes.
enum RegionJSON {
    static func writeMembers(of region: Region, into writer: inout JSONWriter) {
        switch region.area {
        case .circle(let circle):
            writer.object("circle") { writer in
                writer.field("latitude", circle.center.latitude)
                writer.field("longitude", circle.center.longitude)
                writer.field("radiusMeters", circle.radiusMeters)
            }
        case .polygon(let polygon):
            writer.object("polygon") { writer in
                writer.field("type", "Polygon")
                writer.array("coordinates") { writer in
                    writer.beginArray()
                    // GeoJSON wants the first position again at the end.
                    for vertex in polygon.vertices + polygon.vertices.prefix(1) {
                        writer.beginArray()
                        writer.value(vertex.longitude)
                        writer.value(vertex.latitude)
                        writer.endArray()
                    }
                    writer.endArray()
                }
            }
        }
        if !region.notifyOnEntry { writer.field("notifyOnEntry", false) }
        if !region.notifyOnExit { writer.field("notifyOnExit", false) }
    }

    /// - Throws: ``Problem/invalid(_:)`` with what to change.
    static func area(of body: JSONValue) throws(Problem) -> Area {
        func given(_ name: String) -> JSONValue? { body[name].flatMap { $0.isNull ? nil : $0 } }
        switch (given("circle"), given("polygon")) {
        case (let circle?, nil): return .circle(try self.circle(circle))
        case (nil, let polygon?): return .polygon(try self.polygon(polygon))
        default: throw .invalid("A region has either \"circle\" or \"polygon\".")
        }
    }

    private static func circle(_ value: JSONValue) throws(Problem) -> Circle {
        guard let latitude = value["latitude"]?.double, let longitude = value["longitude"]?.double,
            let radius = value["radiusMeters"]?.double
        else { throw .invalid("\"circle\" must have latitude, longitude and radiusMeters.") }
        do {
            return try Circle(center: try Coordinate(latitude: latitude, longitude: longitude), radiusMeters: radius)
        } catch { throw .refused("The circle is not possible: \(error)") }
    }

    private static func polygon(_ value: JSONValue) throws(Problem) -> Polygon {
        guard value["type"]?.string == "Polygon", let rings = value["coordinates"]?.array.map(Array.init) else {
            throw .invalid("\"polygon\" must be a GeoJSON geometry of the type Polygon.")
        }
        guard rings.count == 1, let ring = rings[0].array else {
            throw .invalid("\"polygon\" must have one ring; for a hole, add a second region.")
        }
        var vertices: [Coordinate] = []
        for position in ring {
            let numbers = position.array.map { $0.prefix(2).compactMap(\.double) } ?? []
            guard numbers.count == 2, let vertex = try? Coordinate(latitude: numbers[1], longitude: numbers[0]) else {
                throw .invalid("Each position of the polygon must be a longitude and a latitude, in degrees.")
            }
            vertices.append(vertex)
        }
        do throws(ShapeError) {
            return try Polygon(vertices: vertices)
        } catch { throw .refused("The polygon is not possible: \(error)") }
    }
}
