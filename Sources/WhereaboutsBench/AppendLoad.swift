import Glibc
import Service
import Synchronization
import Whereabouts

/// Appends fixes and writes a line `device number` to a file for each, after it was acknowledged: the load of the crash
/// tests. It ends after so many events, or when it is killed; started again, it goes on behind what is durable.
struct AppendLoad {
    private let directory, acks: String
    private let events, outstanding, devices: Int

    init(_ options: Options) throws {
        directory = try options.text("dir")
        acks = try options.text("acks")
        events = try options.number("events", default: 1000)
        outstanding = try options.number("outstanding", default: 16)
        devices = try options.number("devices", default: 5)
    }

    func run() throws {
        let file = open(acks, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw LogError.file(path: acks, errno: errno) }
        let log = try EventLog.alone(in: try DataDirectory(path: directory))
        var fleet = try Fleet(of: log, count: devices)
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
        log.stop()
        close(file)
        if recorder.failures > 0 { throw BenchError.failures }
    }
}
