import Geodesy
package import JSON
package import Replies
package import Whereabouts
import WireFormats

/// The JSON form of a region's shape in requests.
///
/// A circle is `{"circle": {"latitude", "longitude", "radiusMeters"}}`. A polygon is `{"polygon": …}` with a GeoJSON
/// geometry (RFC 7946, section 3.1.6) of one ring: each position has longitude and latitude, and may have an altitude,
/// which is ignored.
package enum RegionJSON {
    /// The shape in a body, from exactly one of `circle` and `polygon`.
    ///
    /// - Throws: ``Problem/invalid(_:)`` or ``Problem/refused(_:)`` with the member that is wrong.
    package static func area(of body: JSONValue) throws(Problem) -> Area {
        func given(_ name: String) -> JSONValue? { body[name].flatMap { $0.isNull ? nil : $0 } }
        switch (given("circle"), given("polygon")) {
        case (let circle?, nil): return .circle(try self.circle(circle))
        case (nil, let polygon?): return .polygon(try self.polygon(polygon))
        default: throw .invalid("A region must have either \"circle\" or \"polygon\".")
        }
    }

    private static func circle(_ value: JSONValue) throws(Problem) -> Circle {
        guard let latitude = value["latitude"]?.double, let longitude = value["longitude"]?.double,
            let radius = value["radiusMeters"]?.double
        else { throw .invalid("\"circle\" must have latitude, longitude and radiusMeters.") }
        do {
            return try Circle(center: try Coordinate(latitude: latitude, longitude: longitude), radiusMeters: radius)
        } catch { throw .refused("\"circle\" is not valid: \(error)") }
    }

    /// A polygon of one ring. A closing position that repeats the first is optional.
    private static func polygon(_ value: JSONValue) throws(Problem) -> Polygon {
        guard value["type"]?.string == "Polygon", let rings = value["coordinates"]?.array.map(Array.init) else {
            throw .invalid("\"polygon\" must be a GeoJSON geometry of the type Polygon.")
        }
        guard rings.count == 1, let ring = rings[0].array else {
            throw .invalid("\"polygon\" must have one ring; for an area with a hole, add two regions.")
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
        } catch { throw .refused("\"polygon\" is not valid: \(error)") }
    }
}

extension RegionAreaItem {
    /// The shape, and the crossings that are not noted.
    package init(_ region: Region) {
        self.init(
            notifyOnEntry: region.notifyOnEntry ? nil : false, notifyOnExit: region.notifyOnExit ? nil : false)
        switch region.area {
        case .circle(let area): circle = CircleItem(at: MapPoint(area.center), radiusMeters: area.radiusMeters)
        case .polygon(let area):
            // A GeoJSON ring repeats its first position at the end.
            polygon = PolygonItem(ring: (area.vertices + area.vertices.prefix(1)).map { MapPoint($0) })
        }
    }
}
