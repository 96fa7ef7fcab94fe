/// The push token that `startMonitoringLocationPushes` gave a device.
package struct LocationPushToken: Hashable, Sendable {
    /// The device token; ``Limits/pushTokenBytes`` bytes. It is a secret of the device.
    package let bytes: [UInt8]
    /// The bundle id of the app that registered the token.
    package let bundleID: String

    package init(bytes: [UInt8], bundleID: String) { (self.bytes, self.bundleID) = (bytes, bundleID) }
}
