import Testing
import Whereabouts

@Suite struct KeyedRequestTests {
    private static let key = RequestID(ofKeyedRequest: 0x1234_5678_9ABC_DEF0, 7)

    @Test func `an id of a keyed request is a UUID of version 8`() {
        // RFC 9562 section 5.8: the version is in the seventh byte, the variant in the ninth.
        #expect(RequestID(ofKeyedRequest: .max, .max).description == "ffffffff-ffff-8fff-bfff-ffffffffffff")
        #expect(RequestID(ofKeyedRequest: 0, 0).description == "00000000-0000-8000-8000-000000000000")
        #expect(RequestID(ofKeyedRequest: 0, 0).isOfKeyedRequest)
        #expect(!RequestID(random: .max, .max).isOfKeyedRequest)
    }

    @Test func `a command sent again with its key is answered alike and done once`() {
        var scene = Scene()
        let command = Command.setSchedule(of: House.handle("walker"), everySeconds: 900, until: nil)
        let first = scene.house.submit(command, by: scene.walker, key: Self.key)
        let count = scene.house.log.count
        #expect(scene.house.submit(command, by: scene.walker, key: Self.key) == first)
        #expect(scene.house.log.count == count)
        // The same key of another caller is a different key.
        #expect(scene.house.submit(.addPerson(House.handle("new")), by: scene.admin, key: Self.key) != first)
        #expect(scene.house.log.count == count + 1)
    }

    @Test func `a key is of one request, for a day`() {
        var scene = Scene()
        scene.house.submit(.addPerson(House.handle("new")), by: scene.admin, key: Self.key)
        let other = RequestID(ofKeyedRequest: Self.key.high, 8)
        #expect(
            scene.house.submit(.addPerson(House.handle("other")), by: scene.admin, key: other)
                == .failure(
                    .invalid(
                        "This Idempotency-Key belongs to another request; send a new key with a new request.")))
        scene.house.now = scene.house.now.adding(seconds: Limits.keyedRequestKeptSeconds)
        guard case .success = scene.house.submit(.addPerson(House.handle("other")), by: scene.admin, key: other) else {
            Issue.record("The key is still taken.")
            return
        }
    }

    @Test func `what was refused may be tried again, also when the refusal is on record`() {
        var scene = Scene()
        let question = Command.queryLocation(scene.house.question(1, about: "walker"))
        #expect(scene.house.submit(question, by: scene.friend, key: Self.key) == .failure(.noSuchPerson))
        _ = scene.house.grant("walker", to: "friend", by: scene.walker)
        guard case .success = scene.house.submit(question, by: scene.friend, key: Self.key) else {
            Issue.record("The refusal was kept.")
            return
        }
    }

    @Test func `of one caller a thousand are remembered, and nothing of an erased one`() {
        var scene = Scene()
        for index in 0...Limits.keyedRequestsKept {
            scene.house.submit(
                .pauseSharing(House.handle("walker"), until: scene.house.now.adding(seconds: Int64(1 + index))),
                by: scene.walker, key: RequestID(ofKeyedRequest: UInt64(index) << 16, 0))
        }
        let kept = scene.house.standing.requests.keyed[scene.walker.principal]
        #expect(kept?.count == Limits.keyedRequestsKept && kept?.first?.id.high == 1 << 16 | 0x8000)
        scene.house.submit(.erasePerson(House.handle("walker")), by: scene.admin)
        #expect(scene.house.standing.requests.keyed[scene.walker.principal] == nil)
    }
}
