import Testing
import Whereabouts

/// How long reports are kept, and which keys go.
@Suite struct RetentionDecisionTests {
    private static let secondsOfDay: Int64 = 86_400
    private static let walker = House.handle("walker")

    /// The periods that are over for the walker on a day, of the months and days of the scene.
    private static func over(_ scene: Scene, on day: Int64, _ periods: [Int64]) -> [Int64] {
        let standing = scene.house.standing
        guard let person = standing.person(walker),
            let due = standing.retention.due(
                of: person, at: House.start.adding(seconds: day * Self.secondsOfDay), through: standing.place)
        else { return [] }
        return periods.filter(due.isOver)
    }

    private static func isInvalid(_ result: Result<CommandReply, Refusal>) -> Bool {
        if case .failure(.invalid) = result { true } else { false }
    }

    /// Lets something be recorded on each of these days.
    private static func live(_ scene: inout Scene, _ days: ClosedRange<Int64>) {
        for day in days {
            scene.house.now = House.start.adding(seconds: day * Self.secondsOfDay)
            scene.house.submit(.pauseSharing(walker, until: nil), by: scene.walker)
            scene.house.submit(.resumeSharing(walker), by: scene.walker)
        }
    }

    private static func day(_ number: Int64) -> Int64 {
        KeyPeriod.day(CalendarDay(utc: House.start.adding(seconds: number * secondsOfDay)))
    }

    @Test func `a person may choose fewer days than the house, not more, and the fewer count`() {
        var scene = Scene()
        let person = scene.house.standing.person(Self.walker)
        #expect(scene.house.standing.retention.hasRules == false)
        let byWalker = scene.house.submit(.setRetention(of: nil, days: 90), by: scene.walker)
        #expect(byWalker == .failure(.notFound))
        scene.house.submit(.setRetention(of: nil, days: 90), by: scene.admin)
        let longer = scene.house.submit(.setRetention(of: Self.walker, days: 91), by: scene.walker)
        #expect(Self.isInvalid(longer))
        scene.house.submit(.setRetention(of: Self.walker, days: 7), by: scene.walker)
        #expect(person.flatMap { scene.house.standing.retention.days(of: $0) } == 7)
        scene.house.submit(.setRetention(of: nil, days: 3), by: scene.admin)
        #expect(person.flatMap { scene.house.standing.retention.days(of: $0) } == 3)
        scene.house.submit(.setRetention(of: nil, days: nil), by: scene.admin)
        #expect(person.flatMap { scene.house.standing.retention.days(of: $0) } == 7)
        for days in [Int64(-1), 36_501] {
            let set = scene.house.submit(.setRetention(of: Self.walker, days: days), by: scene.walker)
            #expect(Self.isInvalid(set), "\(days)")
        }
    }

    @Test func `a day's key is over when the day is as many days ago as reports are kept`() {
        var scene = Scene()
        scene.house.submit(.setRetention(of: Self.walker, days: 3), by: scene.walker)
        Self.live(&scene, 1...10)
        let days = (1...10).map(Self.day)
        #expect(Self.over(scene, on: 10, days) == Array(days.prefix(6)))
        #expect(Self.over(scene, on: 11, days) == Array(days.prefix(7)))
    }

    @Test func `who keeps nothing beyond today keeps today`() {
        var scene = Scene()
        scene.house.submit(.setRetention(of: Self.walker, days: 0), by: scene.walker)
        Self.live(&scene, 1...2)
        #expect(Self.over(scene, on: 2, [Self.day(1), Self.day(2)]) == [Self.day(1)])
    }

    @Test func `a month's key is over when its last day is, and a month that a rule cut short ends there`() {
        var scene = Scene()
        Self.live(&scene, 1...5)
        let month = KeyPeriod.month(of: CalendarDay(utc: scene.house.now))
        scene.house.submit(.setRetention(of: Self.walker, days: 3), by: scene.walker)
        Self.live(&scene, 6...9)
        // The month's key sealed through day 5.
        #expect(Self.over(scene, on: 8, [month]) == [])
        #expect(Self.over(scene, on: 9, [month]) == [month])
    }

    @Test func `a key of a day to which the clock stepped back stays as long as its youngest report`() {
        var scene = Scene()
        scene.house.submit(.setRetention(of: Self.walker, days: 1), by: scene.walker)
        Self.live(&scene, 1...4)
        Self.live(&scene, 2...2)
        Self.live(&scene, 5...6)
        #expect(Self.over(scene, on: 4, (1...6).map(Self.day)) == [Self.day(1), Self.day(2)])
    }

    @Test func `only the house destroys, only what is over, and once`() throws {
        var scene = Scene()
        scene.house.submit(.setRetention(of: Self.walker, days: 1), by: scene.walker)
        Self.live(&scene, 1...4)
        let person = try #require(scene.house.standing.person(Self.walker))
        let keys: [(id: Int64, period: Int64)] = (1...4).map { (id: $0, period: Self.day($0)) }
        let command = Command.applyRetention(to: person, keys: keys)
        let byOperator = scene.house.submit(command, by: scene.admin)
        #expect(byOperator == .failure(.notFound))
        scene.house.submit(command, by: .house)
        scene.house.submit(command, by: .house)
        let applied = scene.house.log.compactMap { event -> AppliedRetention? in
            if case .retentionApplied(let applied, _) = event.event { applied } else { nil }
        }
        #expect(applied.map(\.keys) == [[1, 2]])
        let first = try #require(applied.first)
        // Everything up to the end of day 2, and nothing of day 3.
        for event in scene.house.log {
            let isOld = event.recordedAt < first.before
            if event.number <= first.numbers.ranges.last?.upperBound ?? 0 || isOld {
                #expect(first.numbers.contains(event.number) == isOld, "\(event.number)")
            }
        }
    }
}
