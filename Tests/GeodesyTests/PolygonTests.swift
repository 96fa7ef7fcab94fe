import Geodesy
import TestSupport
import Testing

@Suite struct PolygonTests {
    @Test(arguments: try Row.all())
    func `the table of polygons holds`(row: Row) throws {
        if row.operation == "refused" {
            var reason: ShapeError?
            do { _ = try Polygon(vertices: row.ring) } catch { reason = error }
            #expect(reason.map(name(of:)) == row.expect)
            return
        }
        let polygon = try Polygon(vertices: row.ring)
        let numbers = row.expect.split(separator: " ").compactMap { Double($0) }
        switch row.operation {
        case "contains":
            let place = try #require(row.place)
            for variant in try row.variants() {
                #expect(variant.contains(place) == (row.expect == "yes"))
                #expect(!variant.contains(place) || variant.boundingBox.contains(place))
            }
        case "distance":
            let distance = polygon.signedDistanceMeters(to: try #require(row.place))
            #expect(abs(distance - numbers[0]) <= numbers[1])
        case "area":
            for variant in try row.variants() {
                #expect(abs(Geodesic.area(of: variant).squareMeters - numbers[0]) <= numbers[1])
            }
        case "box":
            for variant in try row.variants() {
                let box = variant.boundingBox
                #expect([box.south, box.west, box.north, box.east] == numbers)
            }
        default:
            Issue.record("the table knows no operation \(row.operation)")
        }
    }

    /// Latitudes and longitudes are multiples of 1/64°, so that turning the earth under them is exact arithmetic.
    @Test func `turning the earth, reversing and renumbering change nothing`() throws {
        var generator = SplitMix(21)
        for _ in 0..<300 {
            let ring = try star(around: 0, generator: &generator)
            let turn = Double(Int.random(in: -180 * 64...180 * 64, using: &generator)) / 64
            let polygon = try Polygon(vertices: ring)
            var turned = try ring.map { try place($0.latitude, $0.longitude + turn) }
            if Bool.random(using: &generator) { turned.reverse() }
            let first = Int.random(in: turned.indices, using: &generator)
            let other = try Polygon(vertices: Array(turned[first...] + turned[..<first]))
            for _ in 0..<50 {
                let latitude = Double(Int.random(in: -80 * 64...80 * 64, using: &generator)) / 64
                let longitude = Double(Int.random(in: -80 * 64...80 * 64, using: &generator)) / 64
                let here = polygon.contains(try place(latitude, longitude))
                #expect(other.contains(try place(latitude, longitude + turn)) == here)
            }
            for vertex in turned { #expect(other.contains(vertex)) }
        }
    }

    @Test func `the distance is no longer than to any place of the boundary, and that near to one`() throws {
        var generator = SplitMix(22)
        for round in 0..<60 {
            // From city blocks to continents.
            let scale = [0.01, 0.1, 1, 10][round % 4]
            let center = try Places.place(&generator)
            let latitude = max(-80 + 5 * scale, min(80 - 5 * scale, center.latitude))
            let ring = try (0..<7).map { corner in
                let angle = Double(corner)
                let reach = scale * Double.random(in: 0.3...1, using: &generator)
                return try place(latitude + reach * sine(angle), center.longitude + reach * sine(angle + 1.75))
            }
            let polygon = try Polygon(vertices: ring)
            let spot = try place(
                latitude + scale * .random(in: -2...2, using: &generator),
                center.longitude + scale * .random(in: -2...2, using: &generator))
            var least = Double.infinity
            for (start, end) in zip(ring, ring[1...] + ring[..<1]) {
                let eastward = Places.degrees(end.longitude - start.longitude)
                for step in 0...400 {
                    let fraction = Double(step) / 400
                    let there = try place(
                        start.latitude + fraction * (end.latitude - start.latitude),
                        Places.degrees(start.longitude + fraction * eastward))
                    least = min(least, Geodesic.distanceMeters(from: spot, to: there))
                }
            }
            let distance = abs(polygon.signedDistanceMeters(to: spot))
            let bound = 1e-4 + 1e-7 * least + 2.1e-17 * least * least * least
            #expect(distance <= least + bound)
            // Samples are up to scale/200 degrees apart, so the nearest is at most half of that farther.
            #expect(distance >= least - scale / 400 * 111_700 - 1e-6)
            #expect(polygon.contains(spot) == (polygon.signedDistanceMeters(to: spot) <= 0))
        }
    }

    @Test func `ten thousand vertices are accepted, one more is refused`() throws {
        let ring = try (0..<10_001).map { step in
            let angle = 2 * Double.pi * Double(step) / 10_001
            return try Coordinate(latitude: 10 * sine(angle), longitude: 10 * sine(angle + .pi / 2))
        }
        let polygon = try Polygon(vertices: Array(ring.dropLast()))
        #expect(polygon.contains(try Coordinate(latitude: 0, longitude: 0)))
        #expect(!polygon.contains(try Coordinate(latitude: 8, longitude: 8)))
        // A vertex that closes the ring is not counted as another vertex.
        #expect(try Polygon(vertices: Array(ring.dropLast()) + [ring[0]]) == polygon)
        #expect(throws: ShapeError.tooManyVertices) { try Polygon(vertices: ring) }
    }

    @Test func `a polygon never prints where it is`() throws {
        let polygon = try Polygon(vertices: [place(1, 2), place(3, 4), place(5, -6)])
        #expect("\(polygon) \(polygon.boundingBox)" == "Polygon(…) BoundingBox(…)")
    }

    /// A simple ring: vertices in order of their direction from the centre, on multiples of 1/64°.
    private func star(around longitude: Double, generator: inout SplitMix) throws -> [Coordinate] {
        while true {
            let ring = try (0..<9).map { corner in
                let angle = 2 * Double.pi * Double(corner) / 9
                let reach = Double.random(in: 10...70, using: &generator)
                return try place(
                    (reach * sine(angle) * 64).rounded() / 64,
                    longitude + (reach * sine(angle + .pi / 2) * 64).rounded() / 64)
            }
            if (try? Polygon(vertices: ring)) != nil { return ring }
        }
    }

    private func place(_ latitude: Double, _ longitude: Double) throws -> Coordinate {
        try Coordinate(latitude: latitude, longitude: Places.degrees(longitude))
    }
}

/// The name of an error's case, as the table writes it; its description is a sentence.
private func name(of error: ShapeError) -> String {
    switch error {
    case .radiusOutOfRange: "radiusOutOfRange"
    case .tooFewVertices: "tooFewVertices"
    case .tooManyVertices: "tooManyVertices"
    case .edgeOfHalfTurn: "edgeOfHalfTurn"
    case .crossesItself: "crossesItself"
    case .poleUndecided: "poleUndecided"
    case .southAboveNorth: "southAboveNorth"
    }
}

/// One row of `polygons.txt`.
struct Row: Sendable, CustomTestStringConvertible {
    let operation: String
    let ring: [Coordinate]
    let place: Coordinate?
    let expect: String
    let testDescription: String

    static func all() throws -> [Row] {
        try Repository.rows(of: "polygons.txt").map { line in
            let fields = line.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmed }
            return Row(
                operation: fields[0], ring: try fields[1].split(separator: ",").map { try coordinate($0) },
                place: fields[2].isEmpty ? nil : try coordinate(fields[2][...]), expect: fields[3],
                testDescription: String(line))
        }
    }

    /// The same region written in other ways.
    func variants() throws -> [Polygon] {
        let renamed = try ring.map { vertex in
            abs(vertex.longitude) == 180
                ? try Coordinate(latitude: vertex.latitude, longitude: -vertex.longitude) : vertex
        }
        var rings = [ring, ring.reversed(), ring + [ring[0]], renamed]
        for first in ring.indices.dropFirst() { rings.append(Array(ring[first...] + ring[..<first])) }
        return try rings.map { try Polygon(vertices: $0) }
    }

    private static func coordinate(_ text: Substring) throws -> Coordinate {
        let numbers = text.split(separator: " ").compactMap { Double($0) }
        return try Coordinate(latitude: numbers[0], longitude: numbers[1])
    }
}

extension Substring {
    fileprivate var trimmed: String { split(separator: " ").joined(separator: " ") }
}
