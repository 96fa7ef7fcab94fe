/// A time without a fix of a device, as long as somebody wanted to know of it.
package struct Silence: Hashable, Sendable {
    /// The device that does not report.
    package let device: DeviceID
    /// The length of the silence that a webhook of its owner chose, within ``Limits/silenceSeconds``.
    package let afterSeconds: Int64
    /// When the device's last fix was recorded, by the clock of the service.
    package let since: Timestamp

    package init(device: DeviceID, afterSeconds: Int64, since: Timestamp) {
        (self.device, self.afterSeconds, self.since) = (device, afterSeconds, since)
    }
}
