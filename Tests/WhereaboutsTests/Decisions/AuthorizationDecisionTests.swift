import Testing
import Whereabouts

/// Reports of the app's authorization by a phone.
@Suite struct AuthorizationDecisionTests {
    private static func report(
        _ scene: inout Scene, _ status: AuthorizationStatus, atSecond second: Int64,
        accuracy: AccuracyAuthorization? = .full
    ) -> FixOutcome? {
        let report = AuthorizationReport(
            timestamp: House.start.adding(seconds: second), status: status, accuracy: accuracy)
        let reply = scene.house.submit(.reportFixes(device: .caller, [.authorization(report)]), by: scene.phone)
        guard case .success(.fixes(let outcomes)) = reply else { return nil }
        return outcomes.first
    }

    private static func status(_ scene: Scene) -> AuthorizationStatus? {
        scene.house.standing.devices[scene.phoneID]?.authorization?.report.status
    }

    @Test func `the newest word counts, whatever comes in between, and the same again is no event`() {
        var scene = Scene()
        scene.house.now = House.start.adding(seconds: 100)
        #expect(Self.report(&scene, .denied, atSecond: 50) == .new)
        let count = scene.house.log.count
        #expect(Self.report(&scene, .denied, atSecond: 50) == .duplicate)
        #expect(scene.house.log.count == count)
        // From a queue that was stuck: kept, and outdated.
        #expect(Self.report(&scene, .authorizedAlways, atSecond: 40) == .new)
        #expect(Self.status(scene) == .denied)
        #expect(Self.report(&scene, .authorizedAlways, atSecond: 60) == .new)
        #expect(Self.status(scene) == .authorizedAlways)
    }

    @Test func `a clock that was ahead does not outvote what comes after`() {
        var scene = Scene()
        #expect(Self.report(&scene, .authorizedAlways, atSecond: 3600) == .new)
        scene.house.now = House.start.adding(seconds: 10)
        #expect(Self.report(&scene, .denied, atSecond: 10) == .new)
        #expect(Self.status(scene) == .denied)
        // The house's own clock goes back by a minute.
        scene.house.now = House.start.adding(seconds: -50)
        scene.house.record(.clockSteppedBack(byMilliseconds: 60_000), in: .house)
        #expect(Self.report(&scene, .authorizedAlways, atSecond: -50) == .new)
        #expect(Self.status(scene) == .authorizedAlways)
    }

    @Test(
        arguments: [
            (AuthorizationStatus.notDetermined, false), (.restricted, false), (.denied, false),
            (.authorizedWhenInUse, false), (.authorizedAlways, true),
        ])
    func `no push without Always, and the reason is on record once`(status: AuthorizationStatus, isWoken: Bool) {
        var scene = Scene()
        let token = LocationPushToken(bytes: [1, 2, 3, 4], bundleID: "org.example")
        scene.house.submit(.registerPushToken(device: House.handle("phone"), token, .production), by: scene.phone)
        _ = Self.report(&scene, status, atSecond: 0)
        let question = scene.house.question(1, about: "walker")
        scene.house.submit(.queryLocation(question), by: scene.walker)
        func order() -> PushOrder.What? {
            guard
                case .success(.pushes(let orders)) = scene.house.submit(
                    .startPushes(question.id, to: [scene.phoneID]), by: .house)
            else { return nil }
            return orders.first?.what
        }
        if isWoken {
            #expect(order() == .send)
        } else {
            #expect(order() == .wait(until: scene.house.now))
            #expect(order() == .wait(until: scene.house.now))
            let withheld = scene.house.log.compactMap {
                if case .locationPushAttempted(let attempt) = $0.event { attempt.reason } else { nil }
            }
            #expect(withheld == ["notAuthorized"])
            #expect(scene.house.standing.devices[scene.phoneID]?.push.lastAt == nil)
            _ = Self.report(&scene, .authorizedAlways, atSecond: 1)
            #expect(order() == .send)
        }
    }

    @Test func `only a device says it of itself, and an erased person's is forgotten`() {
        var scene = Scene()
        let report = AuthorizationReport(timestamp: House.start, status: .denied, accuracy: nil)
        let command = Command.reportFixes(device: .caller, [.authorization(report)])
        for caller in [scene.walker, scene.friend, scene.admin] {
            #expect(scene.house.submit(command, by: caller) == .failure(.notFound))
        }
        scene.house.submit(command, by: scene.phone)
        #expect(Self.status(scene) == .denied)
        scene.house.submit(.erasePerson(House.handle("walker")), by: scene.admin)
        #expect(Self.status(scene) == nil)
    }
}
