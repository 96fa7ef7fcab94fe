import Cryptography
import Envelopes
import Geodesy
import HTTPServer
import JSON
import Log
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Service

/// Sealed locations from the phone to the asker, over the whole service.
@Suite struct SealedStoryTests {
    @Test func `Ben asks, Anna's phone answers with an envelope, and only Ben opens it`() throws {
        let scene = try SealedHouse()
        let query = try scene.ask(as: "ben")
        // The phone learns who asks and for which keys it may seal.
        let questions = scene.house.send("GET", "/v1/devices/anna.phone/questions", as: scene.phone)
        #expect(questions["device"]?.int == 1 && questions["sealed"]?.bool == true)
        let question = try #require(questions["questions"]?.array?.first { _ in true })
        #expect(question["query"]?.string == query && question["person"]?.string == "ben")
        #expect(question["precision"]?.string == "exact")
        #expect(question["keys"]?.array?.compactMap(\.string) == [scene.ben.keyID])
        let envelope = scene.anna.answer(
            at: scene.house.clock.now, 48.2087, 16.3726, to: query, for: [scene.ben])
        #expect(scene.post(envelope.bytes)["new"]?.int == 1)

        let answer = try scene.send("GET", "/v1/location-queries/\(query)", as: "ben")
        #expect(answer["status"]?.string == "answered" && answer["location"] == nil)
        let bytes = try #require(answer["envelope"]?["envelope"]?.string.flatMap { Base64.decode($0) })
        guard case .answer(let received) = try Envelope(decoding: bytes) else {
            Issue.record("It is no answer.")
            return
        }
        let asked = try #require(QueryID(query))
        let fix = try received.open(
            with: scene.ben.recipient, signedBy: scene.anna.identity.publicKey, answering: asked,
            notBefore: scene.house.clock.now.adding(seconds: -60))
        #expect(fix.coordinate.latitude == 48.2087 && fix.timestamp == scene.house.clock.now)
        #expect(throws: EnvelopeError.notARecipient) {
            try received.open(
                with: scene.dora.recipient, signedBy: scene.anna.identity.publicKey, answering: asked,
                notBefore: scene.house.clock.now.adding(seconds: -60))
        }
        // The record names the envelope and who can open it; it has no place.
        let disclosures = try scene.events(.locationDisclosed)
        guard case .locationDisclosed(let disclosure)? = disclosures.first?.event,
            let content = disclosure.content.content
        else {
            Issue.record("The disclosure is not on record.")
            return
        }
        #expect(disclosures.count == 1 && content.latitude == nil && content.placeName == nil)
        #expect(content.envelopes?.hashes == Envelope.answer(envelope).hash.bytes)
        #expect(content.envelopes?.keys == KeyID(of: scene.ben.recipient.publicKey).bytes)
        #expect(content.timestamp == envelope.bucket.start)
    }

    @Test func `a coarse asker gets the envelope of the grant's precision`() throws {
        let scene = try SealedHouse()
        let query = try scene.ask(as: "carla")
        let now = scene.house.clock.now
        let exact = scene.anna.answer(at: now, 48.2087, 16.3726, to: query, for: [scene.carla])
        #expect(SealedHouse.reason(scene.post(exact.bytes)) == "wrongRecipient")
        let coarse = scene.anna.answer(
            at: now, 48.2087, 16.3726, to: query, for: [scene.carla], tier: .kilometer)
        #expect(scene.post(coarse.bytes)["new"]?.int == 1)
        #expect(try scene.envelopes(as: "carla") == [.answer(coarse)])
        #expect(try scene.envelopes(as: "ben").isEmpty)
    }

    @Test func `the history goes to those for whom its key is sealed, with a record of each envelope`() throws {
        let scene = try SealedHouse()
        let start = scene.house.clock.now
        let period = scene.anna.period(for: [scene.anna, scene.ben], from: start)
        let other = SealedPerson.Period(bytes: [])
        let fixes = (0..<5).map { step in
            scene.anna.track(at: start.adding(seconds: Int64(step) * 900), 48.2 + Double(step) / 100, 16.37, in: period)
        }
        #expect(scene.post(all: [period.bytes] + fixes.map(\.bytes))["new"]?.int == 6)
        #expect(other.id == period.id)
        let received = try scene.envelopes(as: "ben")
        #expect(received.count == 6)
        let key = try #require(
            received.compactMap { envelope -> SymmetricKey? in
                guard case .period(let period) = envelope else { return nil }
                return try? period.open(with: scene.ben.recipient, signedBy: scene.anna.identity.publicKey)
            }.first)
        let opened = try received.compactMap { envelope -> Fix? in
            guard case .track(let track) = envelope else { return nil }
            return try track.open(with: key, signedBy: scene.anna.identity.publicKey)
        }
        #expect(opened.map(\.coordinate.latitude) == (0..<5).map { 48.2 + Double($0) / 100 })
        // Carla has no history, Dora no grant; Anna gets all.
        #expect(try scene.envelopes(as: "carla").isEmpty)
        #expect(scene.house.send("GET", "/v1/people/anna/envelopes", as: scene.tokens["dora"]).status == 404)
        #expect(try scene.envelopes(as: "anna").count == 6)
        let reads = try scene.events(.locationRead).compactMap { recorded -> LocationRead? in
            guard case .locationRead(let read) = recorded.event, read.question == .envelopes else { return nil }
            return read
        }
        let ofBen = try #require(reads.first)
        #expect(ofBen.count == 6)
        let hashes = received.flatMap(\.hash.bytes)
        #expect(ofBen.content.content?.envelopes?.hashes == hashes)
        let names = Set([scene.anna, scene.ben].map(\.keyID))
        let keys = try #require(ofBen.content.content?.envelopes?.keys)
        #expect(Set(stride(from: 0, to: keys.count, by: 16).map { Hex.encode(keys[$0..<$0 + 16]) }) == names)
    }

    @Test func `pages and ranges of envelopes`() throws {
        let scene = try SealedHouse()
        let start = scene.house.clock.now
        let period = scene.anna.period(for: [scene.ben], from: start)
        let fixes = (0..<7).map { step in
            scene.anna.track(at: start.adding(seconds: Int64(step) * 900), 48.2, 16.37, in: period)
        }
        #expect(scene.post(all: [period.bytes] + fixes.map(\.bytes))["new"]?.int == 8)
        var after = ""
        var sizes: [Int] = []
        var all: Set<String> = []
        repeat {
            scene.house.clock.advance(seconds: 61)
            let page = try scene.send("GET", "/v1/people/anna/envelopes?limit=3\(after)", as: "ben")
            sizes.append(page.items.count)
            all.formUnion(page.items.compactMap { $0["envelope"]?.string })
            after = page["next"]?.string.map { "&after=\($0)" } ?? ""
        } while !after.isEmpty && sizes.count < 9
        #expect(sizes == [3, 3, 2] && all.count == 8)
        scene.house.clock.advance(seconds: 61)
        let from = start.milliseconds / 1000 + 2 * 900
        let some = try scene.send("GET", "/v1/people/anna/envelopes?from=\(from)&to=\(from + 1800)", as: "ben")
        #expect(some.items.count == 2)
    }

    /// The service does not hand envelopes to readers who cannot open them.
    @Test func `an exact reader for whom nothing is sealed gets nothing`() throws {
        let scene = try SealedHouse()
        try scene.house.grant("anna", to: "dora", history: true)
        let start = scene.house.clock.now
        let period = scene.anna.period(for: [scene.ben], from: start)
        #expect(scene.post(period.bytes, scene.anna.track(at: start, 48.2, 16.37, in: period).bytes)["new"]?.int == 2)
        #expect(try scene.envelopes(as: "ben").count == 2)
        #expect(try scene.envelopes(as: "dora").isEmpty)
    }

    // MARK: Attackers

    /// Someone in the place of the service, or with the phone's reporting key alone, makes or changes envelopes.
    @Test func `an envelope that Anna's phone did not make for these people is refused with its reason`() throws {
        let scene = try SealedHouse()
        let query = try scene.ask(as: "ben")
        let now = scene.house.clock.now
        func answer(
            for people: [SealedPerson], device: Int64 = 1, signedBy signer: Ed25519PrivateKey? = nil,
            to other: String? = nil
        ) -> [UInt8] {
            scene.anna.answer(
                at: now, 48.2, 16.37, to: other ?? query, for: people, device: device, signedBy: signer
            ).bytes
        }
        let good = answer(for: [scene.ben])
        var changed = good
        changed[changed.count - 100] ^= 1
        let cases: [([UInt8], String)] = [
            (answer(for: [scene.ben], signedBy: scene.ben.identity), "wrongSignature"), (changed, "wrongSignature"),
            (answer(for: [scene.ben], device: 2), "otherDevice"),
            // Its own key inserted: Dora's, whom Anna never accepted.
            (answer(for: [scene.ben, scene.dora]), "recipientNotPinned"),
            (answer(for: [scene.carla]), "wrongRecipient"),
            (answer(for: [scene.ben], to: "6b1c4f6e-3f60-4cb9-9d1f-2f5f1a1f7a03"), "noSuchQuery"),
            (Array(good.dropLast()), "badEnvelope"), (Array("48.2,16.37".utf8), "badEnvelope"),
        ]
        for (bytes, reason) in cases {
            let before = scene.house.service.log.head
            let answer = scene.post(bytes)
            #expect(answer.status == 200 && answer["new"]?.int == 0)
            #expect(SealedHouse.reason(answer) == reason)
            guard
                case .inputRejected(_, let recorded, _, let input)? = try scene.events(.inputRejected, after: before)
                    .first?.event
            else {
                // The second unreadable one is the same as the first: nothing of it is kept.
                #expect(reason == "badEnvelope")
                continue
            }
            #expect(recorded.word == reason && input.content?.head.isEmpty == true)
        }
        #expect(scene.post(good)["new"]?.int == 1)
        // Replayed, for the same query and for the next one.
        #expect(scene.post(good)["duplicate"]?.int == 1)
        #expect(SealedHouse.reason(scene.post(answer(for: [scene.ben]))) == "noSuchQuery")
    }

    /// The operator can act with a token in Ben's name. What they do with it stands in Ben's own log, which Ben's proof covers.
    @Test func `a key that the operator inserts for Ben is in Ben's log, and Anna's phone seals nothing for it`() throws
    {
        let scene = try SealedHouse()
        let inserted = SealedPerson("ben", seed: 99)
        let forged = try scene.house.token(of: "ben")
        // Without the private key of Ben's identity, another identity is refused.
        let replaced = scene.house.send("POST", "/v1/people/ben/keys", as: forged, inserted.identityBody())
        #expect(replaced.status == 422, "\(replaced.text)")
        let added = scene.house.send(
            "POST", "/v1/people/ben/keys", as: forged, inserted.recipientBody(signedBy: inserted.identity))
        #expect(added.status == 422, "\(added.text)")
        let before = scene.house.service.log.head
        let identity = KeyID(ofPublicKey: scene.ben.identity.publicKey)
        #expect(scene.house.send("DELETE", "/v1/people/ben/keys/\(identity)?reason=lost", as: forged).status == 200)
        inserted.publish(scene.house, as: forged)
        let kinds = try scene.house.events(after: before).filter { $0.stream.isAudit }.map(\.event.kind)
        #expect(kinds == [.sealingKeyWithdrawn, .identityKeyPublished, .recipientKeyPublished])
        // Ben sees it, in the list that his proof covers.
        let audit = try scene.send("GET", "/v1/people/ben/audit", as: "ben").items.compactMap { $0["event"]?.string }
        for name in ["SealingKeyWithdrawn", "IdentityKeyPublished", "RecipientKeyPublished"] {
            #expect(audit.contains(name), "\(audit)")
        }
        // Anna's phone is not even told of the key, and an envelope for it is refused.
        let query = try scene.ask(as: "ben")
        let questions = scene.house.send("GET", "/v1/devices/anna.phone/questions", as: scene.phone)
        let keys = questions["questions"]?.array?.first { _ in true }?["keys"]?.array?.compactMap(\.string)
        #expect(keys == [scene.ben.keyID])
        let sealed = scene.anna.answer(at: scene.house.clock.now, 48.2, 16.37, to: query, for: [inserted])
        #expect(SealedHouse.reason(scene.post(sealed.bytes)) == "recipientNotPinned")
        // And the two would read different safety numbers to each other.
        let mine = SafetyNumber.groups(of: scene.anna.identity.publicKey, and: scene.ben.identity.publicKey)
        #expect(mine != SafetyNumber.groups(of: scene.anna.identity.publicKey, and: inserted.identity.publicKey))
    }

    @Test func `a withheld envelope is an answered query without a disclosure, in the list that Anna sees`() throws {
        let scene = try SealedHouse()
        let query = try scene.ask(as: "ben")
        let sealed = scene.anna.answer(at: scene.house.clock.now, 48.2, 16.37, to: query, for: [scene.ben])
        #expect(scene.post(sealed.bytes)["new"]?.int == 1)
        let asked = try scene.send("GET", "/v1/people/anna/audit", as: "anna").items.first {
            $0["id"]?.string == query
        }
        #expect(asked?["end"]?.string == "answered", "\(String(describing: asked))")
        #expect(asked?["disclosed"]?.array.map { Array($0).count } == 0)
        #expect(try scene.events(.locationDisclosed).isEmpty)
    }

    /// A grant ends while the phone makes envelopes: what the service takes, it took before the end.
    @Test(.timeLimit(.minutes(10))) func `no envelope is taken for someone whose grant has ended`() throws {
        let scene = try SealedHouse()
        let rounds = isLongForm ? 10_000 : 150
        var grant = try #require(scene.grants["ben"])
        var taken = 0
        let period = scene.anna.period(for: [scene.ben])
        for round in 0..<rounds {
            let before = scene.house.service.log.head
            // Each wrapping is another envelope, so none is a repeat.
            let sealed = round == 0 ? period : scene.anna.period(for: [scene.ben], from: scene.house.clock.now)
            let answers = Monitor<[Int]>([])
            let body = SealedPerson.body([sealed.bytes])
            let requests = [
                ("POST", "/v1/envelopes", scene.phone, body),
                ("DELETE", "/v1/grants/\(grant)", scene.house.operatorToken, ""),
            ]
            for (method, path, token, body) in round % 2 == 0 ? requests : requests.reversed() {
                scene.house.send(method, path, as: token, body) { response in
                    answers.change { $0.append(response.status) }
                }
            }
            let statuses = try answers.expected("both answers") { $0.count == 2 ? $0 : nil }
            #expect(statuses == [200, 200])
            let events = try scene.house.events(after: before)
            let ended = try #require(events.first { $0.event.kind == .grantRevoked }).number
            if let kept = events.first(where: { $0.event.kind == .sealedFixReported }) {
                taken += 1
                #expect(kept.number < ended)
            }
            let late = scene.anna.period(for: [scene.ben], from: scene.house.clock.now.adding(seconds: 1))
            #expect(SealedHouse.reason(scene.post(late.bytes)) == "wrongRecipient")
            grant = try scene.house.grant("anna", to: "ben", history: true)
            scene.house.clock.advance(seconds: 2)
        }
        #expect(taken > 0 && taken < rounds)
    }
}
