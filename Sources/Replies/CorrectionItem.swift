/// A correction of a person's timeline.
package struct CorrectionItem: Reply, Hashable {
    /// The id with which the person withdraws it.
    package var id: Reference
    package var content: CorrectionContent

    package init(id: Reference, content: CorrectionContent) {
        (self.id, self.content) = (id, content)
    }

    package static var invented: Self {
        Self(id: .invented, content: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", &id)
        try content.visit(&members)
    }
}

/// The content of a correction, in the form of its request.
package struct CorrectionContent: Reply, Hashable {
    /// `merge`, `split`, `notVisit`, `rename` or `samePlace`.
    package var type: String
    /// Of `merge` and `notVisit`, also `to`.
    package var from: Moment?
    package var to: Moment?
    /// Of `split`.
    package var moment: Moment?
    /// Of `rename`, also the name, and of `samePlace` the place that gives the name.
    package var place: MapPoint?
    package var name: String?
    /// Of `samePlace`: degrees of the other place.
    package var otherLatitude, otherLongitude: Double?

    package init(
        type: String, from: Moment? = nil, to: Moment? = nil, moment: Moment? = nil, place: MapPoint? = nil,
        name: String? = nil
    ) {
        (self.type, self.from, self.to, self.moment) = (type, from, to, moment)
        (self.place, self.name) = (place, name)
    }

    package static var invented: Self {
        Self(type: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("type", &type)
        try members.optional("from", &from)
        try members.optional("to", &to)
        try members.optional("at", &moment)
        try members.optionalPoint(&place)
        try members.optional("name", &name)
        try members.optional("otherLatitude", &otherLatitude)
        try members.optional("otherLongitude", &otherLongitude)
    }
}
