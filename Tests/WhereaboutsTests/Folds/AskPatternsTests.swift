import TestSupport
import Testing
import Whereabouts

@Suite struct AskPatternsTests {
    private typealias Step = AskPatterns.Step
    private static let friend = PrincipalID(rawValue: 4)
    private static let other = PrincipalID(rawValue: 5)

    /// Asked at these seconds after midnight in Greenwich, on 1 January 2026.
    private static func steps(
        _ seconds: [Int64], by requester: PrincipalID = friend, what: Step.What = .ask(isRefused: false)
    ) -> [Step] {
        seconds.enumerated().map { index, second in
            Step(
                number: Int64(index + 1), requester: requester, at: House.start.adding(seconds: second), what: what)
        }
    }

    private static func found(_ steps: [Step], zone: ZoneRules? = nil) -> [AskPatterns.Finding] {
        var patterns = AskPatterns(zone: zone)
        for step in steps { patterns.note(step) }
        return patterns.findings
    }

    private static let noon: Int64 = 12 * 3600

    @Test func `a dozen questions in a day are polling, eleven are not, nor a dozen over two days`() {
        // At uneven times, so that it is no clockwork.
        let uneven = (0..<12).map { Self.noon + Int64($0 * $0 * 400 + $0 * 900) }
        #expect(Self.found(Self.steps(Array(uneven.prefix(11)))) == [])
        let found = Self.found(Self.steps(uneven))
        #expect(found.map(\.pattern) == [.polling])
        #expect(found.first?.count == 12 && found.first?.number == 12)
        #expect(found.first?.from == House.start.adding(seconds: uneven[0]))
        #expect(Self.found(Self.steps((0..<12).map { Self.noon + Int64($0) * 7900 })).map(\.pattern) == [.clockwork])
        let mixed = zip(uneven, 0...).map {
            Step(
                number: Int64($1), requester: $1 % 2 == 0 ? Self.friend : Self.other,
                at: House.start.adding(seconds: $0), what: .ask(isRefused: false))
        }
        #expect(Self.found(mixed) == [], "two who ask half as often each")
    }

    @Test func `a finding goes on while the pattern does, and another begins after a rest`() {
        let day = (0..<20).map { Self.noon + Int64($0 * $0 * 70 + $0 * 400) }
        let later = day.map { $0 + 10 * 86_400 }
        let found = Self.found(Self.steps(day + later)).filter { $0.pattern == .polling }
        #expect(found.map(\.count) == [20, 20])
        #expect(found.map(\.number) == [20, 40])
    }

    @Test(arguments: [
        (600, 0, true), (600, 50, true), (600, 70, false), (59, 0, false), (86_400, 600, true), (100_900, 0, false),
    ])
    func `seven questions at equal intervals are a clockwork`(interval: Int64, jitter: Int64, isFound: Bool) {
        let seconds = (0..<7).map { Self.noon + Int64($0) * interval + ($0 % 2 == 1 ? jitter / 2 : 0) }
        #expect(Self.found(Self.steps(seconds)).contains { $0.pattern == .clockwork } == isFound)
    }

    @Test func `three nights of two weeks are found, by the clock of where the person is`() throws {
        // Three in the morning in Greenwich, every so many nights, and twice in each.
        func nights(every days: Int64) -> [Int64] {
            var seconds: [Int64] = []
            for night: Int64 in 0..<3 {
                let three: Int64 = night * days * 86_400 + 3 * 3600
                seconds += [three, three + 400]
            }
            return seconds
        }
        let three = nights(every: 3)
        #expect(Self.found(Self.steps(three)).map(\.pattern) == [.nights])
        #expect(Self.found(Self.steps(Array(three.prefix(4)))) == [])
        #expect(Self.found(Self.steps(nights(every: 15))) == [], "thirty days")
        let tokyo = try #require(ZoneRules(name: "Asia/Tokyo", offsetSeconds: 9 * 3600, changes: []))
        #expect(Self.found(Self.steps(three), zone: tokyo) == [])
        let earlier: [Int64] = three.map { $0 - 32_400 }
        #expect(Self.found(Self.steps(earlier), zone: tokyo).map(\.pattern) == [.nights])
    }

    @Test func `eight coarse places in four hours are a way, eight exact ones are just seen`() {
        let seconds = (0..<8).map { Self.noon + Int64($0 * $0 * 120 + $0 * 900) }
        #expect(Self.found(Self.steps(seconds, what: .shown(.kilometer))).map(\.pattern) == [.coarse])
        #expect(Self.found(Self.steps(seconds, what: .shown(.exact))) == [])
    }

    @Test func `whoever goes on asking though refused is found at the fifth time`() {
        let seconds = (0..<5).map { Self.noon + Int64($0 * $0 * 77) }
        #expect(Self.found(Self.steps(seconds, what: .ask(isRefused: true))).map(\.pattern) == [.refused])
        #expect(Self.found(Self.steps(Array(seconds.prefix(4)), what: .ask(isRefused: true))) == [])
    }

    /// The results of `note` add up to `findings`; folding in pieces equals folding at once.
    @Test(arguments: 1...20) func `what is told with each step adds up to what is found`(seed: UInt64) {
        var random = SplitMix(seed)
        var at: Int64 = 0
        let steps = (1...400).map { number in
            at += Int64.random(in: 0...4000, using: &random)
            let what: Step.What =
                switch Int.random(in: 0..<4, using: &random) {
                case 0: .ask(isRefused: true)
                case 1: .shown(Bool.random(using: &random) ? .kilometer : .exact)
                default: .ask(isRefused: false)
                }
            return Step(
                number: Int64(number), requester: PrincipalID(rawValue: .random(in: 2...3, using: &random)),
                at: House.start.adding(seconds: at), what: what)
        }
        var patterns = AskPatterns(zone: nil)
        var told: [AskPatterns.Finding] = []
        for step in steps {
            for finding in patterns.note(step) {
                told.removeAll {
                    $0.pattern == finding.pattern && $0.requester == finding.requester && $0.from == finding.from
                }
                told.append(finding)
            }
        }
        #expect(Set(told) == Set(patterns.findings))
        #expect(!patterns.findings.isEmpty)
    }
}
