import Cryptography
import Envelopes
import JSON
import Log
import TestSupport
import Testing
import Whereabouts
import WhereaboutsClient

@testable import Service

/// A program that asks through this package's client about somebody whose phone seals.
@Suite struct SealedClientStoryTests {
    private struct Scene {
        let house: SealedHouse
        let folder = TemporaryFolder()
        let address: String

        init() throws {
            // The client compares answers with the time of this computer.
            house = try SealedHouse(clock: .running)
            address = "http://127.0.0.1:\(try house.house.listen())"
        }

        /// A file of keys, whose owner has accepted Anna's identity key, or another one in its place.
        func keys(of person: SealedPerson, seed: UInt8, annas identity: [UInt8]?) throws -> RecipientKeys {
            func secret(_ seed: UInt8) -> String { Hex.encode([UInt8](repeating: seed, count: 32)) }
            let people = identity.map { #"{"person":"anna","identity":"\#(Hex.encode($0))","keys":[]}"# } ?? ""
            let text = #"""
                {"person":"\#(person.handle)","identity":"\#(secret(seed))",
                "recipients":[{"key":"\#(secret(seed))","madeAt":1777881600000}],"people":[\#(people)]}
                """#
            let path = folder.path + "/\(person.handle).keys"
            try DataDirectory.writePrivate(Array(text.utf8), to: path)
            return try RecipientKeys(file: path)
        }

        func client(_ person: String) throws -> ServiceClient {
            try ServiceClient(
                address: address, token: try #require(house.tokens[person]), receipts: .notKept)
        }

        /// Anna was at home for an hour and went north, as her phone sealed it.
        func live() throws -> [Double] {
            let start = house.house.clock.now.adding(seconds: -7200)
            let period = house.anna.period(for: [house.anna, house.ben], from: start)
            let latitudes =
                (0..<60).map { _ in 48.2 } + (1...10).map { 48.2 + 0.01 * Double($0) } + (0..<20).map { _ in 48.3 }
            let fixes = latitudes.enumerated().map { index, latitude in
                house.anna.track(at: start.adding(seconds: Int64(index) * 60), latitude, 16.37, in: period).bytes
            }
            #expect(house.post(all: [period.bytes] + fixes.prefix(60))["new"]?.int == 61)
            #expect(house.post(all: Array(fixes.dropFirst(60)))["new"]?.int == 30)
            _ = house.house.settled()
            return latitudes
        }

        /// The reads of a person under a grant are limited.
        func rest() { house.house.clock.advance(seconds: 61) }
    }

    @Test func `a program opens the track, the visits and the newest location`() async throws {
        let scene = try Scene()
        let latitudes = try scene.live()
        let keys = try scene.keys(of: scene.house.ben, seed: 42, annas: scene.house.anna.identity.publicKey)
        #expect(keys.person == "ben")
        let anna = try scene.client("ben").opening("anna", with: keys)
        let track = try await anna.track()
        #expect(track.map(\.latitude) == latitudes && track.allSatisfy { $0.horizontalAccuracy == 8 })
        let middle = try #require(track.dropFirst(30).first?.timestamp)
        scene.rest()
        #expect(
            try await anna.track(from: middle, to: middle + 600).map(\.timestamp)
                == (0..<10).map { middle + Double($0) * 60 })
        scene.rest()
        let visits = try await anna.visits()
        #expect(visits.count == 2 && visits.last?.departure == nil)
        #expect(visits.first.map { abs($0.latitude - 48.2) < 0.0001 } == true)
        scene.rest()
        let newest = try await anna.lastKnownLocation()
        #expect(newest?.latitude == 48.3 && newest?.precision == "exact" && newest?.place == nil)
        // Only Anna may read her regions.
        _ = scene.house.house.manage(
            "POST", "/v1/people/anna/regions",
            #"{"id":"home","circle":{"latitude":48.2,"longitude":16.37,"radiusMeters":300}}"#)
        let refused = await #expect(throws: ClientError.self) { try await anna.crossings() }
        guard case .problem(let problem) = refused else { return #expect(Bool(false), "\(refused as Any)") }
        #expect([403, 404].contains(problem.status))
        let own = try scene.client("anna")
            .opening("anna", with: try scene.keys(of: scene.house.anna, seed: 41, annas: nil))
        #expect(try await own.crossings().map(\.isEntry) == [false])
    }

    @Test func `a program asks, and opens the answer`() async throws {
        let scene = try Scene()
        let keys = try scene.keys(of: scene.house.ben, seed: 42, annas: scene.house.anna.identity.publicKey)
        let anna = try scene.client("ben").opening("anna", with: keys)
        async let asked = anna.ask(purpose: "dinner is ready", waitSeconds: 30)
        let house = scene.house
        // No thread of the pool may wait here: the question needs one.
        var waiting: String?
        while waiting == nil {
            await Task.yield()
            waiting =
                house.house.send("GET", "/v1/devices/anna.phone/questions", as: house.phone)["questions"]?.array?
                .first { _ in true }?["query"]?.string
        }
        let query = try #require(waiting)
        let answer = house.anna.answer(at: house.house.clock.now, 48.2087, 16.3726, to: query, for: [house.ben])
        #expect(house.post(answer.bytes)["new"]?.int == 1)
        guard case .now(let location) = try await asked else { return #expect(Bool(false), "not answered") }
        #expect(location.latitude == 48.2087 && location.precision == "exact")
    }

    @Test func `without Anna's identity key, or with another one, nothing is believed`() async throws {
        let scene = try Scene()
        _ = try scene.live()
        let client = try scene.client("ben")
        let unknown = try scene.keys(of: scene.house.ben, seed: 42, annas: nil)
        #expect(throws: ClientError.self) { try client.opening("anna", with: unknown) }
        #expect(throws: ClientError.self) { try client.opening("Not a handle", with: unknown) }
        let other = try scene.keys(of: scene.house.ben, seed: 42, annas: scene.house.dora.identity.publicKey)
        let anna = try client.opening("anna", with: other)
        let error = await #expect(throws: ClientError.self) { try await anna.track() }
        #expect(error?.description.contains("did not sign") == true)
        #expect(throws: ClientError.self) { try RecipientKeys(file: scene.folder.path + "/none.keys") }
    }
}
