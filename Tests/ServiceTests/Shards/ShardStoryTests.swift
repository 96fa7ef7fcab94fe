import Foundation
import HTTPServer
import JSON
import PushStandIn
import TestSupport
import Testing
import Whereabouts

@testable import Answers
@testable import HTTPInterface
@testable import Log
@testable import Projections
@testable import Service
@testable import Shards

/// People in different shards of one house: what they may ask, what is recorded where, and what happens when a part is gone.
@Suite struct ShardStoryTests {
    @Test func `a friend in one shard asks about someone in another, whose phone is woken and answers`() throws {
        let folder = TemporaryFolder()
        let standIn = try PushStandIn(PushStandIn.Configuration(directory: folder.path))
        defer { standIn.stop() }
        let scene = try ShardScene(standIn: standIn)
        let ben = try scene.addPerson("ben", in: 1)
        let anna = try scene.addPerson("anna", in: 2)
        let key = try scene.directory.addDevice("annas-phone", of: "anna")
        let token = try standIn.registerPhone(bundleID: ServiceUnderTest.bundleID)
        let hex = token.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let registered = scene.send(
            "PUT", "/v1/devices/annas-phone/location-push-token", as: key,
            #"{"hex":"\#(hex)","environment":"development","bundleID":"\#(ServiceUnderTest.bundleID)"}"#)
        #expect(registered.status == 200, "\(registered.text)")

        // Without a grant there is no such person; with one, given by the subject, the question starts.
        let question = #"{"purpose":"late for dinner","deadlineSeconds":60}"#
        #expect(scene.send("POST", "/v1/people/anna/location-queries", as: ben, question).status == 404)
        let given = scene.send("POST", "/v1/people/anna/grants", as: anna, #"{"requester":"ben","precision":"exact"}"#)
        #expect(given.status == 201, "\(given.text)")
        let shared = scene.send("GET", "/v1/shared-with-me", as: ben)
        #expect(shared.items.map { $0["handle"]?.string } == ["anna"], "\(shared.text)")
        let asked = scene.send("POST", "/v1/people/anna/location-queries", as: ben, question)
        #expect(asked.status == 202, "\(asked.text)")
        let url = try #require(asked["url"]?.string)
        let query = try #require(asked["id"]?.string)
        #expect(scene.send("GET", url, as: ben)["status"]?.string == "pending")
        // Nobody else knows of it.
        #expect(scene.send("GET", url, as: anna).status == 404)
        try eventually("the push") { standIn.pushes.last?.status == 200 }

        let sent = scene.report(key, answering: query)
        #expect(sent["new"]?.int == 1, "\(sent.text)")
        let answer = try eventually("the answer") { () -> Answer? in
            let answer = scene.send("GET", url, as: ben)
            return answer["status"]?.string == "answered" ? answer : nil
        }
        #expect(answer["location"]?["latitude"]?.double == 48.2)
        #expect(answer.header("Whereabouts-Receipt") != nil)

        // Everything about Anna is in her shard, and nothing of it in Ben's.
        let audit = try eventually("the audit") { () -> JSONValue? in
            scene.send("GET", "/v1/people/anna/audit", as: anna).items.first {
                $0["purpose"]?.string == "late for dinner" && $0["end"]?.string == "answered"
            }
        }
        #expect(audit["requester"]?.string == "ben" && audit["pushes"]?.count == 1 && audit["disclosed"]?.count == 1)
        #expect(try scene.events(1, .locationQueried, .locationDisclosed, .fixReported, .grantGiven).isEmpty)
        #expect(try scene.events(2, .locationDisclosed, .fixReported).count == 2)
        // The refused question is recorded with its true reason, about Anna.
        #expect(try scene.events(2, .locationQueried).count == 2)
        // The proof of her list is her shard's.
        #expect(scene.send("GET", "/v1/people/anna/checkpoint", as: anna).status == 200)
    }

    @Test func `a grant ends by its number or by the person's own name for it`() throws {
        let scene = try ShardScene()
        let ben = try scene.addPerson("ben", in: 1)
        let anna = try scene.addPerson("anna", in: 2)
        let key = try scene.directory.addDevice("annas-phone", of: "anna")
        #expect(scene.report(key).status == 200)
        let terms = #"{"requester":"ben","precision":"exact"}"#
        let number = try #require(scene.manage("POST", "/v1/people/anna/grants", terms)["id"]?.int)
        #expect(ShardNumber(ofID: number)?.rawValue == 2)
        #expect(scene.send("GET", "/v1/people/anna/location", as: ben).status == 200)
        scene.manage("DELETE", "/v1/grants/\(number)")
        #expect(scene.send("GET", "/v1/people/anna/location", as: ben).status == 404)
        let name = try #require(scene.send("POST", "/v1/people/anna/grants", as: anna, terms)["id"]?.string)
        #expect(scene.send("GET", "/v1/people/anna/location", as: ben).status == 200)
        #expect(scene.send("DELETE", "/v1/grants/\(name)", as: anna).status == 200)
        #expect(scene.send("GET", "/v1/people/anna/location", as: ben).status == 404)
    }

    @Test func `a revoked token is refused in every shard when its revocation is answered`() throws {
        let scene = try ShardScene()
        _ = try scene.addPerson("ben", in: 1)
        for _ in 0..<5 {
            let issued = scene.manage("POST", "/v1/people/ben/tokens", #"{"scopes":["query","audit"]}"#)
            let (token, id) = (try #require(issued["token"]?.string), try #require(issued["id"]?.int))
            #expect(issued.header(EdgeDoor.behindHeader) == nil)
            #expect(scene.shards[0].send("GET", "/v1/people/ben/audit", as: token).status == 200)
            let revoked = scene.manage("DELETE", "/v1/tokens/\(id)")
            #expect(revoked.header(EdgeDoor.behindHeader) == nil)
            for house in scene.shards + [scene.directory] {
                #expect(house.send("GET", "/v1/people/ben/audit", as: token).status == 401)
            }
        }
    }

    @Test func `an erased person is gone from the files of the directory and of every shard`() throws {
        let scene = try ShardScene()
        _ = try scene.addPerson("unmistakable", in: 1)
        _ = try scene.addPerson("anna", in: 2)
        let key = try scene.directory.addDevice("unmistakable.phone", of: "unmistakable")
        #expect(scene.report(key).status == 200)
        let houses = [scene.directory] + scene.shards
        try scene.settle()
        let person = try #require(
            Handle("unmistakable").flatMap { handle in scene.directory.service.log.withStanding { $0.person(handle) } })
        #expect(houses.allSatisfy { Self.keys(of: person, in: $0) > 0 })
        scene.manage("DELETE", "/v1/people/unmistakable")
        try scene.settle()
        for (index, house) in houses.enumerated() {
            #expect(Self.keys(of: person, in: house) == 0, "house \(index)")
            house.stop()
            let found = Self.files(in: house.directory).filter { Self.contains($0, "unmistakable") }
            #expect(found == [], "house \(index)")
        }
    }

    @Test
    func `a request that is repeated with its key adds one person, and a change without a fact is answered at once`()
        throws
    {
        let scene = try ShardScene()
        let key = [("Idempotency-Key", "once")]
        let answers = (0..<2).map { _ in
            scene.directory.send(
                "POST", "/v1/people", as: scene.directory.operatorToken, #"{"handle":"anna"}"#, headers: key)
        }
        #expect(answers.map(\.status) == [201, 201] && answers[0].text == answers[1].text, "\(answers[1].text)")
        #expect(try scene.directory.events().count { $0.event.kind == .personPlaced } == 1)
        // An act of the operator is no fact that shards take over, and neither is a question without an event.
        scene.manage("POST", "/v1/projections/prune")
        for _ in 0..<3 {
            let sent = monotonicSeconds()
            let answer = scene.manage("POST", "/v1/geocode/reverse", #"{"coordinates":[[48.2,16.37]]}"#)
            #expect(answer.header(EdgeDoor.behindHeader) == nil)
            #expect(monotonicSeconds() - sent < DirectoryLoop.heldSeconds)
        }
    }

    @Test func `a backup of a shard loses the keys of someone whom the directory erases`() throws {
        let scene = try ShardScene(shards: 1)
        _ = try scene.addPerson("anna", in: 1)
        let shard = scene.shards[0]
        let made = shard.manage("POST", "/v1/backups")
        #expect(made.status == 201, "\(made.text)")
        let person = try #require(
            Handle("anna").flatMap { handle in shard.service.log.withStanding { $0.person(handle) } })
        let folder = shard.directory + "/backup"
        #expect(try KeyRing.holders(in: folder + "/keys.sqlite").contains(person))
        scene.manage("DELETE", "/v1/people/anna")
        try eventually("the backup without the keys") {
            try !KeyRing.holders(in: folder + "/keys.sqlite").contains(person)
        }
    }

    /// The keys that a house has of a person.
    private static func keys(of person: PersonID, in house: ServiceUnderTest) -> Int {
        (try? KeyRing.holders(in: house.directory + "/keys.sqlite"))?.contains(person) == true ? 1 : 0
    }

    private static func files(in folder: String) -> [String] {
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return names.map { folder + "/" + $0 }
    }

    private static func contains(_ path: String, _ text: String) -> Bool {
        FileManager.default.contents(atPath: path)?.range(of: Data(text.utf8)) != nil
    }

    @Test func `a shard that is down costs only its own people, and follows on when it is back`() throws {
        let scene = try ShardScene()
        let ben = try scene.addPerson("ben", in: 1)
        let anna = try scene.addPerson("anna", in: 2)
        let (bens, annas) = (
            try scene.directory.addDevice("bens-phone", of: "ben"),
            try scene.directory.addDevice("annas-phone", of: "anna")
        )
        scene.shards[0].stop()
        let refused = scene.send("GET", "/v1/people/ben/location", as: ben)
        #expect(refused.status == 503 && refused.header("Retry-After") != nil, "\(refused.text)")
        #expect(scene.report(bens).status == 503)
        // A list over all shards would be incomplete.
        let half = scene.send("GET", "/v1/shared-with-me", as: anna)
        #expect(half.status == 503 && half.text.contains("Shard 1 does not answer"), "\(half.text)")
        #expect(scene.report(annas).status == 200)
        #expect(scene.send("GET", "/v1/people/anna/location", as: anna).status == 200)
        // People and tokens still change; the answer names the shard that does not have the change.
        let added = scene.manage("POST", "/v1/people", #"{"handle":"cleo","shard":1}"#)
        #expect(added.header(EdgeDoor.behindHeader) == "1", "\(added.headers)")
        let cleo = try scene.directory.token(of: "cleo")
        // A directory that was started again has not heard of the shard at all, and names it too.
        try scene.directory.restart()
        try scene.settle([2])
        let later = scene.manage("POST", "/v1/people", #"{"handle":"dora","shard":2}"#)
        #expect(later.header(EdgeDoor.behindHeader) == "1", "\(later.headers)")
        try scene.shards[0].start()
        try scene.shards[0].listen()
        try scene.settle()
        #expect(scene.report(bens).status == 200)
        #expect(scene.send("GET", "/v1/people/cleo/grants", as: cleo).status == 200)
    }

    @Test func `without the directory, a shard still answers those who ask it directly`() throws {
        let scene = try ShardScene()
        let ben = try scene.addPerson("ben", in: 1)
        let key = try scene.directory.addDevice("bens-phone", of: "ben")
        scene.directory.stop()
        let fix = #"{"timestamp":\#(scene.clock.seconds),"latitude":48.2,"longitude":16.37}"#
        #expect(scene.shards[0].send("POST", "/v1/fixes", as: key, fix).status == 200)
        #expect(scene.shards[0].send("GET", "/v1/people/ben/location", as: ben).status == 200)
    }

    @Test func `a shard decides nothing that is the directory's, and knows no other shard's people`() throws {
        let scene = try ShardScene()
        _ = try scene.addPerson("ben", in: 1)
        let anna = try scene.addPerson("anna", in: 2)
        let annas = try scene.directory.addDevice("annas-phone", of: "anna")
        let first = scene.shards[0]
        let fix = #"{"timestamp":\#(scene.clock.seconds),"latitude":48.2,"longitude":16.37}"#
        for (method, path, body) in [
            ("POST", "/v1/people", #"{"handle":"cleo"}"#), ("DELETE", "/v1/people/ben", ""),
            ("POST", "/v1/people/ben/devices", #"{"handle":"ben.watch"}"#),
            ("POST", "/v1/people/ben/tokens", #"{"scopes":["query"]}"#),
        ] {
            let answer = first.send(method, path, as: first.operatorToken, body)
            #expect(answer.status == 422 && answer.text.contains("This is a shard"), "\(path): \(answer.text)")
        }
        #expect(first.send("GET", "/v1/people/anna/audit", as: anna).status == 404)
        #expect(first.send("POST", "/v1/fixes", as: annas, fix).status == 422)
        let events = try scene.events(1, .fixReported, .personErased)
        #expect(events.isEmpty)
    }

    @Test func `what has no home in a house with shards is refused with a sentence`() throws {
        let scene = try ShardScene()
        let ben = try scene.addPerson("ben", in: 1)
        for (method, path) in [
            ("POST", "/v1/people/ben/invitations"), ("POST", "/v1/people/ben/links"), ("GET", "/v1/people/ben/asked"),
            ("GET", "/api/0/last"),
        ] {
            let answer = scene.send(method, path, as: ben, method == "POST" ? #"{"precision":"exact"}"# : "")
            #expect(answer.status == 501 && answer.text.contains("shards"), "\(path): \(answer.text)")
        }
    }

    @Test func `a shard whose log was cut or rewritten is named, and gets no requests`() throws {
        let scene = try ShardScene()
        let ben = try scene.addPerson("ben", in: 1)
        let key = try scene.directory.addDevice("bens-phone", of: "ben")
        let (shard, copy) = (scene.shards[0], TemporaryFolder())
        let figures = try #require(scene.directory.service.shardFigures)
        let number = try scene.number(1)
        // A copy of everything that the machine has.
        shard.stop()
        let old = copy.file("old")
        try FileManager.default.copyItem(atPath: shard.directory, toPath: old)
        try shard.start()
        try shard.listen()
        try scene.settle()
        #expect(scene.report(key).status == 200)
        try eventually("the growth of the shard's log") {
            (figures[number].checked?.size ?? 0) >= shard.service.log.head
        }
        scene.directory.service.witnessShards()
        let witnessed = try #require(scene.directory.service.log.withStanding { $0.places.witnessed[number] })
        #expect(try scene.directory.events().contains { $0.event.kind == .shardsWitnessed })

        // The machine goes back to the copy.
        shard.stop()
        try FileManager.default.removeItem(atPath: shard.directory)
        try FileManager.default.copyItem(atPath: old, toPath: shard.directory)
        try shard.start()
        try shard.listen()
        try eventually("the refusal") { figures[number].trouble?.contains("was cut") == true }
        #expect(figures[number].trouble?.contains("\(witnessed.size) was witnessed") == true)
        // The shard would refuse it too.
        let passedOn = figures[number].passedOn
        let unsent = scene.report(key)
        #expect(unsent.status == 503 && unsent.text.contains("Shard refused"), "\(unsent.text)")
        #expect(figures[number].passedOn == passedOn)
        let refused = scene.send("GET", "/v1/people/ben/location", as: ben)
        #expect(refused.status == 503 && refused.text.contains("was cut"), "\(refused.text)")

        // It goes on from there: longer than before, with other events. A directory that was started again knows it too.
        for _ in 0..<10 {
            shard.send("GET", "/v1/people/ben/audit", as: shard.operatorToken)
            let fix = #"{"timestamp":\#(Double(scene.clock.now.milliseconds) / 1000),"latitude":48.3,"longitude":16.4}"#
            shard.send("POST", "/v1/fixes", as: key, fix)
        }
        while shard.service.log.head <= witnessed.size {
            _ = try shard.service.log.appendAndWait(
                .recordAct(.backUp),
                by: Caller(principal: .operator, scopes: .ofOperator, token: TokenID(rawValue: number.firstID)),
                correlation: RequestID(high: 1, low: UInt64(shard.service.log.head)))
        }
        try scene.directory.restart()
        let again = try #require(scene.directory.service.shardFigures)
        try eventually("the refusal of the longer log") { again[number].trouble?.contains("was rewritten") == true }
        try eventually("the shard to say so") {
            shard.service.directoryState?.trouble?.contains("was rewritten") == true
        }
        #expect(shard.send("GET", "/readyz", as: nil).status == 503)
    }
}
