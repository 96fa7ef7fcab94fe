import Glibc
import JSON
import Testing
import Whereabouts

@testable import Service

/// Clients that behave as real ones do, over a line that loses requests and answers, at a service that stops and starts:
/// nothing is lost, nothing is there twice, and no queue stands still behind a message that can never be a fix.
@Suite struct DialectStoryTests {
    enum Client: String, CaseIterable {
        case ownTracksIOS, ownTracksAndroid, overland, osmAnd, traccarJSON

        /// Messages in one request.
        var batch: Int { self == .overland ? 7 : 1 }
        /// Whether the client forgets what it sent, given the answer.
        func forgets(_ answer: Answer) -> Bool {
            switch self {
            // The app throws a message away that it was told is wrong.
            case .ownTracksIOS: (200..<500).contains(answer.status)
            case .ownTracksAndroid, .osmAnd, .traccarJSON: (200..<300).contains(answer.status)
            case .overland: (200..<300).contains(answer.status) && answer.text == #"{"result":"ok"}"#
            }
        }
    }

    /// What a client has to tell.
    enum Message {
        case fix(seconds: Int)
        /// Nothing that can ever be stored as a fix.
        case hopeless(Int)
    }

    private static var count: Int { getenv("WHEREABOUTS_LONG") != nil ? 1000 : 120 }
    private static let start = 1_777_800_000

    @Test(arguments: Client.allCases) func `a queue is delivered once, whatever happens on the way`(client: Client)
        throws
    {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let key = try house.addDevice("phone", of: "walker")
        // The same faults in each run (constants of Knuth's MMIX generator).
        var state = UInt64(client.rawValue.utf8.count)
        func chance() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % 100
        }
        var queue: [Message] = (0..<Self.count).map { index in
            index % 29 == 11 ? .hopeless(index) : .fix(seconds: Self.start + index * 10)
        }
        let wanted = queue.compactMap { if case .fix(let seconds) = $0 { Int64(seconds) } else { nil } }
        var faults = 0
        var tries = 0
        while !queue.isEmpty {
            tries += 1
            try #require(tries < Self.count * 4, "The queue stands still.")
            let batch = queue.prefix(client.batch)
            switch chance() {
            case 0..<15: faults += 1  // The request is lost.
            case 15..<30:
                // The answer is lost: the client sends the same again.
                faults += 1
                _ = send(batch, client, key, house)
            case 30:
                faults += 1
                try house.restart()
            default: if client.forgets(send(batch, client, key, house)) { queue.removeFirst(batch.count) }
            }
        }
        #expect(faults > Self.count / (client.batch * 6))
        let events = try house.events()
        let seen = events.compactMap { recorded -> Int64? in
            guard case .fixReported(_, _, .open(let fix)) = recorded.event else { return nil }
            return fix.timestamp.milliseconds / 1000
        }
        #expect(seen == wanted)
        let isKept = events.contains { if case .inputRejected = $0.event { true } else { false } }
        #expect(isKept)
    }

    /// Members that no field stands for are no part of what makes two fixes the same, not in the rows either.
    @Test func `what came with members of its own is known from the rows after a restart`() throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let key = try house.addDevice("phone", of: "walker")
        let message = #"{"_type":"location","lat":46.5,"lon":9.25,"tst":\#(Self.start),"alt":410,"tid":"ab","t":"u"}"#
        #expect(house.send("POST", "/owntracks", as: key, message).status == 200)
        try house.restart()
        #expect(house.settled().isEmpty == false)
        let head = house.service.log.head
        for again in [message, message.replacing(#""t":"u""#, with: #""t":"p""#)] {
            #expect(house.send("POST", "/owntracks", as: key, again).status == 200)
        }
        #expect(house.service.log.head == head)
        // A twin: equal in time and place, and another altitude.
        _ = house.send("POST", "/owntracks", as: key, message.replacing("410", with: "411"))
        #expect(house.service.log.head == head + 1)
    }

    private func send(_ batch: ArraySlice<Message>, _ client: Client, _ key: String, _ house: ServiceUnderTest)
        -> Answer
    {
        func seconds(_ message: Message) -> Int { if case .fix(let seconds) = message { seconds } else { Self.start } }
        func latitude(_ message: Message) -> Int { if case .hopeless(let index) = message { 100 + index } else { 46 } }
        guard let message = batch.first else { preconditionFailure("There is something to send.") }
        let (time, north) = (seconds(message), latitude(message))
        switch client {
        case .ownTracksIOS, .ownTracksAndroid:
            return house.send(
                "POST", "/owntracks", as: key,
                #"{"_type":"location","lat":\#(north),"lon":9.25,"tst":\#(time),"tid":"ab","t":"u"}"#)
        case .overland:
            let features = batch.map { message in
                """
                {"type":"Feature","geometry":{"type":"Point","coordinates":[9.25,\(latitude(message))]},"properties":\
                {"timestamp":"\(Self.text(seconds(message)))","horizontal_accuracy":5}}
                """
            }
            return house.send("POST", "/overland", as: key, #"{"locations":[\#(features.joined(separator: ","))]}"#)
        case .osmAnd: return house.send("GET", "/osmand?id=\(key)&lat=\(north)&lon=9.25&timestamp=\(time)", as: nil)
        case .traccarJSON:
            return house.send(
                "POST", "/osmand", as: nil,
                """
                {"device_id":"\(key)","location":{"timestamp":"\(Self.text(time))","coords":{"latitude":\(north),\
                "longitude":9.25}}}
                """, headers: [("Content-Type", "application/json")])
        }
    }

    /// ISO 8601 by the C library.
    private static func text(_ seconds: Int) -> String {
        var (time, parts, text) = (time_t(seconds), tm(), [CChar](repeating: 0, count: 32))
        gmtime_r(&time, &parts)
        strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
