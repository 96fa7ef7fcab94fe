import Glibc
import JSON
import Log
import PushStandIn
import Reactors
import Service
import Synchronization
import Threading

/// Milliseconds from a question to its answer when everything answers at once: the service, a stand-in for APNs and phones
/// that post a fix the moment they are pushed, all on the loopback address, every message over a socket.
///
/// Each question is about another person, who has reported before: a phone is woken once a minute. The asker waits by
/// `?wait=`; askers and phones keep their connections.
struct AskBench {
    private let directory: String
    private let alone, outstanding, each, phoneThreads: Int

    init(_ options: Options) throws {
        directory = try options.text("dir")
        alone = try options.number("asks", default: 300)
        outstanding = try options.number("outstanding", default: 100)
        each = try options.number("each", default: 10)
        phoneThreads = try options.number("phones", default: 16)
    }

    func run() throws {
        let phones = BenchedPhones()
        var standInConfiguration = PushStandIn.Configuration(directory: try made("stand-in"))
        standInConfiguration.record = { phones.wake($0.deviceTokenEnd) }
        let standIn = try PushStandIn(standInConfiguration)
        defer { standIn.stop() }
        let credentials = standIn.credentials
        let service = try Service(
            directory: try DataDirectory(path: "\(directory)/data"),
            configuration: try ServiceConfiguration.parse(BenchedService.configuration(credentials, standIn.port)),
            gazetteerPath: nil)
        defer { service.stop() }
        let port = try service.listen(host: "127.0.0.1", port: 0)
        let house = BenchedService(port: port, admin: service.adminToken)
        let connection = try KeptConnection(port: port)
        let asker = try house.addAsker(connection)
        let count = alone + outstanding * each
        for number in 0..<count {
            let token = try standIn.registerPhone(bundleID: BenchedService.bundleID)
            phones.add(token, key: try house.addPerson(number, token: token, connection))
        }
        let workers = try phones.answer(port: port, threads: phoneThreads)
        defer {
            phones.stop()
            for worker in workers { worker.join() }
        }
        let step = try house.durableStep(asker: asker, key: phones.anyKey, connection)
        let first = try (0..<alone).map { try house.ask($0, as: asker, connection) }
        let cpu = cpuMicroseconds()
        let together = try house.ask(alone..<count, as: asker, threads: outstanding)
        report(step, first.sorted(), together.sorted(), cpu: cpuMicroseconds() - cpu)
    }

    private func made(_ name: String) throws -> String {
        mkdir(directory, 0o700)
        let path = "\(directory)/\(name)"
        mkdir(path, 0o700)
        return path
    }

    /// - Parameter cpu: microseconds that all of the process, askers, phones and stand-in too, computed for `together`.
    private func report(_ step: Double, _ alone: [Double], _ together: [Double], cpu: Int64) {
        func part(_ times: [Double], _ share: Double) -> Double {
            times.isEmpty ? 0 : times[min(times.count - 1, Int(Double(times.count) * share))]
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("benchmark", "ask")
        writer.field("durableStepMilliseconds", rounded(step, 3))
        writer.field("aloneMedianMilliseconds", rounded(part(alone, 0.5), 2))
        writer.field("aloneP99Milliseconds", rounded(part(alone, 0.99), 2))
        writer.field("outstanding", outstanding)
        writer.field("togetherMedianMilliseconds", rounded(part(together, 0.5), 2))
        writer.field("togetherP99Milliseconds", rounded(part(together, 0.99), 2))
        writer.field("togetherCPUMilliseconds", rounded(Double(cpu) / 1000 / Double(max(1, together.count)), 3))
        writer.endObject()
        printLine(writer.bytes)
    }
}
