package import Geodesy
package import Replies
package import Whereabouts

// Derived rows as answers show them: those of the service, and those that a recipient's computer derives from opened envelopes.

extension VisitItem {
    /// - Parameters:
    ///   - place: The name that the reader sees.
    ///   - timeZone: The IANA name of the zone of the place; `nil` if unknown.
    package init(_ visit: Visit, place: String?, timeZone: String?) {
        self.init(
            id: visit.id.hexadecimal, arrival: Moment(visit.arrival), departure: visit.departure.map { Moment($0) },
            at: MapPoint(visit.coordinate), horizontalAccuracy: visit.horizontalAccuracy, place: place,
            timeZone: timeZone, firstReported: Moment(visit.firstReported),
            departureReported: visit.departureReported.map { Moment($0) },
            isProvisional: visit.isProvisional ? true : nil)
    }
}

extension CrossingItem {
    /// - Parameters:
    ///   - region: The region's name.
    ///   - entered: For an exit, the entry before it; `nil` if unknown, or not shown.
    package init(_ crossing: Crossing, region: String, entered: Timestamp?) {
        self.init(
            region: region, type: crossing.kind.word, time: Moment(crossing.time), reported: Moment(crossing.reported),
            dwellSeconds: entered.map { crossing.time.seconds(since: $0) })
    }
}

extension TripItem {
    /// - Parameters:
    ///   - name: The name of a place that the reader sees.
    ///   - timeZone: As for a visit, of the start.
    package init(_ trip: Trip, name: (Coordinate) -> String?, timeZone: String?) {
        func end(_ coordinate: Coordinate) -> TripEndItem {
            TripEndItem(at: MapPoint(coordinate), place: name(coordinate))
        }
        self.init(
            type: trip.way == nil ? "gap" : "trip", start: Moment(trip.start), end: Moment(trip.end),
            durationSeconds: trip.end.seconds(since: trip.start), from: end(trip.from), to: end(trip.to),
            distanceMeters: trip.way?.distanceMeters, mode: trip.way?.mode.word, confidence: trip.way?.confidence,
            fixes: trip.way?.fixes, timeZone: timeZone)
    }
}

extension PlaceItem {
    /// - Parameters:
    ///   - name: The name that the reader sees.
    ///   - timeZone: As for a visit.
    package init(_ found: PlaceSearch.Found, name: String?, timeZone: String?) {
        let place = found.place
        self.init(
            id: place.id.hexadecimal, at: MapPoint(place.coordinate), horizontalAccuracy: place.horizontalAccuracy,
            place: name, timeZone: timeZone, visits: Int64(place.visits), totalSeconds: place.totalSeconds,
            days: found.days.count, newestDays: found.days.newest.map(\.text),
            firstArrival: Moment(place.firstArrival), lastArrival: Moment(place.lastArrival),
            lastDeparture: place.lastDeparture.map { Moment($0) }, usualHours: found.usualHours?.text)
    }
}

extension UInt64 {
    /// The id of a visit or place as 16 hexadecimal digits.
    package var hexadecimal: String {
        let text = String(self, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }
}

extension Moment {
    package init(_ time: Timestamp) { self.init(milliseconds: time.milliseconds) }
}

extension MapPoint {
    package init(_ coordinate: Coordinate) {
        self = .degrees(latitude: coordinate.latitude, longitude: coordinate.longitude)
    }
}
