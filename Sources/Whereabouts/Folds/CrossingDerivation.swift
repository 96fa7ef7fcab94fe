import Geodesy

/// A crossing before it is known when it was reported. Times are milliseconds since 1970 UTC.
struct FoundCrossing: Hashable {
    let region: RegionID
    let kind: Crossing.Kind
    let time: Int64
    let confirmed: Int64
}

/// Derives crossings from one person's track: visits, and between them the fixes of travel, in the order of time.
///
/// For each region a cumulative sum of evidence against the present side (Page 1954, DOI 10.1093/biomet/41.1-2.100).
/// A person far from every boundary costs one chord a fix, whatever the number of regions; near one, a comparison of
/// each region's chord, and `geod_inverse` only where the chord leaves the evidence open.
struct CrossingDerivation {
    /// A point of the track.
    struct Knot {
        let fix: TrackPoint
        let isVisit: Bool
        static func fix(_ fix: TrackPoint) -> Knot { Knot(fix: fix, isVisit: false) }
    }

    /// What is known of one region.
    private struct Watched {
        let id: RegionID
        let circle: Circle
        let center: GeocentricPoint
        let removedAt: Int64
        var isInside: Bool?
        /// Evidence against ``isInside`` since ``run`` began; 0 when there is none.
        var sum = 0.0
        /// The points before and at the beginning of the evidence.
        var run: (before: TrackPoint, start: TrackPoint)?
    }

    private let transform: GeocentricTransform
    private var regions: [Watched]
    private(set) var last: Knot?
    /// Around ``anchor`` nothing can change within this many meters; 0 when that is not known.
    private var quietMeters = 0.0
    private var anchor = GeocentricPoint(x: 0, y: 0, z: 0)
    /// The crossings since the last ``takeOutput()``.
    private(set) var found: [FoundCrossing] = []

    init(regions: [WatchedRegion], _ transform: GeocentricTransform) {
        self.transform = transform
        self.regions = regions.sorted { $0.id < $1.id }.map { region in
            Watched(
                id: region.id, circle: region.circle, center: transform.point(region.circle.center),
                removedAt: region.removedAt?.milliseconds ?? .max)
        }
    }

    /// Whether there is nothing to watch, so that the track need not be given.
    var isIdle: Bool { regions.isEmpty }

    mutating func takeOutput() { found = [] }

    /// Crossings found from here on are confirmed after this moment.
    var confirmedThrough: Int64 { last?.fix.time ?? .min }

    /// Crossings found from here on happened at or after this moment.
    var earliestTime: Int64 {
        regions.lazy.compactMap { $0.run?.before.time }.min().map { min($0, confirmedThrough) } ?? confirmedThrough
    }

    // MARK: In

    /// A visit stands for its fixes: its centre at its arrival and, when it is over, at its departure.
    mutating func add(_ stay: Stay, _ transform: GeocentricTransform) {
        guard !isIdle else { return }
        let place = transform.coordinate(stay.mean.center).coordinate
        let accuracy = max(VisitRules.bestAccuracy, stay.mean.radius)
        let arrival = TrackPoint(time: stay.arrival, coordinate: place, accuracy: accuracy, transform)
        add(Knot(fix: arrival, isVisit: true))
        if !stay.isOpen, stay.departure > stay.arrival {
            let departure = TrackPoint(time: stay.departure, coordinate: place, accuracy: accuracy, transform)
            add(Knot(fix: departure, isVisit: true))
        }
    }

    /// Takes the next point of the track.
    mutating func add(_ knot: Knot) {
        guard !isIdle else { return }
        defer { last = knot }
        let fix = knot.fix
        if fix.point.chordMeters(to: anchor) < quietMeters { return }
        let independence: Double
        if let last {
            let seconds = fix.seconds(since: last.fix)
            let share = VisitRules.leastIndependence + seconds / VisitRules.independentSeconds
            independence = min(1, share) * (knot.isVisit ? VisitRules.visitEvidence : 1)
        } else {
            independence = 1
        }
        anchor = fix.point
        quietMeters = .infinity
        for index in regions.indices {
            quietMeters = min(quietMeters, weigh(index, knot, independence))
        }
    }

    /// Weighs a point against one region, and returns the meters within which another could change nothing.
    private mutating func weigh(_ index: Int, _ knot: Knot, _ independence: Double) -> Double {
        let fix = knot.fix
        guard fix.time <= regions[index].removedAt else { return .infinity }
        let bounds = Geodesic.distanceBoundsMeters(chordMeters: fix.point.chordMeters(to: regions[index].center))
        let radius = regions[index].circle.radiusMeters
        let sigma = fix.accuracy / VisitRules.accuracyPerSigma + VisitRules.boundarySigma
        var inside = Self.evidence(signedMeters: bounds.lowerBound - radius, sigma: sigma)
        if Self.evidence(signedMeters: bounds.upperBound - radius, sigma: sigma) != inside {
            inside = Self.evidence(
                signedMeters: regions[index].circle.signedDistanceMeters(to: fix.coordinate), sigma: sigma)
        }
        guard let isInside = regions[index].isInside else {
            if abs(inside) >= VisitRules.firstSideEvidence { regions[index].isInside = inside > 0 }
            return 0
        }
        if !isInside, inside < 0, regions[index].sum == 0 { passThrough(index, to: knot) }
        let sum = max(0, regions[index].sum + (isInside ? -inside : inside) * independence)
        if sum == 0 {
            regions[index].run = nil
        } else if regions[index].sum == 0, let before = last?.fix {
            regions[index].run = (before, fix)
        }
        regions[index].sum = sum
        if sum >= VisitRules.crossingEvidence, let run = regions[index].run {
            let time = boundaryTime(index, from: run.before, to: run.start)
            found.append(
                FoundCrossing(
                    region: regions[index].id, kind: isInside ? .exit : .enter, time: time, confirmed: fix.time))
            regions[index].isInside = !isInside
            regions[index].sum = 0
            regions[index].run = nil
            return 0
        }
        guard sum == 0 else { return 0 }
        // Within this of the point the sign of the distance cannot change, and with it not the side the evidence is for.
        // A chord never exceeds its geodesic, so chords of the boundary are what bounds it.
        let boundary = Geodesic.chordBoundsMeters(distanceMeters: radius)
        let chord = fix.point.chordMeters(to: regions[index].center)
        return isInside ? boundary.lowerBound - chord : chord - boundary.upperBound
    }

    /// Odds, as a logarithm, that the true place is inside: logit Φ(−s/σ), by the cubic of Bowling et al. 2009 (J. of
    /// Industrial Engineering and Management 2(1), within 0.00014 of Φ), clipped.
    private static func evidence(signedMeters: Double, sigma: Double) -> Double {
        let z = -signedMeters / sigma
        // Beyond ±4 the cubic exceeds the clip, and its cube may overflow.
        guard abs(z) < 4 else { return z > 0 ? VisitRules.evidenceClip : -VisitRules.evidenceClip }
        let odds = z * (1.5976 + 0.07056 * z * z)
        return max(-VisitRules.evidenceClip, min(VisitRules.evidenceClip, odds))
    }

    // MARK: Times

    /// Both points outside and the way between them not: in and out between two fixes.
    private mutating func passThrough(_ index: Int, to knot: Knot) {
        guard let last, !last.isVisit, !knot.isVisit else { return }
        let (a, b) = (last.fix, knot.fix)
        guard b.seconds(since: a) <= VisitRules.passSeconds else { return }
        let circle = regions[index].circle
        let center = regions[index].center
        // The nearest point of the straight line; at these lengths it lies within meters of the geodesic.
        let (dx, dy, dz) = (b.point.x - a.point.x, b.point.y - a.point.y, b.point.z - a.point.z)
        let length = (dx * dx + dy * dy + dz * dz).squareRoot()
        guard length > 0 else { return }
        let along =
            ((center.x - a.point.x) * dx + (center.y - a.point.y) * dy + (center.z - a.point.z) * dz)
            / (length * length)
        guard along > 0, along < 1 else { return }
        let near = GeocentricPoint(x: a.point.x + along * dx, y: a.point.y + along * dy, z: a.point.z + along * dz)
        let off = near.chordMeters(to: center)
        let radius = circle.radiusMeters
        guard radius - off > VisitRules.passDepth * max(a.accuracy, b.accuracy) else { return }
        guard 2 * (radius * radius - off * off).squareRoot() >= VisitRules.passShare * length else { return }
        let way = Way(from: a.coordinate, to: b.coordinate)
        let middle = way.place(at: along)
        guard circle.signedDistanceMeters(to: middle) < 0, circle.signedDistanceMeters(to: a.coordinate) > 0,
            circle.signedDistanceMeters(to: b.coordinate) > 0
        else { return }
        let enter = way.boundary(of: circle, between: 0, along)
        let exit = way.boundary(of: circle, between: along, 1)
        let entered = a.time + Int64((enter * Double(b.time - a.time)).rounded())
        let left = max(entered + 1, a.time + Int64((exit * Double(b.time - a.time)).rounded()))
        let id = regions[index].id
        found.append(FoundCrossing(region: id, kind: .enter, time: entered, confirmed: b.time))
        found.append(FoundCrossing(region: id, kind: .exit, time: left, confirmed: b.time))
    }

    /// When the way between two points of the track met the boundary; the later point's time when it did not, because
    /// the earlier one was on the other side by mistake.
    private func boundaryTime(_ index: Int, from a: TrackPoint, to b: TrackPoint) -> Int64 {
        let circle = regions[index].circle
        let from = circle.signedDistanceMeters(to: a.coordinate)
        let to = circle.signedDistanceMeters(to: b.coordinate)
        guard (from < 0) != (to < 0) else { return b.time }
        let share = Way(from: a.coordinate, to: b.coordinate).boundary(of: circle, between: 0, 1)
        return min(b.time, max(a.time + 1, a.time + Int64((share * Double(b.time - a.time)).rounded())))
    }
}

/// The geodesic between two places.
private struct Way {
    private let start: Coordinate
    private let azimuth: Double
    private let meters: Double

    init(from start: Coordinate, to end: Coordinate) {
        self.start = start
        let inverse = Geodesic.inverse(from: start, to: end)
        (azimuth, meters) = (inverse.initialAzimuth, inverse.distanceMeters)
    }

    func place(at share: Double) -> Coordinate {
        Geodesic.direct(from: start, initialAzimuth: azimuth, distanceMeters: share * meters)
    }

    /// The share of the way at which it meets the edge of a circle, its ends lying on different sides; by halving, to
    /// 2⁻³⁰ of the way.
    func boundary(of circle: Circle, between low: Double, _ high: Double) -> Double {
        var (low, high) = (low, high)
        let startsInside = circle.contains(place(at: low))
        for _ in 0..<30 {
            let middle = (low + high) / 2
            if circle.contains(place(at: middle)) == startsInside { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }
}

// MARK: - The state at a boundary

extension CrossingDerivation {
    /// `[last point or null, its being a visit, ids inside, ids of unknown side, [id, sum, before, start]…]`; every
    /// other region is outside.
    func write(to writer: inout CBORWriter) {
        writer.array(5)
        if let last { last.fix.write(to: &writer) } else { writer.null() }
        writer.bool(last?.isVisit ?? false)
        for side in [true, nil] {
            let ids = regions.filter { $0.isInside == side }.map(\.id.rawValue)
            writer.array(ids.count)
            for id in ids { writer.integer(id) }
        }
        let running = regions.filter { $0.run != nil }
        writer.array(running.count)
        for region in running {
            guard let run = region.run else { continue }
            writer.array(4)
            writer.integer(region.id.rawValue)
            writer.float(region.sum)
            run.before.write(to: &writer)
            run.start.write(to: &writer)
        }
    }

    mutating func read(from reader: inout CBORReader) throws(CBORError) {
        guard try reader.array() == 5 else { throw .unexpected }
        let fix = try reader.readNull() ? nil : try TrackPoint(from: &reader, transform)
        let isVisit = try reader.bool()
        last = fix.map { Knot(fix: $0, isVisit: isVisit) }
        for index in regions.indices { regions[index].isInside = false }
        for side in [true, nil] {
            for _ in 0..<(try reader.array()) {
                let id = RegionID(rawValue: try reader.integer())
                guard let index = regions.firstIndex(where: { $0.id == id }) else { throw .unexpected }
                regions[index].isInside = side
            }
        }
        for _ in 0..<(try reader.array()) {
            guard try reader.array() == 4 else { throw .unexpected }
            let id = RegionID(rawValue: try reader.integer())
            guard let index = regions.firstIndex(where: { $0.id == id }) else { throw .unexpected }
            regions[index].sum = try reader.float()
            regions[index].run = (
                before: try TrackPoint(from: &reader, transform), start: try TrackPoint(from: &reader, transform)
            )
        }
    }
}
