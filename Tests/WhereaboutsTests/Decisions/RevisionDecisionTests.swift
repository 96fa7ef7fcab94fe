import Geodesy
import TestSupport
import Testing

@testable import Whereabouts

@Suite struct RevisionDecisionTests {
    private static let walker = House.handle("walker")

    /// The numbers of a fix that the phone reports.
    private static func report(_ scene: inout Scene, atSecond second: Int64) -> FixNumbers {
        _ = scene.house.report([scene.house.fix(atSecond: second)], by: scene.phone)
        let number = scene.house.standing.place
        return FixNumbers(device: scene.phoneID, numbers: number...number)
    }

    private static func why(_ reason: String = "wrong clock") -> FixRevision {
        FixRevision(time: House.start...House.start, reason: reason)
    }

    @Test func `a fix is withdrawn once and restored once, and the newest fix follows`() throws {
        var scene = Scene()
        let fixes = Self.report(&scene, atSecond: -5)
        let before = scene.house.standing
        #expect(before.persons[scene.walkerID]?.countedFix?.number == fixes.numbers.lowerBound)

        let count = scene.house.log.count
        for _ in 1...2 {
            #expect(
                scene.house.submit(.withdrawFixes(fixes, Self.why(), of: Self.walker), by: scene.walker)
                    == .success(.done))
        }
        #expect(scene.house.events(after: count) == [.fixesWithdrawn(fixes, .open(Self.why()))])
        #expect(scene.house.standing.persons[scene.walkerID]?.countedFix == nil)
        for _ in 1...2 {
            #expect(
                scene.house.submit(.restoreFixes(fixes, Self.why("right"), of: Self.walker), by: scene.admin)
                    == .success(.done))
        }
        #expect(scene.house.events(after: count).count == 2)
        #expect(
            scene.house.standing.persons[scene.walkerID]?.countedFix == before.persons[scene.walkerID]?.countedFix)
        #expect(scene.house.standing.persons[scene.walkerID]?.withdrawn.numbers == NumberSet())
    }

    @Test func `a withdrawn fix answers no question, and the same fix sent again does not either`() throws {
        var scene = Scene()
        _ = scene.house.grant("walker", to: "friend", by: scene.walker)
        let fix = scene.house.fix(atSecond: -5)
        let fixes = Self.report(&scene, atSecond: -5)
        scene.house.submit(.withdrawFixes(fixes, Self.why(), of: Self.walker), by: scene.walker)
        _ = scene.house.submit(
            .queryLocation(scene.house.question(1, about: "walker", maxAge: 600)), by: scene.friend)
        let query = QueryID(high: 0, low: 1)
        let asked = try #require(scene.house.standing.queries.order.last)
        #expect(scene.house.standing.queries[asked]?.end == nil, "\(query)")
        #expect(scene.house.report([fix], answering: asked, by: scene.phone) == [.duplicate])
        #expect(scene.house.standing.queries[asked]?.end == nil)
        // Restored, it may.
        scene.house.submit(.restoreFixes(fixes, Self.why(), of: Self.walker), by: scene.walker)
        #expect(scene.house.report([fix], answering: asked, by: scene.phone) == [.duplicate])
        #expect(scene.house.standing.queries[asked]?.end == .answered)
        // Withdrawn after it answered, it is not shown.
        scene.house.submit(.withdrawFixes(fixes, Self.why(), of: Self.walker), by: scene.walker)
        let content = Disclosure.Content(
            latitude: 52.5, longitude: 13.4, horizontalAccuracy: 5, timestamp: House.start, placeName: nil,
            answerHash: Hash256(words: (1, 2, 3, 4)))
        #expect(
            scene.house.submit(
                .disclose(asked, content: content, precision: .exact, fix: fixes.numbers.lowerBound),
                by: scene.friend) == .failure(.noSuchPerson))
        let view = QueryView(
            asked, for: scene.friend, in: scene.house.standing, at: scene.house.now, durable: .max
        ) { _ in true }
        #expect(view?.isPending == true)
    }

    @Test func `an answer that was computed before a withdrawal is not given to others`() throws {
        var scene = Scene()
        let grant = scene.house.grant("walker", to: "friend", by: scene.walker)
        let fixes = Self.report(&scene, atSecond: -5)
        let before = scene.house.standing.place
        scene.house.submit(.withdrawFixes(fixes, Self.why(), of: Self.walker), by: scene.walker)
        let question = ReadQuestion(subject: Self.walker, question: .location, from: nil, to: nil, purpose: nil)
        let permit = try scene.house.standing.authorize(scene.friend, toRead: question, at: scene.house.now).get()
        #expect(permit.verdict == .granted(grant))
        func read(asOf: Int64) -> Result<CommandReply, Refusal> {
            scene.house.submit(
                .recordRead(
                    question, permitted: permit, asOf: asOf, count: 1, answerHash: Hash256(words: (1, 2, 3, 4))),
                by: scene.friend)
        }
        #expect(read(asOf: before) == .failure(.outdated))
        #expect(read(asOf: scene.house.standing.place) == .success(.done))
    }

    @Test func `nobody withdraws another's fix, and every argument has bounds`() throws {
        var scene = Scene()
        _ = scene.house.grant("walker", to: "friend", by: scene.walker)
        let fixes = Self.report(&scene, atSecond: -5)
        for caller in [scene.friend, scene.stranger, scene.phone] {
            for command in [
                Command.withdrawFixes(fixes, Self.why(), of: Self.walker),
                .restoreFixes(fixes, Self.why(), of: Self.walker),
                .withdrawFixes(fixes, Self.why(), of: House.handle("nobody")),
            ] {
                #expect(scene.house.submit(command, by: caller) == .failure(.noSuchPerson))
            }
        }
        #expect(
            scene.house.submit(.withdrawFixes(fixes, Self.why(), of: House.handle("friend")), by: scene.friend)
                == .failure(.notFound))
        let beyond = FixNumbers(device: scene.phoneID, numbers: 1...scene.house.standing.place + 1)
        #expect(
            scene.house.submit(.withdrawFixes(beyond, Self.why(), of: Self.walker), by: scene.walker)
                == .failure(.notFound))
        for reason in ["", String(repeating: "x", count: Limits.purposeCharacters + 1)] {
            guard
                case .failure(.invalid) = scene.house.submit(
                    .withdrawFixes(fixes, Self.why(reason), of: Self.walker), by: scene.walker)
            else {
                Issue.record("A reason of \(reason.count) characters was taken.")
                continue
            }
        }
    }

    /// Compared with a `Set` of every number.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func `a set of numbers is the set of its numbers`(seed: UInt64) {
        var dice = SplitMix(seed)
        var (ranges, numbers) = (NumberSet(), Set<Int64>())
        for _ in 0..<300 {
            let from = Int64.random(in: 1...60, using: &dice)
            let range = from...(from + .random(in: 0...8, using: &dice))
            if Bool.random(using: &dice) {
                ranges.insert(range)
                numbers.formUnion(range)
            } else {
                ranges.remove(range)
                numbers.subtract(range)
            }
            #expect(ranges.ranges.flatMap { Array($0) } == numbers.sorted())
            #expect(zip(ranges.ranges, ranges.ranges.dropFirst()).allSatisfy { $0.upperBound + 1 < $1.lowerBound })
            #expect(ranges.contains(range) == numbers.isSuperset(of: range))
            #expect(ranges.overlaps(range) == !numbers.isDisjoint(with: range))
            #expect((try? NumberSet(stored: ranges.stored)) == ranges)
        }
    }
}
