import Geodesy

/// Finds by chords which places can be nearest; the geodesic decides among them.
///
/// The tree holds PROJ's geocentric coordinates rounded to 1/8 m, and a search may skip a place only if the law of
/// ``Geodesic/distanceBoundsMeters(chordMeters:)`` says that its geodesic is longer than those already found.
struct PlaceTree {
    /// A place and the square of its chord to the point asked about, in units of 1/64 m².
    struct Candidate {
        let index: Int
        let chordSquare: Double
    }

    let nodes: Section
    let points: Section
    let levels: Int

    /// The square of the longest stored chord whose geodesic may be as short as that of the given stored chord.
    static func reachSquare(beyond chordSquare: Double) -> Double { Search.reachSquare(beyond: chordSquare) }

    /// Meters of a stored chord: below 40 km less than 0.2 m from the geodesic.
    static func meters(chordSquare: Double) -> Double { chordSquare.squareRoot() / Search.unitsPerMeter }

    /// Every place that may be among the `count` nearest, in no order. Few more than `count`, but possibly all places
    /// when those are nearly antipodal to the point.
    func candidates(for point: GeocentricPoint, count: Int) -> [Candidate] {
        var search = Search(point: point, count: count)
        visit(level: 0, number: 0, offset: SIMD3(repeating: 0), boxSquare: 0, &search)
        return search.found.filter { $0.chordSquare <= search.reachSquare }
    }

    private func node(_ level: Int, _ number: Int) -> (axis: Int, split: Double) {
        let index = (1 << level) - 1 + number
        // A damaged axis is read as z: wrong, but within bounds.
        return (min(Int(nodes.uint32(index, at: 4)), 2), Double(nodes.int32(index, at: 0)))
    }

    /// Goes down the nearer half first. `offset` is how far the target is from this cell on each axis and `boxSquare`
    /// the square of the whole distance (Arya and Mount 1993, "Algorithms for fast vector quantization").
    private func visit(
        level: Int, number: Int, offset: SIMD3<Double>, boxSquare: Double, _ search: inout Search
    ) {
        if level == levels {
            for index in (number * points.count) >> level..<((number + 1) * points.count) >> level {
                let dx = Double(points.int32(index, at: 0)) - search.target.x
                let dy = Double(points.int32(index, at: 4)) - search.target.y
                let dz = Double(points.int32(index, at: 8)) - search.target.z
                search.offer(Candidate(index: index, chordSquare: dx * dx + dy * dy + dz * dz))
            }
            return
        }
        let (axis, split) = node(level, number)
        let beyond = search.target[axis] - split
        let near = 2 * number + (beyond < 0 ? 0 : 1)
        visit(level: level + 1, number: near, offset: offset, boxSquare: boxSquare, &search)
        let farSquare = boxSquare - offset[axis] * offset[axis] + beyond * beyond
        if farSquare <= search.reachSquare {
            var farOffset = offset
            farOffset[axis] = beyond
            visit(level: level + 1, number: near ^ 1, offset: farOffset, boxSquare: farSquare, &search)
        }
    }
}

/// The candidates found so far, and how far a further one may be.
private struct Search {
    /// Units of the file in a meter.
    static let unitsPerMeter = 8.0
    /// A chord to a stored point differs from the true one by half a unit on each axis at most, √3/16 m; the rounding
    /// of the sums of squares is far below the rest of this.
    private static let roundingMeters = 0.11

    let target: SIMD3<Double>
    private let count: Int
    /// The squares of the `count` shortest chords so far, rising.
    private var shortest: [Double] = []
    /// Whatever was within reach when it was seen; unsorted, because the reach may admit very many.
    private(set) var found: [PlaceTree.Candidate] = []
    private(set) var reachSquare = Double.infinity

    init(point: GeocentricPoint, count: Int) {
        target = SIMD3(point.x, point.y, point.z) * Self.unitsPerMeter
        self.count = count
    }

    mutating func offer(_ candidate: PlaceTree.Candidate) {
        guard candidate.chordSquare <= reachSquare else { return }
        found.append(candidate)
        var rank = shortest.count
        while rank > 0, shortest[rank - 1] > candidate.chordSquare { rank -= 1 }
        guard rank < count else { return }
        if shortest.count == count { shortest.removeLast() }
        shortest.insert(candidate.chordSquare, at: rank)
        if shortest.count == count { reachSquare = Self.reachSquare(beyond: shortest[count - 1]) }
    }

    /// The square of the longest stored chord whose geodesic may be as short as that of the given stored chord.
    static func reachSquare(beyond chordSquare: Double) -> Double {
        let chord = chordSquare.squareRoot() / unitsPerMeter + roundingMeters
        // No geodesic is shorter than its chord, so the upper bound on the one is the upper bound on the other's chord.
        let reach = Geodesic.distanceBoundsMeters(chordMeters: chord).upperBound + roundingMeters
        return (reach * unitsPerMeter) * (reach * unitsPerMeter)
    }
}
