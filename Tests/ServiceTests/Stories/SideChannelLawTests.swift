import HTTPServer
import JSON
import Log
import Replies
import Synchronization
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Answers
@testable import Reactors
@testable import Service

/// Acts of others change no answer: two worlds that differ only in another person's acts give byte-identical answers.
///
/// The clock is stopped. Random parts of an answer (references, cursors, ids of requests and queries, secrets, and the
/// hashes of answers that contain them) are replaced by the order of their first appearance. So two texts that are the
/// same in one world must be the same in the other, and a random text that repeats while the log does not change would
/// make a difference.
@Suite struct SideChannelLawTests {
    /// The difference of the second world.
    enum Difference: CaseIterable {
        /// Others come, ask each other, are erased.
        case othersLive
        /// The walker's phone reports, in the same cell and quarter of an hour.
        case walkerReports
        /// The walker shares with others and ends it, adds regions and tokens.
        case walkerSettles
        /// The walker has paused; in the first world the phone is off.
        case walkerPauses
        /// The walker refuses consent, and in the first world gives no answer.
        case walkerRefuses

        /// How the walker shares with the friend, in both worlds.
        var terms: String { self == .walkerRefuses ? #","asksEachTime":true"# : "" }
    }

    @Test(arguments: Difference.allCases)
    func `what a coarse asker gets, about others and themself, is the same whatever the walker does`(
        difference: Difference
    ) throws {
        let quiet = try World(difference, isSecond: false), busy = try World(difference, isSecond: true)
        let transcripts = try (quiet.everything(), busy.everything())
        #expect(quiet.house.service.log.head != busy.house.service.log.head)
        #expect(transcripts.0.count == transcripts.1.count && transcripts.0.count > 60)
        for (one, other) in zip(transcripts.0, transcripts.1) {
            let isSame = one == other
            #expect(isSame, "\(one)\n\n\(other)")
        }
        // The friend has read everything that they may read.
        #expect(
            transcripts.0.contains { $0.contains(#""precision":"kilometer""#) } == (difference != .walkerRefuses))
        #expect(transcripts.0.contains { $0.contains("noAnswer") })
    }

    /// A separate thread records the stream's disclosures at its own pace, so the stream has a separate test.
    @Test(arguments: Difference.allCases)
    func `what the stream tells a coarse asker is the same whatever the walker does`(difference: Difference) throws {
        let streams = try [false, true].map { isSecond in
            let world = try World(difference, isSecond: isSecond)
            let stream = try world.openStream()
            defer { stream.abandon() }
            _ = try world.everything()
            return try world.told(by: stream)
        }
        #expect(streams[0] == streams[1])
        #expect(streams[0].contains { $0.contains("event: asked") && $0.contains("noAnswer") })
    }

    /// Members that name events and things: a person's answer has no number in any of them.
    private static let naming: Set<String> = [
        "number", "asOf", "id", "grant", "item", "invitation", "told", "token",
    ]

    private static func plainNumbers(in value: JSONValue, _ path: String = "") -> [String] {
        if let members = value.members {
            return members.flatMap { key, member in
                (naming.contains(key) && member.int != nil ? ["\(path).\(key)"] : [])
                    + plainNumbers(in: member, "\(path).\(key)")
            }
        }
        return value.array.map { $0.flatMap { plainNumbers(in: $0, path) } } ?? []
    }

    private final class World {
        let house: ServiceUnderTest
        private let difference: Difference
        private let isSecond: Bool
        private let walker, friend, walkerPhone, friendPhone: String
        private var answers: [Answer] = []
        private var targets: [String] = []
        private var count = 0
        private var firstReport: Int64 = 0

        init(_ difference: Difference, isSecond: Bool) throws {
            (self.difference, self.isSecond) = (difference, isSecond)
            house = try ServiceUnderTest { $0.webhooks = .init(targets: []) }
            walker = try house.addPerson("walker")
            walkerPhone = try house.addDevice("walker-phone", of: "walker")
            friend = try house.addPerson("friend")
            friendPhone = try house.addDevice("friend-phone", of: "friend")
            try house.grant(
                "walker", to: "friend", precision: "kilometer", history: difference != .walkerRefuses,
                more: difference.terms)
            house.clock.advance(seconds: 60)
            firstReport = house.clock.seconds
            report(48.2006, secondsLater: 0)
            house.clock.advance(seconds: 120)
            if isSecond, difference == .walkerPauses {
                house.send("POST", "/v1/people/walker/pauses", as: walker, "{}")
            }
        }

        private func report(_ latitude: Double, secondsLater: Int64) {
            house.send(
                "POST", "/v1/fixes", as: walkerPhone,
                #"{"timestamp":\#(firstReport + secondsLater),"latitude":\#(latitude),"longitude":16.3698,"horizontalAccuracy":5}"#
            )
        }

        /// Something that only happens in the second world.
        private func live() throws {
            count += 1
            guard isSecond else { return }
            switch difference {
            case .othersLive:
                let name = "other-\(count)"
                let other = try house.addPerson(name)
                house.send(
                    "POST", "/v1/people/\(name)/grants", as: other, #"{"requester":"nobody","precision":"city"}"#)
                house.send("POST", "/v1/people/\(name)/location-queries", as: other, #"{"purpose":"own"}"#)
                house.send("GET", "/v1/people/walker/location", as: other)
                if count % 2 == 0 { house.manage("DELETE", "/v1/people/\(name)") }
            case .walkerReports:
                report(48.2006 + 0.0001 * Double(count % 9), secondsLater: Int64(count))
            case .walkerSettles:
                let grant = house.send(
                    "POST", "/v1/people/walker/grants", as: walker, #"{"requester":"other","precision":"exact"}"#)
                let id = try #require(grant["id"]?.string)
                house.send("DELETE", "/v1/grants/\(id)", as: walker)
                house.send("POST", "/v1/people/walker/tokens", as: walker, #"{"scopes":["query"]}"#)
            case .walkerPauses:
                house.send("DELETE", "/v1/people/walker/pauses", as: walker)
                house.send("POST", "/v1/people/walker/pauses", as: walker, "{}")
            case .walkerRefuses:
                for request in house.send("GET", "/v1/people/walker/consent-requests", as: walker).items {
                    let query = try #require(request["query"]?.string)
                    house.send(
                        "POST", "/v1/people/walker/consent-requests/\(query)", as: walker, #"{"consent":"refused"}"#)
                }
            }
        }

        @discardableResult
        private func ask(_ method: String, _ target: String, _ body: String = "", as token: String? = nil) throws
            -> Answer
        {
            try live()
            _ = house.settled()
            let answer = house.send(method, target, as: token ?? friend, body)
            if let json = answer.json {
                let plain = SideChannelLawTests.plainNumbers(in: json)
                #expect(plain.isEmpty, "\(method) \(target): \(plain)")
            }
            targets.append("\(method) \(target)")
            answers.append(answer)
            return answer
        }

        /// Everything the friend gets, as text that can be compared.
        func everything() throws -> [String] {
            let own = "/v1/people/friend"
            // The friend's requests, with the answers.
            let made = try [
                ask("POST", "\(own)/grants", #"{"requester":"walker","precision":"city"}"#),
                ask("POST", "\(own)/invitations", #"{"precision":"city"}"#),
                ask("POST", "/v1/account-invitations", "{}"),
                ask("POST", "\(own)/tokens", #"{"scopes":["query"]}"#),
                ask("POST", "\(own)/schedules", #"{"everySeconds":900}"#),
                ask("POST", "\(own)/corrections", #"{"type":"split","at":5}"#),
                ask(
                    "POST", "\(own)/regions",
                    #"{"id":"home","circle":{"latitude":1,"longitude":2,"radiusMeters":100}}"#),
                ask("POST", "\(own)/devices", #"{"handle":"friend-watch"}"#),
            ]
            for index in 0..<5 {
                house.clock.advance(seconds: 30)
                let fix =
                    #"{"timestamp":\#(house.clock.seconds),"latitude":1,"longitude":2.\#(index),"horizontalAccuracy":5}"#
                try ask("POST", "/v1/fixes", fix, as: friendPhone)
                try ask("POST", "/v1/fixes", fix, as: friendPhone)
            }
            try ask("POST", "/v1/reports", #"{"reports":[]}"#, as: friendPhone)
            // The same change again, which changes nothing.
            try ask("POST", "\(own)/pauses", "{}")
            try ask("POST", "\(own)/pauses", "{}")
            try ask("DELETE", "\(own)/pauses")
            try ask("DELETE", "\(own)/pauses")
            // A question, to its deadline, and one that is taken back.
            for way in ["wait", "cancel"] {
                let asked = try ask(
                    "POST", "/v1/people/walker/location-queries",
                    #"{"purpose":"late for dinner","maxAgeSeconds":0,"deadlineSeconds":300}"#)
                let url = try #require(asked["url"]?.string)
                for _ in 0..<3 {
                    try ask("GET", url)
                    house.clock.advance(seconds: 20)
                }
                if way == "cancel" { try ask("DELETE", url) }
                house.clock.advance(seconds: 301)
                try ask("GET", url)
            }
            for what in ["location", "track", "visits", "crossings", "trips", "places", "grants", "audit"] {
                try ask("GET", "/v1/people/walker/\(what)")
            }
            for what in [
                "location", "track", "visits", "crossings", "trips", "places", "audit", "asked", "findings", "regions",
                "grants", "invitations", "tokens", "devices", "schedules", "corrections", "pauses", "webhooks",
                "consent-requests",
            ] {
                try pages("\(own)/\(what)")
            }
            // As of a time in the middle, at the beginning, and in the future.
            for what in ["visits", "trips", "crossings", "places", "audit"] {
                for time in [house.clock.seconds - 300, 1, house.clock.seconds + 900] {
                    try ask("GET", "\(own)/\(what)?as-of=\(time)")
                }
                try ask("GET", "/v1/people/walker/\(what)?as-of=\(house.clock.seconds)")
            }
            try ask("GET", "\(own)/checkpoint")
            try ask("GET", "\(own)/audit")
            try ask("GET", "/v1/account-invitations")
            // Waiting with a reference of the friend, of another person, and of no person.
            let place = try #require(try ask("GET", "\(own)/visits")["asOf"]?.string)
            let references = try #require(house.references(ofPerson: "friend"))
            let others = try #require(house.references(ofPerson: "walker"))
            for atLeast in [place, references.place(.max).text, others.place(1).text, "1", "99999999", "r", "x"] {
                try ask("GET", "\(own)/visits?at-least=\(atLeast)")
                try ask("GET", "/v1/people/walker/location?at-least=\(atLeast)")
            }
            for index in made.indices.dropLast(2) {
                let id = try #require(made[index]["id"]?.string)
                let things = ["grants", "invitations", "account-invitations", "tokens"]
                let path =
                    index < things.count
                    ? "/v1/\(things[index])/\(id)" : "\(own)/\(index == 4 ? "schedules" : "corrections")/\(id)"
                try ask("DELETE", path)
                try ask("DELETE", path)
            }
            return canonical()
        }

        func openStream() throws -> HTTPStream {
            let given = Monitor<HTTPResponse?>(nil)
            house.send("GET", "/v1/live", as: friend) { response in given.change { $0 = response } }
            return try #require(try given.expected("the stream") { $0 }.stream)
        }

        /// The events of the stream, sorted: their grouping and ids depend on threads.
        func told(by stream: HTTPStream) throws -> [String] {
            let last = try #require(try ask("DELETE", "/v1/people/friend/regions/home")["number"]?.string)
            var bytes: [UInt8] = []
            let signal = Monitor(0)
            while !String(decoding: bytes, as: UTF8.self).contains(last) {
                let seen = signal.read { $0 }
                switch stream.next(1 << 16, wake: { signal.change { $0 += 1 } }) {
                case .bytes(let more): bytes += more
                case .nothingYet:
                    if signal.wait(milliseconds: patienceMilliseconds, for: { $0 > seen ? true : nil }) != true {
                        return ["cut"]
                    }
                case .end, .cut: return ["ended"]
                }
            }
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n\n")
                // A stream that reads late skips a state `pending` that is over.
                .filter { !$0.hasPrefix(":") && !$0.contains(#""status":"pending""#) }
                .map { block in
                    let lines = block.split(separator: "\n").filter { !$0.hasPrefix("id: ") }
                    return lines.joined(separator: "\n").replacing(Self.random, with: "#")
                }.sorted()
        }

        private func pages(_ target: String) throws {
            var next: String?
            repeat {
                next = try ask("GET", "\(target)?limit=3\(next.map { "&after=\($0)" } ?? "")")["next"]?.string
            } while next != nil
        }

        /// References, cursors, hashes, ids of queries, secrets and codes; of a checkpoint the log's name, root, key and
        /// signature, but not its size.
        private static var random: Regex<Substring> {
            /\/p\/[A-Za-z0-9_-]{16}|\+[0-9a-f]{8}\+[A-Za-z0-9+\/]{44}|[A-Za-z0-9+\/]{91}=|[A-Za-z0-9+\/]{43}=|r[A-Za-z0-9_-]{22}|c[A-Za-z0-9_-]{103}|[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|w[dp]_[A-Za-z0-9_-]{43}|[0-9A-Z]{4}(?:-[0-9A-Z]{4}){4}/
        }

        /// The texts with random parts replaced by the order of their appearance.
        private func canonical() -> [String] {
            var known: [Substring: Int] = [:]
            return zip(targets, answers).map { target, answer in
                ("\(target)\n\(answer.observable)" as String).replacing(Self.random) { match in
                    let index = known[match.output] ?? known.count
                    known[match.output] = index
                    return "#\(index)"
                }
            }
        }
    }
}
