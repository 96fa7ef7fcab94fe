/// The fact that a device has sent no fix for the time set by one of its owner's webhooks.
package struct Silence: Hashable, Sendable {
    /// The device that does not report.
    package let device: DeviceID
    /// The length of the silence as the webhook set it, within ``Limits/silenceSeconds``.
    package let afterSeconds: Int64
    /// When the device's last fix was recorded, by the clock of the service.
    package let since: Timestamp

    package init(device: DeviceID, afterSeconds: Int64, since: Timestamp) {
        (self.device, self.afterSeconds, self.since) = (device, afterSeconds, since)
    }
}
