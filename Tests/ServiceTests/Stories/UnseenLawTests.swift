import JSON
import Testing
import Whereabouts

@testable import Service

/// Hidden data change no answer: two worlds that differ only in hidden data give an asker byte-identical answers.
///
/// In each world the walker stays at three places. The difference is in a pause, outside the granted hours, before the
/// grant begins or inside a coarse cell. A visit that crosses the edge of the visible time is hidden as a whole: its
/// other end would disclose the difference.
@Suite struct UnseenLawTests {
    /// Where the walker is, in minutes from the beginning.
    fileprivate struct Stay {
        let latitude, longitude: Double
        let from, to: Int

        init(_ latitude: Double, _ longitude: Double, _ from: Int, _ to: Int) {
            (self.latitude, self.longitude, self.from, self.to) = (latitude, longitude, from, to)
        }
    }

    enum Hidden: String, CaseIterable {
        /// Another way and another place, all in the pause.
        case elsewhereInPause
        /// A visit that begins in the pause and goes on after it begins at another moment.
        case beginningInPause
        /// A visit that begins before the pause ends at another moment in it.
        case endInPause
        /// Places and ways outside the hours.
        case elsewhereOutsideHours
        /// A visit that begins within the hours ends at another moment after them.
        case endAfterHours
        /// The same in hours over which clocks are put forward: the hours end an hour earlier than they seem to.
        case endAfterHoursOverClockChange
        /// Places and ways from before the grant begins.
        case elsewhereBeforeGrant
        /// A visit that goes on in the grant begins at another moment before it.
        case beginningBeforeGrant
        /// Where in a cell of a kilometer the walker is.
        case placeInCell
        /// The same when the asker's grant was another one for a while.
        case placeInCellAndGrantChanges

        var isCoarse: Bool { self == .placeInCell || self == .placeInCellAndGrantChanges }
        /// Midnight of the day of the clock change at Greenwich, else 08:00 of a Monday, 10:00 in Vienna.
        var start: Int64 { self == .endAfterHoursOverClockChange ? 1_774_742_400 : 1_777_881_600 }
        /// Minutes in which the walker pauses.
        var pause: ClosedRange<Int>? {
            switch self {
            case .elsewhereInPause, .beginningInPause, .endInPause: 90...210
            default: nil
            }
        }
        /// When the friend reads, in minutes: where the grant holds in some hours, in those of the next week.
        var reading: Int {
            switch self {
            case .elsewhereOutsideHours, .endAfterHours: 7 * 1440 + 5
            case .endAfterHoursOverClockChange: 7 * 1440 - 55
            default: 400
            }
        }
        /// The terms of the grant except the precision.
        var terms: String {
            switch self {
            case .elsewhereOutsideHours, .endAfterHours:
                #","hours":{"timeZone":"Europe/Vienna","weekly":"Mo 10:00-12:00"}"#
            case .endAfterHoursOverClockChange:
                #","hours":{"timeZone":"Europe/Vienna","weekly":"Su 01:00-04:00"}"#
            case .elsewhereBeforeGrant, .beginningBeforeGrant: #","from":\#(start + 120 * 60)"#
            default: ""
            }
        }

        fileprivate func stays(isSecond: Bool) -> [Stay] {
            let home = (48.202, 16.348), work = (48.212, 16.366), garden = (48.225, 16.400),
                elsewhere = (48.180, 16.320)
            func stay(_ place: (Double, Double), _ from: Int, _ to: Int) -> Stay { Stay(place.0, place.1, from, to) }
            func visit(_ first: (Int, Int), _ second: (Int, Int)) -> Stay {
                isSecond ? stay(work, second.0, second.1) : stay(work, first.0, first.1)
            }
            switch self {
            case .elsewhereInPause:
                return [
                    stay(home, 0, 60), isSecond ? stay(elsewhere, 110, 180) : stay(work, 120, 150),
                    stay(garden, 220, 300),
                ]
            case .beginningInPause: return [stay(home, 0, 60), visit((100, 270), (150, 270)), stay(garden, 300, 360)]
            case .endInPause: return [stay(home, 0, 40), visit((60, 120), (60, 180)), stay(garden, 300, 360)]
            case .elsewhereOutsideHours:
                return [stay(home, 10, 60)] + (isSecond ? [stay(elsewhere, 150, 260)] : [stay(work, 180, 200)])
            case .endAfterHours: return [stay(home, 0, 50), visit((70, 150), (70, 220)), stay(garden, 300, 360)]
            case .endAfterHoursOverClockChange:
                // The next stay begins soon after, so that the visit seems to end before 04:00.
                return [
                    stay(home, 0, 20), visit((30, 130), (30, 160)), stay(garden, isSecond ? 168 : 138, 300),
                ]
            case .elsewhereBeforeGrant:
                return [
                    isSecond ? stay(elsewhere, 0, 90) : stay(home, 10, 40), stay(garden, 130, 220),
                    stay(home, 250, 300),
                ]
            case .beginningBeforeGrant: return [stay(home, 0, 40), visit((60, 180), (90, 180)), stay(garden, 220, 300)]
            // Cells here are 0.01° high: both are well inside the same ones.
            case .placeInCell, .placeInCellAndGrantChanges:
                return [(48.2031, 0, 60), (48.2131, 80, 200), (48.2231, 220, 300)].map { latitude, from, to in
                    Stay(latitude + (isSecond ? 0.0037 : 0), 16.3698, from, to)
                }
            }
        }
    }

    @Test(arguments: Hidden.allCases)
    func `two worlds that differ in what may not be seen answer alike`(hidden: Hidden) throws {
        let worlds = try [false, true].map { try World(hidden, isSecond: $0) }
        let transcripts = try worlds.map { try $0.everything() }
        #expect(transcripts[0].count == transcripts[1].count && transcripts[0].count > 12)
        for (one, other) in zip(transcripts[0], transcripts[1]) {
            let isSame = one == other
            #expect(isSame, "\(one)\n\n\(other)")
        }
        // The subject's answers differ, and the friend's contain the visible data, so the test does not pass on empty
        // answers.
        #expect(worlds[0].own != worlds[1].own)
        let sight = transcripts[0].joined()
        #expect(sight.contains(hidden.isCoarse ? #""precision":"kilometer""# : #""latitude":"#))
    }

    private final class World {
        let house: ServiceUnderTest
        /// The walker's reads about herself.
        private(set) var own = ""
        private let hidden: Hidden
        private let friend: String

        init(_ hidden: Hidden, isSecond: Bool) throws {
            self.hidden = hidden
            house = try ServiceUnderTest()
            let clock = house.clock
            clock.set(Timestamp(milliseconds: (hidden.start - 3600) * 1000))
            let walker = try house.addPerson("walker")
            _ = try house.addDevice("walker-phone", of: "walker")
            friend = try house.addPerson("friend")
            func grant(_ precision: String) throws {
                try house.grant(
                    "walker", to: "friend", precision: precision, history: !hidden.isCoarse, more: hidden.terms)
            }
            house.manage(
                "POST", "/v1/people/walker/regions",
                #"{"id":"gate","circle":{"latitude":48.212,"longitude":16.366,"radiusMeters":150}}"#)
            if hidden == .placeInCellAndGrantChanges { try grant("city") }
            try grant(hidden.isCoarse ? "kilometer" : "exact")
            func go(to minute: Int) {
                clock.set(Timestamp(milliseconds: (hidden.start + Int64(minute) * 60) * 1000))
            }
            if let pause = hidden.pause {
                go(to: pause.lowerBound)
                house.send("POST", "/v1/people/walker/pauses", as: walker, "{}")
                go(to: pause.upperBound)
                house.send("DELETE", "/v1/people/walker/pauses", as: walker)
            }
            go(to: 400)
            var fixes: [String] = []
            for stay in hidden.stays(isSecond: isSecond) {
                for minute in stay.from...stay.to {
                    fixes.append(
                        #"{"timestamp":\#(hidden.start + Int64(minute) * 60),"latitude":\#(stay.latitude),"longitude":\#(stay.longitude),"horizontalAccuracy":8}"#
                    )
                }
            }
            house.manage(
                "POST", "/v1/imports/6b1c4f6e-3f60-4cb9-9d1f-2f5f1a1f7a01/batches",
                #"{"device":"walker-phone","fixes":[\#(fixes.joined(separator: ","))]}"#)
            go(to: hidden.reading)
            _ = house.settled()
            own = house.send("GET", "/v1/people/walker/track", as: walker).text
            if hidden == .placeInCellAndGrantChanges {
                try grant("city")
                _ = ask("GET", "/v1/people/walker/location")
                try grant("kilometer")
            }
        }

        private func ask(_ method: String, _ target: String, _ body: String = "") -> Answer {
            // The limit on reads refuses the next one until this time has passed.
            house.clock.advance(seconds: Limits.readsPerAsker.refillSeconds)
            _ = house.settled()
            return house.send(method, target, as: friend, body)
        }

        /// Everything the friend gets about the walker.
        func everything() throws -> [String] {
            let walker = "/v1/people/walker"
            let range = "from=\(hidden.start - 86_400)&to=\(hidden.start + 86_400)"
            var answers: [(String, Answer)] = []
            func note(_ target: String) { answers.append((target, ask("GET", target))) }
            for what in ["location", "track", "visits", "crossings", "trips", "places", "audit", "regions"] {
                note("\(walker)/\(what)")
            }
            note("\(walker)/track?format=geojson")
            note("\(walker)/track?form=simplified&toleranceMeters=50")
            note("\(walker)/visits?limit=1")
            note("\(walker)/visits?day=2026-05-04")
            note("\(walker)/trips?\(range)")
            note("\(walker)/places?\(range)")
            note("\(walker)/summary?from=\(hidden.start - 86_400)&to=\(hidden.start + 6 * 86_400)&period=day")
            for id in ask("GET", "\(walker)/visits").items.compactMap({ $0["id"]?.string }) {
                note("\(walker)/visits/\(id)")
            }
            note("/api/0/last?user=walker")
            note("/api/0/locations?user=walker&device=phone&from=2026-01-01&to=2027-01-01&format=json")
            let asked = ask(
                "POST", "\(walker)/location-queries",
                #"{"purpose":"late for dinner","maxAgeSeconds":3600,"deadlineSeconds":60}"#)
            answers.append(("question", asked))
            // Outside the hours, the friend may not ask.
            if let url = asked["url"]?.string {
                answers.append(("answer", house.send("GET", url, as: friend)))
                house.clock.advance(seconds: 61)
                _ = house.settled()
                answers.append(("end", house.send("GET", url, as: friend)))
            }
            return answers.map { target, answer in
                let text: String = "\(target)\n\(answer.observable)"
                return text.replacing(Self.random, with: "#")
            }
        }

        /// References, cursors, hashes, and ids of queries.
        private static var random: Regex<Substring> {
            /r[A-Za-z0-9_-]{22}|c[A-Za-z0-9_-]{103}|[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/
        }
    }
}
