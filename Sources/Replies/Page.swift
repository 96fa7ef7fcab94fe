/// A page of a list.
package struct Page<Item: MemberValue>: Reply {
    /// In the order of the route, at most `limit`.
    package var items: [Item]
    /// The cursor and the place, which follow the items.
    package var end: PageEnd

    package init(items: [Item], end: PageEnd) { (self.items, self.end) = (items, end) }

    package static var invented: Self { Self(items: [], end: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required(PageEnd.items, &items)
        try end.visit(&members)
    }
}

/// The members of a page after its items.
package struct PageEnd: Reply, Hashable {
    /// The name of the items, which come first.
    package static let items: StaticString = "items"

    /// The value of `after` for the next page; `nil` on the last page.
    package var next: Reference?
    /// The place in the log up to which the page was read.
    package var asOf: Reference

    package init(next: Reference? = nil, asOf: Reference) { (self.next, self.asOf) = (next, asOf) }

    package static var invented: Self { Self(asOf: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.nullable("next", .text, &next)
        try members.required("asOf", &asOf)
    }
}
