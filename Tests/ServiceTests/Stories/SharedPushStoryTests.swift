import HTTPServer
import JSON
import LocationPush
import PushStandIn
import Synchronization
import TestSupport
import Testing
import Whereabouts

@testable import Service

/// Many ask at once: the phone is woken once for all of them.
@Suite struct SharedPushStoryTests {
    /// Persons with a grant each, and their tokens.
    private static func friends(_ count: Int, of here: Neighbourhood) throws -> [String] {
        try (0..<count).map { number in
            let token = try here.house.addPerson("friend\(number)")
            try here.house.grant("walker", to: "friend\(number)")
            return token
        }
    }

    /// Waits until this many queries share a push that was sent for another query.
    private static func waitForCoalesced(_ count: Int, _ house: ServiceUnderTest) throws {
        var (found, place) = (0, Int64(0))
        // Read each event once. Meanwhile, the stand-in answers no push.
        try eventually("\(count) shared pushes") {
            let events = try house.events(after: place)
            found += events.count {
                if case .locationPushAttempted(let attempt) = $0.event { attempt.withheld == .coalesced } else { false }
            }
            place = events.last?.number ?? place
            return found >= count
        }
    }

    private static func ends(_ here: Neighbourhood) throws -> [QueryEnd] {
        try here.house.events().compactMap {
            if case .locationQueryEnded(_, let end, _) = $0.event { end } else { nil }
        }
    }

    /// While the first push is under way, `friends` ask too; APNs' answer comes when they all share it.
    ///
    /// - Parameter asked: gets the address of each query and the asker.
    private static func share(
        _ here: Neighbourhood, with friends: [String],
        asked: @escaping @Sendable (_ url: String, _ friend: String) -> Void = { _, _ in }
    ) {
        let isFirst = Atomic(true)
        let house = here.house
        here.onPush { _ in
            guard isFirst.exchange(false, ordering: .relaxed) else { return }
            for friend in friends {
                house.send(
                    "POST", "/v1/people/walker/location-queries", as: friend, #"{"purpose":"me too"}"#
                ) { response in asked(Answer(response)["url"]?.string ?? "", friend) }
            }
            do {
                try Self.waitForCoalesced(friends.count, house)
            } catch {
                Issue.record(error)
            }
        }
    }

    @Test func `when a shared push meets a dead token, it has failed for all who shared it`() throws {
        let here = try Neighbourhood()
        let friends = try Self.friends(3, of: here)
        let token = try here.registerSilentPhone()
        try here.standIn.unregisterPhone(token, atUnixMs: PushClock.system.now().unixMs + 1000)
        Self.share(here, with: Array(friends.dropFirst()))
        here.house.send("POST", "/v1/people/walker/location-queries", as: friends[0], #"{"purpose":"late"}"#)
        try eventually { !here.isTokenKnown }
        // Each of them has its end without the clock having moved; the askers see none of it.
        try eventually { (try? Self.ends(here).count) == 3 }
        #expect(try Self.ends(here) == [.pushFailed, .pushFailed, .pushFailed])
        #expect(here.standIn.pushes.count == 1)
    }

    @Test func `a hundred askers share one push, and each answer has a record of its own`() throws {
        let here = try Neighbourhood()
        let friends = try Self.friends(100, of: here)
        _ = try here.registerSilentPhone()
        let urls = Mutex<[(url: String, friend: String)]>([])
        Self.share(here, with: Array(friends.dropFirst())) { url, friend in urls.withLock { $0.append((url, friend)) } }
        let first = here.house.send(
            "POST", "/v1/people/walker/location-queries", as: friends[0], #"{"purpose":"late"}"#)
        let url = try #require(first["url"]?.string)
        urls.withLock { $0.append((url, friends[0])) }
        try eventually { here.standIn.acceptedCount == 1 }
        let id = try #require(url.split(separator: "/").last)
        let fix = here.house.send(
            "POST", "/v1/fixes", as: here.phoneKey,
            #"{"timestamp":\#(here.house.clock.seconds),"latitude":48.2,"longitude":16.4,"answering":"\#(id)"}"#)
        #expect(fix["new"]?.int == 1)
        let all = urls.withLock { $0 }
        #expect(all.count == 100)
        for (url, friend) in all {
            let answer = here.house.send("GET", url, as: friend)
            #expect(answer["status"]?.string == "answered")
            #expect(answer["location"]?["latitude"]?.double == 48.2)
        }
        #expect(here.standIn.pushes.count == 1)
        #expect(try Self.ends(here) == Array(repeating: .answered, count: 100))
        let disclosures = try here.house.events().compactMap { recorded -> Disclosure? in
            if case .locationDisclosed(let disclosure) = recorded.event { disclosure } else { nil }
        }
        #expect(Set(disclosures.map(\.query)).count == 100)
        #expect(Set(disclosures.map(\.requester)).count == 100)
    }
}
