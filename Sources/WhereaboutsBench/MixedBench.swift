import Cryptography
import Geodesy
import Glibc
import JSON
import Log
import Projections
import Threading
import Whereabouts

/// Fills a log with the events of a house in use: of 51, 44 are reported fixes, the others one question with its push, its
/// fix, its end and its disclosure, and one recorded read. Each person has a phone with a push token and a region.
///
/// The log's clock is that of the fixes: a round of a person is a quarter of an hour, a fix every twenty seconds. Three rounds
/// of four are spent at home or at work, and the fourth is the way between them, 9 km at 36 km/h.
struct MixedBench {
    private let directory: String
    private let events, devices: Int
    /// Each appends for its own share of the persons, so that commits are shared.
    private static let threads = 16
    private static let fixesInARound = 44
    private static let secondsBetweenFixes = 20

    init(_ options: Options) throws {
        directory = try options.text("dir")
        events = try options.number("events", default: 1_000_000)
        devices = try options.number("devices", default: 1000)
        guard devices >= Self.threads else { throw UsageError() }
    }

    func run() throws {
        let clock = Monitor(Fleet.start)
        let log = try EventLog.alone(in: try DataDirectory(path: directory), clock: { clock.read { $0 } })
        let fleet = try Fleet(of: log, count: devices)
        for (index, device) in fleet.devices.enumerated() {
            try Self.equip(index, device, fleet.manager, log)
        }
        var round = (fleet.next.min() ?? 0) / Self.secondsBetweenFixes / (Self.fixesInARound + 1)
        let began = nanoseconds()
        let before = log.head
        while log.head < events {
            let first = round * (Self.fixesInARound + 1)
            let now = Fleet.start.adding(seconds: Int64((first + Self.fixesInARound + 2) * Self.secondsBetweenFixes))
            clock.change { $0 = now }
            let failures = Monitor<[String]>([])
            let box = UncheckedBox((fleet, log))
            let workers = (0..<Self.threads).map { thread in
                WorkerThread {
                    let (fleet, log) = box.value
                    for index in stride(from: thread, to: fleet.devices.count, by: Self.threads) {
                        do { try Self.live(index, first, fleet, log, now) } catch {
                            return failures.change { $0.append("\(error)") }
                        }
                    }
                }
            }
            for worker in workers { worker.join() }
            if let failure = failures.read({ $0.first }) { throw MixedFailure(description: failure) }
            round += 1
        }
        let (head, seconds) = (log.head, Double(nanoseconds() - began) / 1e9)
        log.stop()
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("benchmark", "mixed")
        writer.field("events", Int(head))
        writer.field("eventsPerSecond", Int(Double(head - before) / seconds))
        writer.endObject()
        printLine(writer.bytes)
    }

    /// Registers a push token and adds a region, unless the person has them.
    private static func equip(_ index: Int, _ device: Caller, _ manager: Caller, _ log: EventLog) throws {
        guard let person = Handle("person-\(index)"), let phone = Handle("device-\(index)") else { return }
        let id = DeviceID(rawValue: device.principal.rawValue)
        guard log.withStanding({ $0.devices[id]?.push.token }) == nil else { return }
        let token = LocationPushToken(
            bytes: SHA256().hash(Array("token \(index)".utf8)).bytes, bundleID: "com.example.bench")
        try append(.registerPushToken(device: phone, token, .development), device, log)
        let center = try fix(of: index, 0).coordinate
        try append(
            .addRegion(Region(identifier: "home", circle: try Circle(center: center, radiusMeters: 200)), of: person),
            manager,
            log)
    }

    /// A fix of a device, counted from the beginning of the log.
    private static func fix(of device: Int, _ number: Int) throws -> Fix {
        var fix = Fleet.fix(device: device, number: number * secondsBetweenFixes)
        let (round, step) = number.quotientAndRemainder(dividingBy: fixesInARound + 1)
        let isBack = round / 4 % 2 == 1
        let way = round % 4 == 3 ? Double(step) / Double(fixesInARound + 1) : 0
        // Five decimals are a grid of a meter; the walk of the fleet gives the noise.
        let noise = (fix.coordinate.longitude * 1e7).truncatingRemainder(dividingBy: 100) / 1e7
        let latitude = 52 + Double(device) / 1000 + 0.08 * (isBack ? 1 - way : way) + noise
        fix.coordinate = try Coordinate(latitude: (latitude * 1e7).rounded() / 1e7, longitude: 13.4 + noise)
        return fix
    }

    /// A round of one person.
    private static func live(
        _ index: Int, _ first: Int, _ fleet: Fleet, _ log: EventLog, _ now: Timestamp
    ) throws {
        guard let person = Handle("person-\(index)") else { return }
        let (device, manager) = (fleet.devices[index], fleet.manager)
        func fix(_ number: Int) throws -> Fix { try Self.fix(of: index, first + number) }
        try append(
            .reportFixes(device: .caller, try (0..<fixesInARound - 1).map { .fix(try fix($0), answering: nil) }),
            device, log)
        let query = QueryID.random()
        try append(
            .queryLocation(
                LocationQuestion(
                    id: query, subject: person, purpose: "school run", initiation: .user, deadlineSeconds: 120,
                    maxAgeSeconds: 0)), manager, log)
        let id = DeviceID(rawValue: device.principal.rawValue)
        try append(.startPushes(query, to: [id]), .house, log)
        try append(
            .recordPushAttempt(
                LocationPushAttempt(
                    query: query, device: id, attempt: 1, apnsID: .random(), status: 200, reason: nil,
                    durationMilliseconds: 40)), .house, log)
        let answer = try fix(fixesInARound)
        try append(.reportFixes(device: .caller, [.fix(answer, answering: query)]), device, log)
        guard let number = log.withStanding({ $0.queries[query]?.fix }) else {
            throw MixedFailure(description: "A question of the load was not answered.")
        }
        try append(
            .disclose(
                query,
                content: Disclosure.Content(
                    latitude: answer.coordinate.latitude, longitude: answer.coordinate.longitude,
                    horizontalAccuracy: answer.horizontalAccuracy, timestamp: answer.timestamp, placeName: "Berlin",
                    answerHash: Hash256(SHA256().hash(Array("answer".utf8)))), precision: .exact, fix: number),
            manager, log)
        let read = ReadQuestion(subject: person, question: .visits, from: nil, to: nil, purpose: "report")
        guard case .success(let permit) = log.withStanding({ $0.authorize(manager, toRead: read, at: now) }) else {
            throw MixedFailure(description: "The operator of the load may not read.")
        }
        try append(
            .recordRead(
                read, permitted: permit, asOf: number, count: 3, answerHash: Hash256(SHA256().hash([1]))), manager, log)
    }

    private static func append(_ command: Command, _ caller: Caller, _ log: EventLog) throws {
        _ = try log.appendAndWait(command, by: caller, correlation: .random())
    }
}

private struct MixedFailure: Error, CustomStringConvertible {
    let description: String
}
