/// The members of an event as the operator sees it, before its content.
package struct EventHead: Reply, Hashable {
    package var number: Int64
    /// For example `FixReported`.
    package var kind: String
    /// 0 for the house; each person has two.
    package var stream: Int64
    /// 1, 2, 3 and so on within the stream.
    package var version: Int64
    package var recordedAt: Moment
    /// The principal: 0 for the service, 1 for the operator.
    package var actor: Int64
    /// The UUID of the request or import that made it.
    package var correlation: String
    /// The event that led to this one; 0 without one.
    package var cause: Int64
    /// SHA-256, hexadecimal.
    package var leaf: String

    package init(
        number: Int64, kind: String, stream: Int64, version: Int64, recordedAt: Moment, actor: Int64,
        correlation: String, cause: Int64, leaf: String
    ) {
        (self.number, self.kind, self.stream, self.version) = (number, kind, stream, version)
        (self.recordedAt, self.actor, self.correlation, self.cause) = (recordedAt, actor, correlation, cause)
        self.leaf = leaf
    }

    package static var invented: Self {
        Self(
            number: .invented, kind: .invented, stream: .invented, version: .invented, recordedAt: .invented,
            actor: .invented, correlation: .invented, cause: .invented, leaf: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("number", &number)
        try members.required("kind", &kind)
        try members.required("stream", &stream)
        try members.required("version", &version)
        try members.required("recordedAt", &recordedAt)
        try members.required("actor", &actor)
        try members.required("correlation", .uuid, &correlation)
        try members.required("cause", &cause)
        try members.required("leaf", &leaf)
    }
}

/// The content of an event that the operator reads opened.
package struct EventContent<Content: MemberValue>: Reply {
    /// `nil` for an event as stored.
    package var content: Content?

    package init(content: Content?) { self.content = content }

    package static var invented: Self { Self(content: nil) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.optional("content", &content)
    }
}

/// Those members of the content of `DeviceAdded` that name the device.
package struct DeviceAddedContent: Reply, Hashable {
    /// The log's number of the device.
    package var device: Int64
    /// `nil` if the person is erased.
    package var handle: String?

    package init(device: Int64, handle: String? = nil) { (self.device, self.handle) = (device, handle) }

    package static var invented: Self { Self(device: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("device", &device)
        try members.optional("handle", .handle, &handle)
    }
}
