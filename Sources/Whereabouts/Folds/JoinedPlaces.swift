package import Geodesy

/// The coordinates that a person has said are one place, by `Correction.samePlace`.
///
/// For example, a workplace with two buildings 200 m apart is two places for ``PlaceDerivation``. The person joins them,
/// and both have one row, one name and one sum of time.
package struct PlaceGroups: Hashable, Sendable {
    /// The coordinates of each place, the one that gives the name first. No coordinate is within ``sameMeters`` of one
    /// of another group.
    package private(set) var groups: [[Coordinate]] = []

    /// A coordinate within this distance of one of a group is that one: half the distance that makes one place of two
    /// visits.
    static let sameMeters = PlaceDerivation.reachMeters / 2

    package init() {}

    /// Joins the place at `other`, with everything that was joined to it, to the place at `first`.
    ///
    /// Cost: a comparison of latitudes with each coordinate, and a geodesic with those that are near.
    package mutating func join(_ first: Coordinate, with other: Coordinate) {
        let kept = take(first)
        let added = take(other).filter { !kept.contains($0) }
        groups.append(kept + added)
    }

    /// Removes and returns all coordinates that are joined to one, in the order of their groups; itself if there are
    /// none.
    private mutating func take(_ coordinate: Coordinate) -> [Coordinate] {
        let isNear = { (one: Coordinate) in one.isWithin(Self.sameMeters, of: coordinate) }
        let found = groups.filter { $0.contains(where: isNear) }.flatMap { $0 }
        groups.removeAll { $0.contains(where: isNear) }
        return found.isEmpty ? [coordinate] : found
    }

    /// The coordinates of the place at `coordinate`, the one that gives the name first. `nil` if none of them is within
    /// ``PlaceDerivation/reachMeters``.
    package func group(at coordinate: Coordinate) -> [Coordinate]? {
        var nearest: (group: [Coordinate], meters: Double)?
        for group in groups {
            for one in group where one.isWithin(PlaceDerivation.reachMeters, of: coordinate) {
                let meters = Geodesic.distanceMeters(from: one, to: coordinate)
                if meters < nearest?.meters ?? .infinity { nearest = (group, meters) }
            }
        }
        return nearest?.group
    }
}

/// Derived places with those joined that the person has said are one.
///
/// It is a function of the derived places and of the corrections: which visits belong together does not depend on the
/// corrections, so a withdrawn correction leaves the places exactly as they were. Without corrections it has the places
/// of the derivation, in their order.
package struct JoinedPlaces: Sendable {
    /// The places in the order of their first visits. A joined one has the id of its first visit, the coordinate of the
    /// place that gives the name, and the visits and seconds of all.
    package let places: [VisitedPlace]
    /// For each place of the derivation, the index of its place in ``places``.
    package let indices: [Int]

    /// - Parameter groups: A coordinate of them stands for the nearest derived place that a visit there would belong to;
    ///   one without such a place is left out. Two groups that share a place are one, with the name of the later group.
    ///
    /// Cost: a comparison of latitudes for each coordinate and place, and a geodesic if these are near.
    package init(_ derived: [VisitedPlace], joinedBy groups: PlaceGroups) {
        // The group of each derived place, by the lowest index in it, and the place that gives its name.
        var lowest = Array(derived.indices)
        var naming = Array(derived.indices)
        for group in groups.groups {
            let members = group.compactMap { Self.nearest(to: $0, in: derived) }
            guard let first = members.first else { continue }
            let name = naming[lowest[first]]
            let joined = Set(members.map { lowest[$0] })
            guard let low = joined.min() else { continue }
            for index in lowest.indices where joined.contains(lowest[index]) { lowest[index] = low }
            naming[low] = name
        }
        var places: [VisitedPlace] = []
        var indices: [Int] = []
        for (index, place) in derived.enumerated() {
            guard lowest[index] == index else {
                let joined = indices[lowest[index]]
                places[joined].add(place)
                indices.append(joined)
                continue
            }
            indices.append(places.count)
            var place = place
            let name = derived[naming[index]]
            (place.coordinate, place.horizontalAccuracy) = (name.coordinate, name.horizontalAccuracy)
            places.append(place)
        }
        (self.places, self.indices) = (places, indices)
    }

    private static func nearest(to coordinate: Coordinate, in places: [VisitedPlace]) -> Int? {
        var nearest: (index: Int, meters: Double)?
        for (index, place) in places.enumerated() {
            let doubt = min(PlaceDerivation.mostDoubtMeters, place.horizontalAccuracy)
            guard place.coordinate.isWithin(PlaceDerivation.reachMeters + doubt, of: coordinate) else { continue }
            let meters = Geodesic.distanceMeters(from: place.coordinate, to: coordinate)
            if meters < nearest?.meters ?? .infinity { nearest = (index, meters) }
        }
        return nearest?.index
    }
}

extension VisitedPlace {
    /// Adds the visits of another place to this one. A place without visits that count adds nothing.
    fileprivate mutating func add(_ other: VisitedPlace) {
        guard other.visits > 0 else { return }
        if visits == 0 || other.firstArrival < firstArrival { firstArrival = other.firstArrival }
        if visits == 0 || other.lastArrival > lastArrival {
            (lastArrival, lastDeparture) = (other.lastArrival, other.lastDeparture)
        }
        visits += other.visits
        totalSeconds += other.totalSeconds
    }
}

extension Coordinate {
    /// Whether another one is at most `meters` away, by a geodesic on WGS 84.
    ///
    /// - Parameter meters: At most 380, the distance up to which ``PlaceDerivation/mostDegrees`` excludes nothing.
    fileprivate func isWithin(_ meters: Double, of other: Coordinate) -> Bool {
        abs(latitude - other.latitude) <= PlaceDerivation.mostDegrees
            && Geodesic.distanceMeters(from: self, to: other) <= meters
    }
}
