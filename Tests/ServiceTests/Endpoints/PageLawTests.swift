import JSON
import Log
import TestSupport
import Testing
import Whereabouts

@testable import Service

/// Every list that is read page by page has each entry exactly once: with every limit, from every place on, and with
/// any events meanwhile. Ranges of time that follow each other have each moment in one of them.
@Suite struct PageLawTests {
    /// A house with a walker about whom there is much to read, and a friend who did it.
    private final class Scene {
        let house: ServiceUnderTest
        let walker: String
        let friend: String
        let phone: String
        /// The times of the fixes.
        private(set) var times: [Int64] = []

        init() throws {
            house = try ServiceUnderTest()
            walker = try house.addPerson("walker")
            friend = try house.addPerson("friend")
            phone = try house.addDevice("walker-phone", of: "walker")
            for number in 0..<9 { _ = try house.addPerson("p\(number)") }
            try house.grant("walker", to: "friend", history: true)
            house.manage(
                "POST", "/v1/people/walker/regions",
                #"{"id":"home","circle":{"latitude":48.2,"longitude":16.3,"radiusMeters":150}}"#)
            // Four times home and away, half an hour each, so that there are stays and crossings.
            var time = house.clock.seconds - 9 * 3600
            var fixes: [String] = []
            func add(_ latitude: Double) {
                fixes.append(
                    #"{"timestamp":\#(time),"latitude":\#(latitude),"longitude":16.3,"horizontalAccuracy":8}"#)
                times.append(time)
                time += 120
            }
            for _ in 0..<4 {
                for _ in 0..<20 { add(48.2) }
                for step in 1...5 { add(48.2 + 0.004 * Double(step)) }
                for _ in 0..<20 { add(48.22) }
                for step in 1...5 { add(48.22 - 0.004 * Double(step)) }
            }
            let sent = house.send(
                "POST", "/v1/fixes", as: phone, #"{"fixes":[\#(fixes.joined(separator: ","))]}"#)
            try #require(sent["new"]?.int == Int64(fixes.count))
            // Many of the friend's reads and questions, several in the same moment.
            for round in 0..<6 {
                for what in ["location", "visits"] {
                    let read = house.send("GET", "/v1/people/walker/\(what)", as: friend)
                    try #require(read.status == 200, "\(read.text)")
                }
                let asked = house.send(
                    "POST", "/v1/people/walker/location-queries", as: friend,
                    #"{"purpose":"round \#(round)"}"#)
                try #require(asked.status < 300, "\(asked.text)")
                house.manage("POST", "/v1/people/walker/pauses", "{}")
                house.manage("DELETE", "/v1/people/walker/pauses")
                house.clock.advance(seconds: 1800)
            }
            _ = house.settled()
        }

        func get(_ path: String, _ query: String, as token: String) -> Answer {
            house.send("GET", query.isEmpty ? path : "\(path)?\(query)", as: token)
        }

        /// All items from a cursor on, and the cursor after each page.
        func walk(_ path: String, _ more: String, limit: Int, after: String? = nil, as token: String) throws -> (
            items: [String], cursors: [(count: Int, name: String)]
        ) {
            var items: [String] = []
            var cursors: [(Int, String)] = []
            var next = after
            repeat {
                let query = ["limit=\(limit)", more, next.map { "after=\($0)" } ?? ""].filter { !$0.isEmpty }
                let page = get(path, query.joined(separator: "&"), as: token)
                try #require(page.status == 200, "\(path)?\(query): \(page.text)")
                #expect(page.items.count <= limit, "\(path)")
                items += page.items.map(Self.text)
                next = page["next"]?.name
                if let next { cursors.append((items.count, next)) }
                try #require(cursors.count < 2000, "\(path) has no end.")
            } while next != nil
            return (items, cursors)
        }

        /// The value in words, equal for equal values only.
        static func text(_ value: JSONValue) -> String {
            if let members = value.members {
                return "{\(members.map { "\($0.key): \(text($0.value))" }.joined(separator: ", "))}"
            }
            if let items = value.array { return "[\(items.map(text).joined(separator: ", "))]" }
            if let string = value.string { return "\"\(string)\"" }
            if let number = value.double { return "\(number)" }
            return value.bool.map { "\($0)" } ?? "null"
        }
    }

    /// The lists to read, their additional query parameters, and whether only the operator reads them.
    private static let lists: [(path: String, more: String, isOperators: Bool)] = [
        ("/v1/people", "", true), ("/v1/people/walker/visits", "", false), ("/v1/people/walker/crossings", "", false),
        ("/v1/people/walker/track", "", false),
        ("/v1/people/walker/pauses", "", false), ("/v1/people/walker/tokens", "", false),
        ("/v1/people/walker/grants", "", false), ("/v1/people/walker/devices", "", false),
    ]

    private static func isRead(_ path: String) -> Bool {
        ["visits", "crossings", "track"].contains { path.hasSuffix("/\($0)") }
    }

    @Test func `every list has each item once, with every limit and from every place on`() throws {
        let scene = try Scene()
        for (path, more, isOperators) in Self.lists {
            let token = isOperators ? scene.house.operatorToken : scene.walker
            let all = scene.get(path, more, as: token).items.map(Scene.text)
            try #require(!all.isEmpty && Set(all).count == all.count, "\(path)")
            let limits =
                all.count <= 30 ? Array(1...all.count + 1) : [1, 2, 3, 7, all.count - 1, all.count, all.count + 1]
            for limit in limits where limit <= 1000 {
                let walked = try scene.walk(path, more, limit: limit, as: token)
                #expect(walked.items == all, "\(path), limit \(limit)")
                guard limit == 1 else { continue }
                // Whether there are more visits, crossings or fixes that may be shown is not known before the next page
                // is read.
                let counts = walked.cursors.map(\.count).filter { !Self.isRead(path) || $0 < all.count }
                #expect(counts == Array(1..<all.count), "\(path)")
                for (count, name) in walked.cursors where count % max(1, all.count / 20) == 0 {
                    for length in [1, 2, all.count] where length <= 1000 {
                        let page = scene.get(path, "limit=\(length)&after=\(name)", as: token).items.map(Scene.text)
                        #expect(page == Array(all[count...].prefix(length)), "\(path) after \(count), limit \(length)")
                    }
                }
            }
        }
    }

    /// Reading the audit is on record too, so it grows at its beginning while it is read.
    @Test(arguments: ["audit", "asked"])
    func `an audit has each entry once, with every limit and from every place on`(what: String) throws {
        let scene = try Scene()
        let token = what == "audit" ? scene.walker : scene.friend
        let path = "/v1/people/\(what == "audit" ? "walker" : "friend")/\(what)"
        let all = scene.get(path, "limit=500", as: token).items.map(Scene.text)
        try #require(all.count >= 12 && Set(all).count == all.count)
        // The entry that the reading itself made comes with the next one.
        for limit in Array(1...all.count + 2) + [500] {
            let walked = try scene.walk(path, "", limit: limit, as: token)
            let known = walked.items.filter(Set(all).contains)
            #expect(known == all, "limit \(limit)")
            #expect(Set(walked.items).count == walked.items.count, "limit \(limit)")
            guard limit == 1 else { continue }
            let new = walked.items.count - all.count
            for (count, name) in walked.cursors where count >= new {
                for length in [1, 2, 5, 500] {
                    let page = scene.get(path, "limit=\(length)&after=\(name)", as: token).items.map(Scene.text)
                    #expect(
                        page == Array(all[(count - new)...].prefix(length)), "after \(count - new), limit \(length)")
                }
            }
        }
    }

    @Test func `the operator reads every event once, after every number and with every limit`() throws {
        let scene = try Scene()
        let house = scene.house
        let head = house.service.log.head
        func numbers(_ query: String) -> [Int64] {
            house.manage("GET", "/v1/events?asStored=true&\(query)").items.compactMap { $0["number"]?.int }
        }
        for after in 0...head {
            for limit in [1, 2, 1000] {
                let expected = Array((after + 1...head + 1).dropLast().prefix(limit))
                // A read with `asStored` adds no event.
                #expect(numbers("after=\(after)&limit=\(limit)") == expected, "after \(after), limit \(limit)")
            }
        }
        let kinds = try house.events().filter { if case .fixReported = $0.event { true } else { false } }.map(\.number)
        for limit in [1, 3, 50, 1000] {
            var found: [Int64] = []
            while case let page = numbers("kind=FixReported&after=\(found.last ?? 0)&limit=\(limit)"), !page.isEmpty {
                found += page
            }
            #expect(found == kinds, "limit \(limit)")
        }
    }

    /// Everything that happened at a moment is in the range that begins with it, and not in the one that ends with it.
    @Test func `ranges that follow each other share nothing and leave nothing out`() throws {
        let scene = try Scene()
        func items(_ what: String, _ from: Int64, _ to: Int64, _ member: String) -> [Double] {
            let path = "/v1/people/walker/\(what)"
            return scene.get(path, "from=\(from)&to=\(to)", as: scene.walker).items.compactMap {
                $0[member]?.double
            }
        }
        let (first, last) = (try #require(scene.times.first), try #require(scene.times.last) + 1)
        // Fixes have whole seconds here; cut at, before and after each of some of them.
        for time in scene.times.enumerated().filter({ $0.offset % 17 == 3 }).map(\.element) {
            let before = items("track", first, time, "timestamp")
            let after = items("track", time, last, "timestamp")
            #expect(before + after == scene.times.map(Double.init), "cut at \(time)")
            #expect(after.first == Double(time) && before.last.map { $0 < Double(time) } == true)
            #expect(items("track", time, time + 1, "timestamp") == [Double(time)])
        }
        let crossings = items("crossings", first - 86_400, last + 86_400, "time")
        try #require(crossings.count >= 4, "There are too few crossings.")
        for crossing in crossings {
            // A crossing's time has milliseconds; the cut is at the very moment.
            let cut = Timestamp(milliseconds: Int64((crossing * 1000).rounded()))
            let text = "\(cut.milliseconds / 1000).\(String(cut.milliseconds % 1000 + 1000).dropFirst())"
            func part(_ query: String) -> [Double] {
                scene.get("/v1/people/walker/crossings", query, as: scene.walker).items.compactMap {
                    $0["time"]?.double
                }
            }
            let (before, after) = (part("to=\(text)"), part("from=\(text)"))
            #expect(before + after == crossings, "cut at \(text)")
            #expect(after.first == crossing)
        }
    }

    /// A page is recorded as a part of the read that the first page began, which was permitted for the data at that
    /// time.
    @Test func `a further page shows nothing of after its read began`() throws {
        let scene = try Scene()
        let path = "/v1/people/walker/track"
        let all = scene.get(path, "limit=1000", as: scene.friend).items.map(Scene.text)
        try #require(all.count >= 4)
        let first = scene.get(path, "limit=2", as: scene.friend)
        try #require(first.items.map(Scene.text) == Array(all.prefix(2)))
        let next = try #require(first["next"]?.name)
        for latitude in [48.4, 48.2] {
            scene.house.clock.advance(seconds: 60)
            let fix =
                #"{"timestamp":\#(scene.house.clock.seconds),"latitude":\#(latitude),"longitude":16.3,"horizontalAccuracy":8}"#
            let sent = scene.house.send("POST", "/v1/fixes", as: scene.phone, #"{"fixes":[\#(fix)]}"#)
            try #require(sent["new"]?.int == 1)
        }
        _ = scene.house.settled()
        let rest = try scene.walk(path, "", limit: 50, after: next, as: scene.friend)
        #expect(rest.items == Array(all.dropFirst(2)))
        let anew = scene.get(path, "limit=1000", as: scene.friend).items.map(Scene.text)
        #expect(anew.count > all.count && Array(anew.prefix(all.count)) == all)
    }

    @Test func `an audit's ranges share nothing and leave nothing out`() throws {
        let scene = try Scene()
        let path = "/v1/people/walker/audit"
        let all = scene.get(path, "limit=500", as: scene.walker).items
        let known = Set(all.map(Scene.text))
        let moments = Set(all.compactMap { $0["at"]?.double }).sorted()
        try #require(moments.count >= 3, "\(all.first.map(Scene.text) ?? "")")
        for moment in moments {
            let cut = Int64(moment)
            func part(_ query: String) -> [String] {
                scene.get(path, "limit=500&\(query)", as: scene.walker).items.map(Scene.text).filter(known.contains)
            }
            #expect(part("from=\(cut)") + part("to=\(cut)") == all.map(Scene.text), "cut at \(cut)")
        }
    }
}
