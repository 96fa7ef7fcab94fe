public import CoreLocation
public import Foundation

/// The app's location push service extension. The system launches it when a person asks for the phone's location.
///
/// It asks Core Location once and uploads the fix with the query id from the push. If there is no fix in time, it
/// reports the last one that Core Location knows, with that fix's own timestamp, and never presents it as new. If there
/// is none at all, or no authorization, it reports the authorization.
///
/// The name of a subclass with an initializer without arguments goes into the extension's Info.plist as
/// `NSExtensionPrincipalClass`.
///
/// `@unchecked Sendable`: the system calls it on one thread; what the upload brings from another goes under the lock.
open class LocationPushService: NSObject, CLLocationPushServiceExtension, CLLocationManagerDelegate,
    @unchecked Sendable
{
    private let outbox: Outbox
    private let now: @Sendable () -> Date
    private let lock = NSLock()
    private var completion: (() -> Void)?
    private var manager: CLLocationManager?
    private var query: String?

    public init(outbox: Outbox, surroundings: Surroundings) {
        self.outbox = outbox
        now = surroundings.now
    }

    open func didReceiveLocationPushPayload(_ payload: [String: Any], completion: @escaping () -> Void) {
        lock.withLock { self.completion = completion }
        query = payload["query"] as? String
        let manager = CLLocationManager()
        self.manager = manager
        manager.delegate = self
        manager.desiredAccuracy = kCLLocationAccuracyBest
        manager.requestLocation()
    }

    /// What could not be delivered stays in the outbox; the app delivers it when it runs next.
    open func serviceExtensionWillTerminate() { complete() }

    open func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
        guard let newest = locations.last else { return }
        report { try WireForm.fixes([newest], answering: query) }
    }

    open func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
        if let last = manager.location {
            report { try WireForm.fixes([last], answering: query) }
        } else {
            report { try WireForm.report(.authorization(of: manager, at: now()), query: query) }
        }
    }

    private func report(_ message: () throws -> Outbox.Message) {
        do {
            try outbox.add(try message(), isUrgent: true) { [self] in complete() }
        } catch {
            // A full disk: nothing can be kept, so nothing is left to wait for.
            complete()
        }
    }

    private func complete() {
        let completion = lock.withLock { () -> (() -> Void)? in
            defer { self.completion = nil }
            return self.completion
        }
        completion?()
    }
}
