public import Foundation

/// The interface of an app's location push service extension. When a `location` push for the app arrives, the system
/// launches the extension in a separate process.
///
/// Implement one of the two forms of ``didReceiveLocationPushPayload(_:completion:)``. An extension that implements
/// neither never completes; the system ends it like any other that takes too long.
public protocol CLLocationPushServiceExtension: NSObjectProtocol {
    /// A push has arrived. The extension calls `completion` as soon as it has done its work; the system then ends its
    /// process.
    func didReceiveLocationPushPayload(_ payload: [String: Any], completion: @escaping () -> Void)

    /// The same, complete when it returns.
    func didReceiveLocationPushPayload(_ payload: [String: Any]) async

    /// The time is nearly over: the last chance to complete. Optional.
    func serviceExtensionWillTerminate()
}

extension CLLocationPushServiceExtension {
    /// Runs the `async` form on the simulation's own time.
    public func didReceiveLocationPushPayload(_ payload: [String: Any], completion: @escaping () -> Void) {
        guard let application = SimulatedApplication.current else {
            preconditionFailure("A location push comes from the system: use SimulatedApplication.receiveLocationPush.")
        }
        // All of it runs on the thread of the clock, one thing at a time, as on the main thread of an extension.
        nonisolated(unsafe) let service: any CLLocationPushServiceExtension = self
        nonisolated(unsafe) let (payload, completion) = (payload, completion)
        Task(executorPreference: application.device.clock.executor) {
            await service.didReceiveLocationPushPayload(payload)
            completion()
        }
    }

    /// Neither form is implemented: never completes.
    public func didReceiveLocationPushPayload(_ payload: [String: Any]) async {
        if let application = SimulatedApplication.current {
            application.device.write(application.bundle.identifier, "the extension implements neither form")
        }
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }

    public func serviceExtensionWillTerminate() {}
}
