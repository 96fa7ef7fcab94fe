import Glibc
import JSON
import SQLite
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import AuditTables
@testable import Log
@testable import Maintenance
@testable import Service
@testable import Tables

/// An act of the operator is recorded before it is done, and every person's audit shows the acts that concern all
/// people.
@Suite struct OperatorActStoryTests {
    private static func audit(_ house: ServiceUnderTest, _ person: String, limit: Int) throws -> [JSONValue] {
        let token = try house.token(of: person)
        var entries: [JSONValue] = []
        var after = "&at-least=\(house.service.log.head)"
        for _ in 0..<200 {
            let answer = house.send("GET", "/v1/people/\(person)/audit?limit=\(limit)\(after)", as: token)
            try #require(answer.status == 200, "\(answer.text)")
            #expect(answer.items.count <= limit)
            entries += answer.items
            guard let next = answer.json?["next"]?.string else { return entries }
            after = "&after=\(next)"
        }
        Issue.record("the pages have no end")
        return entries
    }

    private static func acts(_ entries: [JSONValue]) -> [String] {
        entries.filter { $0["kind"]?.string == "act" }.map { entry in
            let failed = entry["failedAt"] == nil ? "" : " failed"
            return (entry["act"]?.string ?? "") + (entry["projection"]?.string.map { " \($0)" } ?? "") + failed
        }
    }

    /// A house of two people in which every act was done once, and one failed.
    private static func arranged() throws -> ServiceUnderTest {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("anna")
        _ = try house.addPerson("ben")
        house.manage("POST", "/v1/backups")
        #expect(house.send("POST", "/v1/projections/audit/activate", as: house.operatorToken).status == 409)
        house.manage("POST", "/v1/projections/current/rebuild")
        try waitForCandidate(house)
        house.manage("POST", "/v1/projections/current/activate")
        house.manage("POST", "/v1/projections/current/rollback")
        house.manage("POST", "/v1/projections/prune")
        house.manage("POST", "/v1/projections/prune", #"{"name":"timeline"}"#)
        return house
    }

    private static func waitForCandidate(_ house: ServiceUnderTest) throws {
        try eventually("the projection to be folded") {
            house.manage("GET", "/v1/projections").items.contains {
                $0["role"]?.string == "candidate" && $0["state"]?.string == "ready"
            }
        }
    }

    private static let done = [
        "pruneProjections timeline", "pruneProjections", "rollBackProjection current", "activateProjection current",
        "rebuildProjection current", "activateProjection audit failed", "backUp",
    ]

    @Test func `every person's audit shows the acts, newest first`() throws {
        let house = try Self.arranged()
        for person in ["anna", "ben"] {
            let entries = try Self.audit(house, person, limit: 500)
            #expect(Self.acts(entries) == Self.done)
            for entry in entries where entry["kind"]?.string == "act" {
                #expect(entry["actor"]?.string == "operator" && entry["at"]?.double != nil)
                // Its number is not the person's to know.
                #expect(entry["number"] == nil)
            }
        }
    }

    @Test(arguments: [1, 2, 3, 7]) func `pages of any length give each entry once`(limit: Int) throws {
        let house = try Self.arranged()
        let whole = try Self.audit(house, "anna", limit: 500)
        let paged = try Self.audit(house, "anna", limit: limit)
        /// Each walk begins with a token and leaves a reading a page.
        func settled(_ entries: [JSONValue]) -> [String] {
            entries.filter { $0["kind"]?.string != "read" && $0["event"]?.string != "TokenIssued" }.map { entry in
                "\(entry["number"]?.int ?? 0) \(entry["act"]?.string ?? entry["event"]?.string ?? "") "
                    + "\(entry["projection"]?.string ?? "")"
            }
        }
        #expect(settled(paged) == settled(whole))
        #expect(Self.acts(paged) == Self.acts(whole))
    }

    @Test func `the CSV has a line for each act`() throws {
        let house = try Self.arranged()
        let token = try house.token(of: "anna")
        let answer = house.send(
            "GET", "/v1/people/anna/audit?limit=500&at-least=\(house.service.log.head)", as: token,
            headers: [("Accept", "text/csv")])
        let lines = answer.text.split(separator: "\r\n").filter { $0.contains(",act,") }
        #expect(lines.count == Self.done.count)
        #expect(lines.contains { $0.contains(",act,,operator,activateProjection audit,,failed,") })
        #expect(lines.contains { $0.contains(",act,,operator,rebuildProjection current version ") })
        #expect(lines.allSatisfy { $0.hasPrefix(",") })
    }

    @Test func `an act is recorded before it is done, and an impossible one is not`() throws {
        let house = try Self.arranged()
        let events = try house.events()
        let acts = events.filter { if case .operatorActed = $0.event { true } else { false } }
        #expect(acts.allSatisfy { $0.actor == .operator && $0.stream == .house })
        let failure = try #require(
            acts.first { if case .operatorActed(.failed) = $0.event { true } else { false } })
        guard case .operatorActed(.failed(let number)) = failure.event else { return }
        #expect(failure.cause == number && number == failure.number - 1)
        // The copy has the record of the backup that made it.
        let manifest = try BackupManifest(folder: house.directory + "/backup")
        let backup = try #require(acts.first { $0.event == .operatorActed(.backUp) })
        #expect(manifest.events == backup.number)

        let head = house.service.log.head
        let ben = try house.token(of: "ben")
        for target in ["/v1/backups", "/v1/projections/audit/rebuild", "/v1/projections/prune"] {
            #expect(house.send("POST", target, as: ben).status == 404)
        }
        #expect(house.send("POST", "/v1/projections/anna/rebuild", as: house.operatorToken).status == 404)
        // An event with this number could not be read again, and no projection would go on behind it.
        let beyond = house.send(
            "POST", "/v1/projections/audit/rebuild", as: house.operatorToken, #"{"version":9223372036854775807}"#)
        #expect(beyond.status == 422)
        let prune = house.send("POST", "/v1/projections/prune", as: house.operatorToken, #"{"name":"anna"}"#)
        #expect(prune.status == 404)
        // Ben's token.
        #expect(house.service.log.head == head + 1)
    }

    @Test func `every person's audit shows that the log was restored`() throws {
        let house = try Self.arranged()
        let folder = TemporaryFolder()
        let path = folder.path + "/restored"
        _ = try Restore.restore(
            from: house.directory + "/backup", to: path, kek: house.directory + "/kek", newerKeys: nil)
        let log = try FoldedLog(in: try DataDirectory(path: path))
        defer { log.stop() }
        #expect(log.waitForFolds())
        let acts = try AuditReader.acts(
            limit: 10,
            in: try Connection(
                path: "\(path)/projections/audit-v\(AuditTable.versions[0])-1.sqlite", access: .readOnly))
        #expect(acts.map(\.act) == ["restore", "backUp"] && acts[0].epoch == 2)
    }
}
