public import Foundation
internal import Whereabouts

/// The system's state of an app's location pushes.
struct LocationPushes {
    let makeExtension: (() -> any CLLocationPushServiceExtension)?
    var token: Data?
    /// How often a token was made, so that each is another one.
    var tokensMade: Int64 = 0
    var budget: PushBudget?
    /// The processes there are now, one for each push that is being served.
    var running: [LocationPushProcess] = []
    var launches = 0
}

/// The system's own way to get tokens, in place of APNs: given the bundle identifier, a token or a reason against it.
public typealias LocationPushRegistrar = (String) throws -> Data

extension SimulatedApplication {
    // MARK: Registration

    func startLocationPushes(completion: @escaping (Result<Data, any Error>) -> Void) {
        let result = Result { try locationPushToken() }
        switch result {
        case .success: device.write(bundle.identifier, "location pushes started")
        case .failure(let error): device.write(bundle.identifier, "location pushes failed \((error as NSError).code)")
        }
        let process = launch
        device.clock.after(0) { [weak self] in
            guard let self, launch == process, !state.isDead else { return }
            Self.$current.withValue(self) { completion(result) }
        }
    }

    func stopLocationPushes() {
        guard pushes.token != nil else { return }
        pushes.token = nil
        device.write(bundle.identifier, "location pushes stopped")
    }

    /// Whether the app monitors location pushes and has a device token for them.
    public var hasLocationPushToken: Bool { locked { pushes.token != nil } }

    /// The system gives the app another token, as it may at any time; the app hears of it when it asks again.
    public func rotateLocationPushToken() {
        locked {
            guard pushes.token != nil else { return }
            pushes.token = nil
            device.write(bundle.identifier, "location push token changed")
        }
    }

    private func locationPushToken() throws -> Data {
        func check(_ isGood: Bool, _ code: CLLocationPushServiceError.Code) throws {
            if !isGood { throw CLLocationPushServiceError(code) }
        }
        try check(profile.hasLocationPushes, .unsupportedPlatform)
        try check(pushes.makeExtension != nil, .missingPushExtension)
        try check(bundle.entitlements["aps-environment"] is String, .missingPushServerEnvironment)
        try check(bundle.entitlements["com.apple.developer.location.push"] as? Bool == true, .missingEntitlement)
        if let token = pushes.token { return token }
        let token: Data
        if let registrar = device.locationPushRegistrar {
            token = try registrar(bundle.identifier)
        } else {
            var noise = SeededNoise(seed: installSeed, purpose: 5, place: pushes.tokensMade)
            let count = Int.random(in: profile.tokenBytesMin...profile.tokenBytesMax, using: &noise)
            token = Data((0..<count).map { _ in UInt8(truncatingIfNeeded: noise.next()) })
        }
        pushes.tokensMade += 1
        pushes.token = token
        return token
    }

    // MARK: Pushes

    /// A `location` push for this app has reached the device. The extension is launched for it if the app monitors
    /// location pushes, has Always for good, and the device has not used up the app's pushes.
    ///
    /// - Parameter payload: the push's dictionary, whole.
    public func receiveLocationPush(_ payload: [String: Any]) {
        locked {
            device.write(bundle.identifier, "pushReceived")
            if let reason = reasonAgainstPush() { return device.write(bundle.identifier, "push dropped: \(reason)") }
            guard let service = pushes.makeExtension else { return }
            pushes.launches += 1
            let process = LocationPushProcess(host: self, number: pushes.launches)
            pushes.running.append(process)
            process.serve(payload, by: service)
        }
    }

    private func reasonAgainstPush() -> String? {
        guard pushes.token != nil else { return "not monitored" }
        var budget = pushes.budget ?? PushBudget(profile: profile, at: device.clock.moment)
        let isPaid = budget.take(at: device.clock.moment, profile: profile)
        pushes.budget = budget
        guard isPaid else { return "budget" }
        guard status == .authorizedAlways else { return "authorization \(status.rawValue)" }
        guard !authorization.isProvisional else {
            // The system's second question comes first; whatever the answer, this push is gone.
            askToKeepAlways {}
            return "authorization provisional"
        }
        guard !profile.pushesNeedAlwaysSession || hasSessionForBackground else { return "no session for Always" }
        guard state != .forceQuit || profile.pushesAfterForceQuit else { return "force quit" }
        return nil
    }

    func ended(_ process: LocationPushProcess) { pushes.running.removeAll { $0 === process } }
}

/// The process of an app's location push service extension while it serves one push: launched, given the payload,
/// warned when it takes long, ended.
///
/// Touched only under the clock's lock.
final class LocationPushProcess {
    let process: SimulatedApplication
    private unowned let host: SimulatedApplication
    private var service: (any CLLocationPushServiceExtension)?
    private var deadline: SimulatedClock.Ticket?

    init(host: SimulatedApplication, number: Int) {
        self.host = host
        process = SimulatedApplication(extensionOf: host, number: number)
    }

    private var clock: SimulatedClock { process.device.clock }

    func serve(_ payload: [String: Any], by make: () -> any CLLocationPushServiceExtension) {
        note("launched")
        deadline = clock.after(process.profile.pushExtensionSeconds) { [weak self] in self?.warn() }
        asItsCode {
            let service = make()
            self.service = service
            note("payload")
            service.didReceiveLocationPushPayload(payload) { [weak self, clock] in
                // It may be called on any thread; its effects happen on the simulation's thread.
                nonisolated(unsafe) let process = self
                clock.inbox.post { process?.complete() }
            }
        }
    }

    private func complete() {
        guard service != nil else { return note("completion called again") }
        note("completed")
        end()
    }

    private func warn() {
        guard let service else { return }
        note("willTerminate")
        deadline = clock.after(process.profile.pushExtensionKillSeconds) { [weak self] in
            guard let self, self.service != nil else { return }
            note("killed")
            end()
        }
        asItsCode { service.serviceExtensionWillTerminate() }
    }

    private func end() {
        clock.cancel(deadline)
        service = nil
        host.takeOverRadioUse(of: process)
        process.endExtension()
        host.ended(self)
    }

    private func asItsCode(_ body: () -> Void) { SimulatedApplication.$current.withValue(process, operation: body) }

    private func note(_ what: String) {
        process.device.write("\(process.bundle.identifier)/\(process.launch)", what)
    }
}
