/// A place that a person has visited.
package struct PlaceItem: Reply, Hashable {
    /// 16 hexadecimal digits: the id of the first visit there.
    package var id: String
    package var at: MapPoint
    /// Meters.
    package var horizontalAccuracy: Double
    package var place: String?
    package var timeZone: String?
    /// The number of visits in the range.
    package var visits: Int64
    /// The sum of the visits in the range.
    package var totalSeconds: Double
    /// The local dates of the place on which the person was there in the time asked for; dates by UTC if its time zone is
    /// not known.
    package var days: Int64
    /// The newest of them, at most ten, the newest first.
    package var newestDays: [String]
    package var firstArrival: Moment
    package var lastArrival: Moment
    /// `nil` while the person is there.
    package var lastDeparture: Moment?
    /// In the local time of the place.
    /// For example `Mo-Fr 22:00-07:00`.
    package var usualHours: String?

    package init(
        id: String, at: MapPoint, horizontalAccuracy: Double, place: String? = nil, timeZone: String? = nil,
        visits: Int64, totalSeconds: Double, days: Int64, newestDays: [String], firstArrival: Moment,
        lastArrival: Moment, lastDeparture: Moment? = nil,
        usualHours: String? = nil
    ) {
        (self.id, self.at, self.horizontalAccuracy, self.place) = (id, at, horizontalAccuracy, place)
        (self.timeZone, self.visits, self.totalSeconds, self.firstArrival) = (
            timeZone, visits, totalSeconds, firstArrival
        )
        (self.days, self.newestDays) = (days, newestDays)
        (self.lastArrival, self.lastDeparture, self.usualHours) = (lastArrival, lastDeparture, usualHours)
    }

    package static var invented: Self {
        Self(
            id: .invented, at: .invented, horizontalAccuracy: .invented, visits: .invented, totalSeconds: .invented,
            days: .invented, newestDays: .invented, firstArrival: .invented, lastArrival: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", .visitID, &id)
        try members.point(&at)
        try members.required("horizontalAccuracy", .length, &horizontalAccuracy)
        try members.optional("place", &place)
        try members.optional("timeZone", .timeZone, &timeZone)
        try members.required("visits", &visits)
        try members.required("totalSeconds", .length, &totalSeconds)
        try members.required("days", &days)
        try members.required("newestDays", &newestDays)
        try members.required("firstArrival", &firstArrival)
        try members.required("lastArrival", &lastArrival)
        try members.nullable("lastDeparture", &lastDeparture)
        try members.optional("usualHours", &usualHours)
    }

    package var shape: MapShape? { .point(at) }
    package var featureID: String? { id }
}
