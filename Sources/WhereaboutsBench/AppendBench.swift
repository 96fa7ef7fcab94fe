import Glibc
import JSON
import Log
import Maintenance
import PostgreSQL
import PostgreSQLLog
import Projections
import Synchronization
import Whereabouts

/// Durable appends of single fixes through the log itself, with everything on: decision, two fsynced files, sealing,
/// leaves, tree, standing.
struct AppendBench {
    private let directory: String
    private let events, warm, outstanding, devices: Int
    /// How libpq finds the database of the log; empty for a log in its file.
    private let database: String

    init(_ options: Options) throws {
        directory = try options.text("dir")
        events = try options.number("events", default: 300_000)
        warm = try options.number("warm", default: 0)
        outstanding = try options.number("outstanding", default: 64)
        devices = try options.number("devices", default: 200)
        database = options.text("postgresql", default: "")
    }

    /// The log in its file, or in a database that is waited for with its standby.
    private func open() throws -> EventLog {
        let directory = try DataDirectory(path: directory)
        guard !database.isEmpty else { return try EventLog.alone(in: directory) }
        let server = try LogServer(LogServerSettings(try ConnectionString(database), needsQuorum: true))
        return try EventLog.alone(in: directory, taken: try server.take(for: directory))
    }

    func run() throws {
        let log = try open()
        var fleet = try Fleet(of: log, count: devices)
        try fleet.warm(log, count: max(0, warm - Int(log.head)))
        let before = log.head
        let recorder = Recorder(events: events, outstanding: outstanding)
        let cpuBefore = cpuMicroseconds()
        let began = nanoseconds()
        for index in 0..<events {
            recorder.waitForRoom()
            let command = fleet.report(device: index % devices)
            let submitted = nanoseconds()
            // Made by the door in life, from random bytes.
            let correlation = RequestID(random: UInt64(index) &* 0x9E37_79B9_7F4A_7C15, UInt64(submitted))
            log.submit(command, by: fleet.devices[index % devices], correlation: correlation) { result in
                recorder.record(index, nanoseconds() - submitted, isGood: (try? result.get()) != nil)
            }
        }
        recorder.waitForAll()
        let seconds = Double(nanoseconds() - began) / 1e9
        let cpu = Double(cpuMicroseconds() - cpuBefore)
        let head = log.head
        let commits = log.commits
        log.stop()
        let latencies = recorder.sortedMicroseconds()
        func quantile(_ share: Double) -> Double {
            (latencies[Int(share * Double(latencies.count - 1) + 0.5)] * 10).rounded() / 10
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("benchmark", "append")
        writer.field("place", database.isEmpty ? "sqlite" : "postgresql")
        writer.field("events", events)
        writer.field("warmEvents", Int(before))
        writer.field("outstanding", outstanding)
        writer.field("devices", devices)
        writer.field("failures", recorder.failures)
        writer.field("seconds", rounded(seconds, 3))
        writer.field("eventsPerSecond", Int(Double(events) / seconds))
        writer.field("commitsInAll", Int(commits))
        writer.field("ackP50Microseconds", quantile(0.5))
        writer.field("ackP99Microseconds", quantile(0.99))
        writer.field("ackP999Microseconds", quantile(0.999))
        writer.field("cpuMicrosecondsPerEvent", rounded(cpu / Double(events), 2))
        writer.field("bytesPerEvent", rounded(Double(fileSize("\(directory)/log.sqlite")) / Double(head), 1))
        writer.endObject()
        printLine(writer.bytes)
        if recorder.failures > 0 { throw BenchError.failures }
    }
}

enum BenchError: Error { case failures }

func rounded(_ value: Double, _ decimals: Int) -> Double {
    var scale = 1.0
    for _ in 0..<decimals { scale *= 10 }
    return (value * scale).rounded() / scale
}

func fileSize(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
}

/// User and system time of the process.
func cpuMicroseconds() -> Int64 { nanoseconds(CLOCK_PROCESS_CPUTIME_ID) / 1000 }

/// Keeps so many appends under way and notes how long each took.
final class Recorder: @unchecked Sendable {
    // Each slot of `latencies` is written once, by the completion of its index; read after all completions.
    private let latencies: UnsafeMutablePointer<Int64>
    private let count, outstanding: Int
    private let room: UnsafeMutablePointer<sem_t>
    private let failed = Atomic<Int>(0)

    init(events: Int, outstanding: Int) {
        latencies = .allocate(capacity: events)
        (count, self.outstanding) = (events, outstanding)
        room = .allocate(capacity: 1)
        sem_init(room, 0, UInt32(outstanding))
    }

    deinit {
        sem_destroy(room)
        room.deallocate()
        latencies.deallocate()
    }

    var failures: Int { failed.load(ordering: .relaxed) }

    func waitForRoom() { while sem_wait(room) != 0 {} }

    func record(_ index: Int, _ nanoseconds: Int64, isGood: Bool) {
        latencies[index] = nanoseconds
        if !isGood { failed.add(1, ordering: .relaxed) }
        sem_post(room)
    }

    func waitForAll() { for _ in 0..<outstanding { waitForRoom() } }

    func sortedMicroseconds() -> [Double] {
        UnsafeBufferPointer(start: latencies, count: count).map { Double($0) / 1000 }.sorted()
    }
}
