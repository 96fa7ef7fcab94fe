/// A region with straight edges on the latitude–longitude grid, as GeoJSON and map editors draw them.
///
/// - An edge is a straight line in longitude and latitude (plate carrée) and goes the shorter way round in longitude,
///   so crossing the antimeridian needs no special form. It is neither a geodesic nor a rhumb line.
/// - The boundary belongs to the polygon. Which vertex comes first, the direction, a closing vertex equal to the first,
///   and writing 180 for −180 make no difference to what it contains.
/// - A ring that winds round the earth encloses a pole and contains it: the north pole if its mean latitude over all
///   longitudes is northern, else the south pole. A ring that does not wind contains no pole, unless it touches one.
///
/// There are no holes: a region with holes is a polygon and not another.
package struct Polygon: Sendable, DescribedWithoutContent {
    /// The check for crossings compares, at worst, every edge with every other. More vertices would take too long for a
    /// request.
    package static let mostVertices = 10_000

    /// The vertices as given, without repeated ones and without a closing vertex.
    package let vertices: [Coordinate]
    /// The smallest box of latitudes and longitudes that contains the polygon.
    package let boundingBox: BoundingBox

    /// One edge per vertex, to the next.
    let edges: [PolygonEdge]
    /// Whether the inside is on the left of the boundary.
    let isCounterclockwise: Bool
    private let containsNorthPole: Bool

    /// Checks a ring and makes a polygon of it.
    ///
    /// Costs n log n for usual rings, 0.2 µs per vertex; at worst each edge is compared with each other (0.2 s for
    /// ``mostVertices``).
    ///
    /// - Throws: ``ShapeError``: fewer than three distinct vertices, more than ``mostVertices``, an edge of exactly 180°
    ///   of longitude, a boundary that crosses, touches or retraces itself, a winding ring of mean latitude 0.
    package init(vertices given: [Coordinate]) throws(ShapeError) {
        guard given.count <= Self.mostVertices + 1 else { throw .tooManyVertices }
        var ring: [Coordinate] = []
        for vertex in given where !(ring.last?.isSameGridPoint(as: vertex) ?? false) { ring.append(vertex) }
        if ring.count > 1, ring[0].isSameGridPoint(as: ring[ring.count - 1]) { ring.removeLast() }
        guard ring.count <= Self.mostVertices else { throw .tooManyVertices }
        guard ring.count >= 3 else { throw .tooFewVertices }

        var edges: [PolygonEdge] = []
        edges.reserveCapacity(ring.count)
        for index in ring.indices {
            edges.append(try PolygonEdge(from: ring[index], to: ring[(index + 1) % ring.count]))
        }
        guard !PolygonEdge.anyTouch(edges) else { throw .crossesItself }

        // A simple closed curve on a cylinder goes round it once or not at all.
        let winding = edges.reduce(0) { $0 + $1.antimeridianCrossings }
        let moment = edges.reduce(0.0) { $0 + ($1.start.latitude + $1.end.latitude) / 2 * $1.eastward }
        if winding != 0 {
            // Below this mean latitude (0.1 mm) the sign is rounding.
            guard abs(moment) > 360 * 1e-9 else { throw .poleUndecided }
        }
        // Round the earth eastwards, `moment` is 360 × mean latitude; otherwise minus the signed area.
        let northern = winding != 0 && (moment > 0) == (winding > 0)
        isCounterclockwise = winding == 0 ? moment < 0 : (winding > 0) == northern
        containsNorthPole = northern
        boundingBox = Self.box(around: edges, winding: winding, northern: northern)
        vertices = ring
        self.edges = edges
    }

    /// Whether a place is inside or on the boundary. Linear in the number of vertices, about 2 ns each.
    ///
    /// Counts the edges between the place and the north pole along its meridian. Within 1e-13° (10 nm) of the boundary
    /// rounding decides, in the same way for every order and direction of the vertices.
    package func contains(_ coordinate: Coordinate) -> Bool {
        guard boundingBox.contains(coordinate) else { return false }
        let longitude = coordinate.gridLongitude
        if abs(coordinate.latitude) == 90 {
            // The box contains this pole only if the polygon encloses or touches it.
            return true
        }
        var inside = containsNorthPole
        for edge in edges {
            switch edge.side(latitude: coordinate.latitude, longitude: longitude) {
            case .through: return true
            case .north: inside.toggle()
            case .elsewhere: break
            }
        }
        return inside
    }

    private static func box(around edges: [PolygonEdge], winding: Int, northern: Bool) -> BoundingBox {
        var south = 90.0
        var north = -90.0
        // Longitudes unrolled from the first vertex on, as turns and a grid longitude: these compare without rounding.
        var turns = 0
        var westmost = (turns: 0, longitude: edges[0].start.gridLongitude)
        var eastmost = westmost
        for edge in edges {
            south = min(south, edge.start.latitude)
            north = max(north, edge.start.latitude)
            let here = (turns: turns, longitude: edge.start.gridLongitude)
            if here < westmost { westmost = here }
            if here > eastmost { eastmost = here }
            turns += edge.antimeridianCrossings
        }
        if winding != 0 {
            return BoundingBox(south: northern ? south : -90, north: northern ? 90 : north)
        }
        let (west, east) = (westmost.longitude, eastmost.longitude)
        // A ring may spiral over all longitudes without winding.
        let turn = eastmost.turns - westmost.turns
        guard turn == 0 || (turn == 1 && east < west) else { return BoundingBox(south: south, north: north) }
        // The antimeridian has two names; a box must end at 180 to be the narrow one.
        return BoundingBox(south: south, north: north, west: west, east: east == -180 ? 180 : east)
    }
}

extension Polygon: Hashable {
    /// Equal if the vertices are the same in the same order. Two different lists can describe the same area.
    package static func == (one: Polygon, other: Polygon) -> Bool { one.vertices == other.vertices }
    /// Hashes the vertices.
    package func hash(into hasher: inout Hasher) { hasher.combine(vertices) }
}

extension Coordinate {
    /// The longitude with one name for the antimeridian: −180 up to but excluding 180.
    var gridLongitude: Double { longitude == 180 ? -180 : longitude }

    /// The same latitude and meridian. A pole at two longitudes is two points of the grid.
    func isSameGridPoint(as other: Coordinate) -> Bool {
        latitude == other.latitude && gridLongitude == other.gridLongitude
    }
}
