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
            if case .locationPushAttempted(let attempt) = $0.event, attempt.outcome == .withheld {
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

    @Test func `APNs' word about a token that was replaced does not end the one that replaced it`() {
        var scene = Self.scene()
        let (old, new) = (
            LocationPushToken(bytes: [1, 2, 3, 4], bundleID: "org.example"),
            LocationPushToken(bytes: [5, 6, 7, 8], bundleID: "org.example")
        )
        func held() -> LocationPushToken? { scene.house.standing.devices[scene.phoneID]?.push.token?.token }
        scene.house.submit(.registerPushToken(device: House.handle("phone"), new, .production), by: scene.phone)
        for asOf in [nil, House.start, House.start.adding(seconds: 60)] {
            scene.house.submit(
                .retirePushToken(scene.phoneID, old, reason: "Unregistered", asOf: asOf), by: .house)
            #expect(held() == new)
        }
        scene.house.submit(.retirePushToken(scene.phoneID, new, reason: "Unregistered", asOf: nil), by: .house)
        #expect(held() == nil)
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
        while sent < 1000, Self.order(&scene, own) == .send {
            sent += 1
            // Lets the same question start one push after the other.
            Self.record(&scene, own, .withdrawn, attempt: 0, reason: "ended")
            scene.house.now = scene.house.now.adding(seconds: 60)
        }
        #expect(sent == 319)
        #expect(Self.withheld(scene.house) == ["budget"])
        while sent < 1000, Self.order(&scene, person) == .send {
            sent += 1
            Self.record(&scene, person, .withdrawn, attempt: 0, reason: "ended")
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

    private static func orders(_ scene: inout Scene, _ id: QueryID) -> PushOrder? {
        let reply = scene.house.submit(.startPushes(id, to: [scene.phoneID]), by: .house)
        guard case .success(.pushes(let orders)) = reply else { return nil }
        return orders.first
    }

    private static func record(
        _ scene: inout Scene, _ id: QueryID, _ outcome: LocationPushAttempt.Outcome, attempt: Int64 = 1,
        status: Int64? = nil, reason: String? = nil
    ) {
        let attempt = LocationPushAttempt(
            query: id, device: scene.phoneID, attempt: attempt,
            apnsID: LocationPushAttempt.apnsID(id, scene.phoneID), status: status, reason: reason,
            durationMilliseconds: 1, outcome: outcome)
        scene.house.submit(.recordPushAttempt(attempt), by: .house)
    }

    // MARK: Outcomes

    @Test func `an accepted push is never sent again`() {
        var scene = Self.scene()
        let query = Self.ask(&scene, 1)
        #expect(Self.order(&scene, query) == .send)
        Self.record(&scene, query, .accepted, status: 200)
        scene.house.submit(.settlePushes, by: .house)
        for seconds in [0, 60, 600, 3000] {
            scene.house.now = House.start.adding(seconds: Int64(seconds))
            #expect(Self.order(&scene, query) == .never)
        }
    }

    @Test func `a push whose process ended is unknown, and is sent once more however often processes end`() {
        var scene = Self.scene()
        let query = Self.ask(&scene, 1)
        #expect(Self.order(&scene, query) == .send)
        var sent = 1
        for _ in 0..<10 {
            // A process ends, the next one starts.
            #expect(scene.house.standing.hasPushesToSettle == (sent < 3 && Self.isUnderWay(scene, query)))
            scene.house.submit(.settlePushes, by: .house)
            #expect(!scene.house.standing.hasPushesToSettle)
            for second in 0..<70 {
                scene.house.now = scene.house.now.adding(seconds: 1)
                guard Self.order(&scene, query) == .send else { continue }
                sent += 1
                #expect(second == 59)
                break
            }
        }
        #expect(sent == 2)
        let records = Self.attempts(scene.house)
        #expect(records.map(\.outcome) == [.unknown, .unknown] && records.map(\.attempt) == [1, 2])
        #expect(records.allSatisfy { $0.reason == "the service ended" })
        // Both count against the budget: two are gone, and one comes back every 240 s.
        let full = scene.house.standing.devices[scene.phoneID]?.push.allowance.fullAt
        #expect(full == House.start.adding(seconds: 480))
    }

    private static func isUnderWay(_ scene: Scene, _ id: QueryID) -> Bool {
        scene.house.standing.queries[id]?.waking.pushes.contains { $0.state == .underWay } ?? false
    }

    private static func attempts(_ house: House) -> [LocationPushAttempt] {
        house.log.compactMap { if case .locationPushAttempted(let attempt) = $0.event { attempt } else { nil } }
    }

    @Test func `counting of tries continues`() {
        var scene = Self.scene()
        let query = Self.ask(&scene, 1)
        #expect(Self.orders(&scene, query)?.tries == 0)
        Self.record(&scene, query, .notProcessed)
        Self.record(&scene, query, .refused, attempt: 2, status: 503)
        // Stopped between two tries, nothing is in flight, and the next process continues at once.
        Self.record(&scene, query, .notSent, attempt: 0, reason: "not sent: the sender was stopped")
        #expect(Self.orders(&scene, query)?.what == .send)
        scene.house.submit(.settlePushes, by: .house)
        #expect(Self.attempts(scene.house).last?.attempt == 3)
        scene.house.now = House.start.adding(seconds: 60)
        // The second start was the last.
        #expect(Self.orders(&scene, query)?.what == .never)
    }

    @Test func `a refused token gets no more pushes, and a newer one gets one at once`() {
        var scene = Self.scene()
        let query = Self.ask(&scene, 1)
        #expect(Self.order(&scene, query) == .send)
        Self.record(&scene, query, .refused, status: 410, reason: "Unregistered")
        #expect(Self.order(&scene, query) == .never)
        scene.house.now = House.start.adding(seconds: 1)
        let token = LocationPushToken(bytes: [5, 6, 7, 8], bundleID: "org.example")
        scene.house.submit(.registerPushToken(device: House.handle("phone"), token, .production), by: scene.phone)
        #expect(Self.order(&scene, query) == .send)
    }

    @Test func `a missing device is recorded once`() {
        var scene = Self.scene()
        let query = Self.ask(&scene, 1)
        for _ in 0..<3 { scene.house.submit(.startPushes(query, to: []), by: .house) }
        let said = scene.house.log.filter { $0.event == .locationPushWithheld(query: query, .noDevice) }
        #expect(said.count == 1 && said.first?.cause == scene.house.standing.queries[query]?.number)
    }

    // MARK: Withdrawal

    /// An event between the start of a push and its try, and the recorded reason.
    static let forbidding: [(String, PushWithdrawal, @Sendable (inout Scene, QueryID) -> Void)] = [
        (
            "the person is erased", .personErased,
            { scene, _ in scene.house.submit(.erasePerson(House.handle("walker")), by: scene.admin) }
        ),
        (
            "the asker is erased", .cancelled,
            { scene, _ in scene.house.submit(.erasePerson(House.handle("friend")), by: scene.admin) }
        ),
        (
            "the grant is revoked", .notGranted,
            { scene, _ in
                let grant = scene.house.standing.grants.all.keys.min() ?? GrantID(rawValue: 0)
                scene.house.submit(.revokeGrant(grant), by: scene.walker)
            }
        ),
        (
            "the grant expires", .notGranted,
            { scene, _ in scene.house.now = House.start.adding(seconds: 40 * 86_400) }
        ),
        (
            "a newer grant shows nothing", .notGranted,
            { scene, _ in _ = scene.house.grant("walker", to: "friend", .none, by: scene.walker) }
        ),
        (
            "a newer grant asks each time", .notGranted,
            { scene, _ in _ = scene.house.grant("walker", to: "friend", asksEachTime: true, by: scene.walker) }
        ),
        (
            "the person pauses", .paused,
            { scene, _ in scene.house.submit(.pauseSharing(House.handle("walker"), until: nil), by: scene.walker) }
        ),
        ("the asker gives up", .cancelled, { scene, id in scene.house.submit(.cancelQuery(id), by: scene.friend) }),
        (
            "the device is removed", .deviceRemoved,
            { scene, _ in scene.house.submit(.removeDevice(House.handle("phone")), by: scene.admin) }
        ),
        (
            "a fix answers", .answered,
            { scene, id in
                _ = scene.house.report([scene.house.fix(atSecond: 1)], answering: id, by: scene.phone)
            }
        ),
        (
            "another token is registered", .tokenReplaced,
            { scene, _ in
                let token = LocationPushToken(bytes: [5, 6, 7, 8], bundleID: "org.example")
                scene.house.submit(
                    .registerPushToken(device: House.handle("phone"), token, .production), by: scene.phone)
            }
        ),
        (
            "the token moves to the other service", .tokenReplaced,
            { scene, _ in
                let token = LocationPushToken(bytes: [1, 2, 3, 4], bundleID: "org.example")
                scene.house.submit(
                    .registerPushToken(device: House.handle("phone"), token, .development), by: scene.phone)
            }
        ),
        (
            "the token is retired", .tokenReplaced,
            { scene, _ in
                let token = LocationPushToken(bytes: [1, 2, 3, 4], bundleID: "org.example")
                scene.house.submit(
                    .retirePushToken(scene.phoneID, token, reason: "Unregistered", asOf: nil), by: .house)
            }
        ),
        (
            "the time is up", .ended,
            { scene, _ in
                scene.house.now = House.start.adding(seconds: 3601)
                scene.house.submit(.endOverdueQueries, by: .house)
            }
        ),
    ]

    @Test(arguments: forbidding.indices)
    func `a waiting push becomes unwanted by an event that forbids it`(index: Int) throws {
        let (what, reason, happen) = Self.forbidding[index]
        var scene = Self.scene()
        let question = LocationQuestion(
            id: QueryID(high: 9, low: 1), subject: House.handle("walker"), purpose: "late", initiation: .user,
            deadlineSeconds: 3600, maxAgeSeconds: 0)
        scene.house.submit(.queryLocation(question), by: scene.friend)
        #expect(Self.order(&scene, question.id) == .send)
        let token = try #require(scene.house.standing.devices[scene.phoneID]?.push.token)
        func withdrawal() -> PushWithdrawal? {
            scene.house.standing.withdrawal(of: question.id, to: scene.phoneID, token, at: scene.house.now)
        }
        #expect(withdrawal() == nil)
        let count = scene.house.log.count
        happen(&scene, question.id)
        #expect(withdrawal() == reason, "\(what)")
        // A waiting push is checked again after one of these events, or after some time.
        let events = scene.house.events(after: count)
        #expect(events.isEmpty || events.contains(where: \.mayForbidPushes), "\(what)")
    }

    @Test func `a pause and a grant's end do not concern the person's own question`() throws {
        var scene = Self.scene()
        let query = Self.ask(&scene, 1)
        #expect(Self.order(&scene, query) == .send)
        scene.house.submit(.pauseSharing(House.handle("walker"), until: nil), by: scene.walker)
        let token = try #require(scene.house.standing.devices[scene.phoneID]?.push.token)
        #expect(scene.house.standing.isPushWanted(query, to: scene.phoneID, token, at: scene.house.now))
    }

    @Test func `the outcome of a try is recorded even if its person was erased`() {
        var scene = Self.scene()
        let query = Self.ask(&scene, 1)
        #expect(Self.order(&scene, query) == .send)
        scene.house.submit(.erasePerson(House.handle("walker")), by: scene.admin)
        let attempt = LocationPushAttempt(
            query: query, device: scene.phoneID, attempt: 1,
            apnsID: LocationPushAttempt.apnsID(query, scene.phoneID), status: 200, reason: nil,
            durationMilliseconds: 1, outcome: .accepted, startedAt: scene.house.now, environment: .production,
            priority: 10, tokenHash: PushTokenHash(rawValue: 7), uniqueID: nil)
        scene.house.submit(.recordPushAttempt(attempt), by: .house)
        #expect(scene.house.log.last?.stream == .house)
        #expect(scene.house.log.last?.event == .locationPushAttempted(attempt.withoutPersonalData))
        #expect(attempt.withoutPersonalData.tokenHash == nil && attempt.withoutPersonalData.outcome == .accepted)
        scene.house.submit(.recordPushTest(attempt), by: .house)
        #expect(scene.house.log.last?.event == .locationPushTested(attempt.withoutPersonalData))
        #expect(scene.house.log.last?.stream == .house)
    }

    @Test func `the ends of an erased asker's questions are recorded before the erasure`() {
        var scene = Self.scene()
        scene.house.submit(.queryLocation(scene.house.question(1, about: "walker")), by: scene.friend)
        scene.house.submit(.erasePerson(House.handle("friend")), by: scene.admin)
        let ends = scene.house.log.filter {
            if case .locationQueryEnded(_, .cancelled, _) = $0.event { true } else { false }
        }
        #expect(ends.map(\.stream) == [.audit(scene.walkerID)])
        #expect(scene.house.standing.queries.open.isEmpty)
    }

    // MARK: The end of an unanswered question

    @Test func `a question fails only if it is certain that no push arrived`() {
        func end(_ outcomes: [(LocationPushAttempt.Outcome, Int64?)]) -> QueryEnd? {
            var scene = Self.scene()
            let query = Self.ask(&scene, 1)
            #expect(Self.order(&scene, query) == .send)
            for (index, (outcome, status)) in outcomes.enumerated() {
                Self.record(&scene, query, outcome, attempt: Int64(index + 1), status: status)
            }
            scene.house.submit(.endFailedQuery(query), by: .house)
            let early = scene.house.standing.queries[query]?.end
            scene.house.now = House.start.adding(seconds: 3601)
            scene.house.submit(.endOverdueQueries, by: .house)
            let end = scene.house.standing.queries[query]?.end
            // Early or at the deadline, the rule is the same.
            #expect(early == (end == .pushFailed ? .pushFailed : nil))
            return end
        }
        #expect(end([]) == .timedOut)
        #expect(end([(.accepted, 200)]) == .timedOut)
        #expect(end([(.unknown, nil)]) == .timedOut)
        #expect(end([(.refused, 410)]) == .pushFailed)
        #expect(end([(.notProcessed, nil), (.refused, 503)]) == .pushFailed)
        #expect(end([(.unknown, nil), (.refused, 503)]) == .timedOut)
        #expect(end([(.withdrawn, nil)]) == .pushFailed)
        #expect(end([(.notSent, nil)]) == .pushFailed)
    }

    @Test func `questions that shared a push fail together once it is certain that it did not arrive`() {
        for outcome in [LocationPushAttempt.Outcome.refused, .accepted] {
            var scene = Self.scene()
            let queries = (1...3).map { Self.ask(&scene, $0) }
            for query in queries { _ = Self.order(&scene, query) }
            Self.record(&scene, queries[0], outcome, status: outcome == .refused ? 410 : 200)
            for query in queries { scene.house.submit(.endFailedQuery(query), by: .house) }
            let ends = queries.map { scene.house.standing.queries[$0]?.end }
            #expect(ends == [QueryEnd?](repeating: outcome == .refused ? .pushFailed : nil, count: 3))
        }
    }

    @Test func `a question that shared another's push, or has no phone to wake, times out`() {
        var scene = Self.scene()
        let first = Self.ask(&scene, 1), second = Self.ask(&scene, 2)
        #expect(Self.order(&scene, first) == .send)
        #expect(Self.order(&scene, second) == .wait(until: House.start.adding(seconds: 60)))
        scene.house.submit(.endFailedQuery(second), by: .house)
        #expect(scene.house.standing.queries[second]?.end == nil)
        scene.house.now = House.start.adding(seconds: 3600)
        // The push of the first question is under way and has a second for its outcome.
        scene.house.submit(.endOverdueQueries, by: .house)
        #expect(scene.house.standing.queries[second]?.end == .timedOut)
        #expect(scene.house.standing.queries[first]?.end == nil)
        #expect(scene.house.standing.devices[scene.phoneID]?.push.wokenAt == House.start)
        Self.record(&scene, first, .notSent, attempt: 0, reason: "not sent: no connection")
        #expect(scene.house.standing.devices[scene.phoneID]?.push.wokenAt == nil)
        scene.house.submit(.endOverdueQueries, by: .house)
        #expect(scene.house.standing.queries[first]?.end == .pushFailed)
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
        let other = scene.house.standing.device(House.handle("other"))
        let reply = scene.house.submit(.startPushes(query, to: [other ?? scene.phoneID]), by: .house)
        #expect(reply == .success(.pushes([])))
    }
}
