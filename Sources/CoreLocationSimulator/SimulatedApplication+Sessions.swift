internal import Foundation
internal import Whereabouts

/// A session of the running process.
struct AppSession {
    enum Kind {
        case service(CLServiceSession.AuthorizationRequirement, purposeKey: String?)
        case backgroundActivity
    }

    struct Listener {
        let tell: (ServiceDiagnostics) -> Void
        let finish: () -> Void
    }

    let kind: Kind
    /// Whether it was made where it may be made; else it counts from the app's next use.
    fileprivate(set) var counts: Bool
    fileprivate var hasAsked = false
    fileprivate var hasAskedForAccuracy = false
    fileprivate var listeners: [Int: Listener] = [:]
    fileprivate var told: ServiceDiagnostics?

    fileprivate var requiresAlways: Bool {
        if case .service(.always, _) = kind { true } else { false }
    }
    fileprivate var isService: Bool {
        if case .service = kind { true } else { false }
    }
}

/// A loop that needs a session while the app holds none.
enum ImplicitSession: Hashable {
    case monitor(String)
    case updates(Int)
}

/// The sessions of an app: those of its process, and the system's record of those that an ended process held.
struct AppSessions {
    fileprivate var all: [Int: AppSession] = [:]
    fileprivate var next = 1
    fileprivate var implicit: Set<ImplicitSession> = []
    fileprivate var hasAskedImplicitly = false
    fileprivate var heldAlways = false
    fileprivate var heldBackgroundActivity = false
    fileprivate var launched: Timestamp?
    fileprivate var isTelling = false
}

extension SimulatedApplication {
    var hasSession: Bool {
        sessions.all.values.contains { $0.isService && $0.counts }
            || (!sessions.implicit.isEmpty && !bundle.requiresExplicitSession)
    }

    /// Whether services of an app with Always continue out of use: before iOS 18 always, since then with a session. An
    /// ended process may take its session again.
    var hasSessionForBackground: Bool {
        guard status == .authorizedAlways else { return false }
        guard profile.hasServiceSessions else { return true }
        return sessions.all.values.contains { $0.requiresAlways && $0.counts }
            || (state.isDead && sessions.heldAlways)
    }

    /// Whether a session that the user can see keeps the app in use in the background.
    var hasBackgroundActivity: Bool {
        isAuthorized
            && sessions.all.values.contains {
                if case .backgroundActivity = $0.kind { $0.counts } else { false }
            }
    }

    // MARK: Acts of apps

    func beginSession(_ kind: AppSession.Kind) -> Int {
        let number = sessions.next
        sessions.next += 1
        guard !state.isDead else { return number }
        var session = AppSession(kind: kind, counts: isInUse)
        let isAtLaunch =
            sessions.launched.map { device.clock.moment.seconds(since: $0) <= profile.sessionRestoreSeconds } ?? false
        if isAtLaunch && (session.isService ? sessions.heldAlways : sessions.heldBackgroundActivity) {
            session.counts = true
        }
        sessions.all[number] = session
        sessionsChanged()
        return number
    }

    /// Ends it for good; does nothing when it has ended, with its process or before.
    func endSession(_ number: Int) {
        guard let session = sessions.all.removeValue(forKey: number) else { return }
        for listener in session.listeners.sorted(by: { $0.key < $1.key }) { listener.value.finish() }
        sessionsChanged()
    }

    func addListener(
        to session: Int, tell: @escaping (ServiceDiagnostics) -> Void, finish: @escaping () -> Void
    ) -> Int {
        let number = sessions.next
        sessions.next += 1
        guard let found = sessions.all[session] else {
            finish()
            return number
        }
        sessions.all[session]?.listeners[number] = AppSession.Listener(tell: tell, finish: finish)
        tell(diagnostics(of: found))
        return number
    }

    func removeListener(_ listener: Int, of session: Int) {
        sessions.all[session]?.listeners[listener] = nil
    }

    func beginImplicitSession(of loop: ImplicitSession) { sessions.implicit.insert(loop) }

    func endImplicitSession(of loop: ImplicitSession) { sessions.implicit.remove(loop) }

    // MARK: Acts of the system

    /// Called when the conditions of delivery by asynchronous sequences have changed.
    func servicesChanged() {
        // A callback made here may ask the user a question, which changes the state again.
        guard state.isRunning, !sessions.isTelling else { return }
        sessions.isTelling = true
        if isInUse {
            for number in sessions.all.keys { sessions.all[number]?.counts = true }
            askForSessions()
        }
        for number in sessions.all.keys.sorted() {
            guard let session = sessions.all[number] else { continue }
            let now = diagnostics(of: session)
            guard session.told != now else { continue }
            sessions.all[number]?.told = now
            for listener in session.listeners.sorted(by: { $0.key < $1.key }) { listener.value.tell(now) }
        }
        monitorsChanged()
        updatesChanged()
        sessions.isTelling = false
    }

    func beginSessions() {
        sessions.launched = device.clock.moment
    }

    /// The process has ended, and its sessions with it.
    func endSessions() {
        sessions.heldAlways = sessions.all.values.contains { $0.requiresAlways && $0.counts }
        sessions.heldBackgroundActivity = hasBackgroundActivity
        let ended = sessions.all.sorted { $0.key < $1.key }
        (sessions.all, sessions.implicit, sessions.hasAskedImplicitly) = ([:], [], false)
        for (_, session) in ended {
            for listener in session.listeners.sorted(by: { $0.key < $1.key }) { listener.value.finish() }
        }
    }

    /// Asks the user for the authorization that the sessions need, one question at a time.
    private func askForSessions() {
        guard openPrompt == nil else { return }
        if !sessions.implicit.isEmpty, profile.hasServiceSessions, !bundle.requiresExplicitSession,
            !sessions.hasAskedImplicitly, status == .notDetermined
        {
            sessions.hasAskedImplicitly = true
            requestWhenInUse()
        }
        for number in sessions.all.keys.sorted() {
            guard openPrompt == nil, let session = sessions.all[number],
                case .service(let requirement, let purposeKey) = session.kind
            else { continue }
            if !session.hasAsked {
                sessions.all[number]?.hasAsked = true
                switch requirement {
                case .none: break
                case .whenInUse: requestWhenInUse()
                case .always: requestAlways()
                }
            }
            guard openPrompt == nil, !session.hasAskedForAccuracy, let purposeKey, isAuthorized,
                accuracy == .reducedAccuracy
            else { continue }
            sessions.all[number]?.hasAskedForAccuracy = true
            requestTemporaryFullAccuracy(key: purposeKey, completion: nil)
        }
    }

    private func diagnostics(of session: AppSession) -> ServiceDiagnostics {
        var found = diagnostics.subtracting(.accuracyLimited)
        if !session.counts { found.insert(.insufficientlyInUse) }
        guard case .service(let requirement, let purposeKey) = session.kind else { return found }
        if openPrompt != nil {
            found.insert(.authorizationRequestInProgress)
        } else if session.hasAsked {
            if requirement == .always && status != .authorizedAlways { found.insert(.alwaysAuthorizationDenied) }
            if purposeKey != nil && isAuthorized && accuracy == .reducedAccuracy { found.insert(.fullAccuracyDenied) }
        }
        return found
    }
}
