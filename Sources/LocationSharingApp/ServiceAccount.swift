public import Foundation

/// A phone's credentials and identifiers for one service. On a phone the reporting key belongs into the keychain, in an
/// access group that the app and its extension share.
public struct ServiceAccount: Sendable, Codable, Equatable {
    /// As in `https://where.example.org`.
    public var service: URL
    /// The device's handle.
    public var device: String
    /// The secret that the service issued for the device; it is sent as a bearer token with every message.
    public var reportingKey: String
    /// The app's, not the extension's: the topic at APNs begins with it.
    public var bundleID: String
    /// `development` for builds signed for it, else `production`; the entitlement `aps-environment` says which.
    public var environment: String

    /// - Parameters:
    ///   - service: The address of the service, for example `https://where.example`.
    ///   - device: The handle of the device, for example `anna.phone`.
    ///   - reportingKey: The key that `device add` printed, `wd_…`.
    ///   - bundleID: The app's bundle id, without `.location-query`.
    ///   - environment: `production` or `development`, as the app was signed.
    public init(service: URL, device: String, reportingKey: String, bundleID: String, environment: String) {
        (self.service, self.device, self.reportingKey) = (service, device, reportingKey)
        (self.bundleID, self.environment) = (bundleID, environment)
    }
}
