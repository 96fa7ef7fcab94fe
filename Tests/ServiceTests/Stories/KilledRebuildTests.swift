import Cryptography
import Geodesy
import Glibc
import JSON
import TestSupport
import Testing
import Whereabouts

@testable import Log
@testable import Projections

/// Kills the service without warning while it rebuilds all projections. The rebuild goes on where it stopped.
@Suite struct KilledRebuildTests {
    private typealias Process = KilledProcessTests.Process

    private static let events = isLongForm ? 150_000 : 50_000
    private static let kills = isLongForm ? 50 : 10
    /// Seconds, of which the slowest run takes a tenth.
    private static let patience = isLongForm ? 1800.0 : 300

    /// A log of one person's walks, longer than several batches of a rebuild.
    private static func fill(_ path: String) throws {
        let directory = try DataDirectory(path: path)
        let log = try EventLog.alone(in: directory)
        defer { log.stop() }
        func run(_ command: Command, by caller: Caller) throws -> Receipt {
            try log.appendAndWait(command, by: caller, correlation: .random())
        }
        func caller(_ holder: TokenHolder, _ scopes: Scopes, by caller: Caller) throws -> Caller {
            let hash = Hash256(SHA256().hash(randomBytes(32)))
            _ = try run(.issueToken(for: holder, scopes: scopes, hash: hash, until: nil), by: caller)
            return try #require(log.withStanding { $0.caller(tokenHash: hash, at: .now) })
        }
        let admin = try caller(.operator, [.query, .audit, .manage, .operate], by: .house)
        let (walker, handle) = (try #require(Handle("walker")), try #require(Handle("phone")))
        _ = try run(.addPerson(walker), by: admin)
        _ = try run(.addDevice(handle, of: walker), by: admin)
        let phone = try caller(.device(handle), .report, by: admin)
        var dice = SplitMix(46)
        var (latitude, longitude) = (48.2, 16.37)
        for first in stride(from: 0, to: events, by: 500) {
            let reports = try (first..<first + 500).map { index in
                if index / 400 % 2 == 0 {
                    latitude += Double.random(in: -0.0002...0.0003, using: &dice)
                    longitude += Double.random(in: -0.0002...0.0003, using: &dice)
                }
                let fix = Fix(
                    timestamp: Timestamp(milliseconds: 1_700_000_000_000 + Int64(index) * 10_000),
                    coordinate: try Coordinate(latitude: latitude, longitude: longitude), horizontalAccuracy: 8)
                return DeviceReport.fix(fix, answering: nil)
            }
            _ = try run(.reportFixes(device: .caller, reports), by: phone)
        }
    }

    /// The candidates by name.
    private static func candidates(_ client: SocketClient, _ admin: String) throws -> [String: JSONValue] {
        let items = try client.send("GET", "/v1/projections", as: admin).items.filter {
            $0["role"]?.string == "candidate"
        }
        return Dictionary(items.map { ($0["name"]?.string ?? "", $0) }) { first, _ in first }
    }

    @Test(.enabled(if: Repository.tool != nil, "whereabouts was not built beside the tests"))
    func `a rebuild that is killed again and again goes on where it stopped, and equals the active files`() throws {
        let tool = try #require(Repository.tool)
        let folder = TemporaryFolder()
        try Self.fill(folder.path)
        var service = try Process(tool, data: folder.path)
        let admin = try KilledProcessTests.admin(folder.path)
        var client = SocketClient(port: service.port)
        // The active files are folded first.
        try eventually("the active files", within: Self.patience, pauseMilliseconds: 50) {
            let items = try client.send("GET", "/v1/projections", as: admin).items
            return items.count == 5 && items.allSatisfy { $0["place"]?.int == $0["head"]?.int }
        }
        let made = try client.send("POST", "/v1/projections/rebuilds", as: admin)
        #expect(made.status == 200 && made.items.count == 5, "\(made.text)")
        let names = Set(made.items.compactMap { $0["name"]?.string })
        var dice = SplitMix(4646)
        var (killedInside, resumed) = (0, 0)
        for _ in 0..<Self.kills {
            // A transaction of the rebuild takes up to two seconds.
            usleep(UInt32.random(in: 0...3_000_000, using: &dice))
            let before = try Self.candidates(client, admin)
            kill(service.id, SIGKILL)
            #expect(service.ended().signal == SIGKILL)
            if before.values.contains(where: { $0["state"]?.string == "loading" }) { killedInside += 1 }
            service = try Process(tool, data: folder.path)
            client = SocketClient(port: service.port)
            let after = try Self.candidates(client, admin)
            // The same files, at the place that was reached or beyond it.
            #expect(Set(after.keys) == names)
            for (name, item) in after {
                #expect(item["generation"]?.int == before[name]?["generation"]?.int, "\(name)")
                let place = item["place"]?.int ?? -1
                #expect(place >= before[name]?["place"]?.int ?? 0, "\(name) began again")
                if place > 0 { resumed += 1 }
            }
            // Asking again continues the rebuild under way; after its end it begins a new one.
            if after.values.allSatisfy({ ($0["place"]?.int ?? 0) * 2 < $0["head"]?.int ?? 0 }) {
                let again = try client.send("POST", "/v1/projections/rebuilds", as: admin)
                #expect(again.items.map { $0["generation"]?.int } == made.items.map { $0["generation"]?.int })
            }
        }
        #expect(killedInside > 0 && resumed > 0, "\(killedInside) kills inside, \(resumed) files resumed")
        try eventually("the rebuild", within: Self.patience, pauseMilliseconds: 50) {
            let all = try Self.candidates(client, admin)
            return all.count == 5 && all.values.allSatisfy { $0["state"]?.string == "ready" }
        }
        for name in names {
            let diff = try client.send("GET", "/v1/projections/\(name)/diff", as: admin)
            #expect(diff["equal"]?.bool == true, "\(name): \(diff.text.prefix(300))")
        }
        kill(service.id, SIGTERM)
        #expect(service.ended().status == 0)
    }
}
