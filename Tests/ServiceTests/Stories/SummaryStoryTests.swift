import JSON
import Log
import Testing
import Whereabouts

@testable import Service

/// A known day as the answers show it: sums, a thinned track, the time spent within a region.
@Suite struct SummaryStoryTests {
    @Test func `a day is summed up, its track thinned, its regions' dwell told`() throws {
        let village = try Village(shortStop: 120)
        func get(_ what: String, as asker: Village.Asker = .subject) -> Answer {
            let joint = what.contains("?") ? "&" : "?"
            return village.house.send(
                "GET", "/v1/people/walker/\(what)\(joint)at-least=\(village.house.service.log.head)",
                as: village.tokens[asker])
        }
        let visits = get("visits").items
        try #require(visits.count == 3)
        let from = try #require(visits.first?["arrival"]?.double)
        let to = try #require(visits.last?["departure"]?.double)

        let days = get("summary?from=\(from)&to=\(to)").items
        #expect(days.reduce(0) { $0 + ($1["seconds"]?.double ?? 0) }.rounded() == (to - from).rounded())
        let stayed = visits.reduce(0) { $0 + ($1["departure"]?.double ?? 0) - ($1["arrival"]?.double ?? 0) }
        #expect(abs(days.reduce(0) { $0 + ($1["staySeconds"]?.double ?? 0) } - stayed) < 1)
        // Two kilometers, and a thousand meters and more, on foot or not.
        let ways = get("trips?from=\(from)&to=\(to)").items.compactMap { $0["distanceMeters"]?.double }.reduce(0, +)
        let summed = days.reduce(0) { $0 + ($1["distanceMeters"]?.double ?? 0) }
        #expect(summed > 2000 && abs(summed - ways) < 1)
        #expect(days.first?["places"]?.count ?? 0 > 0)
        #expect(get("summary?from=\(from)&to=\(to)", as: .oldFriend).items.count == days.count)
        #expect(get("summary?from=\(from)&to=\(to)&period=month&dayStartMinutes=240").items.count == 1)
        for wrong in ["summary", "summary?from=5", "summary?from=\(from)&period=year", "summary?from=\(to + 1e6)"] {
            #expect(get(wrong).status == 400 || get(wrong).status == 422)
        }

        let all = get("track").items
        let thinned = get("track?distanceFilter=100").items
        #expect(thinned.count > 5 && thinned.count * 5 < all.count)
        var (paged, after) = ([Int64?](), "")
        repeat {
            let page = get("track?distanceFilter=100&limit=3\(after)")
            paged += page.items.map { $0["number"]?.int }
            after = page["next"]?.string.map { "&after=\($0)" } ?? ""
        } while !after.isEmpty
        #expect(paged == thinned.map { $0["number"]?.int })
        #expect(all.allSatisfy { $0["anomaly"] == nil })

        // The walker was in the region from the first fix on, which is no crossing, and left it once.
        let crossings = get("crossings").items
        #expect(crossings.map { $0["type"]?.string } == ["exit"])
        #expect(crossings[0]["dwellSeconds"] == nil)
        let work = #"{"id":"work","circle":{"latitude":48.212,"longitude":16.366,"radiusMeters":120}}"#
        village.house.manage("POST", "/v1/people/walker/regions", work)
        let atWork = get("crossings").items.filter { $0["region"]?.string == "work" }
        #expect(atWork.map { $0["type"]?.string } == ["enter", "exit"])
        let dwell = try #require(atWork.last?["dwellSeconds"]?.double)
        let times = atWork.compactMap { $0["time"]?.double }
        #expect(abs(dwell - (times[1] - times[0])) < 0.01 && dwell > 3000)

        // The length of a stay must not disclose its begin to a reader whose rights begin in the middle of it.
        let late = try village.house.addPerson("late")
        try village.house.grant("walker", to: "late", history: true, more: #","from":\#(times[0] + 600)"#)
        let seen = village.house.send("GET", "/v1/people/walker/crossings", as: late).items
            .filter { $0["region"]?.string == "work" }
        #expect(seen.map { $0["type"]?.string } == ["exit"] && seen.allSatisfy { $0["dwellSeconds"] == nil })
        // Nor is the time before it summed up, as time of which nothing is known.
        let summary = village.house.send("GET", "/v1/people/walker/summary?from=\(from)&to=\(to)", as: late).items
        let seconds = summary.reduce(0) { $0 + ($1["seconds"]?.double ?? 0) }
        #expect(abs(seconds - (to - times[0] - 600)) < 1)
    }
}
