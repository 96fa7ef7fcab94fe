/// A person who shares with the caller, and the rights.
package struct SharedItem: Reply, Hashable {
    package var handle: String
    /// Whether the caller may ask where the person is now; a share link may not.
    package var asks: Bool
    /// Whether the stored location may be read without a question.
    package var hasLocation: Bool
    /// Whether the track and visits may be read.
    package var hasHistory: Bool

    package init(handle: String, asks: Bool, hasLocation: Bool, hasHistory: Bool) {
        (self.handle, self.asks, self.hasLocation, self.hasHistory) = (handle, asks, hasLocation, hasHistory)
    }

    package static var invented: Self {
        Self(handle: .invented, asks: .invented, hasLocation: .invented, hasHistory: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("handle", .handle, &handle)
        try members.required("ask", &asks)
        try members.required("location", &hasLocation)
        try members.required("history", &hasHistory)
    }
}

/// All people who share with the caller: one page, which is not read from the log.
package struct SharedPeople: Reply, Hashable {
    package var items: [SharedItem]
    /// Always `nil`: there is no other page.
    package var next: String?

    package init(items: [SharedItem]) { self.items = items }

    package static var invented: Self { Self(items: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required(PageEnd.items, &items)
        try members.nullable("next", &next)
    }
}
