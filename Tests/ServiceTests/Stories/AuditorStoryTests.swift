import Cryptography
import Glibc
import JSON
import LogVerifying
import SQLite
import TestSupport
import Testing
import Transparency
import Whereabouts

@testable import Answers
@testable import HTTPInterface
@testable import Log
@testable import Maintenance
@testable import Projections
@testable import Service

/// The log as an auditor sees it, who has a token, the key of the house and a program without our code: what a house that
/// lies in one way shows them.
@Suite struct AuditorStoryTests {
    /// A house in which the friend has asked the walker, and the walker has read their audit.
    private final class Scene: Sendable {
        let house: ServiceUnderTest
        let walker, friend, auditor: String
        let folder = TemporaryFolder()
        let receipts: [UInt8]
        private let port: Int

        init() throws {
            house = try ServiceUnderTest()
            port = try house.listen()
            walker = try house.addPerson("walker")
            friend = try house.addPerson("friend")
            let phone = try house.addDevice("walker-phone", of: "walker")
            try house.grant("walker", to: "friend", history: true)
            house.send(
                "POST", "/v1/fixes", as: phone,
                #"{"timestamp":\#(house.clock.seconds),"latitude":48.2,"longitude":16.4,"horizontalAccuracy":5}"#)
            var notes: [[UInt8]] = []
            for what in ["location", "track", "visits"] {
                house.clock.advance(seconds: 60)
                let answer = house.send("GET", "/v1/people/walker/\(what)", as: friend)
                notes.append(try #require(answer.header(Receipts.header).flatMap { Base64.decode($0) }))
            }
            receipts = Array(notes.joined(separator: [UInt8(ascii: "\n")]))
            house.send(
                "POST", "/v1/people/walker/location-queries", as: friend,
                #"{"purpose":"late for dinner","maxAgeSeconds":3600}"#)
            auditor = try #require(house.manage("POST", "/v1/auditors")["token"]?.string)
        }

        var state: String { folder.file("audited") }

        func proof() throws -> [UInt8] {
            let answer = house.send("GET", "/v1/people/walker/proof", as: walker)
            #expect(answer.status == 200, "\(answer.text)")
            return answer.body
        }

        func seal() throws -> HouseSeal {
            let log = house.service.log
            return HouseSeal(
                publicURL: nil, log: log.id, epoch: log.epoch, mark: log.withStanding { $0.mark },
                under: try SymmetricKey(bytes: contents(ofFile: house.directory + "/kek")))
        }

        /// The proof of a house that lies to the person: other entries, rightly signed.
        func lie(_ change: (inout [PersonProof.Entry]) -> Void) throws -> [UInt8] {
            let proof = try PersonProof(parsing: try proof())
            var entries = proof.entries
            change(&entries)
            let origin = try Checkpoint(text: proof.note.text).origin
            let sha256 = SHA256()
            let leaves = PersonProof(names: proof.names, entries: entries, note: proof.note).logEntries(sha256)
                .map { $0.leaf(sha256) }
            let note = try PersonLog(origin: origin, leaves: leaves, sha256).checkpoint(sha256)
                .signed(by: seal().signer(of: origin))
            return PersonProof(names: proof.names, entries: entries, note: note).bytes
        }

        /// The verdict of an audit, as JSON.
        func audit(
            _ options: [String] = [], proof: [UInt8]? = nil, receipts: [UInt8]? = nil, erasure: [UInt8]? = nil
        ) throws -> JSONValue {
            try TestSupport.write(Array(auditor.utf8), to: folder.file("token"))
            var words = ["http://127.0.0.1:\(port)", "--token", folder.file("token"), "--json"]
            words += ["--key", try seal().signer.verifier.text] + options
            for (name, bytes) in [("proof", proof), ("receipts", receipts), ("erasure", erasure)] {
                guard let bytes else { continue }
                try TestSupport.write(bytes, to: folder.file(name))
                words += ["--\(name)", folder.file(name)]
            }
            let quoted = words.map { "'\($0)'" }.joined(separator: " ")
            let (_, output) = Foreign.run("'\(Foreign.python)' '\(Repository.root)/scripts/audit_house.py' \(quoted)")
            return try JSONDocument.parse(Array(output.utf8)).root
        }
    }

    private static func reason(_ verdict: JSONValue) -> String { verdict["reason"]?.string ?? "" }

    @Test func `an honest house is found good, with each person's proof and the receipts of those who asked`() throws {
        let scene = try Scene()
        let proof = try scene.proof()
        let first = try scene.audit(["--state", scene.state], proof: proof, receipts: scene.receipts)
        #expect(first["good"]?.bool == true, "\(Self.reason(first))")
        #expect(first["persons"]?.int == 2 && first["sentences"]?.array.map { Array($0).count } == 2)
        let size = try #require(first["size"]?.int)
        // The commitment is the last event, and its heads are right by two more programs.
        #expect(try scene.house.events()[Int(size) - 1].event.kind == .headsCommitted)
        #expect(scene.house.manage("GET", "/v1/verify")["ok"]?.bool == true)
        let log = "\(Repository.root)/scripts/dev/verify_log.py' '\(scene.house.directory)/log.sqlite"
        #expect(Foreign.run("'\(Foreign.python)' '\(log)'").status == 0)
        let second = try scene.audit(["--state", scene.state], proof: try scene.proof())
        #expect(second["good"]?.bool == true && second["earlier"]?.int == size, "\(Self.reason(second))")
        try scene.house.restart()
        let third = try scene.audit(["--state", scene.state], proof: try scene.proof())
        #expect(third["good"]?.bool == true, "\(Self.reason(third))")
    }

    /// The person could not notice any of these alone: each list is rightly signed.
    @Test(arguments: ["hides a query", "hides the newest", "shows two lists", "rewrites a purpose", "rewrites a time"])
    func `a house that shows a person another list than its log is caught by the auditor`(lie: String) throws {
        let scene = try Scene()
        #expect(try scene.audit()["good"]?.bool == true)
        let proof = try scene.lie { entries in
            guard case .whole(let salt, var content) = entries[4].opening else { return }
            switch lie {
            case "hides a query": entries.remove(at: entries.count - 2)
            case "hides the newest":
                entries.removeLast()
                entries.append(entries[2])
            case "shows two lists": entries.swapAt(3, 4)
            case "rewrites a purpose":
                content[content.count - 1] ^= 1
                entries[4] = .init(recordedAtMs: entries[4].recordedAtMs, opening: .whole(salt: salt, content: content))
            default:
                entries[4] = .init(
                    recordedAtMs: entries[4].recordedAtMs + 1, opening: .whole(salt: salt, content: content))
            }
        }
        let verdict = try scene.audit(proof: proof)
        #expect(verdict["good"]?.bool == false)
        #expect(Self.reason(verdict).contains("the house has shown the person another list"), "\(Self.reason(verdict))")
    }

    @Test func `an erasure that a receipt promises is in the log, or the house is caught`() throws {
        let scene = try Scene()
        let answer = scene.house.send("DELETE", "/v1/people/walker", as: scene.walker)
        let receipt = Array(try #require(answer["receipt"]?.string).utf8)
        let verdict = try scene.audit(erasure: receipt)
        #expect(verdict["good"]?.bool == true, "\(Self.reason(verdict))")
        #expect(verdict["sentences"]?.array.map { Array($0).count } == 1)
        let promised = try ErasureReceipt(
            log: LogOrigin("\(try scene.seal().name)/p/k2m9"), entries: 3, recordedAtMs: 1_777_881_600_000,
            backupsLeft: 0)
        let lie = try scene.audit(erasure: promised.signed(by: scene.seal().signer).bytes)
        #expect(lie["good"]?.bool == false && Self.reason(lie).contains("no such erasure"), "\(Self.reason(lie))")
    }

    @Test func `a house that answers without a record is caught by the receipt of who asked`() throws {
        let scene = try Scene()
        let receipt = try AskerReceipt(
            pseudonym: "pX2r-T8_wJ4", commit: SHA256().hash([1]), recordedAtMs: 1_777_881_600_000)
        let note = try receipt.signed(by: try scene.seal().signer)
        let verdict = try scene.audit(receipts: note.bytes)
        #expect(verdict["good"]?.bool == false && Self.reason(verdict).contains("answered without recording it"))
    }

    @Test func `a house that puts an older copy of its log back is caught by the last checkpoint of the auditor`()
        throws
    {
        let scene = try Scene()
        let copy = scene.folder.file("copy")
        #expect(try scene.audit()["good"]?.bool == true)
        try scene.house.restart { #expect(system("cp -r '\(scene.house.directory)' '\(copy)'") == 0) }
        for _ in 0..<4 { _ = try scene.proof() }
        #expect(try scene.audit(["--state", scene.state])["good"]?.bool == true)
        try scene.house.restart {
            #expect(system("rm -rf '\(scene.house.directory)'/* && cp -r '\(copy)'/* '\(scene.house.directory)'") == 0)
        }
        let verdict = try scene.audit(["--state", scene.state])
        #expect(Self.reason(verdict).contains("the house has cut the tail"), "\(Self.reason(verdict))")
    }

    @Test func `a commitment to other heads is named by verify and by the auditor`() throws {
        let scene = try Scene()
        #expect(try scene.audit()["good"]?.bool == true)
        let log = scene.house.service.log
        let name = try scene.seal().name.text
        let audits = try scene.house.events().filter { $0.stream.isAudit }
        let size = try #require(audits.map { $0.stream.rawValue / 2 }.max()) + 1
        let upTo = try #require(
            try scene.house.events().compactMap { recorded in
                if case .headsCommitted(let heads) = recorded.event { heads.upTo } else { nil }
            }.last)
        let wrong = HeadsCommitment(
            name: name, upTo: upTo, size: size, root: Hash256(SHA256().hash([7])), commits: [])
        let number = try log.appendAndWait(.commitHeads(wrong), by: .house, correlation: .random()).last
        let problem = try log.verify { _, _ in }.problem
        #expect(problem?.number == number && problem?.sentence.contains("heads") == true)
        let path = "\(Repository.root)/scripts/dev/verify_log.py' '\(scene.house.directory)/log.sqlite"
        let (status, output) = Foreign.run("'\(Foreign.python)' '\(path)' 2>&1")
        #expect(status != 0 && output.contains("event \(number): the heads"), "\(output)")
    }

    @Test func `two restores of one backup have different names, and the auditor is told in words`() throws {
        let scene = try Scene()
        #expect(try scene.audit(["--state", scene.state])["good"]?.bool == true)
        let before = try scene.seal().name.text
        #expect(scene.house.manage("POST", "/v1/backups").status == 201)
        var marks: Set<Int64> = []
        for name in ["one", "two"] {
            let path = scene.folder.file(name)
            #expect(mkdir(path, 0o700) == 0)
            let outcome = try Restore.restore(
                from: scene.house.directory + "/backup", to: path, kek: scene.house.directory + "/kek", newerKeys: nil)
            #expect(outcome.epoch == 2)
            let log = try EventLog.alone(in: try DataDirectory(path: path))
            defer { log.stop() }
            let mark = try #require(log.withStanding { $0.mark })
            marks.insert(mark)
            let digits = String(mark, radix: 16)
            let name = HouseSeal(
                publicURL: nil, log: log.id, epoch: log.epoch, mark: mark,
                under: try SymmetricKey(bytes: contents(ofFile: path + "/kek"))
            ).name.text
            #expect(name == before + "/2-" + String(repeating: "0", count: 14 - digits.count) + digits)
        }
        #expect(marks.count == 2)
        try scene.house.restart {
            let (from, to) = (scene.folder.file("one"), scene.house.directory)
            #expect(system("cp '\(to)/admin.token' '\(from)' && rm -rf '\(to)'/* && cp -r '\(from)'/* '\(to)'") == 0)
        }
        let verdict = try scene.audit(["--state", scene.state])
        #expect(Self.reason(verdict).contains("this is another log"), "\(Self.reason(verdict))")
        #expect(Self.reason(verdict).contains("restore"))
        let accepted = try scene.audit(["--state", scene.state, "--accept-new-log"], proof: try scene.proof())
        #expect(accepted["good"]?.bool == true, "\(Self.reason(accepted))")
        #expect(accepted["restores"]?.array.map { Array($0).count } == 1)
        #expect(scene.house.manage("GET", "/v1/verify")["ok"]?.bool == true)
    }

    @Test func `an auditor's token opens the log, and no other route`() throws {
        let scene = try Scene()
        for path in ["checkpoint", "key"] {
            #expect(scene.house.send("GET", "/v1/log/\(path)", as: scene.auditor).status == 200)
            #expect(scene.house.send("GET", "/v1/log/\(path)", as: scene.walker).status == 404)
            #expect(scene.house.send("GET", "/v1/log/\(path)", as: nil).status == 401)
        }
        let head = scene.house.service.log.head
        for operation in RouteTable.all.operations
        where operation.access.isRequired && !operation.route.path.hasPrefix("/v1/log/") {
            guard case .header = operation.route.credentials else { continue }
            let target = operation.route.path.replacing("*", with: "walker")
            let answer = scene.house.send(operation.route.method, target, as: scene.auditor, "{}")
            #expect(answer.status == 404, "\(operation.route.method) \(target): \(answer.status)")
        }
        #expect(scene.house.service.log.head == head)
        #expect(
            scene.house.send("POST", "/session", as: nil, #"{"token":"\#(scene.auditor)"}"#).status == 401)
        let listed = scene.house.manage("GET", "/v1/auditors")
        #expect(listed.items.count == 1)
        let id = try #require(listed.items.first?["id"]?.int)
        #expect(scene.house.send("DELETE", "/v1/tokens/\(id)", as: scene.walker).status == 404)
        #expect(scene.house.manage("DELETE", "/v1/tokens/\(id)").status == 200)
        #expect(scene.house.send("GET", "/v1/log/checkpoint", as: scene.auditor).status == 401)
    }

    /// Only the events that someone caused: a checkpoint of a log that has nothing new adds nothing.
    @Test func `a checkpoint adds an event only after others`() throws {
        let scene = try Scene()
        let first = scene.house.send("GET", "/v1/log/checkpoint", as: scene.auditor)
        let head = scene.house.service.log.head
        try scene.house.restart()
        let second = scene.house.send("GET", "/v1/log/checkpoint", as: scene.auditor)
        #expect(second.body == first.body && scene.house.service.log.head == head)
    }

    @Test func `a proof with a lost key names the entries, and continues the proof of before`() throws {
        let scene = try Scene()
        let older = try scene.proof()
        let copy = scene.folder.file("keys")
        try scene.house.restart { #expect(system("cp '\(scene.house.directory)/keys.sqlite' '\(copy)'") == 0) }
        scene.house.clock.advance(seconds: 40 * 86_400)
        #expect(scene.house.send("GET", "/v1/people/walker/visits", as: scene.walker).status == 200)
        #expect(scene.house.send("GET", "/v1/log/checkpoint", as: scene.auditor).status == 200)
        let whole = try PersonProof(parsing: try scene.proof())
        try scene.house.restart {
            let keys = "\(scene.house.directory)/keys.sqlite"
            #expect(system("rm -f '\(keys)-wal' '\(keys)-shm' && cp '\(copy)' '\(keys)'") == 0)
        }
        let proof = try PersonProof(parsing: try scene.proof())
        let lost = proof.entries.indices.filter {
            if case .erased = proof.entries[$0].opening { true } else { false }
        }
        #expect(!lost.isEmpty && lost.allSatisfy { $0 >= 5 })
        // The entry that the auditor's checkpoint covers has its old commitment.
        let sha256 = SHA256()
        let first = try #require(lost.first)
        #expect(
            proof.logEntries(sha256).prefix(first + 1).map { $0.leaf(sha256) }
                == whole.logEntries(sha256).prefix(first + 1).map { $0.leaf(sha256) })
        #expect(proof.entries.count > (try PersonProof(parsing: older)).entries.count)
    }
}
