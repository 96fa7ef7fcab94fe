import TestSupport
import Testing

@testable import Whereabouts

@Suite struct PeriodSummaryTests {
    private typealias Span = SummaryDerivation.Span

    /// A zone by its offset in hours, with changes (seconds since 1970, hours).
    private static func zone(_ name: String, _ hours: Int64, _ changes: [(Int64, Int64)] = []) -> ZoneRules {
        let changes = changes.map {
            ZoneRules.Change(at: Timestamp(milliseconds: $0.0 * 1000), offsetSeconds: $0.1 * 3600)
        }
        guard let rules = ZoneRules(name: name, offsetSeconds: hours * 3600, changes: changes) else {
            preconditionFailure()
        }
        return rules
    }

    /// 2026, from the list of the IANA database.
    private static let vienna = zone("Europe/Vienna", 1, [(1_774_746_000, 2), (1_792_890_000, 1)])

    private static func at(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1000) }

    private static func way(_ meters: Double, _ mode: Trip.Mode = .drive) -> Trip.Way {
        Trip.Way(distanceMeters: meters, mode: mode, confidence: 1, fixes: 2)
    }

    /// At home all the time.
    private static func home(_ from: Int64, _ to: Int64, _ zone: ZoneRules) -> Span {
        Span(from: at(from), to: at(to), zone: zone, .visit(0))
    }

    /// 28 March to 31 March and 24 to 27 October 2026, midnight to midnight in Vienna.
    @Test(arguments: [(1_774_652_400, 23.0), (1_792_792_800, 25)])
    func `a day has 23 or 25 hours when clocks are changed`(start: Int64, odd: Double) {
        let hours = [24, odd, 24]
        let end = start + Int64(hours.reduce(0, +)) * 3600
        let days = SummaryDerivation.periods(
            .day, of: Self.at(start)..<Self.at(end), dayStartMinutes: 0, spans: [Self.home(start, end, Self.vienna)])
        #expect(days.map { $0.seconds / 3600 } == hours)
        #expect(days.map { $0.staySeconds } == days.map(\.seconds))
        #expect(days.allSatisfy { $0.visits == 1 && $0.unknownSeconds == 0 })
        let late = SummaryDerivation.periods(
            .day, of: Self.at(start)..<Self.at(end), dayStartMinutes: 240, spans: [Self.home(start, end, Self.vienna)])
        // Days that begin at four: the hour is lacking, or too many, on the day before.
        #expect(late.map { $0.seconds / 3600 } == [4, hours[1], 24, 20])
    }

    /// From Vienna at noon, ten hours, to New York; then at home there.
    @Test func `days begin where the person is`() {
        let newYork = Self.zone("America/New_York", -4)
        let noon: Int64 = 1_780_912_800  // 2026-06-08T10:00Z
        let spans = [
            Self.home(noon - 43_200, noon, Self.vienna),
            Span(
                from: Self.at(noon), to: Self.at(noon + 36_000), zone: Self.vienna, .way(Self.way(6_800_000, .flight))),
            Span(from: Self.at(noon + 36_000), to: Self.at(noon + 72_000), zone: newYork, .visit(1)),
        ]
        let days = SummaryDerivation.periods(
            .day, of: Self.at(noon - 43_200)..<Self.at(noon + 72_000), dayStartMinutes: 0, spans: spans)
        // Six hours longer than others, until midnight in New York.
        #expect(days.map { $0.start.text } == ["2026-06-08", "2026-06-09"])
        #expect(days.map { $0.seconds / 3600 } == [30, 2])
        #expect(days[0].movements[.flight]?.trips == 1 && days[0].distanceMeters == 6_800_000)
        #expect(days[0].stays.keys.sorted() == [0, 1] && days[1].stays.keys.sorted() == [1])
    }

    /// From Auckland's morning to Honolulu: the same date comes again.
    @Test func `a date that comes twice is one day`() {
        let (auckland, honolulu) = (Self.zone("Pacific/Auckland", 12), Self.zone("Pacific/Honolulu", -10))
        let midnight: Int64 = 1_780_833_600  // 2026-06-08T00:00+12
        let spans = [
            Self.home(midnight, midnight + 36_000, auckland),
            Span(from: Self.at(midnight + 36_000), to: Self.at(midnight + 64_800), zone: auckland, .way(Self.way(7e6))),
            Span(from: Self.at(midnight + 64_800), to: Self.at(midnight + 165_600), zone: honolulu, .visit(1)),
        ]
        let days = SummaryDerivation.periods(
            .day, of: Self.at(midnight)..<Self.at(midnight + 165_600), dayStartMinutes: 0, spans: spans)
        #expect(days.map { $0.start.text } == ["2026-06-07", "2026-06-08"])
        #expect(days.reduce(0) { $0 + $1.seconds } == 165_600)
        #expect(days[0].seconds == 14_400 && days[1].seconds == 151_200)
    }

    @Test func `a way over midnight is shared by time, and counts where it began`() {
        let utc = Self.zone("Etc/UTC", 0)
        let spans = [Span(from: Self.at(86_400 - 900), to: Self.at(86_400 + 2700), zone: utc, .way(Self.way(4000)))]
        let days = SummaryDerivation.periods(
            .day, of: Self.at(0)..<Self.at(172_800), dayStartMinutes: 0, spans: spans)
        #expect(days.map(\.distanceMeters) == [1000, 3000])
        #expect(days.map { $0.movements[.drive]?.trips } == [1, 0])
        #expect(days.map(\.unknownSeconds) == [86_400 - 900, 86_400 - 2700])
        // Seen from the day after, it began before.
        let after = SummaryDerivation.periods(
            .day, of: Self.at(86_400)..<Self.at(172_800), dayStartMinutes: 0, spans: spans)
        #expect(after.map { $0.movements[.drive]?.trips } == [0] && after.map(\.distanceMeters) == [3000])
    }

    @Test(arguments: 1...30) func `nothing is left out and nothing counted twice`(seed: UInt64) {
        var random = SplitMix(seed)
        let zones = [
            Self.vienna, Self.zone("Pacific/Auckland", 12), Self.zone("Pacific/Honolulu", -10),
            Self.zone("Europe/Lisbon", 0, [(1_774_746_000, 1), (1_792_890_000, 0)]),
            // A change at midnight, back over it: the day before goes on for an hour.
            Self.zone("America/Havana", -4, [(1_792_908_000, -5)]),
        ]
        let start = Int64.random(in: 1_774_000_000...1_792_800_000, using: &random)
        var (moment, spans, known) = (start - 5000, [Span](), 0.0)
        for _ in 0..<60 {
            moment += Int64.random(in: 0...9000, using: &random)
            let end = moment + Int64.random(in: 1...60_000, using: &random)
            let zone = Bool.random(using: &random) ? zones[Int.random(in: 0..<zones.count, using: &random)] : nil
            let isVisit = Bool.random(using: &random)
            spans.append(
                Span(
                    from: Self.at(moment), to: Self.at(end), zone: zone,
                    isVisit ? .visit(Int.random(in: 0..<4, using: &random)) : .way(Self.way(10))))
            known += Double(max(0, end - max(moment, start)))
            moment = end
        }
        let range = Self.at(start)..<Self.at(moment + 1000)
        for period in PeriodSummary.Period.allCases {
            let periods = SummaryDerivation.periods(
                period, of: range, dayStartMinutes: .random(in: 0...1439, using: &random), spans: spans)
            #expect(periods.reduce(0) { $0 + $1.seconds } == range.upperBound.seconds(since: range.lowerBound))
            let parts = periods.reduce(0) { $0 + $1.staySeconds + $1.moveSeconds }
            #expect(abs(parts - known) < 0.001)
            #expect(
                periods.allSatisfy { abs($0.seconds - $0.staySeconds - $0.moveSeconds - $0.unknownSeconds) < 0.001 })
            #expect(Set(periods.map { period.text($0.start) }).count == periods.count)
        }
    }

    @Test func `usual hours are those of most weeks, by the clock on the wall`() {
        // Monday, 23 February 2026, nine in Vienna: five weeks, the last after the clocks were changed.
        let monday: Int64 = 1_771_833_600
        var usual = UsualHours(in: Self.vienna)
        for week in 0..<6 {
            // The person goes by the clock.
            let change: Int64 = week >= 5 ? 3600 : 0
            for day in 0..<5 where week > 1 || day != 4 {
                let nine = monday + Int64(week * 7 + day) * 86_400 - change
                usual.add(from: Self.at(nine), to: Self.at(nine + 8 * 3600 + 600))
            }
            if week == 3 { usual.add(from: Self.at(monday + 5 * 86_400), to: Self.at(monday + 5 * 86_400 + 7200)) }
        }
        #expect(usual.hours?.text == "Mo-Fr 09:00-17:00")
        var short = UsualHours(in: Self.vienna)
        for day in 0..<12 {
            let nine = monday + Int64(day) * 86_400
            short.add(from: Self.at(nine), to: Self.at(nine + 3600))
        }
        #expect(short.hours == nil)
    }
}
