/// The pushes that a device may still get.
package struct PushBudgetItem: Reply, Hashable {
    /// The handle of the device's owner.
    package var person: String
    /// The device's handle.
    package var device: String
    /// How many pushes may be sent at once.
    package var left: Int64
    /// How many it is when none was sent for a day.
    package var capacity: Int64
    /// When the next push for a person's question may be sent; in the past if now.
    package var next: Moment
    /// When the next push for a question of the service itself may be sent, which leaves a third of the budget.
    package var nextScheduled: Moment
    /// When the budget is full again; `nil` if it is.
    package var full: Moment?
    /// When the last push was sent; `nil` if none ever was.
    package var last: Moment?

    package init(
        person: String, device: String, left: Int64, capacity: Int64, next: Moment, nextScheduled: Moment,
        full: Moment? = nil, last: Moment? = nil
    ) {
        (self.person, self.device, self.left, self.capacity) = (person, device, left, capacity)
        (self.next, self.nextScheduled, self.full, self.last) = (next, nextScheduled, full, last)
    }

    package static var invented: Self {
        Self(
            person: .invented, device: .invented, left: .invented, capacity: .invented, next: .invented,
            nextScheduled: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("person", &person)
        try members.required("device", &device)
        try members.required("left", &left)
        try members.required("capacity", &capacity)
        try members.required("next", &next)
        try members.required("nextScheduled", &nextScheduled)
        try members.optional("full", &full)
        try members.optional("last", &last)
    }
}
