public import Foundation

/// The domain of ``CLError``.
public let kCLErrorDomain = "kCLErrorDomain"
/// The user-info key of a region to be monitored in place of the one that failed.
public let kCLErrorUserInfoAlternateRegionKey = "kCLErrorUserInfoAlternateRegionKey"

/// A failure of a Core Location request.
///
/// The numbers are the header's; where another binding has 16 and 17 swapped, the header is right.
public struct CLError: CustomNSError, @unchecked Sendable, Equatable {
    // Sendable: the user info is constant; its values do not change after initialization.
    public enum Code: Int, Sendable {
        /// There is no location now; the service keeps trying.
        case locationUnknown = 0
        /// The user said no; the service has stopped.
        case denied = 1
        case network = 2
        case headingFailure = 3
        case regionMonitoringDenied = 4
        case regionMonitoringFailure = 5
        case regionMonitoringSetupDelayed = 6
        case regionMonitoringResponseDelayed = 7
        case geocodeFoundNoResult = 8
        case geocodeFoundPartialResult = 9
        case geocodeCanceled = 10
        case deferredFailed = 11
        case deferredNotUpdatingLocation = 12
        case deferredAccuracyTooLow = 13
        case deferredDistanceFiltered = 14
        case deferredCanceled = 15
        case rangingUnavailable = 16
        case rangingFailure = 17
        case promptDeclined = 18
        case historicalLocationError = 19
    }

    public let code: Code
    public let userInfo: [String: Any]

    public init(_ code: Code, userInfo: [String: Any] = [:]) { (self.code, self.userInfo) = (code, userInfo) }

    public static var errorDomain: String { kCLErrorDomain }
    public var errorCode: Int { code.rawValue }
    public var errorUserInfo: [String: Any] { userInfo }
    /// With ``regionMonitoringResponseDelayed``, a region that the system can watch better than the one it was given.
    public var alternateRegion: CLRegion? { userInfo[kCLErrorUserInfoAlternateRegionKey] as? CLRegion }

    public static func == (one: CLError, other: CLError) -> Bool {
        one.code == other.code && one.alternateRegion == other.alternateRegion
    }

    public static var locationUnknown: Code { .locationUnknown }
    public static var denied: Code { .denied }
    public static var network: Code { .network }
    public static var headingFailure: Code { .headingFailure }
    public static var regionMonitoringDenied: Code { .regionMonitoringDenied }
    public static var regionMonitoringFailure: Code { .regionMonitoringFailure }
    public static var regionMonitoringSetupDelayed: Code { .regionMonitoringSetupDelayed }
    public static var regionMonitoringResponseDelayed: Code { .regionMonitoringResponseDelayed }
    public static var geocodeFoundNoResult: Code { .geocodeFoundNoResult }
    public static var geocodeFoundPartialResult: Code { .geocodeFoundPartialResult }
    public static var geocodeCanceled: Code { .geocodeCanceled }
    public static var deferredFailed: Code { .deferredFailed }
    public static var deferredNotUpdatingLocation: Code { .deferredNotUpdatingLocation }
    public static var deferredAccuracyTooLow: Code { .deferredAccuracyTooLow }
    public static var deferredDistanceFiltered: Code { .deferredDistanceFiltered }
    public static var deferredCanceled: Code { .deferredCanceled }
    public static var rangingUnavailable: Code { .rangingUnavailable }
    public static var rangingFailure: Code { .rangingFailure }
    public static var promptDeclined: Code { .promptDeclined }
    public static var historicalLocationError: Code { .historicalLocationError }
}

extension CLError.Code {
    /// Lets `catch CLError.denied` read as it does with Apple's overlay.
    public static func ~= (code: CLError.Code, error: any Error) -> Bool {
        (error as? CLError)?.code == code
    }
}

/// The domain of ``CLLocationPushServiceError``.
public let CLLocationPushServiceErrorDomain = "CLLocationPushServiceErrorDomain"

/// Why location pushes could not be asked for.
public struct CLLocationPushServiceError: CustomNSError, Sendable, Equatable {
    public enum Code: Int, Sendable {
        case unknown = 0
        case missingPushExtension = 1
        case missingPushServerEnvironment = 2
        case missingEntitlement = 3
        case unsupportedPlatform = 4
    }

    public let code: Code

    public init(_ code: Code) { self.code = code }

    public static var errorDomain: String { CLLocationPushServiceErrorDomain }
    public var errorCode: Int { code.rawValue }
    public var errorUserInfo: [String: Any] { [:] }

    public static var unknown: Code { .unknown }
    public static var missingPushExtension: Code { .missingPushExtension }
    public static var missingPushServerEnvironment: Code { .missingPushServerEnvironment }
    public static var missingEntitlement: Code { .missingEntitlement }
    public static var unsupportedPlatform: Code { .unsupportedPlatform }
}

extension CLLocationPushServiceError.Code {
    /// As with ``CLError``.
    public static func ~= (code: CLLocationPushServiceError.Code, error: any Error) -> Bool {
        (error as? CLLocationPushServiceError)?.code == code
    }
}
