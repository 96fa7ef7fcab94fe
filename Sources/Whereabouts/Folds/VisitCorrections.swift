package import Geodesy

/// A person's corrections, ready to be laid over the visits that are derived.
///
/// Visits are cut first, then taken away, then joined; which of two corrections that contradict each other counts is
/// decided by their order: a later cut divides an earlier joining, a later joining undoes the cuts within it. A visit
/// belongs to a time when more than half of it lies there, so that edges may shift; one that goes on, when its arrival
/// does.
package struct VisitCorrections: Sendable {
    /// Times of one visit each, none touching another, by time.
    private var merged: [Range<Timestamp>] = []
    private var denied: [Range<Timestamp>] = []
    private var cuts: [Timestamp] = []
    /// The oldest first.
    private var names: [(coordinate: Coordinate, name: String)] = []

    /// A name given within this of an older one takes its place: half of what makes one place of two visits.
    private static let renamedMeters = PlaceDerivation.reachMeters / 2

    /// Takes corrections in the order they were made.
    package init(_ corrections: some Sequence<Correction> = []) {
        for correction in corrections {
            switch correction {
            case .merge(let time):
                let touching = merged.filter { $0.overlaps(time) }
                let from = touching.map(\.lowerBound).min().map { min($0, time.lowerBound) } ?? time.lowerBound
                let to = touching.map(\.upperBound).max().map { max($0, time.upperBound) } ?? time.upperBound
                merged.removeAll { $0.overlaps(time) }
                merged.append(from..<to)
                cuts.removeAll { time.lowerBound < $0 && $0 < time.upperBound }
            case .split(let moment):
                cuts.append(moment)
                guard let index = merged.firstIndex(where: { $0.lowerBound < moment && moment < $0.upperBound }) else {
                    continue
                }
                let whole = merged.remove(at: index)
                merged += [whole.lowerBound..<moment, moment..<whole.upperBound]
            case .notVisit(let time): denied.append(time)
            case .rename(let coordinate, let name):
                names.removeAll { Geodesic.distanceMeters(from: $0.coordinate, to: coordinate) <= Self.renamedMeters }
                names.append((coordinate, name))
            }
        }
        merged.sort { $0.lowerBound < $1.lowerBound }
        cuts = Set(cuts).sorted()
    }

    /// Whether visits stay as they are derived.
    package var keepsVisits: Bool { merged.isEmpty && denied.isEmpty && cuts.isEmpty }

    /// What the person calls the spot: the nearest name within reach; `nil` when they call it nothing.
    package func name(at coordinate: Coordinate) -> String? {
        var nearest: (name: String, meters: Double)?
        for name in names
        where abs(name.coordinate.latitude - coordinate.latitude) <= PlaceDerivation.mostDegrees {
            let meters = Geodesic.distanceMeters(from: name.coordinate, to: coordinate)
            if meters <= PlaceDerivation.reachMeters, meters < nearest?.meters ?? .infinity {
                nearest = (name.name, meters)
            }
        }
        return nearest?.name
    }

    /// Moments of visits that were cut.
    package var moments: [Timestamp] { cuts }

    /// From where on derived visits must be looked at, so that those overlapping `moment` come out whole. `arrival` is that
    /// of the derived visit at `moment`, if there is one.
    package func start(for moment: Timestamp, arrival: Timestamp?) -> Timestamp {
        let first = min(moment, arrival ?? moment)
        return merged.first { $0.lowerBound < first && first < $0.upperBound }?.lowerBound ?? first
    }

    fileprivate func isDenied(_ visit: Visit) -> Bool { denied.contains { visit.belongs(to: $0) } }

    /// The time of one visit that a visit belongs to; at most one, as they do not overlap.
    fileprivate func group(of visit: Visit) -> Range<Timestamp>? { merged.first { visit.belongs(to: $0) } }

    fileprivate func cuts(in visit: Visit) -> ArraySlice<Timestamp> {
        cuts[...].drop { $0 <= visit.arrival }.prefix { moment in visit.departure.map { moment < $0 } ?? true }
    }
}

/// Lays corrections over derived visits that come in the order of their arrival.
package struct CorrectedVisits {
    private let corrections: VisitCorrections
    /// Told when nothing can join it any more.
    private var waiting: Visit?
    private var group: Range<Timestamp>?
    /// How long the longest part of ``waiting`` lasted.
    private var longestSeconds = 0.0

    package init(_ corrections: VisitCorrections) { self.corrections = corrections }

    /// Takes the next derived visit, and returns what is told by now.
    ///
    /// - Parameter spot: finds again the place of a part of a visit that was cut, by the fixes of that time.
    package mutating func add<Failure: Error>(
        _ visit: Visit, spot: (_ from: Timestamp, _ to: Timestamp?) throws(Failure) -> VisitSpot?
    ) throws(Failure) -> [Visit] {
        var told: [Visit] = []
        for part in try parts(of: visit, spot) where !corrections.isDenied(part) {
            let group = corrections.group(of: part)
            let seconds = part.departure.map { $0.seconds(since: part.arrival) } ?? .infinity
            if let first = waiting, let group, group == self.group {
                waiting = first.joined(with: part, atItsPlace: seconds > longestSeconds)
                longestSeconds = max(longestSeconds, seconds)
            } else {
                if let first = waiting { told.append(first) }
                (waiting, self.group, longestSeconds) = (part, group, seconds)
            }
        }
        return told
    }

    /// What is told when no visit follows.
    package mutating func end() -> Visit? {
        defer { waiting = nil }
        return waiting
    }

    private func parts<Failure: Error>(
        of visit: Visit, _ spot: (_ from: Timestamp, _ to: Timestamp?) throws(Failure) -> VisitSpot?
    ) throws(Failure) -> [Visit] {
        let cuts = corrections.cuts(in: visit)
        if cuts.isEmpty { return [visit] }
        var parts: [Visit] = []
        for (from, to) in zip([visit.arrival] + cuts, cuts.map { Optional($0) } + [visit.departure]) {
            parts.append(visit.part(from: from, to: to, at: try spot(from, to)))
        }
        return parts
    }
}

/// Where somebody was in a time, as a visit tells it.
package struct VisitSpot: Hashable, Sendable {
    package let coordinate: Coordinate
    /// Meters, a 68 % radius.
    package let horizontalAccuracy: Double
    package let fixes: Int64

    /// The accuracy-weighted mean of the fixes that count; `nil` when none does.
    package init?(of fixes: [StoredFix], _ transform: GeocentricTransform) {
        var mean: WeightedMean?
        for fix in fixes {
            guard let point = TrackPoint(fix, transform) else { continue }
            if mean == nil { mean = WeightedMean(point) } else { mean?.add(point) }
        }
        guard let mean else { return nil }
        coordinate = transform.coordinate(mean.center).coordinate
        horizontalAccuracy = mean.placeRadius
        self.fixes = mean.count
    }
}

extension Visit {
    /// Whether more than half of it lies in a time.
    fileprivate func belongs(to time: Range<Timestamp>) -> Bool {
        guard let departure else { return time.contains(arrival) }
        let inside = min(departure, time.upperBound).seconds(since: max(arrival, time.lowerBound))
        return 2 * inside > departure.seconds(since: arrival)
    }

    fileprivate func part(from: Timestamp, to: Timestamp?, at spot: VisitSpot?) -> Visit {
        Visit(
            id: from == arrival ? id : Visit.id(ofPartFrom: from, of: id), arrival: from, departure: to,
            coordinate: spot?.coordinate ?? coordinate,
            horizontalAccuracy: spot?.horizontalAccuracy ?? horizontalAccuracy, fixes: spot?.fixes ?? fixes,
            firstReported: firstReported, departureReported: departureReported ?? (to == nil ? nil : firstReported),
            lastSeen: to == nil ? lastSeen : nil, tellableFrom: tellableFrom)
    }

    fileprivate func joined(with next: Visit, atItsPlace: Bool) -> Visit {
        let place = atItsPlace ? next : self
        return Visit(
            id: id, arrival: arrival, departure: next.departure, coordinate: place.coordinate,
            horizontalAccuracy: place.horizontalAccuracy, fixes: fixes + next.fixes, firstReported: firstReported,
            departureReported: next.departureReported, lastSeen: next.lastSeen)
    }
}
