public import CoreLocation
public import Foundation

/// The app's location push service extension. The system launches it when a person asks for the phone's location.
///
/// It asks Core Location once and uploads the fix with the query id from the push. If there is no fix in time, it
/// reports the last one that Core Location knows, with that fix's own timestamp, and never presents it as new. If there
/// is none at all, or no authorization, it reports the authorization.
///
/// With sealing, it asks the service who asked, and uploads envelopes for them. The fix itself does not leave the phone.
///
/// The name of a subclass with an initializer without arguments goes into the extension's Info.plist as
/// `NSExtensionPrincipalClass`.
///
/// `@unchecked Sendable`: the system calls it on one thread. The completion handler, which the upload calls on another
/// thread, is guarded by the lock.
open class LocationPushService: NSObject, CLLocationPushServiceExtension, CLLocationManagerDelegate,
    @unchecked Sendable
{
    private let outbox: Outbox
    private let sealing: Sealing?
    private let now: @Sendable () -> Date
    /// The system's completion handler; `nil` once it has been called, so that it is called only once.
    private let lock = NSLock()
    private var completion: (() -> Void)?
    /// Retained until the fix arrives: Core Location does not retain its managers.
    private var manager: CLLocationManager?
    /// The query id from the push; `nil` if the payload has none.
    private var query: String?

    /// - Parameters:
    ///   - outbox: the extension's own, made with the process name `extension`.
    ///   - surroundings: the clock, and with sealing the network.
    ///   - sealing: with the account; `nil` for a phone that sends its fixes open.
    public init(
        outbox: Outbox, surroundings: Surroundings, sealing: (any LocationSealing, ServiceAccount)? = nil
    ) {
        self.outbox = outbox
        self.sealing = sealing.map { Sealing($0.0, account: $0.1, network: surroundings.network) }
        now = surroundings.now
    }

    /// Requests one fix with the best accuracy.
    ///
    /// `completion` is called once: when the service has acknowledged or refused the report, when the report cannot be
    /// written to the disk, or when the system terminates the extension.
    open func didReceiveLocationPushPayload(_ payload: [String: Any], completion: @escaping () -> Void) {
        lock.withLock { self.completion = completion }
        query = payload["query"] as? String
        let manager = CLLocationManager()
        self.manager = manager
        manager.delegate = self
        manager.desiredAccuracy = kCLLocationAccuracyBest
        manager.requestLocation()
    }

    /// Calls the completion handler. An undelivered report stays in the outbox; the app delivers it when it runs next.
    open func serviceExtensionWillTerminate() { complete() }

    /// Reports only the newest fix.
    open func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
        guard let newest = locations.last else { return }
        if let sealing { return answer(with: newest, sealing) }
        report { try WireForm.fixes([newest], answering: query) }
    }

    /// Reports the manager's last fix without a new timestamp, or the authorization if there is no fix.
    open func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
        if let sealing {
            answer(with: manager.location, sealing)
        } else if let last = manager.location {
            report { try WireForm.fixes([last], answering: query) }
        } else {
            report { try WireForm.report(.authorization(of: manager, at: now()), query: query) }
        }
    }

    /// Answers the open questions with envelopes of a location, or says that there is none.
    private func answer(with location: CLLocation?, _ sealing: Sealing) {
        let fix = location.flatMap { try? WireForm.fixes([$0]).body }
        sealing.askQuestions { [self] questions in
            let bodies = questions.map { sealing.sealing.answer(fix, to: $0) } ?? []
            guard let last = bodies.last else { return complete() }
            for body in bodies.dropLast() { try? outbox.add(WireForm.envelopes(body, query: query), isUrgent: true) }
            report { WireForm.envelopes(last, query: query) }
        }
    }

    private func report(_ message: () throws -> Outbox.Message) {
        do {
            try outbox.add(try message(), isUrgent: true) { [self] in complete() }
        } catch {
            // The disk is full: the report cannot be stored, so there is no upload to wait for.
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
