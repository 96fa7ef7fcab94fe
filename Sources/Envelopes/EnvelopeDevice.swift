/// The number by which an envelope names the device that made it: 1 for the first device that its person ever had at the
/// service, 2 for the second.
///
/// The service tells the device. The device's number in the house would show recipients how many people the service has.
package struct EnvelopeDevice: Hashable, Sendable {
    /// 1 or more.
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
}
