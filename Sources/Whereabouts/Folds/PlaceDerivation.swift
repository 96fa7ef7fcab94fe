package import Geodesy

/// A place that a person has visited once or several times.
package struct VisitedPlace: Hashable, Sendable {
    /// The id of the first visit there.
    package let id: UInt64
    /// The coordinate of the visit whose place is known best.
    package internal(set) var coordinate: Coordinate
    /// Meters, of the same visit.
    package internal(set) var horizontalAccuracy: Double
    /// The number of visits that count.
    package internal(set) var visits: Int64
    /// The seconds of all visits that are over.
    package internal(set) var totalSeconds: Double
    /// The arrival of the first visit that counts.
    package internal(set) var firstArrival: Timestamp
    /// The arrival of the last visit that counts.
    package internal(set) var lastArrival: Timestamp
    /// When the person last left; `nil` while the person is there.
    package internal(set) var lastDeparture: Timestamp?
}

/// Decides which visits were to the same place.
///
/// Visits come in the order of their arrival. Each belongs to the nearest known place within reach, or makes a new one.
/// The result is a function of the visits, and a later visit changes no earlier assignment. Cost: a comparison of
/// latitudes for each pair of visit and place, and a geodesic if these are near.
package struct PlaceDerivation: Sendable {
    /// A house with its yard, and the difference between two means of fixes.
    static let reachMeters = 80.0
    /// A vague visit belongs to a place at most this much further away.
    static let mostDoubtMeters = 150.0
    /// Places further apart in latitude than this are not within reach: a degree of a meridian has at least 110.5 km.
    static let mostDegrees = (reachMeters + 2 * mostDoubtMeters) / 110_500

    /// The places in the order of their first visits.
    package private(set) var places: [VisitedPlace] = []

    package init() {}

    /// Takes the next visit by arrival, and returns the index of its place in ``places``.
    ///
    /// - Parameter counts: Whether it counts for the place's visits and times, and not only for where the place is.
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
