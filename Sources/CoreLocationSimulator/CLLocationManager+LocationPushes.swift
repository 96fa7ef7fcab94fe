public import Foundation

extension CLLocationManager {
    /// Asks the system for a device token for location pushes, and to launch the app's extension when one comes.
    ///
    /// The token is of no particular length, is not the one for other pushes, and may be another one at the next
    /// launch.
    public func startMonitoringLocationPushes(completion: ((Data?, (any Error)?) -> Void)? = nil) {
        application.locked {
            application.startLocationPushes { result in
                switch result {
                case .success(let token): completion?(token, nil)
                case .failure(let error): completion?(nil, error)
                }
            }
        }
    }

    /// The same, for `async` code.
    ///
    /// - Throws: ``CLLocationPushServiceError``.
    public func startMonitoringLocationPushes() async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            application.locked {
                application.startLocationPushes { continuation.resume(with: $0) }
            }
        }
    }

    /// Location pushes no longer launch the extension.
    public func stopMonitoringLocationPushes() {
        application.locked { application.stopLocationPushes() }
    }
}
