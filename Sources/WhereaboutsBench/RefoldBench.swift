import Glibc
import JSON
import Log
import Maintenance
import Projections

/// Projections from zero, in one scan, on one thread or two; and how many bytes a fix takes in each file.
struct RefoldBench {
    private let directory: String
    private let events, devices, threads: Int
    /// The projection to fold; empty for all.
    private let only: String

    init(_ options: Options) throws {
        directory = try options.text("dir")
        events = try options.number("events", default: 1_000_000)
        devices = try options.number("devices", default: 200)
        threads = try options.number("threads", default: 1)
        only = options.text("only", default: "")
    }

    func run() throws {
        do {
            let log = try EventLog.alone(in: try DataDirectory(path: directory))
            var fleet = try Fleet(of: log, count: devices)
            try fleet.warm(log, count: max(0, events - Int(log.head)))
            log.stop()
        }
        let data = try DataDirectory(path: directory)
        let log = Double(fileSize("\(directory)/log.sqlite"))
        let cpu = cpuMicroseconds()
        let began = nanoseconds()
        let files = try FoldedLog.refold(data, only: only.isEmpty ? nil : only, threads: threads)
        let seconds = Double(nanoseconds() - began) / 1e9
        let cpuSeconds = Double(cpuMicroseconds() - cpu) / 1e6
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("benchmark", "refold")
        writer.field("events", events)
        writer.field("threads", threads)
        writer.field("seconds", rounded(seconds, 3))
        writer.field("eventsPerSecond", Int(Double(events) / seconds))
        writer.field("eventsPerCPUSecond", Int(Double(events) / cpuSeconds))
        let bytes = files.reduce(log) { $0 + Double($1.bytes) }
        writer.field("bytesPerFix", rounded(bytes / Double(events), 1))
        writer.object("bytesPerFixByFile") { writer in
            writer.field("log", rounded(log / Double(events), 1))
            for file in files { writer.field(file.name, rounded(Double(file.bytes) / Double(events), 1)) }
        }
        writer.endObject()
        printLine(writer.bytes)
    }
}
