/// The decision about one device of a query.
package struct PushOrder: Hashable, Sendable {
    /// The kind of work.
    package enum What: Hashable, Sendable {
        /// A push is recorded and leaves now.
        case send
        /// Check again then. The device is being woken for another query, its budget is used up, its owner does not let
        /// the app be woken, or the outcome of the last push is unknown.
        case wait(until: Timestamp)
        /// Nothing more is sent to this device for the query: APNs has accepted a push, or refused the device's token.
        case never
    }
    /// The device to decide about.
    package let device: DeviceID
    /// The action for it.
    package let what: What
    /// The earlier tries of the device for the query.
    package let tries: Int64

    init(device: DeviceID, what: What, tries: Int64 = 0) {
        (self.device, self.what, self.tries) = (device, what, tries)
    }
}
