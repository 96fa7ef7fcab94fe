import Testing
import Whereabouts

/// The service's own questions.
@Suite struct ScheduleDecisionTests {
    private static func set(_ scene: inout Scene, every seconds: Int64 = 3600, until: Timestamp? = nil) -> ScheduleID? {
        let reply = scene.house.submit(
            .setSchedule(of: House.handle("walker"), everySeconds: seconds, until: until), by: scene.walker)
        guard case .success(.schedule(let id)) = reply else { return nil }
        return id
    }

    private static func questions(_ house: House) -> [LocationQuery] {
        house.log.compactMap { if case .locationQueried(let query) = $0.event { query } else { nil } }
    }

    /// Lets the schedules be asked as the timekeeper does, a look each minute from one second to another.
    private static func run(_ scene: inout Scene, from: Int64, to: Int64) {
        for second in stride(from: from, through: to, by: 60) {
            scene.house.now = House.start.adding(seconds: second)
            for id in scene.house.standing.schedules.due(at: scene.house.now, count: 10) {
                let query = QueryID(high: 77, low: UInt64(scene.house.log.count))
                scene.house.submit(.askScheduled(id, query: query), by: .house)
            }
            scene.house.submit(.endOverdueQueries, by: .house)
        }
    }

    @Test func `one question a period, at the service's own priority and patience`() throws {
        var scene = Scene()
        let id = try #require(Self.set(&scene))
        Self.run(&scene, from: 0, to: 24 * 3600)
        let asked = Self.questions(scene.house)
        #expect(asked.count == 24)
        let first = try #require(asked.first)
        #expect(first.requester == .house && first.initiation == .server && first.verdict == .own)
        #expect(first.deadline == House.start.adding(seconds: 3600 + 900))
        let causes = scene.house.log.filter { if case .locationQueried = $0.event { true } else { false } }
            .map(\.cause)
        #expect(Set(causes) == [id.rawValue])
    }

    @Test func `what is asked twice is asked once, and what fell into a pause is not made up for`() throws {
        var scene = Scene()
        let id = try #require(Self.set(&scene))
        scene.house.now = House.start.adding(seconds: 3600)
        for low in UInt64(1)...3 {
            scene.house.submit(.askScheduled(id, query: QueryID(high: 1, low: low)), by: .house)
        }
        #expect(Self.questions(scene.house).count == 1)
        // The service was down for five hours and a half, and asks once, then at the full hour.
        Self.run(&scene, from: 6 * 3600 + 1800, to: 7 * 3600 - 60)
        #expect(Self.questions(scene.house).count == 2)
        Self.run(&scene, from: 7 * 3600, to: 7 * 3600)
        #expect(Self.questions(scene.house).count == 3)
    }

    @Test func `a fix of the latter half of the period needs no push`() throws {
        var scene = Scene()
        _ = try #require(Self.set(&scene))
        func ends() -> [QueryEnd] {
            scene.house.log.compactMap {
                if case .locationQueryEnded(_, let end, _) = $0.event { end } else { nil }
            }
        }
        scene.house.now = House.start.adding(seconds: 1800)
        _ = scene.house.report([scene.house.fix(atSecond: 1800)], by: scene.phone)
        Self.run(&scene, from: 3600, to: 3600)
        #expect(ends() == [.answeredFromLastKnown])
        Self.run(&scene, from: 7200, to: 7200 + 900)
        #expect(ends() == [.answeredFromLastKnown, .timedOut])
    }

    @Test func `it ends when it is over, removed, or the person is erased, and a clock put back does not stop it`()
        throws
    {
        var scene = Scene()
        let id = try #require(Self.set(&scene, until: House.start.adding(seconds: 2 * 3600)))
        Self.run(&scene, from: 0, to: 5 * 3600)
        #expect(Self.questions(scene.house).count == 1)
        scene.house.submit(.removeSchedule(id, of: House.handle("walker")), by: scene.walker)
        #expect(scene.house.standing.schedules.all.isEmpty)
        scene = Scene()
        _ = try #require(Self.set(&scene))
        Self.run(&scene, from: 0, to: 3600)
        scene.house.now = House.start.adding(seconds: 3600 - 86_400)
        scene.house.record(.clockSteppedBack(byMilliseconds: 86_400_000), in: .house)
        Self.run(&scene, from: 2 * 3600 - 86_400, to: 2 * 3600 - 86_400)
        #expect(Self.questions(scene.house).count == 2)
        scene.house.submit(.erasePerson(House.handle("walker")), by: scene.walker)
        #expect(scene.house.standing.schedules.all.isEmpty)
    }

    @Test func `only who manages the person sets one, within bounds`() throws {
        var scene = Scene()
        _ = scene.house.grant("walker", to: "friend", by: scene.walker)
        let command = Command.setSchedule(of: House.handle("walker"), everySeconds: 3600, until: nil)
        for caller in [scene.friend, scene.stranger, scene.phone] {
            #expect(scene.house.submit(command, by: caller) == .failure(.noSuchPerson))
        }
        #expect(Self.set(&scene, every: 899) == nil && Self.set(&scene, every: 86_401) == nil)
        #expect(Self.set(&scene, until: scene.house.now) == nil)
        let id = try #require(Self.set(&scene, every: 900))
        #expect(
            scene.house.submit(.removeSchedule(id, of: House.handle("friend")), by: scene.friend)
                == .failure(.notFound))
        #expect(
            scene.house.submit(.askScheduled(id, query: QueryID(high: 1, low: 1)), by: scene.walker)
                == .failure(.notFound))
        for _ in 2...8 { #expect(Self.set(&scene) != nil) }
        #expect(Self.set(&scene) == nil)
    }
}
