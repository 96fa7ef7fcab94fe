package import Geodesy

/// A spot that a person has visited, once or again and again.
package struct VisitedPlace: Hashable, Sendable {
    /// The id of the first visit there.
    package let id: UInt64
    /// That of the visit whose place is known best.
    package internal(set) var coordinate: Coordinate
    /// Meters, likewise.
    package internal(set) var horizontalAccuracy: Double
    package internal(set) var visits: Int64
    /// Of all visits that are over.
    package internal(set) var totalSeconds: Double
    package internal(set) var firstArrival: Timestamp
    package internal(set) var lastArrival: Timestamp
    /// `nil` while the person is there.
    package internal(set) var lastDeparture: Timestamp?
}

/// Tells which visits were to the same spot.
///
/// Visits are taken in the order of their arrival; each belongs to the nearest place known by then that lies within reach,
/// or makes a new one. What comes out is a function of the visits, and a later visit changes no earlier assignment. Costs
/// a comparison of latitudes for each pair of visit and place, and a geodesic where these are near.
package struct PlaceDerivation: Sendable {
    /// A house with its yard, and what two means of fixes may differ by.
    static let reachMeters = 80.0
    /// A vague visit belongs to a place so much further off, at most.
    static let mostDoubtMeters = 150.0
    /// No two places further apart in latitude than this are within reach: a degree of a meridian has 110.5 km and more.
    static let mostDegrees = (reachMeters + 2 * mostDoubtMeters) / 110_500

    package private(set) var places: [VisitedPlace] = []

    package init() {}

    /// Takes the next visit by arrival, and returns the index of its place in ``places``.
    ///
    /// - Parameter counts: whether it counts for the place's visits and times, or only tells where the place is.
    @discardableResult
    package mutating func add(_ visit: Visit, counts: Bool = true) -> Int {
        var nearest: (index: Int, meters: Double)?
        for index in places.indices
        where abs(places[index].coordinate.latitude - visit.coordinate.latitude) <= Self.mostDegrees {
            let meters = Geodesic.distanceMeters(from: places[index].coordinate, to: visit.coordinate)
            let doubt = min(Self.mostDoubtMeters, max(places[index].horizontalAccuracy, visit.horizontalAccuracy))
            guard meters <= Self.reachMeters + doubt, meters < nearest?.meters ?? .infinity else { continue }
            nearest = (index, meters)
        }
        let seconds = counts ? visit.departure.map { $0.seconds(since: visit.arrival) } ?? 0 : 0
        guard let index = nearest?.index else {
            places.append(
                VisitedPlace(
                    id: visit.id, coordinate: visit.coordinate, horizontalAccuracy: visit.horizontalAccuracy,
                    visits: counts ? 1 : 0,
                    totalSeconds: seconds, firstArrival: visit.arrival, lastArrival: visit.arrival,
                    lastDeparture: visit.departure))
            return places.count - 1
        }
        if visit.horizontalAccuracy < places[index].horizontalAccuracy {
            places[index].coordinate = visit.coordinate
            places[index].horizontalAccuracy = visit.horizontalAccuracy
        }
        guard counts else { return index }
        if places[index].visits == 0 { places[index].firstArrival = visit.arrival }
        places[index].visits += 1
        places[index].totalSeconds += seconds
        places[index].lastArrival = visit.arrival
        places[index].lastDeparture = visit.departure
        return index
    }
}
