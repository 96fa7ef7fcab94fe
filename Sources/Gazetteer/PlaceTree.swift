import Geodesy

/// Finds by chords which places can be nearest; the geodesic decides among them.
///
/// There is one tree for each country. They hold PROJ's geocentric coordinates rounded to meters, and a search may skip
/// a place only if the law of `Geodesic.distanceBoundsMeters(chordMeters:)` says that its geodesic is longer than those
/// already found.
struct PlaceTree {
    /// A place and the square of its chord to the point asked about, in square meters of the file.
    struct Candidate {
        let index: Int
        let chordSquare: Double
    }

    /// More levels than sixteen million leaves need.
    private static let levelLimit = 24

    let nodes: Section
    let points: Section
    let countries: Section

    /// The places of a country that a coordinate may be named after: the nearest by chord, the seven that follow as far
    /// as they are within ``NearPlaces/reachMeters``, those that may be nearest by geodesic, and some farther ones.
    ///
    /// About 0.3 µs, half of it where the memory has just been read, and some more where the nearest is a far one.
    func nearPlaces(to point: GeocentricPoint, in country: Int?) -> NearPlaces {
        var found = NearPlaces()
        search(around: point, in: country, &found)
        return found
    }

    /// Every place of a country, or of all, within the square of a stored chord.
    func places(within chordSquare: Double, of point: GeocentricPoint, in country: Int?) -> [Int] {
        var found = PlacesWithin(reachSquare: chordSquare)
        search(around: point, in: country, &found)
        return found.indices
    }

    /// Every place that may be among the `count` nearest, in no order. Few more than `count`, but possibly all places
    /// when those are nearly antipodal to the point.
    func candidates(for point: GeocentricPoint, count: Int) -> [Candidate] {
        var search = Search(count: count)
        self.search(around: point, in: nil, &search)
        return search.found.filter { $0.chordSquare <= search.reachSquare }
    }

    /// Offers the places within reach; if all countries are searched, those of the likeliest first.
    private func search<Offers: PlaceOffers>(
        around point: GeocentricPoint, in country: Int?, _ offers: inout Offers
    ) {
        if let country { return visit(country, around: point, &offers) }
        let squares = (0..<countries.count).map { boxSquare($0, from: point) }
        guard let first = squares.indices.min(by: { squares[$0] < squares[$1] }) else { return }
        visit(first, around: point, &offers)
        for other in squares.indices where other != first && squares[other] <= offers.reachSquare {
            visit(other, around: point, &offers)
        }
    }

    /// The square of the distance to the box around the places of a country.
    private func boxSquare(_ country: Int, from point: GeocentricPoint) -> Double {
        func beyond(_ value: Double, axis: Int) -> Double {
            let least = Double(countries.int32(country, at: 24 + 4 * axis))
            let greatest = Double(countries.int32(country, at: 36 + 4 * axis))
            return max(least - value, value - greatest, 0)
        }
        let (x, y, z) = (beyond(point.x, axis: 0), beyond(point.y, axis: 1), beyond(point.z, axis: 2))
        return x * x + y * y + z * z
    }

    /// A half that was passed by: its node, counted from 1 at the root, 2n and 2n + 1 below n, and the square of how
    /// far the plane is that parts it from the point.
    private struct Passed {
        let node: Int
        let planeSquare: Double
    }

    /// Goes down the nearer half first and comes back to the others that are still within reach.
    private func visit<Offers: PlaceOffers>(
        _ country: Int, around point: GeocentricPoint, _ offers: inout Offers
    ) {
        let first = Int(countries.uint32(country, at: 8))
        let count = Int(countries.uint32(country, at: 12))
        let firstNode = Int(countries.uint32(country, at: 16))
        let levels = Int(countries.uint32(country, at: 20))
        // Only a damaged file says otherwise.
        guard levels < Self.levelLimit, first + count <= points.count, firstNode + (1 << levels) - 1 <= nodes.count
        else { return }
        // A damaged axis is read as z: wrong, but within bounds.
        let target: InlineArray<4, Double> = [point.x, point.y, point.z, point.z]
        let leaves = 1 << levels
        // Below the root, so that its own is the first.
        let heap = nodes.start + (firstNode - 1) * nodes.stride
        withUnsafeTemporaryAllocation(of: Passed.self, capacity: Self.levelLimit) { passed in
            var passedCount = 0
            var node = 1
            while true {
                while node < leaves {
                    let split = Int32(littleEndian: heap.loadUnaligned(fromByteOffset: 4 * node, as: Int32.self))
                    let beyond = target[Int(split & 3)] - Double(split >> 8)
                    let near = 2 * node + (beyond < 0 ? 0 : 1)
                    // At most one a level waits.
                    if beyond * beyond <= offers.reachSquare {
                        passed[passedCount] = Passed(node: near ^ 1, planeSquare: beyond * beyond)
                        passedCount += 1
                    }
                    node = near
                }
                let leaf = node - leaves
                // Within the section, because the count of places bounds the range.
                for index in first + (leaf * count) >> levels..<first + ((leaf + 1) * count) >> levels {
                    let stored = points.start + index * points.stride
                    func offset(_ value: Double, at begin: Int) -> Double {
                        // Three bytes, read with the one before them.
                        Double(Int32(littleEndian: stored.loadUnaligned(fromByteOffset: begin, as: Int32.self)) >> 8)
                            - value
                    }
                    let (x, y, z) = (offset(point.x, at: 1), offset(point.y, at: 4), offset(point.z, at: 7))
                    let square = x * x + y * y + z * z
                    if square <= offers.reachSquare { offers.offer(Candidate(index: index, chordSquare: square)) }
                }
                repeat {
                    guard passedCount > 0 else { return }
                    passedCount -= 1
                } while passed[passedCount].planeSquare > offers.reachSquare
                node = passed[passedCount].node
            }
        }
    }
}

/// The places that a search keeps of those offered.
private protocol PlaceOffers {
    /// The square of the longest chord that is still worth showing.
    var reachSquare: Double { get }

    /// Takes a place within ``reachSquare``.
    mutating func offer(_ candidate: PlaceTree.Candidate)
}

/// The nearest places seen so far, by rising chord, in place: no memory is asked for.
struct NearPlaces: PlaceOffers {
    /// Beyond this many meters no place but the nearest is of interest: the inner reach of no city is farther, and no
    /// locality is looked for there.
    private static let reachMeters = 28_000.0
    /// So many are kept.
    static let most = 8

    private var squares = InlineArray<8, Double>(repeating: .infinity)
    private var indices = InlineArray<8, Int32>(repeating: -1)
    private(set) var count = 0
    private(set) var reachSquare = Double.infinity

    fileprivate init() {}

    subscript(rank: Int) -> PlaceTree.Candidate {
        PlaceTree.Candidate(index: Int(indices[rank]), chordSquare: squares[rank])
    }

    /// How many of them are within `reachMeters`: all there are, if they are fewer than ``most``.
    var aroundCount: Int { (0..<count).count { squares[$0] <= Self.reachMeters * Self.reachMeters } }

    /// Those that may be nearest by geodesic; nil if there may be more than there is room for.
    var ties: Range<Int>? {
        guard count > 1, squares[1] <= ChordReach.bound(beyond: squares[0]) else { return 0..<min(count, 1) }
        let tieSquare = self.tieSquare
        return count == Self.most && squares[Self.most - 1] <= tieSquare
            ? nil : 0..<(1..<count).reduce(1) { squares[$1] <= tieSquare ? $0 + 1 : $0 }
    }

    /// The chords of all that may be nearest by geodesic are within the root of this.
    var tieSquare: Double { ChordReach.square(beyond: squares[0]) }

    fileprivate mutating func offer(_ candidate: PlaceTree.Candidate) {
        guard candidate.chordSquare < squares[Self.most - 1] else { return }
        var rank = min(count, Self.most - 1)
        while rank > 0, squares[rank - 1] > candidate.chordSquare {
            squares[rank] = squares[rank - 1]
            indices[rank] = indices[rank - 1]
            rank -= 1
        }
        squares[rank] = candidate.chordSquare
        indices[rank] = Int32(truncatingIfNeeded: candidate.index)
        if count < Self.most { count += 1 }
        reachSquare = max(
            min(squares[Self.most - 1], Self.reachMeters * Self.reachMeters), ChordReach.bound(beyond: squares[0]))
    }
}

/// All places within a reach.
private struct PlacesWithin: PlaceOffers {
    let reachSquare: Double
    var indices: [Int] = []

    mutating func offer(_ candidate: PlaceTree.Candidate) { indices.append(candidate.index) }
}

/// The candidates found so far, and how far a further one may be.
private struct Search: PlaceOffers {
    private let count: Int
    /// The squares of the `count` shortest chords so far, rising.
    private var shortest: [Double] = []
    /// Whatever was within reach when it was seen; unsorted, because the reach may admit very many.
    private(set) var found: [PlaceTree.Candidate] = []
    private(set) var reachSquare = Double.infinity

    init(count: Int) { self.count = count }

    mutating func offer(_ candidate: PlaceTree.Candidate) {
        found.append(candidate)
        var rank = shortest.count
        while rank > 0, shortest[rank - 1] > candidate.chordSquare { rank -= 1 }
        guard rank < count else { return }
        if shortest.count == count { shortest.removeLast() }
        shortest.insert(candidate.chordSquare, at: rank)
        if shortest.count == count { reachSquare = ChordReach.square(beyond: shortest[count - 1]) }
    }
}

/// How long the stored chord of a place may be whose geodesic is no longer than another's.
enum ChordReach {
    /// A chord to a stored point differs from the true one by half a meter on each axis at most, √3/2 m; the rounding
    /// of the sums of squares is far below the rest of this.
    private static let roundingMeters = 0.867
    /// Up to here ``bound(beyond:)`` needs no arcsine.
    private static let nearSquare = 1_000_000.0 * 1_000_000

    /// The square of the longest stored chord whose geodesic may be as short as that of the given stored chord.
    static func square(beyond chordSquare: Double) -> Double {
        let chord = chordSquare.squareRoot() + roundingMeters
        // No geodesic is shorter than its chord, so the upper bound on the one is the upper bound on the other's chord.
        let reach = Geodesic.distanceBoundsMeters(chordMeters: chord).upperBound + roundingMeters
        return reach * reach
    }

    /// No less than ``square(beyond:)``, and quicker: to search by.
    ///
    /// Up to 1,000 km a geodesic c·k is at most 1.04 ‰ longer than its chord c, and with twice the rounding r added,
    /// (ck + 2r)² ≤ 1.001 (ck)² + 1001 (2r)², which is at most 1.0032 c² + 3,020 m².
    static func bound(beyond chordSquare: Double) -> Double {
        chordSquare <= nearSquare ? chordSquare * 1.0035 + 4000 : square(beyond: chordSquare)
    }
}
