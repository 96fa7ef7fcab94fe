import Geodesy

/// Finds by chords which places can be nearest; the geodesic decides among them.
///
/// The tree holds PROJ's geocentric coordinates rounded to meters, and a search may skip a place only if the law of
/// ``Geodesic/distanceBoundsMeters(chordMeters:)`` says that its geodesic is longer than those already found.
struct PlaceTree {
    /// A place and the square of its chord to the point asked about, in square meters of the file.
    struct Candidate {
        let index: Int
        let chordSquare: Double
    }

    let nodes: Section
    let points: Section
    let levels: Int

    /// The places of a country, or of all, that a coordinate may be named after: the nearest by chord, the seven that
    /// follow as far as they are within ``NearPlaces/reachMeters``, and what may be nearest by geodesic.
    ///
    /// About 0.5 µs, half of it where the memory has just been read; far more if the nearest is a far one.
    ///
    /// - Parameter isFar: Whether the nearest is wanted although it is beyond that reach.
    func nearPlaces(to point: GeocentricPoint, in country: Int?, areas: Section, isFar: Bool) -> NearPlaces {
        var found = NearPlaces(around: point, country: country, points: points, areas: areas, isFar: isFar)
        visit(level: 0, number: 0, offset: SIMD3(repeating: 0), boxSquare: 0, &found)
        return found
    }

    /// Every place of a country, or of all, within the square of a stored chord.
    func places(within chordSquare: Double, of point: GeocentricPoint, in country: Int?, areas: Section) -> [Int] {
        var found = PlacesWithin(
            target: Search.target(point), reachSquare: chordSquare, filter: CountryFilter(country, points, areas))
        visit(level: 0, number: 0, offset: SIMD3(repeating: 0), boxSquare: 0, &found)
        return found.indices
    }

    /// Every place that may be among the `count` nearest, in no order. Few more than `count`, but possibly all places
    /// when those are nearly antipodal to the point.
    func candidates(for point: GeocentricPoint, count: Int) -> [Candidate] {
        var search = Search(point: point, count: count)
        visit(level: 0, number: 0, offset: SIMD3(repeating: 0), boxSquare: 0, &search)
        return search.found.filter { $0.chordSquare <= search.reachSquare }
    }

    /// Goes down the nearer half first. `offset` is how far the target is from this cell on each axis and `boxSquare`
    /// the square of the whole distance (Arya and Mount 1993, "Algorithms for fast vector quantization").
    private func visit<Offers: PlaceOffers>(
        level: Int, number: Int, offset: SIMD3<Double>, boxSquare: Double, _ search: inout Offers
    ) {
        let target = search.target
        if level == levels {
            // Within the section, because the count of places bounds the range.
            for index in (number * points.count) >> level..<((number + 1) * points.count) >> level {
                let point = points.start + index * points.stride
                func axis(_ offset: Int) -> Double {
                    // Three bytes, read with the one before them.
                    Double(Int32(littleEndian: point.loadUnaligned(fromByteOffset: offset, as: Int32.self)) >> 8)
                }
                let (x, y, z) = (axis(1) - target.x, axis(4) - target.y, axis(7) - target.z)
                let square = x * x + y * y + z * z
                if square <= search.reachSquare { search.offer(Candidate(index: index, chordSquare: square)) }
            }
            return
        }
        // Within the section, which has a node for every number of every level above the leaves.
        let node = nodes.start + 8 * ((1 << level) - 1 + number)
        let split = Double(Int32(littleEndian: node.loadUnaligned(as: Int32.self)))
        let near: Int
        let farSquare: Double
        var farOffset = offset
        switch node.loadUnaligned(fromByteOffset: 4, as: UInt8.self) {
        case 0:
            farOffset.x = target.x - split
            near = 2 * number + (farOffset.x < 0 ? 0 : 1)
            farSquare = boxSquare - offset.x * offset.x + farOffset.x * farOffset.x
        case 1:
            farOffset.y = target.y - split
            near = 2 * number + (farOffset.y < 0 ? 0 : 1)
            farSquare = boxSquare - offset.y * offset.y + farOffset.y * farOffset.y
        default:
            // A damaged axis is read as z: wrong, but within bounds.
            farOffset.z = target.z - split
            near = 2 * number + (farOffset.z < 0 ? 0 : 1)
            farSquare = boxSquare - offset.z * offset.z + farOffset.z * farOffset.z
        }
        visit(level: level + 1, number: near, offset: offset, boxSquare: boxSquare, &search)
        if farSquare <= search.reachSquare {
            visit(level: level + 1, number: near ^ 1, offset: farOffset, boxSquare: farSquare, &search)
        }
    }
}

/// What a search keeps of the places it is shown.
private protocol PlaceOffers {
    var target: SIMD3<Double> { get }
    /// The square of the longest chord that is still worth showing.
    var reachSquare: Double { get }

    /// Is shown what is within ``reachSquare``.
    mutating func offer(_ candidate: PlaceTree.Candidate)
}

/// Whether a place is in a country, by what the tree's points say of it.
private struct CountryFilter {
    private let country: Int?
    private let points: Section
    private let areas: Section

    init(_ country: Int?, _ points: Section, _ areas: Section) {
        self.country = country
        self.points = points
        self.areas = areas
    }

    func admits(_ index: Int) -> Bool {
        guard let country else { return true }
        let area = Int(points.uint16(index, at: 0))
        return area < areas.count && Int(areas.uint16(area, at: 12)) == country
    }
}

/// The nearest places of a country seen so far, by rising chord, in place: no memory is asked for.
struct NearPlaces: PlaceOffers {
    /// Beyond this many meters no place but the nearest is of interest: the inner reach of no city is farther, and no
    /// locality is looked for there.
    static let reachMeters = 28_000.0
    private static let most = 8

    fileprivate let target: SIMD3<Double>
    private let filter: CountryFilter
    private var squares = InlineArray<8, Double>(repeating: .infinity)
    private var indices = InlineArray<8, Int32>(repeating: -1)
    private(set) var count = 0
    /// The chords of all that may be nearest by geodesic are within the root of this.
    private(set) var tieSquare = Double.infinity
    private(set) var reachSquare: Double

    fileprivate init(around point: GeocentricPoint, country: Int?, points: Section, areas: Section, isFar: Bool) {
        reachSquare = isFar ? .infinity : Self.reachMeters * Self.reachMeters
        target = Search.target(point)
        filter = CountryFilter(country, points, areas)
    }

    subscript(rank: Int) -> PlaceTree.Candidate {
        PlaceTree.Candidate(index: Int(indices[rank]), chordSquare: squares[rank])
    }

    /// Whether there is room for more, so that all within ``reachMeters`` are here.
    var hasRoom: Bool { count < Self.most }

    /// Whether there is room for all that may be nearest by geodesic.
    var holdsTies: Bool { count < Self.most || squares[Self.most - 1] > tieSquare }

    fileprivate mutating func offer(_ candidate: PlaceTree.Candidate) {
        guard candidate.chordSquare < squares[Self.most - 1], filter.admits(candidate.index) else { return }
        var rank = Self.most - 1
        while rank > 0, squares[rank - 1] > candidate.chordSquare {
            squares[rank] = squares[rank - 1]
            indices[rank] = indices[rank - 1]
            rank -= 1
        }
        squares[rank] = candidate.chordSquare
        indices[rank] = Int32(truncatingIfNeeded: candidate.index)
        if count < Self.most { count += 1 }
        if rank == 0 { tieSquare = Search.reachSquare(beyond: squares[0]) }
        reachSquare = max(min(squares[Self.most - 1], Self.reachMeters * Self.reachMeters), tieSquare)
    }
}

/// All places of a country within a reach.
private struct PlacesWithin: PlaceOffers {
    let target: SIMD3<Double>
    let reachSquare: Double
    let filter: CountryFilter
    var indices: [Int] = []

    mutating func offer(_ candidate: PlaceTree.Candidate) {
        if filter.admits(candidate.index) { indices.append(candidate.index) }
    }
}

/// The candidates found so far, and how far a further one may be.
private struct Search: PlaceOffers {
    /// A chord to a stored point differs from the true one by half a meter on each axis at most, √3/2 m; the rounding
    /// of the sums of squares is far below the rest of this.
    private static let roundingMeters = 0.867

    let target: SIMD3<Double>
    private let count: Int
    /// The squares of the `count` shortest chords so far, rising.
    private var shortest: [Double] = []
    /// Whatever was within reach when it was seen; unsorted, because the reach may admit very many.
    private(set) var found: [PlaceTree.Candidate] = []
    private(set) var reachSquare = Double.infinity

    init(point: GeocentricPoint, count: Int) {
        target = Self.target(point)
        self.count = count
    }

    static func target(_ point: GeocentricPoint) -> SIMD3<Double> {
        SIMD3(point.x, point.y, point.z)
    }

    mutating func offer(_ candidate: PlaceTree.Candidate) {
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
        let chord = chordSquare.squareRoot() + roundingMeters
        // No geodesic is shorter than its chord, so the upper bound on the one is the upper bound on the other's chord.
        let reach = Geodesic.distanceBoundsMeters(chordMeters: chord).upperBound + roundingMeters
        return reach * reach
    }
}
