#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A straight line on the latitude–longitude grid, the shorter way round.
struct PolygonEdge: Sendable {
    let start: Coordinate
    let end: Coordinate
    /// Degrees of longitude from start to end, −180…180 exclusive.
    let eastward: Double
    /// 1 if the edge crosses the antimeridian eastwards, −1 westwards, else 0. Ending on it from the west crosses it.
    let antimeridianCrossings: Int

    // The same line from its western to its eastern end, so that its direction never affects a rounding.
    private let west: Double
    private let east: Double
    private let westLatitude: Double
    private let eastLatitude: Double
    private let width: Double

    /// The ends as points in space, for the search of the nearest place.
    let westPoint, eastPoint: GeocentricPoint
    /// Upper bounds of the first and second derivative of the point in space by the fraction of the way, in meters.
    let speedMeters, bendMeters: Double

    /// - Throws: ``ShapeError/edgeOfHalfTurn``.
    init(from start: Coordinate, to end: Coordinate) throws(ShapeError) {
        self.start = start
        self.end = end
        let (a, b) = (start.gridLongitude, end.gridLongitude)
        let plain = b - a
        guard abs(plain) != 180 else { throw .edgeOfHalfTurn }
        antimeridianCrossings = plain > 180 ? -1 : plain < -180 ? 1 : 0
        eastward = plain - 360 * (plain > 180 ? 1 : plain < -180 ? -1 : 0)
        let startsWest = eastward > 0 || (eastward == 0 && start.latitude <= end.latitude)
        (west, east) = startsWest ? (a, b) : (b, a)
        (westLatitude, eastLatitude) =
            startsWest ? (start.latitude, end.latitude) : (end.latitude, start.latitude)
        width = abs(eastward)
        westPoint = GeocentricPoint(onEllipsoidAtLatitude: westLatitude, longitude: west)
        eastPoint = GeocentricPoint(onEllipsoidAtLatitude: eastLatitude, longitude: east)

        // With M the meridional and N the transverse radius of curvature, p = N cos φ the distance from the axis:
        // |X′|² = (Mφ′)² + (pλ′)² and |X″| ≤ √(M² + (dM/dφ)²)·φ′² + pλ′² + 2M|sin φ|φ′λ′; R exceeds all three radii.
        let greatestRadius = 6_402_000.0
        let (turn, climb) = (width * .pi / 180, abs(eastLatitude - westLatitude) * .pi / 180)
        let reachesEquator = westLatitude * eastLatitude <= 0
        let nearEquator = reachesEquator ? 0 : min(abs(westLatitude), abs(eastLatitude))
        let parallel = cos(nearEquator * .pi / 180)
        speedMeters = greatestRadius * (climb * climb + parallel * parallel * turn * turn).squareRoot()
        bendMeters = greatestRadius * (climb * climb + parallel * turn * turn + 2 * climb * turn)
    }

    enum Side { case north, through, elsewhere }

    /// Whether the edge meets the meridian of a point north of it or at it. South of it counts as elsewhere.
    ///
    /// An edge owns its western end and not its eastern one, so a meridian through a vertex meets exactly as many edges
    /// as one beside it. These comparisons are exact; only the slope rounds. `longitude` is a grid longitude.
    func side(latitude: Double, longitude: Double) -> Side {
        if width == 0 {
            return longitude == west && westLatitude <= latitude && latitude <= eastLatitude ? .through : .elsewhere
        }
        if longitude == east, latitude == eastLatitude { return .through }
        let crosses = west > east
        guard crosses ? longitude >= west || longitude < east : longitude >= west && longitude < east else {
            return .elsewhere
        }
        let along = crosses && longitude < east ? longitude - west + 360 : longitude - west
        let excess = (eastLatitude - westLatitude) * along - (latitude - westLatitude) * width
        return excess > 0 ? .north : excess == 0 ? .through : .elsewhere
    }
}

// MARK: - Places along the edge

extension PolygonEdge {
    /// The place at a fraction of the way from the western to the eastern end, 0…1.
    func place(at fraction: Double) -> Coordinate {
        let longitude = west + fraction * width
        return Coordinate(
            computedLatitude: westLatitude + fraction * (eastLatitude - westLatitude),
            longitude: longitude > 180 ? longitude - 360 : longitude)
    }

    /// The point in space of ``place(at:)``.
    func point(at fraction: Double) -> GeocentricPoint {
        GeocentricPoint(
            onEllipsoidAtLatitude: westLatitude + fraction * (eastLatitude - westLatitude),
            longitude: west + fraction * width)
    }
}

// MARK: - Do edges touch?

extension PolygonEdge {
    /// Whether any two edges of a ring meet, other than neighbours in their common vertex.
    ///
    /// Vertices are compared exactly. Edges are swept northwards: only those whose latitudes overlap are compared.
    static func anyTouch(_ ring: [PolygonEdge]) -> Bool {
        var corners: Set<SIMD2<Double>> = []
        for edge in ring where !corners.insert([edge.start.gridLongitude, edge.start.latitude]).inserted { return true }
        for index in ring.indices where ring[index].turnsBack(into: ring[(index + 1) % ring.count]) { return true }
        let northward = ring.indices.sorted { ring[$0].south < ring[$1].south }
        var open: [Int] = []
        for index in northward {
            let edge = ring[index]
            open.removeAll { ring[$0].north < edge.south }
            for other in open {
                let apart = abs(index - other)
                guard apart > 1, apart < ring.count - 1 else { continue }
                if edge.touches(ring[other]) { return true }
            }
            open.append(index)
        }
        return false
    }

    private var south: Double { min(westLatitude, eastLatitude) }
    private var north: Double { max(westLatitude, eastLatitude) }

    private func turnsBack(into next: PolygonEdge) -> Bool {
        let (northward, nextNorthward) = (end.latitude - start.latitude, next.end.latitude - next.start.latitude)
        return eastward * nextNorthward == northward * next.eastward
            && eastward * next.eastward + northward * nextNorthward < 0
    }

    private func touches(_ other: PolygonEdge) -> Bool {
        // Longitudes counted eastwards from our western end, 0 to 360; the other edge may also reach us from behind.
        var offset = other.west - west
        if offset < 0 { offset += 360 }
        return touches(other, at: offset) || (offset + other.width >= 360 && touches(other, at: offset - 360))
    }

    private func touches(_ other: PolygonEdge, at offset: Double) -> Bool {
        guard offset <= width, offset + other.width >= 0, other.south <= north, south <= other.north else {
            return false
        }
        func turn(_ p: (Double, Double), _ q: (Double, Double), _ r: (Double, Double)) -> Double {
            (q.0 - p.0) * (r.1 - p.1) - (q.1 - p.1) * (r.0 - p.0)
        }
        let (a, b) = ((0.0, westLatitude), (width, eastLatitude))
        let (c, d) = ((offset, other.westLatitude), (offset + other.width, other.eastLatitude))
        let (sideC, sideD, sideA, sideB) = (turn(a, b, c), turn(a, b, d), turn(c, d, a), turn(c, d, b))
        return !(sideC > 0 && sideD > 0) && !(sideC < 0 && sideD < 0)
            && !(sideA > 0 && sideB > 0) && !(sideA < 0 && sideB < 0)
    }
}
