/// A person, for the operator.
package struct PersonItem: Reply, Hashable {
    package var handle: String
    /// The handles of the devices that are not removed.
    package var devices: [String]

    package init(handle: String, devices: [String]) {
        (self.handle, self.devices) = (handle, devices)
    }

    package static var invented: Self {
        Self(handle: .invented, devices: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("handle", .handle, &handle)
        try members.required("devices", .list(.handle), &devices)
    }
}
