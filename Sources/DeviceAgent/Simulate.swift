internal import Glibc
internal import JSON
package import LocationPush
internal import PushStandIn
internal import Synchronization

/// `whereabouts simulate SCENARIO.json [--verbose]`: plays the phones of a ``Scenario`` until SIGINT or SIGTERM.
///
/// Prints a JSON line for everything that happens; with `--verbose` also the fixes, with their coordinates. A service or
/// stand-in that is not there (yet) is tried again, for as long as it takes.
///
/// - Returns: 0 after a signal, 2 for wrong arguments, 3 for a scenario, key or track that cannot be used.
package func runSimulate(arguments: [String]) -> Int32 {
    do {
        let arguments = try Arguments(arguments, options: [], flags: ["--verbose"])
        guard let path = arguments.rest.first, arguments.rest.count == 1 else {
            throw UsageError("Usage: whereabouts simulate SCENARIO.json [--verbose]")
        }
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let scenario = try Scenario(json: try readFile(path), directory: directory)
        let end = EndSignal()
        let simulation = try Simulation(
            scenario,
            diary: Diary(tellsPlaces: arguments.flags.contains("--verbose")) { write($0, toDescriptor: 1) })
        end.wait()
        simulation.stop()
        return 0
    } catch let error as UsageError {
        complain(error.description)
        return 2
    } catch {
        complain("\(error)")
        return 3
    }
}

/// The phones of one scenario, each on a thread of its own.
package final class Simulation: Sendable {
    private let isOver: IsOver
    private let threads: [pthread_t]

    /// Reads keys and tracks, then starts the phones.
    ///
    /// - Throws: ``ScenarioError`` when a key or track cannot be read; then nothing was started.
    package init(_ scenario: Scenario, diary: Diary, clock: PushClock = .system) throws(ScenarioError) {
        let service = try ServiceConnection(service: scenario.service)
        let courier = scenario.pushStandIn
        let isOver = IsOver()
        var lives: [Life] = []
        for device in scenario.devices {
            let identity = SimulatedPhone.Identity(
                device: device.device, reportingKey: try Self.key(of: device), bundleID: device.bundleID,
                environment: device.environment)
            let track = try Self.track(of: device)
            lives.append(
                Life {
                    SimulatedPhone(
                        identity, track: track, diary: diary, clock: clock,
                        makeCourier: { CourierClient(host: courier.host, port: courier.port) },
                        send: { service.send($0) }
                    ).run { isOver.value.load(ordering: .relaxed) }
                })
        }
        self.isOver = isOver
        threads = lives.map { $0.start() }
    }

    /// Ends the phones; blocks until they have, at most as long as one message to the service takes.
    ///
    /// - Precondition: it is called once.
    package func stop() {
        isOver.value.store(true, ordering: .relaxed)
        for thread in threads { pthread_join(thread, nil) }
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

    private static func track(of device: Scenario.Device) throws(ScenarioError) -> Track {
        let gpx = try readFile(device.track)
        do throws(ScenarioError) {
            return try Track(gpx: gpx, standing: device.standing)
        } catch {
            throw ScenarioError("\(device.track): \(error.description)")
        }
    }
}

/// Says to all phones that it is over.
private final class IsOver: Sendable {
    let value = Atomic<Bool>(false)
}

/// What one thread does, carried over to it.
private final class Life: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    func start() -> pthread_t {
        var thread = pthread_t()
        let error = pthread_create(
            &thread, nil,
            { life in
                if let life { Unmanaged<Life>.fromOpaque(life).takeRetainedValue().body() }
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        precondition(error == 0, "The system gives no more threads.")
        return thread
    }
}
