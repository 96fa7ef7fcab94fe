/// The outcome of reported fixes.
package struct ReportOutcome: Reply, Hashable {
    /// Fixes that were not known before.
    package var new: Int64
    /// Fixes that were known already.
    package var duplicate: Int64
    /// Of the new ones, those that have the device, time and place of another fix.
    package var twins: Int64?
    package var rejected: [RejectedItem]
    /// The event after which all of them are in the log.
    package var number: Reference?

    package init(
        new: Int64, duplicate: Int64, twins: Int64? = nil, rejected: [RejectedItem], number: Reference? = nil
    ) {
        (self.new, self.duplicate, self.twins, self.rejected) = (new, duplicate, twins, rejected)
        self.number = number
    }

    package static let schema: String? = "ReportOutcome"

    package static var invented: Self {
        Self(new: .invented, duplicate: .invented, rejected: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("new", &new)
        try members.required("duplicate", &duplicate)
        try members.optional("twins", &twins)
        try members.required("rejected", &rejected)
        try members.optional("number", &number)
    }
}

/// A report that cannot be used.
package struct RejectedItem: Reply, Hashable {
    /// In the report, from 0.
    package var index: Int64
    /// One word, for example `badCoordinate`.
    package var reason: String
    /// A sentence for people.
    package var detail: String?

    package init(index: Int64, reason: String, detail: String? = nil) {
        (self.index, self.reason, self.detail) = (index, reason, detail)
    }

    package static var invented: Self {
        Self(index: .invented, reason: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("index", &index)
        try members.required("reason", &reason)
        try members.optional("detail", &detail)
    }
}
