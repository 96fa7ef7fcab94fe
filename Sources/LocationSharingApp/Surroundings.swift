public import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The parts of the phone that this module uses, so that a test can replace them.
public struct Surroundings: Sendable {
    /// The folder that the app and its extension share: the container of their app group. It has the outbox.
    public var container: URL
    /// Sends the requests.
    public var network: any RequestSending
    /// The clock. Outbox files are named, and so ordered, by it.
    public var now: @Sendable () -> Date
    /// Calls a function once, after a number of seconds, on any thread.
    public var after: @Sendable (TimeInterval, @escaping @Sendable () -> Void) -> Void

    /// Tests give a clock, a folder and a network of their choice.
    public init(
        container: URL, network: any RequestSending, now: @escaping @Sendable () -> Date,
        after: @escaping @Sendable (TimeInterval, @escaping @Sendable () -> Void) -> Void
    ) {
        (self.container, self.network, self.now, self.after) = (container, network, now, after)
    }

    /// A real phone's: the shared `URLSession`, the system's clock and the main queue.
    public static func phone(container: URL) -> Surroundings {
        Surroundings(
            container: container, network: URLSession.shared, now: { Date() },
            after: { seconds, body in DispatchQueue.main.asyncAfter(deadline: .now() + seconds, execute: body) })
    }
}
