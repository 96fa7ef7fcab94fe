import Geodesy

/// A crossing without the time of its report. Times are milliseconds since 1970 UTC.
struct FoundCrossing: Hashable {
    let region: RegionID
    let kind: Crossing.Kind
    let time: Int64
    let confirmed: Int64
}

/// Derives crossings from one person's track, which consists of visits and the fixes of travel between them, in order
/// of time.
///
/// Each region has a cumulative sum of evidence against its present side (Page 1954, DOI 10.1093/biomet/41.1-2.100). A
/// region is examined only if the person may have come near its edge since the last time. Each examination computes how
/// far the track must run until then (`weigh(_:_:_:_:)`), and the regions wait for it in a heap. So thousands of
/// regions cost little more than a few, whatever their shape. An examination compares chords; it calls `geod_inverse`,
/// or searches the nearest place of a polygon, only if the chord does not decide.
struct CrossingDerivation {
    /// A point of the track.
    struct Knot {
        let fix: TrackPoint
        let isVisit: Bool
        static func fix(_ fix: TrackPoint) -> Knot { Knot(fix: fix, isVisit: false) }
    }

    /// One region, prepared for comparisons.
    private struct Watched {
        let id: RegionID
        let area: Area
        let removedAt: Int64
        /// A point of the ellipsoid: the center of a circle, a vertex of a polygon.
        let anchor: GeocentricPoint
        /// The chords from the anchor between which the edge is.
        let edge: ClosedRange<Double>
    }

    /// The evidence against the present side.
    private struct Run {
        var sum: Double
        /// The points before and at the beginning of the evidence.
        let before, start: TrackPoint
    }

    private enum Side: UInt8 { case unknown, outside, inside }

    /// The fields needed for a circle far away, without references, so that examining it counts none.
    private struct Bound {
        let anchor: GeocentricPoint
        let farthestEdge: Double
        /// Milliseconds since 1970 UTC; the lowest number for a polygon, which its bound alone never decides.
        let until: Int64
    }

    private let transform: GeocentricTransform
    private let rules: VisitRules
    private let regions: [Watched]
    private let bounds: [Bound]
    private var sides: [Side]
    /// By index of the region; missing without evidence.
    private var runs: [Int: Run] = [:]
    /// Whether the region has an entry in ``runs``.
    private var hasRun: [Bool]
    /// The regions, by how far the track must have run before they are examined again.
    private var looks: LookHeap
    /// The length of the track in meters, by chords.
    private var odometer = 0.0
    private(set) var last: Knot?
    private static let leastStepMeters = 0.001
    /// The crossings since the last ``takeOutput()``.
    private(set) var found: [FoundCrossing] = []

    init(regions: [WatchedRegion], _ rules: VisitRules, _ transform: GeocentricTransform) {
        (self.transform, self.rules) = (transform, rules)
        self.regions = regions.sorted { $0.id < $1.id }.map { region in
            let anchor: GeocentricPoint
            let edge: ClosedRange<Double>
            switch region.region.area {
            case .circle(let circle):
                anchor = transform.point(circle.center)
                edge = Geodesic.chordBoundsMeters(distanceMeters: circle.radiusMeters)
            case .polygon(let polygon):
                anchor = transform.point(polygon.vertices[0])
                edge = 0...polygon.boundaryReachMeters(from: anchor)
            }
            return Watched(
                id: region.id, area: region.region.area, removedAt: region.removedAt?.milliseconds ?? .max,
                anchor: anchor, edge: edge)
        }
        bounds = self.regions.map { region in
            if case .circle = region.area {
                return Bound(anchor: region.anchor, farthestEdge: region.edge.upperBound, until: region.removedAt)
            }
            return Bound(anchor: region.anchor, farthestEdge: .infinity, until: .min)
        }
        sides = Array(repeating: .unknown, count: regions.count)
        hasRun = Array(repeating: false, count: regions.count)
        looks = LookHeap(count: regions.count)
    }

    /// Whether there is no region, so that the track is not needed.
    var isIdle: Bool { regions.isEmpty }

    mutating func takeOutput() { found = [] }

    /// Crossings found from now on are confirmed after this time, except by a visit that arrived before it.
    var confirmedThrough: Int64 { last?.fix.time ?? .min }

    /// Crossings found from now on happened at or after this time.
    var earliestTime: Int64 {
        runs.values.lazy.map(\.before.time).min().map { min($0, confirmedThrough) } ?? confirmedThrough
    }

    // MARK: In

    /// A visit replaces its fixes: its center at its arrival and, if it is over, at its departure.
    mutating func add(_ stay: Stay, _ transform: GeocentricTransform) {
        guard !isIdle else { return }
        let place = transform.coordinate(stay.place?.center ?? stay.mean.center).coordinate
        let accuracy = rules.places.trackAccuracy(of: stay)
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
        let independence: Double
        var step = 0.0
        if let last {
            // A rest is a step too: waiting for the next point must not require a movement.
            step = max(Self.leastStepMeters, fix.distance(to: last.fix))
            odometer += step
            let seconds = fix.seconds(since: last.fix)
            let share = VisitRules.leastIndependence + seconds / VisitRules.independentSeconds
            independence = min(1, share) * (knot.isVisit ? VisitRules.visitEvidence : 1)
        } else {
            independence = 1
        }
        let crossingsBefore = found.count
        while looks.least <= odometer {
            let index = looks.leastIndex
            let quiet = weigh(index, knot, independence, step)
            // Examined again at the next point at the earliest.
            looks.postpone(until: max(odometer.nextUp, odometer + quiet))
        }
        if found.count > crossingsBefore + 1 {
            // The heap has its own order; equal evidence is sorted by region.
            found[crossingsBefore...].sort { ($0.region, $0.time) < ($1.region, $1.time) }
        }
    }

    /// Weighs a point, `step` meters after the last one, against one region. Returns how many meters the track must run
    /// before another point can change anything.
    private mutating func weigh(_ index: Int, _ knot: Knot, _ independence: Double, _ step: Double) -> Double {
        let fix = knot.fix
        // Outside, without evidence against it, and too far away for any: the code below would have the same result.
        if sides[index] == .outside, !hasRun[index], fix.time <= bounds[index].until {
            let away = fix.point.chordMeters(to: bounds[index].anchor) - bounds[index].farthestEdge
            if away > VisitRules.sureSigmas * Self.sigma(of: fix), away >= step { return away }
        }
        guard fix.time <= regions[index].removedAt else { return .infinity }
        let (inside, quiet) = look(at: regions[index], from: fix)
        guard sides[index] != .unknown else {
            if abs(inside) >= VisitRules.firstSideEvidence { sides[index] = inside > 0 ? .inside : .outside }
            return 0
        }
        let isInside = sides[index] == .inside
        let run = hasRun[index] ? runs[index] : nil
        // A region whose edge is further away than the step is long was not passed through.
        if !isInside, inside < 0, run == nil, quiet < step { passThrough(regions[index], to: knot) }
        let sum = max(0, (run?.sum ?? 0) + (isInside ? -inside : inside) * independence)
        guard sum > 0, let before = run?.before ?? last?.fix else {
            keep(nil, index)
            return quiet
        }
        let new = Run(sum: sum, before: before, start: run?.start ?? fix)
        guard sum >= VisitRules.crossingEvidence else {
            keep(new, index)
            return 0
        }
        found.append(
            FoundCrossing(
                region: regions[index].id, kind: isInside ? .exit : .enter,
                time: boundaryTime(regions[index], from: new.before, to: new.start), confirmed: fix.time))
        sides[index] = isInside ? .outside : .inside
        keep(nil, index)
        return 0
    }

    private mutating func keep(_ run: Run?, _ index: Int) {
        guard run != nil || hasRun[index] else { return }
        runs[index] = run
        hasRun[index] = run != nil
    }

    /// The standard deviation perpendicular to a boundary, in meters.
    private static func sigma(of fix: TrackPoint) -> Double {
        fix.accuracy / VisitRules.accuracyPerSigma + VisitRules.boundarySigma
    }

    /// The evidence for being inside, and the meters of track within which nothing can become evidence for the other
    /// side.
    ///
    /// A chord is never longer than its geodesic, so chords to the edge are bounds.
    private func look(at region: Watched, from fix: TrackPoint) -> (inside: Double, quietMeters: Double) {
        let chord = fix.point.chordMeters(to: region.anchor)
        let sigma = Self.sigma(of: fix)
        switch region.area {
        case .circle(let circle):
            let sure = VisitRules.sureSigmas * sigma
            let (away, within) = (chord - region.edge.upperBound, region.edge.lowerBound - chord)
            if away > sure { return (-VisitRules.evidenceClip, away) }
            if within > sure { return (VisitRules.evidenceClip, within) }
            let bounds = Geodesic.distanceBoundsMeters(chordMeters: chord)
            var inside = Self.evidence(signedMeters: bounds.lowerBound - circle.radiusMeters, sigma: sigma)
            if Self.evidence(signedMeters: bounds.upperBound - circle.radiusMeters, sigma: sigma) != inside {
                inside = Self.evidence(signedMeters: circle.signedDistanceMeters(to: fix.coordinate), sigma: sigma)
            }
            return (inside, inside > 0 ? within : away)
        case .polygon(let polygon):
            let away = chord - region.edge.upperBound
            if away > VisitRules.sureSigmas * sigma {
                let isInside = polygon.contains(fix.coordinate)
                return (isInside ? VisitRules.evidenceClip : -VisitRules.evidenceClip, away)
            }
            let signed = polygon.signedDistanceMeters(to: fix.coordinate)
            // The distance may be too large by less than a thousandth (``Polygon/signedDistanceMeters(to:)``).
            let quiet = Geodesic.chordBoundsMeters(distanceMeters: 0.999 * abs(signed)).lowerBound
            return (Self.evidence(signedMeters: signed, sigma: sigma), quiet)
        }
    }

    /// The logarithm of the odds that the true place is inside: logit Φ(−s/σ), by the cubic of Bowling et al. 2009 (J.
    /// of Industrial Engineering and Management 2(1), within 0.00014 of Φ), clipped.
    private static func evidence(signedMeters: Double, sigma: Double) -> Double {
        let z = -signedMeters / sigma
        // Beyond this the cubic exceeds the clip, and its cube may overflow.
        guard abs(z) < VisitRules.sureSigmas else { return z > 0 ? VisitRules.evidenceClip : -VisitRules.evidenceClip }
        let odds = z * (1.5976 + 0.07056 * z * z)
        return max(-VisitRules.evidenceClip, min(VisitRules.evidenceClip, odds))
    }

    // MARK: Times

    /// Both points are outside and the way between them is not: in and out between two fixes.
    private mutating func passThrough(_ region: Watched, to knot: Knot) {
        guard let last, !last.isVisit, !knot.isVisit else { return }
        let (a, b) = (last.fix, knot.fix)
        guard b.seconds(since: a) <= VisitRules.passSeconds else { return }
        let inside: ClosedRange<Double>?
        let way: Way
        switch region.area {
        case .circle(let circle):
            guard let along = nearest(to: region.anchor, radius: circle.radiusMeters, from: a, to: b) else { return }
            way = Way(from: a.coordinate, to: b.coordinate)
            inside = along...along
        case .polygon(let polygon):
            way = Way(from: a.coordinate, to: b.coordinate)
            inside = deepestPart(of: way, in: polygon, accuracy: max(a.accuracy, b.accuracy))
        }
        guard let inside, region.area.signedDistanceMeters(to: way.place(at: inside.lowerBound)) < 0,
            !isInside(region, a), !isInside(region, b)
        else { return }
        let guess = straightMeeting(region, from: a, to: b)
        let enter = way.boundary(of: region.area, between: 0, inside.lowerBound, guess: guess?.first)
        let exit = way.boundary(of: region.area, between: inside.upperBound, 1, guess: guess?.last)
        let entered = a.time + Int64((enter * Double(b.time - a.time)).rounded())
        let left = max(entered + 1, a.time + Int64((exit * Double(b.time - a.time)).rounded()))
        found.append(FoundCrossing(region: region.id, kind: .enter, time: entered, confirmed: b.time))
        found.append(FoundCrossing(region: region.id, kind: .exit, time: left, confirmed: b.time))
    }

    /// The share of the straight way at which it is nearest to a circle's center, if it is inside long and deep enough.
    private func nearest(
        to center: GeocentricPoint, radius: Double, from a: TrackPoint, to b: TrackPoint
    ) -> Double? {
        // The nearest point of the straight line; at these lengths it is within meters of the geodesic.
        let (dx, dy, dz) = (b.point.x - a.point.x, b.point.y - a.point.y, b.point.z - a.point.z)
        let length = (dx * dx + dy * dy + dz * dz).squareRoot()
        guard length > 0 else { return nil }
        let along =
            ((center.x - a.point.x) * dx + (center.y - a.point.y) * dy + (center.z - a.point.z) * dz)
            / (length * length)
        guard along > 0, along < 1 else { return nil }
        let near = GeocentricPoint(x: a.point.x + along * dx, y: a.point.y + along * dy, z: a.point.z + along * dz)
        let off = near.chordMeters(to: center)
        guard radius - off > VisitRules.passDepth * max(a.accuracy, b.accuracy) else { return nil }
        return 2 * (radius * radius - off * off).squareRoot() >= VisitRules.passShare * length ? along : nil
    }

    /// The longest part of a way inside a polygon, by samples, if it is long and deep enough.
    private func deepestPart(of way: Way, in polygon: Polygon, accuracy: Double) -> ClosedRange<Double>? {
        var best: ClosedRange<Double>?
        var part: (from: Double, depth: Double)?
        for step in 1...VisitRules.passSamples {
            let share = Double(step) / Double(VisitRules.passSamples + 1)
            let signed = polygon.signedDistanceMeters(to: way.place(at: share))
            guard signed < 0 else {
                part = nil
                continue
            }
            part = (part?.from ?? share, max(part?.depth ?? 0, -signed))
            guard let part, part.depth > VisitRules.passDepth * accuracy,
                share - part.from + 1 / Double(VisitRules.passSamples + 1) >= VisitRules.passShare
            else { continue }
            if share - part.from >= best.map({ $0.upperBound - $0.lowerBound }) ?? 0 { best = part.from...share }
        }
        return best
    }

    /// The time at which the way between two points of the track met the boundary. If it did not, because the earlier
    /// point was on the other side by mistake, the later point's time.
    private func boundaryTime(_ region: Watched, from a: TrackPoint, to b: TrackPoint) -> Int64 {
        let leaves = isInside(region, a)
        guard leaves != isInside(region, b) else { return b.time }
        let guess = straightMeeting(region, from: a, to: b).map { leaves ? $0.last : $0.first }
        let share = Way(from: a.coordinate, to: b.coordinate).boundary(of: region.area, between: 0, 1, guess: guess)
        return min(b.time, max(a.time + 1, a.time + Int64((share * Double(b.time - a.time)).rounded())))
    }

    private func isInside(_ region: Watched, _ fix: TrackPoint) -> Bool {
        if case .circle = region.area {
            let chord = fix.point.chordMeters(to: region.anchor)
            if chord < region.edge.lowerBound { return true }
            if chord > region.edge.upperBound { return false }
        }
        return region.area.signedDistanceMeters(to: fix.coordinate) < 0
    }

    /// The shares at which the straight line through the earth meets a circle. They are the first guess for the
    /// geodesic's; on short ways they agree within micrometers.
    private func straightMeeting(
        _ region: Watched, from a: TrackPoint, to b: TrackPoint
    ) -> (first: Double, last: Double)? {
        guard case .circle = region.area else { return nil }
        let (dx, dy, dz) = (b.point.x - a.point.x, b.point.y - a.point.y, b.point.z - a.point.z)
        let center = region.anchor
        let (mx, my, mz) = (a.point.x - center.x, a.point.y - center.y, a.point.z - center.z)
        let square = dx * dx + dy * dy + dz * dz
        let half = mx * dx + my * dy + mz * dz
        let radius = region.edge.upperBound
        let rest = half * half - square * (mx * mx + my * my + mz * mz - radius * radius)
        guard square > 0, rest >= 0 else { return nil }
        let root = rest.squareRoot()
        return ((-half - root) / square, (-half + root) / square)
    }
}

// MARK: - The state at a boundary

extension CrossingDerivation {
    /// `[last point or null, whether it is a visit, ids inside, ids of unknown side, [id, sum, before, start]…]`; every
    /// other region is outside.
    func write(to writer: inout CBORWriter) {
        writer.array(5)
        if let last { last.fix.write(to: &writer) } else { writer.null() }
        writer.bool(last?.isVisit ?? false)
        for side in [Side.inside, .unknown] {
            let ids = regions.indices.filter { sides[$0] == side }.map { regions[$0].id.rawValue }
            writer.array(ids.count)
            for id in ids { writer.integer(id) }
        }
        writer.array(runs.count)
        for (index, run) in runs.sorted(by: { $0.key < $1.key }) {
            writer.array(4)
            writer.integer(regions[index].id.rawValue)
            writer.float(run.sum)
            run.before.write(to: &writer)
            run.start.write(to: &writer)
        }
    }

    mutating func read(from reader: inout CBORReader) throws(CBORError) {
        guard try reader.array() == 5 else { throw .unexpected }
        let fix = try reader.readNull() ? nil : try TrackPoint(from: &reader, transform)
        let isVisit = try reader.bool()
        last = fix.map { Knot(fix: $0, isVisit: isVisit) }
        func index(_ id: Int64) throws(CBORError) -> Int {
            // Sorted by id.
            var (low, high) = (0, regions.count)
            while low < high {
                let middle = (low + high) / 2
                if regions[middle].id.rawValue < id { low = middle + 1 } else { high = middle }
            }
            guard low < regions.count, regions[low].id.rawValue == id else { throw .unexpected }
            return low
        }
        sides = Array(repeating: .outside, count: regions.count)
        for side in [Side.inside, .unknown] {
            for _ in 0..<(try reader.array()) { sides[try index(try reader.integer())] = side }
        }
        for _ in 0..<(try reader.array()) {
            guard try reader.array() == 4 else { throw .unexpected }
            let region = try index(try reader.integer())
            let sum = try reader.float()
            keep(
                Run(
                    sum: sum, before: try TrackPoint(from: &reader, transform),
                    start: try TrackPoint(from: &reader, transform)), region)
        }
    }
}
