import Answers
import Cryptography
import HTTPServer
import JSON
import Log
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Reactors
@testable import Service

/// The stream of a live share link: an item for each new place, on record before it leaves, and nothing after the link's
/// end.
@Suite struct LinkLiveTests {
    /// A stream read without a socket.
    private final class Viewer {
        private let stream: HTTPStream
        private let signal = Monitor(0)
        private var bytes: [UInt8] = []

        init(_ stream: HTTPStream) { self.stream = stream }

        /// The events as they came, whole ones only, without comments.
        var events: [String] {
            let parts = String(decoding: bytes, as: UTF8.self).split(
                separator: "\n\n", omittingEmptySubsequences: false)
            return parts.dropLast().map(String.init).filter { $0.hasPrefix("event: ") }
        }

        var locations: [JSONValue] {
            events.compactMap { event in
                guard let data = event.firstRange(of: "\ndata: ").map({ event[$0.upperBound...] }) else { return nil }
                return try? JSONDocument.parse(Array(data.utf8)).root
            }
        }

        /// Reads until there are this many events, or the end; how many there are.
        func until(_ count: Int) -> Int {
            while events.count < count, take() {}
            return events.count
        }

        /// Reads to the end. Throws `WaitedInVain` if the stream does not end.
        func toTheEnd() { while take() {} }

        /// The bytes written so far, without waiting.
        func drain() { while case .bytes(let more) = stream.next(1000, wake: {}) { bytes += more } }

        func leave() { stream.abandon() }

        private func take() -> Bool {
            let seen = signal.read { $0 }
            switch stream.next(1000, wake: { [signal] in signal.change { $0 += 1 } }) {
            case .bytes(let more): bytes += more
            case .nothingYet:
                let isWoken = signal.wait(milliseconds: patienceMilliseconds) { $0 > seen ? true : nil }
                if isWoken != true { waitedInVain(for: "the stream") }
            case .end, .cut: return false
            }
            return true
        }
    }

    private let house: ServiceUnderTest
    private let walker: String
    private let phone: String

    init() throws {
        house = try ServiceUnderTest()
        walker = try house.addPerson("walker")
        phone = try house.addDevice("walker-phone", of: "walker")
    }

    private func report(_ latitude: Double, secondsAgo: Int64 = 0) {
        let time = house.clock.seconds - secondsAgo
        let answer = house.send(
            "POST", "/v1/fixes", as: phone,
            #"{"timestamp":\#(time),"latitude":\#(latitude),"longitude":16.3698,"horizontalAccuracy":5}"#)
        #expect(answer.status == 200, "\(answer.text)")
    }

    private func link(_ body: String = #"{"live":true}"#) throws -> (id: Int64, token: String) {
        let made = house.manage("POST", "/v1/people/walker/links", body)
        let opened = house.send(
            "POST", "/v1/link-openings", as: nil, #"{"link":"\#(made["secret"]?.string ?? "")"}"#)
        return (try #require(house.number(made["id"], .link)), try #require(opened["token"]?.string))
    }

    private func watch(_ token: String) throws -> Viewer {
        let given = Monitor<HTTPResponse?>(nil)
        house.send("GET", "/v1/live", as: token) { response in given.change { $0 = response } }
        let response = try #require(given.wait(milliseconds: patienceMilliseconds) { $0 })
        try #require(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
        return Viewer(try #require(response.stream))
    }

    /// The link's reads on record, by the hash of the bytes that left.
    private func hashes(after number: Int64) throws -> [Hash256] {
        try house.events(after: number).compactMap { recorded in
            guard case .locationRead(let read) = recorded.event, read.question == .location, read.count == 1 else {
                return nil
            }
            return read.content.content?.answerHash
        }
    }

    @Test func `each new place comes by the stream, on record with the hash of its bytes`() throws {
        report(48.2)
        let before = house.service.log.head
        let viewer = try watch(try link().token)
        #expect(viewer.until(1) == 1)
        for step in 1...5 {
            house.clock.advance(seconds: 5)
            report(48.2 + 0.001 * Double(step))
            #expect(viewer.until(step + 1) == step + 1)
        }
        let latitudes = viewer.locations.compactMap { $0["latitude"]?.double }
        #expect(latitudes == (0...5).map { 48.2 + 0.001 * Double($0) })
        #expect(viewer.locations.allSatisfy { $0["precision"]?.string == "exact" })
        let recorded = Set(try hashes(after: before))
        for event in viewer.events.dropFirst() {
            #expect(recorded.contains(Hash256(SHA256().hash(Array((event + "\n\n").utf8)))), "\(event)")
        }
        let opening = ": open\nretry: 2000\n\n" + (viewer.events.first ?? "") + "\n\n"
        #expect(recorded.contains(Hash256(SHA256().hash(Array(opening.utf8)))))
        let audit = house.send("GET", "/v1/people/walker/audit?at-least=\(house.service.log.head)", as: walker)
        #expect(audit.items.count { $0["reader"]?.string == "link 1" && $0["question"]?.string == "location" } == 6)
        viewer.leave()
    }

    /// How the right of a viewer can end.
    enum End: CaseIterable { case link, grant, expiry, erasure }

    @Test(arguments: End.allCases)
    func `the stream ends with the link, and nothing comes after the end`(end: End) throws {
        report(48.2)
        let (id, token) = try link(#"{"live":true,"forSeconds":600}"#)
        let viewer = try watch(token)
        #expect(viewer.until(1) == 1)
        switch end {
        case .link: house.manage("DELETE", "/v1/links/\(id)")
        case .grant:
            let grant = house.manage("GET", "/v1/people/walker/grants").items.last
            house.manage("DELETE", "/v1/grants/\(try #require(house.number(grant?["id"], .grant)))")
        case .expiry: house.clock.advance(seconds: 600)
        case .erasure: house.manage("DELETE", "/v1/people/walker")
        }
        if end != .erasure { report(48.3) }
        viewer.toTheEnd()
        #expect(viewer.events.count == 1)
        #expect([401, 404].contains(house.send("GET", "/v1/live", as: token).status))
    }

    /// To others, a pause looks like a phone that is switched off: the stream stays open and says nothing.
    @Test func `in a pause nothing comes, and after it what is new`() throws {
        report(48.2)
        let viewer = try watch(try link().token)
        #expect(viewer.until(1) == 1)
        house.clock.advance(seconds: 60)
        house.send("POST", "/v1/people/walker/pauses", as: walker, "{}")
        house.clock.advance(seconds: 60)
        report(48.3)
        house.clock.advance(seconds: 60)
        // A second viewer is shown the place from before the pause, as the location is.
        let other = try watch(try link().token)
        #expect(other.until(1) == 1 && other.locations.first?["latitude"]?.double == 48.2)
        house.send("DELETE", "/v1/people/walker/pauses", as: walker)
        house.clock.advance(seconds: 60)
        report(48.4)
        #expect(viewer.until(2) == 2)
        #expect(viewer.locations.compactMap { $0["latitude"]?.double } == [48.2, 48.4])
        viewer.leave()
        other.leave()
    }

    /// The moment of an item would disclose when the phone reports. Both worlds look once in a quarter of an hour.
    @Test(arguments: ["kilometer", "city", "place"])
    func `a coarse stream says nothing of when and how often the phone reports`(precision: String) throws {
        func world(_ reports: Int) throws -> [String] {
            let story = try LinkLiveTests()
            story.house.clock.advance(seconds: 60)
            story.report(48.2051, secondsAgo: 900)
            let viewer = try story.watch(
                try story.link(#"{"live":true,"precision":"\#(precision)"}"#).token)
            #expect(viewer.until(1) == 1)
            for step in 0..<reports {
                story.house.clock.advance(seconds: Int64(600 / reports))
                story.report(48.2051 + 0.0001 * Double(step))
                // The deliverer has looked at everything up to here before it could give more.
                _ = story.house.settled()
                viewer.drain()
                #expect(viewer.events.count == 1)
            }
            story.house.clock.advance(seconds: 300)
            #expect(viewer.until(2) == 2)
            let events = viewer.events
            if precision == "place" { #expect(events.allSatisfy { $0.firstMatch(of: /\d\.\d/) == nil }) }
            viewer.leave()
            return events
        }
        let (few, many) = (try world(1), try world(12))
        #expect(few == many)
        #expect(few.allSatisfy { $0.contains(#""precision":"\#(precision)""#) })
    }

    @Test func `only viewers of a live link have a stream, and only so many at a time`() throws {
        report(48.2)
        let look = try link("{}").token
        #expect(house.send("GET", "/v1/live", as: look).status == 404)
        let token = try link().token
        let viewers = try (0..<Limits.liveStreamsPerPerson).map { _ in try watch(token) }
        #expect(house.send("GET", "/v1/live", as: token).status == 429)
        // Another link of the person, and the person, have separate limits.
        let (other, own) = (try watch(try link().token), try watch(walker))
        viewers[0].leave()
        _ = try eventually("room for another") { () -> Bool? in
            let status = house.send("HEAD", "/v1/live", as: token).status
            #expect(status == 200)
            return house.send("GET", "/v1/live", as: token).status == 200 ? true : nil
        }
        for viewer in viewers + [other, own] { viewer.leave() }
    }

    @Test func `a link's location comes as GeoJSON too`() throws {
        report(48.2)
        _ = house.settled()
        let token = try link().token
        let answer = house.send("GET", "/v1/people/walker/location?format=geojson", as: token)
        #expect(answer.status == 200 && answer.header("Content-Type") == "application/geo+json", "\(answer.text)")
        let feature = answer["features"]?.array?.first { _ in true }
        let position = feature?["geometry"]?["coordinates"]?.array?.compactMap(\.double)
        #expect(feature?["geometry"]?["type"]?.string == "Point" && position == [16.3698, 48.2])
        #expect(feature?["properties"]?["precision"]?.string == "exact")
    }
}
