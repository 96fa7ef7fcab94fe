/// Why a service that speaks in sequences delivers nothing, or not all it could: the flags that live updates, monitor
/// events and sessions have in common.
struct ServiceDiagnostics: OptionSet, Sendable {
    let rawValue: Int

    static let authorizationDenied = ServiceDiagnostics(rawValue: 1)
    /// Location services are off for all apps.
    static let authorizationDeniedGlobally = ServiceDiagnostics(rawValue: 2)
    static let authorizationRestricted = ServiceDiagnostics(rawValue: 4)
    static let authorizationRequestInProgress = ServiceDiagnostics(rawValue: 8)
    static let insufficientlyInUse = ServiceDiagnostics(rawValue: 16)
    static let accuracyLimited = ServiceDiagnostics(rawValue: 32)
    static let serviceSessionRequired = ServiceDiagnostics(rawValue: 64)
    // Of monitors only.
    static let conditionUnsupported = ServiceDiagnostics(rawValue: 128)
    static let conditionLimitExceeded = ServiceDiagnostics(rawValue: 256)
    // Of live updates only.
    static let locationUnavailable = ServiceDiagnostics(rawValue: 512)
    // Of sessions only.
    static let alwaysAuthorizationDenied = ServiceDiagnostics(rawValue: 1024)
    static let fullAccuracyDenied = ServiceDiagnostics(rawValue: 2048)

    /// Those in whose presence conditions are not watched at all.
    static let unmonitored: ServiceDiagnostics = [
        .authorizationDenied, .authorizationDeniedGlobally, .authorizationRestricted, .accuracyLimited,
        .conditionUnsupported, .conditionLimitExceeded,
    ]
}

extension SimulatedApplication {
    /// The app's present diagnostics.
    var diagnostics: ServiceDiagnostics {
        var found: ServiceDiagnostics = []
        switch status {
        case .restricted: found.insert(.authorizationRestricted)
        case .denied:
            found.insert(.authorizationDenied)
            if !device.locationServicesEnabled { found.insert(.authorizationDeniedGlobally) }
        case .notDetermined where openPrompt != nil: found.insert(.authorizationRequestInProgress)
        case .notDetermined: found.insert(.insufficientlyInUse)
        case .authorizedWhenInUse where !isInUse: found.insert(.insufficientlyInUse)
        case .authorizedAlways where !isInUse && !hasSessionForBackground: found.insert(.insufficientlyInUse)
        default: break
        }
        if isAuthorized && accuracy == .reducedAccuracy { found.insert(.accuracyLimited) }
        if profile.hasServiceSessions && bundle.requiresExplicitSession && !hasSession {
            found.insert(.serviceSessionRequired)
        }
        return found
    }
}
