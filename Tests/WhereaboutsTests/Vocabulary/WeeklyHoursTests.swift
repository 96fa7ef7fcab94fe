import TestSupport
import Testing
import Whereabouts

@Suite struct WeeklyHoursTests {
    /// Vienna in 2026: one o'clock in Greenwich on 29 March and on 25 October, from the list of the IANA database.
    private static var vienna: ZoneRules {
        let changes = [(1_774_746_000, 7200), (1_792_890_000, 3600)].map { (at: Int64, offset: Int64) in
            ZoneRules.Change(at: Timestamp(milliseconds: at * 1000), offsetSeconds: offset)
        }
        return ZoneRules(name: "Europe/Vienna", offsetSeconds: 3600, changes: changes) ?? { preconditionFailure() }()
    }

    private static func hours(_ text: String) throws -> WeeklyHours { try WeeklyHours(text, in: vienna) }

    /// Minutes of [from, from + hours) that belong to the hours.
    private static func minutes(_ hours: WeeklyHours, from second: Int64, hours count: Int64) -> Int {
        (0..<count * 60).count {
            hours.contains(Timestamp(milliseconds: (second + $0 * 60) * 1000))
        }
    }

    /// 4 May 2026 is a Monday; eight o'clock in Vienna is six in Greenwich (1777874400).
    @Test(arguments: [(-1, false), (0, true), (7199, true), (7200, false)])
    func `an interval holds from its first moment up to its end`(second: Int64, isHeld: Bool) throws {
        let hours = try Self.hours("Mo 08:00-10:00")
        let moment = Timestamp(milliseconds: 1_777_874_400_000).adding(seconds: second)
        #expect(hours.contains(moment) == isHeld)
        #expect(!hours.contains(moment.adding(seconds: 86_400)))
        #expect(hours.contains(moment.adding(seconds: 7 * 86_400)) == isHeld)
    }

    @Test func `the hour that summer time leaves out is held by nobody, and the one that comes twice is held twice`()
        throws
    {
        let night = try Self.hours("Su 02:00-03:00")
        // From midnight in Vienna on 29 March, on 25 October and on a Sunday in between (7 June).
        #expect(Self.minutes(night, from: 1_774_738_800, hours: 23) == 0)
        #expect(Self.minutes(night, from: 1_792_879_200, hours: 25) == 120)
        #expect(Self.minutes(night, from: 1_780_783_200, hours: 24) == 60)
        let around = try Self.hours("Su 01:30-03:30")
        #expect(Self.minutes(around, from: 1_774_738_800, hours: 23) == 60)
        #expect(Self.minutes(around, from: 1_792_879_200, hours: 25) == 180)
    }

    @Test(arguments: [
        ("Mo 22:00-06:00", "Mo 22:00-24:00; Tu 00:00-06:00"),
        ("Su 22:00-06:00", "Mo 00:00-06:00; Su 22:00-24:00"),
        ("Sa-Mo 09:00-10:00", "Mo 09:00-10:00; Sa-Su 09:00-10:00"),
        ("Mo-Fr 08:00-12:00,13:00-18:00;Sa 10:00-12:00", "Mo-Fr 08:00-12:00,13:00-18:00; Sa 10:00-12:00"),
        ("Mo 08:00-12:00,11:00-13:00,13:00-14:00", "Mo 08:00-14:00"),
        ("Mo,We 00:00-24:00", "Mo 00:00-24:00; We 00:00-24:00"),
        ("Mo-Su 00:00-24:00", "Mo-Su 00:00-24:00"),
    ])
    func `what is written is read`(text: String, canonical: String) throws {
        let hours = try Self.hours(text)
        #expect(hours.text == canonical)
        #expect(try Self.hours(canonical) == hours)
    }

    @Test(arguments: [
        "", "Mo", "08:00-10:00", "mo 08:00-10:00", "Mo 8:00-10:00", "Mo 08:00", "Mo 08:00-08:00", "Mo 24:00-10:00",
        "Mo 08:00-24:01", "Mo 08:60-10:00", "Mo-Tu-We 08:00-10:00", "Mo 08:00-10:00;", "Mo 08:00-10:00; Mo 12:00-13:00",
        "Mo,Mo 08:00-10:00", "Mo  08:00-10:00 off", "Mo 08:00-10:00-12:00", "Mo\u{0}08:00-10:00", "24/7",
    ])
    func `anything else is refused with a sentence`(text: String) {
        #expect(throws: WeeklyHoursError.self) { try Self.hours(text) }
    }

    @Test func `as many parts as somebody likes to send are refused`() {
        let times = (0..<2000).map { _ in "00:00-00:01" }.joined(separator: ",")
        #expect(throws: WeeklyHoursError.self) { try Self.hours("Mo \(times)") }
    }

    /// Both are compared with a walk from minute to minute.
    @Test(arguments: 1...40) func `what holds all the time, and when it last held, is what a walk finds`(seed: UInt64) {
        var random = AnyEvent(random: SplitMix(seed))
        let hours = random.hours()
        #expect((try? WeeklyHours(hours.text, in: hours.zone)) == hours)
        let change = hours.zone.changes.last?.at ?? Timestamp(milliseconds: 1_600_000_020_000)
        for _ in 0..<20 {
            let start = change.adding(seconds: 60 * Int64.random(in: -8000...15_000, using: &random.random))
            let minutes = Int64.random(in: 1...900, using: &random.random)
            let held = (0..<minutes).allSatisfy { hours.contains(start.adding(seconds: $0 * 60)) }
            #expect(hours.hold(from: start, to: start.adding(seconds: minutes * 60)) == held)

            var latest: Timestamp? = hours.contains(start) ? start : nil
            var back = Timestamp(milliseconds: start.milliseconds - 1)
            // Two weeks and the largest change of an offset hold every stretch.
            while latest == nil, back > start.adding(seconds: -16 * 86_400) {
                if hours.contains(back) { latest = back }
                back = back.adding(seconds: -60)
            }
            #expect(hours.latest(atOrBefore: start) == latest)
        }
    }
}
