public import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// What this folder's code needs of the phone it runs on, so that a test can play the phone.
public struct Surroundings: Sendable {
    /// The folder that app and extension share: that of their app group.
    public var container: URL
    public var network: any RequestSending
    public var now: @Sendable () -> Date
    /// Does something after so many seconds.
    public var after: @Sendable (TimeInterval, @escaping @Sendable () -> Void) -> Void

    public init(
        container: URL, network: any RequestSending, now: @escaping @Sendable () -> Date,
        after: @escaping @Sendable (TimeInterval, @escaping @Sendable () -> Void) -> Void
    ) {
        (self.container, self.network, self.now, self.after) = (container, network, now, after)
    }

    /// Those of a real phone.
    public static func phone(container: URL) -> Surroundings {
        Surroundings(
            container: container, network: URLSession.shared, now: { Date() },
            after: { seconds, body in DispatchQueue.main.asyncAfter(deadline: .now() + seconds, execute: body) })
    }
}
