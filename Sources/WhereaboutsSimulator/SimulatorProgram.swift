import DeviceAgent
import Glibc
import JSON
import Log
import PushStandIn
import Reactors
import Service
import Synchronization
import Whereabouts

/// The program `whereabouts-simulate`, which `whereabouts simulate` runs: phones in real time for a running service, or
/// phones in simulated time with their own service.
///
/// The simulated phones use Foundation. In a separate program they do not cost each service the 8 MiB that Foundation
/// takes.
@main enum SimulatorProgram {
    static func main() {
        exit(runSimulate(arguments: Array(CommandLine.arguments.dropFirst()), host: start))
    }

    /// Starts a service in this process whose clock is set from outside.
    private static func start(
        directory: String, pushes: PushStandIn, bundleID: String, time: Timestamp
    ) throws -> WorldService {
        var text = JSONWriter()
        text.beginObject()
        text.object("push") { push in
            push.field("host", "localhost")
            push.field("port", Int(pushes.port))
            push.field("caFile", pushes.credentials.trustFile)
            push.field("teamID", pushes.credentials.teamID)
            push.field("keyID", pushes.credentials.keyID)
            push.field("keyFile", pushes.credentials.providerKeyFile)
            push.array("bundleIDs") { $0.value(bundleID) }
            push.field("environment", "development")
        }
        text.endObject()
        let clock = SettableClock(time)
        let service = try Service(
            directory: try DataDirectory(path: directory), configuration: try ServiceConfiguration.parse(text.bytes),
            gazetteerPath: nil, clock: { clock.now })
        return WorldService(
            port: try service.listen(host: "127.0.0.1", port: 0), adminToken: service.adminToken,
            setTime: { clock.set($0) }, stop: { service.stop() })
    }

    private final class SettableClock: Sendable {
        private let milliseconds: Atomic<Int64>

        init(_ time: Timestamp) { milliseconds = Atomic(time.milliseconds) }

        var now: Timestamp { Timestamp(milliseconds: milliseconds.load(ordering: .acquiring)) }
        func set(_ time: Timestamp) { milliseconds.store(time.milliseconds, ordering: .releasing) }
    }
}
