import Cryptography
import JSON
import SQLite
import TestSupport
import Testing
import Transparency
import Whereabouts

@testable import Answers
@testable import Log
@testable import Service

/// A person's own log: the proofs that the service gives, and the traces of a lie.
@Suite struct ProofStoryTests {
    /// A house in which the friend has asked about the walker, got a refusal, and got an answer.
    private final class Scene: Sendable {
        let house: ServiceUnderTest
        let walker, friend: String
        /// The receipts of the friend's answers, one after the other.
        let receipts: [UInt8]
        private let folder = TemporaryFolder()

        init() throws {
            house = try ServiceUnderTest()
            walker = try house.addPerson("walker")
            friend = try house.addPerson("friend")
            let phone = try house.addDevice("walker-phone", of: "walker")
            let seconds = house.clock.seconds
            #expect(house.send("GET", "/v1/people/walker/location", as: friend).status == 404)
            try house.grant("walker", to: "friend", history: true)
            #expect(
                house.send(
                    "POST", "/v1/fixes", as: phone,
                    #"{"timestamp":\#(seconds),"latitude":48.2,"longitude":16.4,"horizontalAccuracy":5}"#
                ).status == 200)
            var notes: [[UInt8]] = []
            for what in ["location", "track", "visits"] {
                house.clock.advance(seconds: 60)
                let answer = house.send("GET", "/v1/people/walker/\(what)", as: friend)
                notes.append(try #require(answer.header(Receipts.header).flatMap { Base64.decode($0) }))
            }
            let asked = house.send(
                "POST", "/v1/people/walker/location-queries", as: friend,
                #"{"purpose":"late for dinner","maxAgeSeconds":3600}"#)
            let answer = house.send("GET", try #require(asked["url"]?.string) + "?wait=20", as: friend)
            #expect(answer["status"]?.string == "answeredFromLastKnown", "\(answer.text)")
            notes.append(try #require(answer.header(Receipts.header).flatMap { Base64.decode($0) }))
            receipts = Array(notes.joined(separator: [UInt8(ascii: "\n")]))
        }

        func proof(as token: String? = nil) throws -> [UInt8] {
            let answer = house.send("GET", "/v1/people/walker/proof", as: token ?? walker)
            #expect(answer.status == 200, "\(answer.text)")
            return answer.body
        }

        func subject() throws -> PersonID {
            let handle = try #require(Handle("walker"))
            return try #require(house.service.log.withStanding { $0.person(handle) })
        }

        func checkpoint(_ query: String = "") -> Answer {
            house.send("GET", "/v1/people/walker/checkpoint\(query)", as: walker)
        }

        private func file(_ bytes: [UInt8], _ name: String) throws -> String {
            try TestSupport.write(bytes, to: folder.file(name))
            return folder.file(name)
        }

        /// The script's verdict on these files, as JSON.
        ///
        /// - Parameter keys: The keys as the service gave them; an erased person cannot ask for them any more.
        func script(
            _ proof: [UInt8], older: [UInt8]? = nil, receipts: [UInt8]? = nil, erasure: String? = nil,
            keys: Answer? = nil
        ) throws -> JSONValue {
            let keys = keys ?? checkpoint()
            var words = [try file(proof, "proof"), "--key", try #require(keys["key"]?.string), "--json"]
            if let older { words += ["--older", try file(older, "older")] }
            if let receipts { words += ["--receipts", try file(receipts, "receipts")] }
            if let erasure { words += ["--erasure", try file(Array(erasure.utf8), "erasure")] }
            // The key of the house is the log's under another name, whether or not it is given.
            if receipts != nil { words += ["--house", try #require(keys["houseKey"]?.string)] }
            let quoted = words.map { "'\($0)'" }.joined(separator: " ")
            let (_, output) = Foreign.run("'\(Foreign.python)' '\(Repository.root)/scripts/verify_proof.py' \(quoted)")
            return try JSONDocument.parse(Array(output.utf8)).root
        }

        func seal() throws -> HouseSeal {
            let log = house.service.log
            return HouseSeal(
                publicURL: nil, log: log.id, epoch: log.epoch, mark: log.withStanding { $0.mark },
                under: try SymmetricKey(bytes: contents(ofFile: house.directory + "/kek")))
        }

        /// The proof of a house that lies: other entries, rightly signed.
        func lie(_ change: (inout [PersonProof.Entry]) throws -> Void) throws -> [UInt8] {
            let proof = try PersonProof(parsing: try proof())
            var entries = proof.entries
            try change(&entries)
            let seal = try seal()
            let origin = try Checkpoint(text: proof.note.text).origin
            let sha256 = SHA256()
            let changed = PersonProof(names: proof.names, entries: entries, note: proof.note)
            let leaves = changed.logEntries(sha256).map { $0.leaf(sha256) }
            let note = try PersonLog(origin: origin, leaves: leaves, sha256).checkpoint(sha256)
                .signed(by: seal.signer(of: origin))
            return PersonProof(names: proof.names, entries: entries, note: note).bytes
        }
    }

    private static func events(of verdict: JSONValue) -> [String] {
        verdict["entries"]?.array?.map { $0["content"]?["event"]?.string ?? "?" } ?? []
    }

    @Test func `the proof has every event of the audit, checked by a program without our code`() throws {
        let scene = try Scene()
        let proof = try scene.proof()
        let verdict = try scene.script(proof, receipts: scene.receipts)
        #expect(verdict["proven"]?.bool == true && verdict["receipts"]?.int == 4, "\(verdict["reason"]?.string ?? "")")
        let walker = try scene.subject()
        let stream = try scene.house.events().filter { $0.stream == .audit(walker) }
        // The entries after the proof: its own record, and the reads of the checkpoint.
        let size = try #require(verdict["size"]?.int)
        #expect(Self.events(of: verdict) == stream.prefix(Int(size)).map(\.event.kind.name))
        #expect(stream.dropFirst(Int(size)).allSatisfy { $0.actor == walker.principal })
        let purposes = verdict["entries"]?.array?.compactMap { $0["content"]?["purpose"]?.string } ?? []
        #expect(purposes == ["late for dinner"])
        // The friend by name, and refused at first.
        let friend = try #require(verdict["names"]?.members?.first { $0.value.string == "friend" }?.key)
        let readers = verdict["entries"]?.array?.compactMap { entry in
            entry["content"]?["reader"]?.string == friend ? entry["content"]?["verdict"]?.string : nil
        }
        #expect(readers?.first == "refused" && readers?.last == "granted")
    }

    @Test func `later proofs continue earlier ones, over a restart and the erasure of who asked`() throws {
        let scene = try Scene()
        let first = try scene.proof()
        try scene.house.restart()
        let second = try scene.proof()
        #expect(try scene.script(second, older: first)["proven"]?.bool == true)
        scene.house.manage("DELETE", "/v1/people/friend")
        let third = try scene.proof()
        let verdict = try scene.script(third, older: second)
        #expect(verdict["proven"]?.bool == true, "\(verdict["reason"]?.string ?? "")")
        // The entries stay as they were; only the name is gone.
        #expect(verdict["names"]?.members?.contains { $0.value.string == "friend" } == false)
        let (before, after) = (try PersonProof(parsing: second), try PersonProof(parsing: third))
        #expect(Array(after.entries.prefix(before.entries.count)) == before.entries)
        let (older, newer) = (Int64(before.entries.count), try #require(scene.script(third)["size"]?.int))
        #expect(older < newer)
        let answer = scene.checkpoint("?since=\(older)")
        let hashes = try #require(answer["consistency"]?.array?.compactMap { $0.string.flatMap { Base64.decode($0) } })
        let checkpoint = try Checkpoint(
            text: SignedNote(parsing: Array(try #require(answer["checkpoint"]?.string).utf8)).text)
        let earlier = try Checkpoint(text: before.note.text)
        let isContinued = MerkleProof.verifyConsistency(
            from: earlier.size, root: earlier.root, to: checkpoint.size, root: checkpoint.root,
            proof: hashes.compactMap { Digest(bytes: $0) }, SHA256())
        #expect(isContinued)
        #expect(scene.checkpoint("?since=\(checkpoint.size + 100)").status == 422)
    }

    @Test func `each row of the audit says whether a checkpoint covers it`() throws {
        let scene = try Scene()
        func states(as token: String) -> [String?] {
            scene.house.send("GET", "/v1/people/walker/audit?limit=500", as: token).items.map {
                $0["proof"]?["state"]?.string
            }
        }
        let before = states(as: scene.walker)
        #expect(before.count > 6 && Set(before) == ["logged"])
        let size = try PersonProof(parsing: try scene.proof()).entries.count
        _ = scene.house.settled()
        let covered = Set(
            try scene.house.events().filter { $0.stream == .audit(try scene.subject()) }.prefix(size).map(\.number))
        let rows = scene.house.send(
            "GET", "/v1/people/walker/audit?limit=500", as: scene.house.operatorToken,
            headers: [("Whereabouts-Purpose", "test")]
        ).items
        for row in rows where row["kind"]?.string != "query" {
            let isCovered = covered.contains(row["number"]?.int ?? 0)
            #expect(row["proof"]?["state"]?.string == (isCovered ? "signed" : "logged"), "\(row["number"]?.int ?? 0)")
        }
        let query = try #require(rows.first { $0["kind"]?.string == "query" })
        #expect(query["proof"]?["state"]?.string == "signed")
        #expect(rows.contains { $0["proof"]?["state"]?.string == "logged" })
        let csv = scene.house.send(
            "GET", "/v1/people/walker/audit", as: scene.walker, headers: [("Accept", "text/csv")]
        ).text
        let lines = csv.split(separator: "\r\n")
        #expect(lines.first?.hasSuffix(",proof") == true)
        #expect(lines.contains { $0.hasSuffix(",signed") } && lines.contains { $0.hasSuffix(",in the log") })
        // After a restart no checkpoint is known until the next one is made.
        try scene.house.restart()
        #expect(Set(states(as: scene.walker)) == ["logged"])
    }

    @Test func `a question is signed when its end is, not when its beginning is`() throws {
        let scene = try Scene()
        let asked = scene.house.send(
            "POST", "/v1/people/walker/location-queries", as: scene.friend,
            #"{"purpose":"late for dinner","maxAgeSeconds":0}"#)
        let address = try #require(asked["url"]?.string, "\(asked.text)")
        func state() throws -> String? {
            _ = scene.house.settled()
            let row = scene.house.send("GET", "/v1/people/walker/audit", as: scene.walker).items.first {
                $0["kind"]?.string == "query"
            }
            return try #require(row)["proof"]?["state"]?.string
        }
        #expect(try state() == "logged")
        _ = try scene.proof()
        #expect(try state() == "signed")
        let cancelled = scene.house.send("DELETE", address, as: scene.friend)
        #expect(cancelled.status < 300, "\(cancelled.text)")
        #expect(try state() == "logged")
        _ = try scene.proof()
        #expect(try state() == "signed")
    }

    @Test func `an erased person has no log, and its key is nowhere`() throws {
        let scene = try Scene()
        _ = try scene.proof()
        let walker = try scene.subject()
        #expect(try scene.house.service.log.proofKey(of: walker) != nil)
        scene.house.manage("DELETE", "/v1/people/walker")
        #expect(scene.house.send("GET", "/v1/people/walker/proof", as: scene.house.operatorToken).status == 404)
        #expect(try scene.house.service.log.proofKey(of: walker) == nil)
        scene.house.stop()
        let keys = try Connection(path: scene.house.directory + "/keys.sqlite", access: .readOnly)
        let left = try keys.cached("SELECT count(*) FROM key WHERE person = ?") { (statement) throws(SQLiteError) in
            try statement.bind(walker.rawValue, at: 1)
            return try statement.step() ? statement.int(at: 0) : -1
        }
        #expect(left == 0)
    }

    @Test func `an erased person keeps a receipt, and a newer proof with contents is evidence`() throws {
        let scene = try Scene()
        let proof = try scene.proof()
        let keys = scene.checkpoint()
        let entries = try scene.house.events().count { $0.stream == .audit(try scene.subject()) }
        let answer = scene.house.send("DELETE", "/v1/people/walker", as: scene.walker)
        #expect(answer.status == 200 && answer["erased"]?.bool == true && answer["filesLeft"] == nil, "\(answer.text)")
        let receipt = try #require(answer["receipt"]?.string)
        let origin = try Checkpoint(text: PersonProof(parsing: proof).note.text).origin
        let erased = try #require(try scene.house.events().last { $0.event.kind == .personErased })
        let expected = """
            whereabouts erasure v1
            log \(origin)
            entries \(entries + 1)
            time \(erased.recordedAt.milliseconds)
            backups-left 0

            \u{2014}
            """
        #expect(receipt.hasPrefix(expected), "\(receipt)")
        #expect(erased.version == Int64(entries) + 1)

        let verdict = try scene.script(proof, erasure: receipt, keys: keys)
        #expect(verdict["proven"]?.bool == true, "\(verdict["reason"]?.string ?? "")")
        #expect(verdict["erasedAt"]?.double == Double(erased.recordedAt.milliseconds) / 1000)
        // A file has several, of other logs too.
        let other = try ErasureReceipt(
            log: LogOrigin("where.example/other"), entries: 1, recordedAtMs: 1, backupsLeft: 0
        ).signed(by: scene.seal().signer)
        let both = receipt + "\n" + String(decoding: other.bytes, as: UTF8.self)
        #expect(try scene.script(proof, erasure: both, keys: keys)["proven"]?.bool == true)
        func reason(_ proof: [UInt8], _ erasure: String) throws -> String {
            try scene.script(proof, erasure: erasure, keys: keys)["reason"]?.string ?? ""
        }
        #expect(try reason(proof, String(decoding: other.bytes, as: UTF8.self)).contains("no receipt of an erasure is"))
        #expect(try reason(proof, receipt.replacing("backups-left 0", with: "backups-left 1")).contains("is wrong"))
        #expect(try reason(proof, receipt.replacing("time ", with: "time 0")).contains("other lines"))
        // A house that has kept the contents: its proof is as long as the log with the erasure, or newer than it.
        let longer = try ErasureReceipt(
            log: origin, entries: Int64(try PersonProof(parsing: proof).entries.count), recordedAtMs: .max,
            backupsLeft: 0
        ).signed(by: scene.seal().signer)
        #expect(try reason(proof, String(decoding: longer.bytes, as: UTF8.self)).contains("together they prove it"))
        let earlier = try ErasureReceipt(log: origin, entries: 1000, recordedAtMs: 1, backupsLeft: 0)
            .signed(by: scene.seal().signer)
        #expect(try reason(proof, String(decoding: earlier.bytes, as: UTF8.self)).contains("together they prove it"))
    }

    @Test func `who lies in one way each is caught, and by whom`() throws {
        let scene = try Scene()
        let genuine = try scene.proof()
        let disclosed = try #require(
            Self.events(of: try scene.script(genuine)).firstIndex(of: EventKind.locationDisclosed.name))
        // Hides an answer: the asker's receipt has no entry.
        let hidden = try scene.lie { $0.remove(at: disclosed) }
        #expect(try scene.script(hidden)["proven"]?.bool == true)
        #expect(try scene.script(hidden, receipts: scene.receipts)["reason"]?.string?.contains("receipt") == true)
        // The same, for who has seen the entry: the log does not continue.
        #expect(try scene.script(hidden, older: genuine)["proven"]?.bool == false)
        // Rewrites an entry.
        let rewritten = try scene.lie { entries in
            guard case .whole(let salt, let content) = entries[disclosed].opening else { return }
            let other = String(decoding: content, as: UTF8.self).replacing("granted", with: "refused")
            entries[disclosed] = .init(
                recordedAtMs: entries[disclosed].recordedAtMs, opening: .whole(salt: salt, content: Array(other.utf8)))
        }
        #expect(try scene.script(rewritten, older: genuine)["proven"]?.bool == false)
        // Cuts the tail, or shows an old backup: the log has fewer entries than one has seen.
        let seen = try PersonProof(parsing: genuine).entries.count
        let cut = try scene.lie { $0.removeLast($0.count - seen + 1) }
        #expect(try scene.script(cut)["proven"]?.bool == true)
        #expect(try scene.script(cut, older: genuine)["proven"]?.bool == false)
        // Without the house's key there is no lie at all.
        var forged = try PersonProof(parsing: genuine)
        forged = PersonProof(names: forged.names, entries: forged.entries.dropLast(), note: forged.note)
        #expect(try scene.script(forged.bytes)["proven"]?.bool == false)
    }

    /// Two houses that differ in the acts of another person: the walker's proofs differ in nothing but random texts.
    @Test func `another person's activity is in no proof`() throws {
        func canonical(isBusy: Bool) throws -> [String] {
            let house = try ServiceUnderTest()
            let walker = try house.addPerson("walker")
            let neighbour = try house.addPerson("neighbour")
            let phone = try house.addDevice("neighbour-phone", of: "neighbour")
            for turn in 0..<5 {
                house.clock.advance(seconds: 60)
                if isBusy {
                    house.send(
                        "POST", "/v1/fixes", as: phone,
                        #"{"timestamp":\#(house.clock.seconds),"latitude":48.2,"longitude":16.4}"#)
                    house.send("GET", "/v1/people/neighbour/audit", as: neighbour)
                }
                if turn == 2 { house.send("GET", "/v1/people/walker/track", as: walker) }
            }
            let answer = house.send("GET", "/v1/people/walker/proof", as: walker)
            let proof = try PersonProof(parsing: answer.body)
            var seen: [String: Int] = [:]
            return ["\(answer.body.count) bytes, \(proof.names.count) names"]
                + proof.entries.map { entry in
                    guard case .whole(_, let content) = entry.opening else { return "erased" }
                    let text = String(decoding: content, as: UTF8.self).replacing(/r[A-Za-z0-9_-]{22}/) { match in
                        let reference = String(match.0)
                        if seen[reference] == nil { seen[reference] = seen.count }
                        return "<\(seen[reference] ?? 0)>"
                    }
                    return "\(entry.recordedAtMs) \(text)"
                }
        }
        let (calm, busy) = (try canonical(isBusy: false), try canonical(isBusy: true))
        #expect(calm.count > 3)
        // A read's content has the hash of its bytes, which hold random references.
        let shown = { (lines: [String]) in lines.map { $0.prefix { $0 != "\u{FFFD}" } } }
        #expect(shown(calm) == shown(busy))
    }
}
