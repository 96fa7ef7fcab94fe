/// A visit with the fixes that decided it.
package struct ExplainedVisit: Reply, Hashable {
    /// `nil` if no visit has the requested id any more.
    package var visit: VisitItem?
    /// Instead of a visit that is no more: the visit that has its time now.
    package var successor: String?
    /// The version of the rules by which the visit was folded.
    package var rules: Int64?
    /// At most three, oldest first.
    package var before: [DecidingFixItem]?
    /// At most 1,000, oldest first.
    package var during: [DecidingFixItem]?
    /// At most three; empty for a visit under way.
    package var after: [DecidingFixItem]?
    package var asOf: Reference

    package init(
        visit: VisitItem? = nil, successor: String? = nil, rules: Int64? = nil, before: [DecidingFixItem]? = nil,
        during: [DecidingFixItem]? = nil, after: [DecidingFixItem]? = nil, asOf: Reference
    ) {
        (self.visit, self.successor, self.rules, self.before) = (visit, successor, rules, before)
        (self.during, self.after, self.asOf) = (during, after, asOf)
    }

    package static var invented: Self {
        Self(asOf: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.nullable("visit", &visit)
        try members.optional("successor", .visitID, &successor)
        try members.optional("rules", &rules)
        try members.optional("before", &before)
        try members.optional("during", &during)
        try members.optional("after", &after)
        try members.required("asOf", &asOf)
    }
}

/// A fix as evidence for a visit.
package struct DecidingFixItem: Reply, Hashable {
    package var number: Reference
    package var timestamp: Moment
    /// Meters.
    package var horizontalAccuracy: Double?
    /// The geodesic distance from the visit's coordinate.
    package var metersOff: Double
    /// False for an anomaly and for a fix of a device that did not lead.
    package var isUsed: Bool

    package init(
        number: Reference, timestamp: Moment, horizontalAccuracy: Double? = nil, metersOff: Double, isUsed: Bool
    ) {
        (self.number, self.timestamp, self.horizontalAccuracy, self.metersOff) = (
            number, timestamp, horizontalAccuracy, metersOff
        )
        self.isUsed = isUsed
    }

    package static let schema: String? = "DecidingFix"

    package static var invented: Self {
        Self(number: .invented, timestamp: .invented, metersOff: .invented, isUsed: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("number", &number)
        try members.required("timestamp", &timestamp)
        try members.optional("horizontalAccuracy", .length, &horizontalAccuracy)
        try members.required("metersOff", .length, &metersOff)
        try members.required("used", &isUsed)
    }
}
