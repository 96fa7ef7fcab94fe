/// How long reports are kept.
package struct RetentionItem: Reply, Hashable {
    /// The days that count: the fewer of the person's and the house's. Absent without a limit.
    package var trackDays: Int64?
    /// The person's own rule.
    package var ownTrackDays: Int64?
    /// The house's rule.
    package var houseTrackDays: Int64?
    /// Reports recorded before this moment are gone.
    package var goneBefore: Moment?

    package init(
        trackDays: Int64? = nil, ownTrackDays: Int64? = nil, houseTrackDays: Int64? = nil, goneBefore: Moment? = nil
    ) {
        (self.trackDays, self.ownTrackDays) = (trackDays, ownTrackDays)
        (self.houseTrackDays, self.goneBefore) = (houseTrackDays, goneBefore)
    }

    package static var invented: Self { Self() }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.optional("trackDays", &trackDays)
        try members.optional("ownTrackDays", &ownTrackDays)
        try members.optional("houseTrackDays", &houseTrackDays)
        try members.optional("goneBefore", &goneBefore)
    }
}

/// The house's rule, for the operator.
package struct HouseRetention: Reply, Hashable {
    /// Absent without a limit.
    package var trackDays: Int64?

    package init(trackDays: Int64? = nil) { self.trackDays = trackDays }

    package static var invented: Self { Self() }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.optional("trackDays", &trackDays)
    }
}
