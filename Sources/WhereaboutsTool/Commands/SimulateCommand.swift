import DeviceAgent
import JSON
import Log
import PushStandIn
import Reactors
import Service
import Synchronization
import Whereabouts

/// `simulate`: phones in real time for a running service, or phones in simulated time with their own service.
enum SimulateCommand {
    static let command = Command(
        "simulate", summary: "Simulate phones that report to a service.", operands: .optional("SCENARIO.json"),
        accepts: [
            Option.flag("verbose", help: "print each step of the phones, with coordinates"),
            Options.json,
            Options.text("data", "DIR", help: "use and keep this data directory for the simulated service"),
            Options.text("logs", "DIR", help: "write one file per phone with the callbacks of its app"),
            Option.flag("fidelity", help: "list undocumented behavior of Core Location and its evidence"),
        ],
        details: """
            A scenario lists people, where they go, what the network loses and who asks; data/demo has examples. The exit
            code is 0 if every question ended as expected, 1 if one did not, and 3 if the scenario cannot be simulated.
            """,
        passesOn: { runSimulate(arguments: $0, host: start) })

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
