/// An entry into a region or an exit from it.
package struct CrossingItem: Reply, Hashable {
    /// The region's name.
    package var region: String
    /// `enter` or `exit`.
    package var type: String
    /// When the person crossed the border, by the device's clock.
    package var time: Moment
    /// When the service got the fix that confirmed it.
    package var reported: Moment
    /// For an exit: since the entry, if that is known.
    package var dwellSeconds: Double?
    /// The zone of the region; only in the person's own feed.
    package var timeZone: String?

    package init(region: String, type: String, time: Moment, reported: Moment, dwellSeconds: Double? = nil) {
        (self.region, self.type, self.time, self.reported) = (region, type, time, reported)
        self.dwellSeconds = dwellSeconds
    }

    package static var invented: Self {
        Self(region: .invented, type: .invented, time: .invented, reported: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("region", &region)
        try members.required("type", .words(["enter", "exit"]), &type)
        try members.required("time", &time)
        try members.required("reported", &reported)
        try members.optional("dwellSeconds", .length, &dwellSeconds)
        try members.optional("timeZone", .timeZone, &timeZone)
    }
}
