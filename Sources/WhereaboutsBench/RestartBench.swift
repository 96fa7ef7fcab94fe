import Cryptography
import JSON
import Log
import LogVerifying
import Projections

/// Seconds from opening a log of so many events until it takes commands, after a proper stop.
struct RestartBench {
    private let directory: String
    private let events, devices: Int

    init(_ options: Options) throws {
        directory = try options.text("dir")
        events = try options.number("events", default: 2_000_000)
        devices = try options.number("devices", default: 200)
    }

    func run() throws {
        let first: Int64
        do {
            let began = nanoseconds()
            let log = try EventLog.alone(in: try DataDirectory(path: directory))
            first = nanoseconds() - began
            var fleet = try Fleet(of: log, count: devices)
            try fleet.warm(log, count: max(0, events - Int(log.head)))
            log.stop()
        }
        let began = nanoseconds()
        let log = try EventLog.alone(in: try DataDirectory(path: directory))
        let opened = nanoseconds()
        var fleet = try Fleet(of: log, count: devices)
        _ = try log.appendAndWait(fleet.report(device: 0), by: fleet.devices[0], correlation: .random())
        let ready = nanoseconds()
        let head = log.head
        log.stop()
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("benchmark", "restart")
        writer.field("events", Int(head))
        // After a kill, this opening folded the events that the saved standing did not have.
        writer.field("firstOpenMilliseconds", rounded(Double(first) / 1e6, 1))
        writer.field("openMilliseconds", rounded(Double(opened - began) / 1e6, 1))
        writer.field("firstAppendMilliseconds", rounded(Double(ready - began) / 1e6, 1))
        writer.endObject()
        printLine(writer.bytes)
    }
}

/// Events verified a second.
struct VerifyBench {
    private let directory: String

    init(_ options: Options) throws { directory = try options.text("dir") }

    func run() throws {
        let directory = try DataDirectory(path: directory)
        let began = nanoseconds()
        let cpu = cpuMicroseconds()
        let result = try LogVerifier.verify(directory) { _, _ in }
        let seconds = Double(nanoseconds() - began) / 1e9
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("benchmark", "verify")
        writer.field("events", result.events)
        writer.field("root", result.root.hex)
        writer.field("problem", result.problem.map { "event \($0.number): \($0.sentence)" })
        writer.field("seconds", rounded(seconds, 3))
        writer.field("eventsPerSecond", Int(Double(result.events) / seconds))
        writer.field("cpuMicrosecondsPerEvent", rounded(Double(cpuMicroseconds() - cpu) / Double(result.events), 2))
        writer.endObject()
        printLine(writer.bytes)
    }
}
