/// A search for the places that a person visited in a range.
///
/// It takes all visits that may be shown, from the first one, so that a place has the same id in every answer. A place
/// without a visit in the range is not found.
package struct PlaceSearch: Sendable {
    /// The range; `nil` for an open end.
    private let from, to: Timestamp?
    /// The moment of the answer, at which a visit under way ends here.
    private let now: Timestamp
    private var derivation = PlaceDerivation()
    /// The visits of the range, by the index of their place in ``derivation``.
    private var visits: [Int: [Visit]] = [:]

    /// - Parameters:
    ///   - from: The beginning of the range; `nil` for an open one.
    ///   - to: Its end.
    ///   - now: The moment of the answer.
    package init(from: Timestamp?, to: Timestamp?, at now: Timestamp) {
        (self.from, self.to, self.now) = (from, to, now)
    }

    /// Takes the next visit by arrival.
    package mutating func add(_ visit: Visit) {
        let isAsked = from.map { visit.departure ?? now > $0 } ?? true
        let place = derivation.add(visit, counts: isAsked)
        if isAsked { visits[place, default: []].append(visit) }
    }

    /// A place with a visit in the range.
    package struct Found: Sendable {
        /// The place, with those joined to it.
        package let place: VisitedPlace
        /// The local dates of the visits, as far as they are in the range.
        package let days: VisitedDays
        /// When the person is usually there; `nil` without a habit, or if the time zone is not known.
        package let usualHours: WeeklyHours?
    }

    /// The places, the one with the longest time first.
    ///
    /// - Parameters:
    ///   - groups: The places that the person has said are one.
    ///   - zone: The time zone of a place for the times between the first visit and now; `nil` if unknown.
    package func found(
        joinedBy groups: PlaceGroups, zone: (VisitedPlace, _ firstArrival: Timestamp) -> ZoneRules?
    ) -> [Found] {
        let joined = JoinedPlaces(derivation.places, joinedBy: groups)
        let places = joined.places
        var visitsThere: [Int: [Visit]] = [:]
        for (place, visits) in visits { visitsThere[joined.indices[place], default: []] += visits }
        let order = places.indices.filter { places[$0].visits > 0 }
            .sorted { (places[$1].totalSeconds, places[$0].id) < (places[$0].totalSeconds, places[$1].id) }
        return order.map { index in
            let rules = zone(places[index], places.first?.firstArrival ?? now)
            var usual = rules.map { UsualHours(in: $0) }
            var days = VisitedDays(in: rules)
            for visit in visitsThere[index, default: []].sorted(by: { $0.arrival < $1.arrival }) {
                if let departure = visit.departure { usual?.add(from: visit.arrival, to: departure) }
                days.add(
                    from: max(visit.arrival, from ?? visit.arrival),
                    to: min(visit.departure ?? now, to ?? visit.departure ?? now))
            }
            return Found(place: places[index], days: days, usualHours: usual?.hours)
        }
    }
}
