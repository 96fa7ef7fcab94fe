/// While the app holds a session, it needs this authorization: the system asks the user when it can, and reports
/// obstacles in ``diagnostics``. A released or invalidated session does not come back.
///
/// It is made while the app is in use, or at once after a launch in the background by an app that held one before;
/// otherwise it counts from the next time the app is in use.
public final class CLServiceSession: Sendable {
    public enum AuthorizationRequirement: Int, Sendable {
        /// Asks for nothing.
        case none = 0
        case whenInUse = 1
        case always = 2
    }

    /// The obstacles of a session; empty if there are none.
    public struct Diagnostic: Sendable {
        let diagnostics: ServiceDiagnostics

        public var authorizationDenied: Bool { diagnostics.contains(.authorizationDenied) }
        public var authorizationDeniedGlobally: Bool { diagnostics.contains(.authorizationDeniedGlobally) }
        public var authorizationRestricted: Bool { diagnostics.contains(.authorizationRestricted) }
        public var authorizationRequestInProgress: Bool { diagnostics.contains(.authorizationRequestInProgress) }
        public var insufficientlyInUse: Bool { diagnostics.contains(.insufficientlyInUse) }
        public var serviceSessionRequired: Bool { diagnostics.contains(.serviceSessionRequired) }
        public var alwaysAuthorizationDenied: Bool { diagnostics.contains(.alwaysAuthorizationDenied) }
        public var fullAccuracyDenied: Bool { diagnostics.contains(.fullAccuracyDenied) }
    }

    public typealias Diagnostics = AsyncThrowingStream<Diagnostic, any Error>

    private let handle: SessionHandle

    /// - Precondition: made by an app's code.
    public convenience init(authorization: AuthorizationRequirement) {
        self.init(authorization, purposeKey: nil)
    }

    /// Asks for full accuracy, too, under a key of `NSLocationTemporaryUsageDescriptionDictionary`.
    public convenience init(authorization: AuthorizationRequirement, fullAccuracyPurposeKey: String) {
        self.init(authorization, purposeKey: fullAccuracyPurposeKey)
    }

    private init(_ requirement: AuthorizationRequirement, purposeKey: String?) {
        handle = SessionHandle(.service(requirement, purposeKey: purposeKey))
    }

    deinit { handle.end() }

    /// The session's diagnostics, now and after each change. Ends with the session.
    public var diagnostics: Diagnostics { handle.diagnostics { Diagnostic(diagnostics: $0) } }

    public func invalidate() { handle.end() }
}

/// Keeps an app running and in use in the background, where the user sees it, from when it is made in the foreground
/// until it is released or invalidated. After its process has ended, the app makes it again at launch.
public final class CLBackgroundActivitySession: Sendable {
    /// The obstacles of a session; empty if there are none.
    public struct Diagnostic: Sendable {
        let diagnostics: ServiceDiagnostics

        public var authorizationDenied: Bool { diagnostics.contains(.authorizationDenied) }
        public var authorizationDeniedGlobally: Bool { diagnostics.contains(.authorizationDeniedGlobally) }
        public var authorizationRestricted: Bool { diagnostics.contains(.authorizationRestricted) }
        public var authorizationRequestInProgress: Bool { diagnostics.contains(.authorizationRequestInProgress) }
        public var insufficientlyInUse: Bool { diagnostics.contains(.insufficientlyInUse) }
        public var serviceSessionRequired: Bool { diagnostics.contains(.serviceSessionRequired) }
    }

    public typealias Diagnostics = AsyncThrowingStream<Diagnostic, any Error>

    private let handle = SessionHandle(.backgroundActivity)

    /// - Precondition: made by an app's code.
    public init() {}

    deinit { handle.end() }

    /// The session's diagnostics, now and after each change. Ends with the session.
    public var diagnostics: Diagnostics { handle.diagnostics { Diagnostic(diagnostics: $0) } }

    public func invalidate() { handle.end() }
}

/// One session of an app's process, by its number.
private final class SessionHandle: Sendable {
    private let application: SimulatedApplication
    /// Keeps the device alive: it must outlive its apps, and a session may be the last object that refers to them.
    private let device: SimulatedDevice
    private let number: Int

    init(_ kind: AppSession.Kind) {
        guard let application = SimulatedApplication.current else {
            preconditionFailure("A session is made by an app's code: use SimulatedApplication.run.")
        }
        self.application = application
        device = application.device
        number = application.locked { application.beginSession(kind) }
    }

    func end() { application.locked { application.endSession(number) } }

    func diagnostics<Diagnostic: Sendable>(
        _ diagnostic: @escaping @Sendable (ServiceDiagnostics) -> Diagnostic
    ) -> AsyncThrowingStream<Diagnostic, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: Diagnostic.self, throwing: (any Error).self)
        let listener = application.locked {
            application.addListener(
                to: number, tell: { continuation.yield(diagnostic($0)) }, finish: { continuation.finish() })
        }
        continuation.onTermination = { [application, number] _ in
            application.locked { application.removeListener(listener, of: number) }
        }
        return stream
    }
}
