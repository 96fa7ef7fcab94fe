import Glibc
import Log
import Maintenance
import Synchronization

/// Appends fixes and writes a line `device number` to a file for each, after it was acknowledged: the load of the crash
/// tests, with all projections following. It ends after so many events, or when it is killed; after a restart, it sends
/// the unacknowledged fixes again, as a phone does, and continues.
struct AppendLoad {
    private let directory, acks: String
    private let events, outstanding, devices: Int
    /// Few, so that every load writes and merges files of the index of fixes.
    private static let eventsPerRun: Int64 = 50

    init(_ options: Options) throws {
        directory = try options.text("dir")
        acks = try options.text("acks")
        events = try options.number("events", default: 1000)
        outstanding = try options.number("outstanding", default: 16)
        devices = try options.number("devices", default: 5)
    }

    func run() throws {
        let acknowledged = Acknowledgement.read(acks) ?? []
        let file = open(acks, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw LogError.file(path: acks, errno: errno) }
        let folded = try FoldedLog(in: try DataDirectory(path: directory), eventsPerRun: Self.eventsPerRun)
        let log = folded.log
        var fleet = try Fleet(of: log, count: devices)
        fleet.next = [Int](repeating: 0, count: devices)
        for line in acknowledged where line.device < devices {
            fleet.next[line.device] = max(fleet.next[line.device], line.number + 1)
        }
        let recorder = Recorder(events: events, outstanding: outstanding)
        for index in 0..<events {
            recorder.waitForRoom()
            let device = index % devices
            let number = fleet.next[device]
            log.submit(fleet.report(device: device), by: fleet.devices[device], correlation: .random()) { result in
                let isGood = (try? result.get()) != nil
                if isGood {
                    // One write a line: a kill leaves whole lines only.
                    var line = "\(device) \(number)\n"
                    line.withUTF8 { _ = write(file, $0.baseAddress, $0.count) }
                }
                recorder.record(index, 0, isGood: isGood)
            }
        }
        recorder.waitForAll()
        folded.stop()
        close(file)
        if recorder.failures > 0 { throw BenchError.failures }
    }
}

/// One line of a file of acknowledgements.
struct Acknowledgement: Hashable {
    let device, number: Int

    /// The lines of a file in their order; `nil` when there is none.
    static func read(_ file: String) -> [Acknowledgement]? {
        DataDirectory.read(file, atMost: 1 << 30)?.split(separator: 10).compactMap { line in
            let words = line.split(separator: 32).compactMap { Int(String(decoding: $0, as: UTF8.self)) }
            return words.count == 2 ? Acknowledgement(device: words[0], number: words[1]) : nil
        }
    }
}
