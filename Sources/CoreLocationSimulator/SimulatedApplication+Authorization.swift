internal import Foundation
internal import Whereabouts

/// The system's record of the user's answers; it outlives the process.
struct AuthorizationRecord {
    var status = CLAuthorizationStatus.notDetermined
    var accuracy: CLAccuracyAuthorization
    /// Always until the user is asked a second time.
    var isProvisional = false
    /// "Allow Once".
    var isOnce = false
    /// Always has been asked for, and never will be again.
    var hasAskedAlways = false
    var isFullForNow = false
}

extension SimulatedApplication {
    /// The authorization that the app sees: denied while location services are off, unless it is restricted.
    var status: CLAuthorizationStatus {
        device.locationServicesEnabled || authorization.status == .restricted ? authorization.status : .denied
    }

    var accuracy: CLAccuracyAuthorization {
        authorization.isFullForNow ? .fullAccuracy : authorization.accuracy
    }

    var isAuthorized: Bool { status == .authorizedAlways || status == .authorizedWhenInUse }

    /// The user changes the app's page in Settings. The answers to earlier prompts are forgotten, but not that they
    /// were asked.
    public func changeInSettings(_ status: CLAuthorizationStatus, accuracy: CLAccuracyAuthorization? = nil) {
        locked {
            authorization.status = status
            (authorization.isProvisional, authorization.isOnce) = (false, false)
            if let accuracy { authorization.accuracy = accuracy }
            device.write(bundle.identifier, "settings \(status.rawValue) \(authorization.accuracy.rawValue)")
            tellAuthorization()
        }
    }

    // MARK: Requests by apps

    func requestWhenInUse() {
        precondition(!profile.asksByItself, "requestWhenInUseAuthorization: unrecognized selector before iOS 8.")
        guard status == .notDetermined, isInUse, openPrompt == nil else { return }
        guard hasPurposes(["NSLocationWhenInUseUsageDescription"]) else { return }
        show(.whenInUse)
    }

    func requestAlways() {
        precondition(!profile.asksByItself, "requestAlwaysAuthorization: unrecognized selector before iOS 8.")
        guard isInUse, openPrompt == nil, !authorization.hasAskedAlways else { return }
        guard status == .notDetermined || (status == .authorizedWhenInUse && !authorization.isOnce) else { return }
        let isOldKeyEnough = profile.oldAlwaysKeySuffices && bundle.hasPurpose("NSLocationAlwaysUsageDescription")
        guard
            isOldKeyEnough
                || hasPurposes([
                    "NSLocationAlwaysAndWhenInUseUsageDescription", "NSLocationWhenInUseUsageDescription",
                ])
        else { return }
        authorization.hasAskedAlways = true
        show(status == .notDetermined ? .always : .changeToAlways)
    }

    /// iOS 7 asks when a service starts, later systems do nothing.
    func serviceStarted() {
        if profile.asksByItself, status == .notDetermined, openPrompt == nil { show(.authorization) }
    }

    func requestTemporaryFullAccuracy(key: String, completion: (((any Error)?) -> Void)?) {
        func end(_ error: CLError?) {
            device.write(bundle.identifier, "temporary full accuracy \(error?.code.rawValue.description ?? "answered")")
            Self.$current.withValue(self) { completion?(error) }
        }
        if !bundle.hasTemporaryPurpose(key) {
            device.write(
                bundle.identifier,
                "Info.plist has no \(key) in NSLocationTemporaryUsageDescriptionDictionary; nothing is asked")
        }
        guard accuracy == .reducedAccuracy, isInUse, openPrompt == nil, bundle.hasTemporaryPurpose(key) else {
            device.clock.after(0) { end(CLError(.promptDeclined)) }
            return
        }
        show(.temporaryFullAccuracy) { end(nil) }
    }

    private func hasPurposes(_ keys: [String]) -> Bool {
        let missing = keys.filter { !bundle.hasPurpose($0) }
        if !missing.isEmpty {
            device.write(bundle.identifier, "Info.plist has no \(missing.joined(separator: ", ")); nothing is asked")
        }
        return missing.isEmpty
    }

    // MARK: Prompts

    private func show(_ prompt: Prompt, then done: @escaping () -> Void = {}) {
        openPrompt = prompt
        device.write(bundle.identifier, "prompt \(prompt.rawValue)")
        defer { servicesChanged() }
        guard let answer = user.take(prompt) else { return }
        device.clock.after(answer.delaySeconds) { [weak self] in
            guard let self else { return }
            accountForRadios()
            openPrompt = nil
            device.write(bundle.identifier, "answer \(answer.choice.rawValue)\(answer.precise ? "" : " not precise")")
            take(answer)
            tellAuthorization()
            loseWhatNeedsUse()
            done()
        }
    }

    private func take(_ answer: UserScript.Answer) {
        let isYes = answer.choice != .dontAllow
        if answer.prompt == .temporaryFullAccuracy {
            authorization.isFullForNow = isYes
            return
        }
        if isYes, !answer.precise, profile.hasAccuracyAuthorization { authorization.accuracy = .reducedAccuracy }
        switch (answer.prompt, answer.choice) {
        case (.changeToAlways, .always): authorization.status = .authorizedAlways
        case (.changeToAlways, _): break
        case (.keepAlways, _): endProvisional(keeping: answer.choice == .always)
        case (_, .dontAllow): authorization.status = .denied
        case (.authorization, _): authorization.status = .authorizedAlways
        case (_, .allowOnce):
            precondition(profile.hasAllowOnce, "Allow Once came with iOS 13.")
            (authorization.status, authorization.isOnce) = (.authorizedWhenInUse, true)
        case (.always, _):
            (authorization.status, authorization.isProvisional) = (.authorizedAlways, profile.hasProvisionalAlways)
        default: authorization.status = .authorizedWhenInUse
        }
    }

    /// The system's second question, when a provisional Always is first needed; the event waits for the answer.
    func askToKeepAlways(before event: @escaping () -> Void) {
        eventsAwaitingAnswer.append((device.clock.moment, event))
        if openPrompt == nil { show(.keepAlways) }
    }

    private func endProvisional(keeping: Bool) {
        authorization.isProvisional = false
        let waiting = eventsAwaitingAnswer
        eventsAwaitingAnswer = []
        guard keeping else {
            authorization.status = .authorizedWhenInUse
            return
        }
        let now = device.clock.moment
        for event in waiting where now.seconds(since: event.moment) <= profile.provisionalEventSeconds {
            wake(for: event.deliver)
        }
    }

    /// "Allow Once" and temporary full accuracy end with the app's use.
    func loseWhatNeedsUse() {
        guard !isInUse, authorization.isOnce || authorization.isFullForNow else { return }
        if authorization.isOnce { (authorization.status, authorization.isOnce) = (.notDetermined, false) }
        authorization.isFullForNow = false
        tellAuthorization()
    }

    // MARK: Telling

    /// Calls each delegate that does not know the current authorization yet. A suspended app gets the call when it runs
    /// again.
    func tellAuthorization() {
        for service in pushes.running { service.process.tellAuthorization() }
        guard state.isRunning else { return }
        for manager in managers { tellAuthorization(manager) }
        servicesChanged()
    }

    func tellAuthorization(_ manager: CLLocationManager) {
        let told = ToldAuthorization(status: status, accuracy: accuracy)
        guard manager.told != told, manager.delegate != nil else { return }
        manager.told = told
        if profile.hasAccuracyAuthorization {
            let values = "\(told.status.rawValue) \(told.accuracy.rawValue)"
            tell(manager, "locationManagerDidChangeAuthorization \(values)") {
                $0.locationManagerDidChangeAuthorization(manager)
            }
        } else {
            tell(manager, "didChangeAuthorization \(told.status.rawValue)") {
                $0.locationManager(manager, didChangeAuthorization: told.status)
            }
        }
        if status == .denied || status == .restricted { manager.authorizationLost() }
    }
}

/// The authorization last reported to a delegate.
struct ToldAuthorization: Equatable {
    let status: CLAuthorizationStatus
    let accuracy: CLAccuracyAuthorization
}
