import Testing
import Whereabouts

/// A location query as its requester sees it.
@Suite struct QueryViewTests {
    /// The friend's query about the walker, and the scene in which it is open.
    private static func asked(_ precision: Precision = .exact) -> (Scene, QueryID) {
        var scene = Scene()
        _ = scene.house.grant("walker", to: "friend", precision, by: scene.walker)
        let question = scene.house.question(1, about: "walker")
        scene.house.submit(.queryLocation(question), by: scene.friend)
        return (scene, question.id)
    }

    private static func answer(_ id: QueryID, _ scene: inout Scene) {
        scene.house.now = House.start.adding(seconds: 3)
        _ = scene.house.report([scene.house.fix(atSecond: 3)], answering: id, by: scene.phone)
    }

    private static func view(
        _ id: QueryID, _ caller: Caller, _ scene: Scene, durable: Int64 = .max, hasTime: Bool = true
    ) -> QueryView? {
        QueryView(id, for: caller, in: scene.house.standing, at: scene.house.now, durable: durable) { _ in hasTime }
    }

    @Test func `only the requester sees it`() {
        let (scene, id) = Self.asked()
        for caller in [scene.walker, scene.stranger, scene.admin, scene.phone] {
            #expect(Self.view(id, caller, scene) == nil)
        }
        #expect(Self.view(id, scene.friend, scene)?.status(nil) == "pending")
        #expect(Self.view(id, scene.friend, scene, hasTime: false)?.status(nil) == "noAnswer")
    }

    @Test func `a fix counts once it is durable`() throws {
        var (scene, id) = Self.asked()
        Self.answer(id, &scene)
        let fix = scene.house.fix(atSecond: 3)
        let view = try #require(Self.view(id, scene.friend, scene))
        let number = try #require(view.answer)
        #expect(view.status(view.shown(.open(fix))) == "answered" && !view.isPending)
        #expect(view.isSettled(but: nil) && !view.isSettled(but: number))
        let early = try #require(Self.view(id, scene.friend, scene, durable: number - 1))
        #expect(early.isPending && early.answer == nil && early.shown(.open(fix)) == nil)
    }

    @Test func `a fix that may not be shown looks like none until the deadline`() throws {
        var (scene, id) = Self.asked()
        Self.answer(id, &scene)
        scene.house.submit(
            .pauseSharing(House.handle("walker"), until: House.start.adding(seconds: 600)), by: scene.walker)
        let during = scene.house.fix(atSecond: 5)
        let view = try #require(Self.view(id, scene.friend, scene))
        #expect(view.shown(.open(during)) == nil && view.hiddenFix(nil) == view.answer && view.status(nil) == "pending")
        let over = try #require(Self.view(id, scene.friend, scene, hasTime: false))
        #expect(over.hiddenFix(nil) == nil && over.status(nil) == "noAnswer")
    }

    @Test func `a grant that has ended shows nothing, and another grant neither`() throws {
        var (scene, id) = Self.asked()
        Self.answer(id, &scene)
        let grant = try #require(scene.house.standing.persons[scene.walkerID]?.sharing.grants.last)
        scene.house.submit(.revokeGrant(grant), by: scene.walker)
        #expect(Self.view(id, scene.friend, scene)?.answer == nil)
        _ = scene.house.grant("walker", to: "friend", by: scene.walker)
        #expect(Self.view(id, scene.friend, scene)?.answer == nil)
    }

    @Test(arguments: [(Precision.exact, true), (.kilometer, false), (.city, false), (.place, false)])
    func `only an exact grant shows how the log grows`(precision: Precision, isSeen: Bool) {
        let (scene, id) = Self.asked(precision)
        #expect(Self.view(id, scene.friend, scene)?.seesNumbers == isSeen)
    }

    @Test func `a canceled query has no answer`() {
        var (scene, id) = Self.asked()
        scene.house.submit(.cancelQuery(id), by: scene.friend)
        #expect(Self.view(id, scene.friend, scene)?.status(nil) == "noAnswer")
    }
}
