internal import CoreLocation
internal import Foundation
internal import FoundationNetworking
internal import Gazetteer
internal import Glibc
internal import JSON
internal import LocationPush
internal import LocationSharingApp
internal import PushStandIn
internal import Synchronization
internal import Threading

/// The phones of one scenario in real time, each on its own thread.
package final class Simulation: Sendable {
    private let isOver: IsOver
    private let threads: [WorkerThread]
    private let folder: String

    /// Reads keys and tracks, then starts the phones.
    ///
    /// - Throws: ``ScenarioError`` when a key or track cannot be read; then nothing was started.
    package init(_ scenario: Scenario, diary: Diary) throws(ScenarioError) {
        _ = try ServiceConnection(service: scenario.service)
        guard let service = URL(string: scenario.service) else {
            throw ScenarioError("service must be an address like http://127.0.0.1:8080.")
        }
        let courier = scenario.pushStandIn
        let gazetteer = try Self.gazetteer(of: scenario)
        let isOver = IsOver()
        var plans: [(Scenario.Device, String, SimulatedTrack?)] = []
        for device in scenario.devices {
            var track: SimulatedTrack?
            if case .track(let path, _) = device.source { track = try SimulatedTrack(file: path) }
            plans.append((device, try Self.key(of: device), track))
        }
        folder = try makeTemporaryFolder()
        var lives: [@Sendable () -> Void] = []
        for (number, (device, key, track)) in plans.enumerated() {
            let container = "\(folder)/\(number)"
            mkdir(container, 0o700)
            lives.append {
                LivePhone(
                    device, key: key, track: track, service: service, folder: container, diary: diary,
                    courier: courier, gazetteer: gazetteer
                ).run { isOver.value.load(ordering: .relaxed) }
            }
        }
        self.isOver = isOver
        threads = lives.map { WorkerThread($0) }
    }

    /// Ends the phones; blocks until they have, about a twentieth of a second.
    ///
    /// - Precondition: it is called once.
    package func stop() {
        isOver.value.store(true, ordering: .relaxed)
        for thread in threads { thread.join() }
        try? FileManager.default.removeItem(atPath: folder)
    }

    private static func gazetteer(of scenario: Scenario) throws(ScenarioError) -> Gazetteer? {
        guard let path = scenario.gazetteer else { return nil }
        do { return try Gazetteer(path: path) } catch {
            throw ScenarioError("The gazetteer \(path) cannot be used: \(error)")
        }
    }

    private static func key(of device: Scenario.Device) throws(ScenarioError) -> String {
        switch device.reportingKey {
        case .key(let key): return key
        case .file(let path):
            let key = String(decoding: try readFile(path).filter { $0 > 0x20 }, as: UTF8.self)
            guard !key.isEmpty else { throw ScenarioError("\(path) holds no reporting key.") }
            return key
        }
    }
}

/// A phone whose clock follows the real one, with its line to the push stand-in and, perhaps, to a real receiver.
private final class LivePhone {
    /// The longest a turn waits for a push, and so how late an answer of the service is noticed, in milliseconds.
    private static let turnMs: Int64 = 50
    /// The wait before the courier is tried again, in milliseconds.
    private static let courierRetryMs: Int64 = 1_000

    private let phone: SimulatedPhone
    private let gpsd: GPSDReceiver?
    private let diary: Diary
    private let courier: HostAndPort
    private let line: Line
    private var hasCourier = true
    private var notBeforeMs = Int64.min

    /// The line to the courier, which the system's part of the phone shares.
    private final class Line {
        var courier: CourierClient
        var fault: TransportFault?

        init(_ courier: CourierClient) { self.courier = courier }
    }

    init(
        _ device: Scenario.Device, key: String, track: SimulatedTrack?, service: URL, folder: String, diary: Diary,
        courier: HostAndPort, gazetteer: Gazetteer?
    ) {
        (self.diary, self.courier) = (diary, courier)
        let now = Date()
        var manner = SimulatedPhone.Manner()
        manner.interests = device.reports
        (manner.keys, manner.gazetteer) = (device.keys, gazetteer)
        phone = SimulatedPhone(
            SimulatedPhone.Identity(
                device: device.device, reportingKey: key, bundleID: device.bundleID, environment: device.environment),
            manner, start: now, service: service, folder: folder, network: URLSession.shared, diary: diary)
        phone.device.clock.waitsForOutside = false
        let line = Line(CourierClient(host: courier.host, port: courier.port))
        self.line = line
        phone.device.locationPushRegistrar = { bundleID in
            do throws(TransportFault) {
                return Data(try line.courier.register(bundleID: bundleID, environment: device.environment))
            } catch {
                line.fault = error
                throw CLLocationPushServiceError(.unknown)
            }
        }
        switch device.source {
        case .gpsd(let address): gpsd = GPSDReceiver(address: address)
        case .track(_, let standing):
            gpsd = nil
            if let track { phone.device.follow(track.standing(standing, at: now), findsInGapsOf: 1) }
        }
    }

    /// Lives until `isOver` says so, which is asked at each turn.
    func run(until isOver: () -> Bool) {
        phone.run(until: Date())
        phone.open()
        phone.leave()
        while !isOver() { turn() }
        line.courier.disconnect()
    }

    private func turn() {
        phone.run(until: Date())
        if let fault = line.fault.take() { lose(fault) }
        for reading in gpsd?.readings(waitingMs: 0) ?? [] {
            switch reading {
            case .fix(let fix): phone.device.receiveLive(CLLocation(fix))
            case .lost: phone.device.loseReceiver()
            }
        }
        guard MonotonicClock.milliseconds >= notBeforeMs else { return rest(ms: Self.turnMs) }
        if !hasCourier, !phone.hasToken {
            // The system tries again by itself; the app is not to know.
            hasCourier = true
            phone.registerAgain()
            return
        }
        do throws(TransportFault) {
            if let push = try line.courier.nextPush(timeoutMs: Self.turnMs) {
                phone.run(until: Date())
                phone.receive(topic: push.topic, payload: push.payload) { line in
                    line.field("apnsID", push.apnsID)
                    line.field("topic", push.topic)
                    line.field("priority", push.priority)
                }
            }
            hasCourier = true
        } catch { lose(error) }
    }

    private func lose(_ fault: TransportFault) {
        if hasCourier {
            diary.note("courierLost", device: phone.identity.device, at: Date()) {
                $0.field("reason", fault.description)
            }
        }
        hasCourier = false
        notBeforeMs = MonotonicClock.milliseconds + Self.courierRetryMs
        // A stand-in that starts anew on another directory does not know the token: the phone gets another one.
        if fault.description.contains("unknown token") {
            line.courier = CourierClient(host: courier.host, port: courier.port)
            notBeforeMs = Int64.min
            hasCourier = true
            phone.rotateToken()
        }
    }
}

/// Says to all phones that it is over.
private final class IsOver: Sendable {
    let value = Atomic<Bool>(false)
}
