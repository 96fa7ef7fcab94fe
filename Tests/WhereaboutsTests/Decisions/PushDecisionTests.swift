import Testing
import Whereabouts

@Suite struct PushDecisionTests {
    /// A house whose walker has a phone that can be woken.
    private static func scene() -> Scene {
        var scene = Scene()
        _ = scene.house.grant("walker", to: "friend", by: scene.walker)
        let token = LocationPushToken(bytes: [1, 2, 3, 4], bundleID: "org.example")
        scene.house.submit(.registerPushToken(device: House.handle("phone"), token, .production), by: scene.phone)
        return scene
    }

    private static func ask(
        _ scene: inout Scene, _ id: UInt64, initiation: LocationQuery.Initiation = .user
    ) -> QueryID {
        let question = LocationQuestion(
            id: QueryID(high: 9, low: id), subject: House.handle("walker"), purpose: "late", initiation: initiation,
            deadlineSeconds: 3600, maxAgeSeconds: 0)
        scene.house.submit(.queryLocation(question), by: scene.walker)
        return question.id
    }

    private static func order(_ scene: inout Scene, _ id: QueryID) -> PushOrder.What? {
        let reply = scene.house.submit(.startPushes(id, to: [scene.phoneID]), by: .house)
        guard case .success(.pushes(let orders)) = reply else { return nil }
        return orders.first?.what
    }

    private static func withheld(_ house: House) -> [String] {
        house.log.compactMap {
            if case .locationPushAttempted(let attempt) = $0.event, attempt.attempt == 0 {
                attempt.reason
            } else {
                nil
            }
        }
    }

    @Test func `a push is on record before it is sent`() {
        var scene = Self.scene()
        let query = Self.ask(&scene, 1)
        #expect(Self.order(&scene, query) == .send)
        #expect(scene.house.log.last?.event == .locationPushStarted(query: query, device: scene.phoneID))
        #expect(scene.house.log.last?.cause == scene.house.standing.queries[query]?.number)
    }

    @Test func `a phone is woken once a minute, and whoever asks in between shares it or waits, once on record`() {
        var scene = Self.scene()
        #expect(Self.order(&scene, Self.ask(&scene, 1)) == .send)
        scene.house.now = House.start.adding(seconds: 20)
        let second = Self.ask(&scene, 2)
        let next = House.start.adding(seconds: 60)
        #expect(Self.order(&scene, second) == .wait(until: next))
        #expect(Self.order(&scene, second) == .wait(until: next))
        #expect(Self.withheld(scene.house) == ["coalesced"])
        scene.house.now = next
        #expect(Self.order(&scene, second) == .send)
    }

    @Test func `one answer serves everybody who shares a push`() {
        var scene = Self.scene()
        let queries = (1...100).map { Self.ask(&scene, $0) }
        let orders = queries.map { Self.order(&scene, $0) }
        #expect(orders.filter { $0 == .send }.count == 1)
        scene.house.now = House.start.adding(seconds: 5)
        _ = scene.house.report([scene.house.fix(atSecond: 4)], answering: queries[0], by: scene.phone)
        #expect(queries.allSatisfy { scene.house.standing.queries[$0]?.end == .answered })
        #expect(Self.withheld(scene.house).count == 99)
        #expect(Self.order(&scene, queries[1]) == nil)
    }

    /// A push a minute gets one of four back: before push n + 1, 360 − 0.75 n are left. The last that leaves 120 is number
    /// 319 (360 − 238.5 − 1 = 120.5), the last of all number 479 (360 − 358.5 − 1 = 0.5).
    @Test func `a day's budget can be used up, and the service's own asks leave a third of it`() {
        var scene = Self.scene()
        let own = Self.ask(&scene, 1, initiation: .server)
        let person = Self.ask(&scene, 2)
        var sent = 0
        while Self.order(&scene, own) == .send {
            sent += 1
            scene.house.now = scene.house.now.adding(seconds: 60)
        }
        #expect(sent == 319)
        #expect(Self.withheld(scene.house) == ["budget"])
        while Self.order(&scene, person) == .send {
            sent += 1
            scene.house.now = scene.house.now.adding(seconds: 60)
        }
        #expect(sent == 479)
        #expect(Self.withheld(scene.house) == ["budget", "budget"])
        guard case .wait(let until)? = Self.order(&scene, person) else {
            Issue.record("A phone without budget is woken.")
            return
        }
        scene.house.now = until
        #expect(Self.order(&scene, person) == .send)
    }

    @Test func `a push whose fate a restart leaves unknown is repeated at once, and counted twice`() {
        var scene = Self.scene()
        let query = Self.ask(&scene, 1)
        #expect(Self.order(&scene, query) == .send)
        #expect(Self.order(&scene, query) == .send)
        let full = scene.house.standing.devices[scene.phoneID]?.pushes.fullAt
        #expect(full == House.start.adding(seconds: 480))
    }

    @Test func `tries are counted on after a restart, those without a record too`() {
        var scene = Self.scene()
        let query = Self.ask(&scene, 1)
        func tries() -> Int64? {
            let reply = scene.house.submit(.startPushes(query, to: [scene.phoneID]), by: .house)
            guard case .success(.pushes(let orders)) = reply else { return nil }
            return orders.first?.tries
        }
        func record(_ number: Int64, _ reason: String? = nil) {
            let attempt = LocationPushAttempt(
                query: query, device: scene.phoneID, attempt: number,
                apnsID: LocationPushAttempt.apnsID(query, scene.phoneID), status: nil, reason: reason,
                durationMilliseconds: 1)
            scene.house.submit(.recordPushAttempt(attempt), by: .house)
        }
        #expect(tries() == 0)
        record(1)
        record(2)
        #expect(tries() == 2)
        // Two processes end before they have recorded anything.
        #expect(tries() == 3)
        #expect(tries() == 4)
        // And one before it has tried.
        record(0, "not sent: the sender was stopped")
        #expect(tries() == 4)
    }

    @Test func `a clock put back does not lengthen the pause`() {
        var scene = Self.scene()
        #expect(Self.order(&scene, Self.ask(&scene, 1)) == .send)
        scene.house.now = House.start.adding(seconds: -86_400)
        scene.house.record(.clockSteppedBack(byMilliseconds: 86_400_000), in: .house)
        #expect(Self.order(&scene, Self.ask(&scene, 2)) == .wait(until: scene.house.now.adding(seconds: 60)))
    }

    @Test func `only the house orders pushes, and none for a phone of somebody else or without a token`() {
        var scene = Self.scene()
        let query = Self.ask(&scene, 1)
        #expect(scene.house.submit(.startPushes(query, to: [scene.phoneID]), by: scene.admin) == .failure(.notFound))
        scene.house.submit(.addDevice(House.handle("other"), of: House.handle("friend")), by: scene.admin)
        let other = scene.house.standing.deviceByHandle[House.handle("other")]
        let reply = scene.house.submit(.startPushes(query, to: [other ?? scene.phoneID]), by: .house)
        #expect(reply == .success(.pushes([])))
    }
}
