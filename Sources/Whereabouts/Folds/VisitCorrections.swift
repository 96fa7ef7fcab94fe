package import Geodesy

/// A person's corrections, ready to be applied to derived visits.
///
/// Visits are first cut, then removed, then joined. Of two contradictory corrections, the order decides: a later cut
/// divides an earlier merge, a later merge undoes the cuts within it. A visit belongs to a time if more than half of it
/// is in it, so that edges may shift; an open visit, if its arrival is.
package struct VisitCorrections: Sendable {
    /// The time of each merged visit, by time; none overlap or touch.
    private var merged: [Range<Timestamp>] = []
    private var denied: [Range<Timestamp>] = []
    private var cuts: [Timestamp] = []
    /// The oldest first.
    private var names: [(coordinate: Coordinate, name: String)] = []
    /// The places that are one.
    package private(set) var places = PlaceGroups()

    /// A name given within this distance of an older one replaces it: half the distance that makes one place of two
    /// visits.
    private static let renamedMeters = PlaceDerivation.reachMeters / 2

    /// - Parameter corrections: In the order in which they were made.
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
            case .samePlace(let first, let other): places.join(first, with: other)
            }
        }
        merged.sort { $0.lowerBound < $1.lowerBound }
        cuts = Set(cuts).sorted()
    }

    /// Whether no correction changes visits.
    package var keepsVisits: Bool { merged.isEmpty && denied.isEmpty && cuts.isEmpty }

    /// The person's name for the place: the nearest one within reach; `nil` if there is none. At a joined place it is
    /// the first name that one of its coordinates has, in the order of ``PlaceGroups/groups``.
    package func name(at coordinate: Coordinate) -> String? {
        guard let group = places.group(at: coordinate) else { return nameOfOne(at: coordinate) }
        return group.lazy.compactMap { nameOfOne(at: $0) }.first ?? nameOfOne(at: coordinate)
    }

    /// The coordinate by which the gazetteer names the place: that of the place that gives the name, if it is joined.
    package func namingCoordinate(at coordinate: Coordinate) -> Coordinate {
        places.group(at: coordinate)?.first ?? coordinate
    }

    private func nameOfOne(at coordinate: Coordinate) -> String? {
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

    /// The person's names for places in a cell (``HeldCell``), as a grant of place names shows them: in alphabetical
    /// order, for example "Bakery / Home". It depends only on the cell, so it does not disclose at which of them the
    /// person is. `nil` without a name, and with more than ``namesPerCell``, which would list a neighborhood.
    ///
    /// - Parameter center: The center of the cell.
    package func names(inCellAt center: Coordinate) -> String? {
        let found = Set(names.filter { HeldCell.isCell(at: center, around: $0.coordinate) }.map(\.name)).sorted()
        return (1...Self.namesPerCell).contains(found.count) ? found.joined(separator: " / ") : nil
    }

    /// The most names that a cell can have.
    package static let namesPerCell = 3

    /// The times at which visits are cut.
    package var moments: [Timestamp] { cuts }

    /// The time from which derived visits must be read so that those overlapping `moment` are complete. `arrival` is
    /// that of the derived visit at `moment`, if there is one.
    package func start(for moment: Timestamp, arrival: Timestamp?) -> Timestamp {
        let first = min(moment, arrival ?? moment)
        return merged.first { $0.lowerBound < first && first < $0.upperBound }?.lowerBound ?? first
    }

    fileprivate func isDenied(_ visit: Visit) -> Bool { denied.contains { visit.belongs(to: $0) } }

    /// The merged visit that a visit belongs to; at most one, because they do not overlap.
    fileprivate func group(of visit: Visit) -> Range<Timestamp>? { merged.first { visit.belongs(to: $0) } }

    fileprivate func cuts(in visit: Visit) -> ArraySlice<Timestamp> {
        cuts[...].drop { $0 <= visit.arrival }.prefix { moment in visit.departure.map { moment < $0 } ?? true }
    }
}

/// Applies corrections to derived visits, which come in the order of their arrival.
package struct CorrectedVisits {
    private let corrections: VisitCorrections
    /// Given out when no later visit can be joined to it.
    private var waiting: Visit?
    private var group: Range<Timestamp>?
    /// The length of the longest part of ``waiting`` in seconds.
    private var longestSeconds = 0.0

    package init(_ corrections: VisitCorrections) { self.corrections = corrections }

    /// Takes the next derived visit, and returns the corrected visits that are complete.
    ///
    /// - Parameter spot: Computes the place of a part of a visit that was cut, from the fixes of that time.
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

    /// The last visit; call it when no visit follows.
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

/// Where a person was in a time, in the form of a visit.
package struct VisitSpot: Hashable, Sendable {
    /// The most fixes that decide where a part of a visit was: half a day with one fix in two seconds.
    package static let fixesMax = 20_000

    /// The center of the fixes.
    package let coordinate: Coordinate
    /// Meters, a 68 % radius.
    package let horizontalAccuracy: Double
    /// The number of fixes that count.
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
    /// Whether more than half of it is in a time.
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
