import Testing
import Whereabouts

/// The answer to a device's own message: it shows only data that the owner may see, and only after it is recorded.
@Suite struct DeviceAnswerTests {
    private static let hash = Hash256(words: (1, 2, 3, 4))

    private static func friends(_ scene: Scene) -> [Permit] {
        scene.house.standing.friends(of: scene.walkerID, at: scene.house.now)
    }

    @discardableResult
    private static func answer(_ scene: inout Scene, _ friends: [Permit], by caller: Caller? = nil) -> Result<
        CommandReply, Refusal
    > {
        scene.house.submit(
            .answerDevice(friends: friends, asOf: 7, answerHash: hash), by: caller ?? scene.phone)
    }

    @Test func `friends are those whose grant shows a place without being asked`() {
        var scene = Scene()
        #expect(Self.friends(scene).isEmpty)
        _ = scene.house.grant("friend", to: "walker", .kilometer, history: false, by: scene.friend)
        #expect(Self.friends(scene).map(\.precision) == [.kilometer])
        _ = scene.house.grant("friend", to: "walker", asksEachTime: true, by: scene.friend)
        _ = scene.house.grant("stranger", to: "walker", .none, by: scene.stranger)
        #expect(Self.friends(scene).isEmpty)
        _ = scene.house.grant("stranger", to: "walker", until: scene.house.now.adding(seconds: 60), by: scene.stranger)
        #expect(Self.friends(scene).map(\.subject).map(\.principal) == [scene.stranger.principal])
        scene.house.now = scene.house.now.adding(seconds: 60)
        #expect(Self.friends(scene).isEmpty)
    }

    @Test func `an answer has the fifty friends who were added first, and not those who show nothing now`() {
        var scene = Scene()
        var added: [PersonID] = []
        for number in 0..<60 {
            let name = "friend-\(number)"
            scene.house.submit(.addPerson(House.handle(name)), by: scene.admin)
            let caller = scene.house.token(for: .person(House.handle(name)), .manage, by: scene.admin)
            added.append(PersonID(rawValue: caller.principal.rawValue))
            _ = scene.house.grant(name, to: "walker", number == 3 ? .none : .exact, by: caller)
        }
        added.remove(at: 3)
        #expect(Self.friends(scene).map(\.subject) == Array(added.prefix(50)))
    }

    @Test func `each friend shown is a read in the owner's name, about the friend`() {
        var scene = Scene()
        let grant = scene.house.grant("friend", to: "walker", by: scene.friend)
        let before = scene.house.log.count
        #expect(Self.answer(&scene, Self.friends(scene)) == .success(.done))
        let recorded = scene.house.log[before...]
        #expect(recorded.count == 1 && recorded.first?.stream == .audit(scene.friendID))
        guard case .locationRead(let read)? = recorded.first?.event else {
            Issue.record("A read is expected.")
            return
        }
        #expect(read.reader == scene.walker.principal && read.question == .friends && read.verdict == .granted(grant))
        #expect(read.content.content?.answerHash == Self.hash && recorded.first?.actor == scene.phone.principal)
    }

    @Test func `a grant that ended in between throws the whole answer away`() {
        var scene = Scene()
        let grant = scene.house.grant("friend", to: "walker", by: scene.friend)
        let friends = Self.friends(scene)
        scene.house.submit(.revokeGrant(grant), by: scene.friend)
        let before = scene.house.log.count
        #expect(Self.answer(&scene, friends) == .failure(.noSuchPerson))
        #expect(scene.house.log.count == before)
    }

    @Test func `nobody but a device is answered so`() {
        var scene = Scene()
        _ = scene.house.grant("friend", to: "walker", by: scene.friend)
        let friends = Self.friends(scene)
        for caller in [scene.walker, scene.friend, scene.admin] {
            #expect(Self.answer(&scene, friends, by: caller) == .failure(.notFound))
        }
    }

    @Test func `a friend is told of no more often than may be read`() {
        var scene = Scene()
        _ = scene.house.grant("friend", to: "walker", by: scene.friend)
        var told = 0
        while case let friends = Self.friends(scene), !friends.isEmpty {
            Self.answer(&scene, friends)
            told += 1
        }
        #expect(told == Int(Limits.readsPerAsker.capacity))
        scene.house.now = scene.house.now.adding(seconds: Limits.readsPerAsker.refillSeconds)
        #expect(Self.friends(scene).count == 1)
    }

    @Test func `a question is passed on to each device once, and not before the subject agrees`() {
        var scene = Scene()
        _ = scene.house.grant("walker", to: "friend", asksEachTime: true, by: scene.walker)
        scene.house.submit(.queryLocation(scene.house.question(1, about: "walker", maxAge: 0)), by: scene.friend)
        let id = scene.house.question(1, about: "walker").id
        func passedOn() -> [QueryID] {
            let now = scene.house.now
            return scene.house.standing.questionsToPassOn(about: scene.walkerID) { _, _ in now }
        }
        #expect(passedOn().isEmpty)
        scene.house.submit(.answerConsent(id, of: House.handle("walker"), isGiven: true), by: scene.walker)
        #expect(passedOn() == [id])
        let before = scene.house.log.count
        for _ in 0..<2 { Self.answer(&scene, []) }
        #expect(scene.house.events(after: before) == [.locationReportCommanded(query: id, device: scene.phoneID)])
        scene.house.now = scene.house.now.adding(seconds: Limits.queryDeadlineSeconds)
        #expect(passedOn().isEmpty)
    }
}
