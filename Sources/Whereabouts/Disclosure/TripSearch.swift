/// A search for the trips and gaps that overlap a range, as far as a permit shows them.
///
/// A trip is between two visits. So the search reads the visits around the range, divides the time between them into
/// stretches, and derives trips from the fixes of each. A hidden visit or fix is treated like one that was never
/// reported.
package struct TripSearch: Sendable {
    /// The fixes read between two visits: a day with one each second.
    package static let fixesMax = 90_000

    /// A trip that began longer than this before the range, in seconds, is cut there. Before the first visit and after
    /// the last one, a trip is followed at most this far beyond the range.
    static let reachSeconds: Int64 = 2 * 86_400

    private let permit: Permit
    /// The range; `nil` for an open end.
    private let from, to: Timestamp?
    /// The range in which visits are read. The permit hides everything before its beginning, also the end of an earlier
    /// visit.
    package let reach: (from: Timestamp?, to: Timestamp?)

    /// - Parameters:
    ///   - from: The beginning of the range; `nil` for an open one.
    ///   - to: Its end.
    package init(_ permit: Permit, from: Timestamp?, to: Timestamp?) {
        (self.permit, self.from, self.to) = (permit, from, to)
        let earliest = from.map { $0.adding(seconds: -Self.reachSeconds) }
        reach = (
            earliest.map { max($0, permit.notBefore ?? $0) }, to.map { $0.adding(seconds: Self.reachSeconds) }
        )
    }

    /// The time between two visits, before the first or after the last.
    package struct Stretch: Sendable {
        /// The time whose fixes belong to the stretch; `nil` for an open end.
        package let from, to: Timestamp?
        fileprivate let departure, arrival: TripDerivation.Stop?
    }

    /// The stretches that overlap the range, in order of time.
    ///
    /// - Parameters:
    ///   - visits: Visits of ``reach`` that may be shown (``Permit/shows(_:at:)``), by arrival.
    ///   - isLastPage: Whether no more visits follow. Otherwise the stretches end at the last visit, with which the
    ///     next page begins.
    package func stretches(between visits: [Visit], isLastPage: Bool) -> [Stretch] {
        var found: [Stretch] = []
        for index in 0...visits.count {
            let departed = index > 0 ? visits[index - 1] : nil
            let arrived = index < visits.count ? visits[index] : nil
            if arrived == nil, !isLastPage { break }
            // No stretch follows a visit that has not ended.
            if let departed, departed.departure == nil { break }
            let begin = departed?.departure ?? reach.from
            let end = arrived?.arrival ?? reach.to
            if let begin, let to, begin >= to { break }
            if let end, let from, end <= from { continue }
            let departure = departed.flatMap { visit in
                visit.departure.map {
                    TripDerivation.Stop(
                        time: $0, coordinate: visit.coordinate, horizontalAccuracy: visit.horizontalAccuracy)
                }
            }
            let arrival = arrived.map {
                TripDerivation.Stop(
                    time: $0.arrival, coordinate: $0.coordinate, horizontalAccuracy: $0.horizontalAccuracy)
            }
            found.append(Stretch(from: begin, to: end, departure: departure, arrival: arrival))
        }
        return found
    }

    /// The trips and gaps of one stretch, in order of time.
    ///
    /// - Parameter fixes: The leading device's fixes of the stretch, by time. Hidden ones are left out here.
    package func trips(of stretch: Stretch, fixes: [StoredFix]) -> [Trip] {
        TripDerivation.trips(
            from: stretch.departure, to: stretch.arrival, fixes: fixes.filter { permit.shows($0.timestamp) })
    }

    /// The trips and gaps that overlap the range, with modes that fit those before and after.
    ///
    /// - Parameter found: The trips of all stretches, in order of time.
    package func inRange(_ found: [Trip]) -> [Trip] {
        TripDerivation.inContext(found).filter { trip in
            (from.map { trip.end > $0 } ?? true) && (to.map { trip.start < $0 } ?? true)
        }
    }
}
