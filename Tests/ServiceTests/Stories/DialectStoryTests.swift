import Glibc
import JSON
import Log
import TestSupport
import Testing
import Whereabouts

@testable import Service

/// Clients that behave as real ones do, over a line that loses requests and answers, at a service that stops and
/// starts: no message is lost or stored twice, and a message that can never be a fix does not block a queue.
@Suite struct DialectStoryTests {
    /// Faults that each client goes through.
    private static var faults: Int { isLongForm ? 1000 : 60 }

    @Test(arguments: DialectClient.allCases)
    func `a queue is delivered once, whatever happens on the way`(client: DialectClient) throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let key = try house.addDevice("phone", of: "walker")
        // The same faults in each run (constants of Knuth's MMIX generator).
        var state = UInt64(client.rawValue.utf8.count)
        func chance(of percent: UInt64) -> Bool {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % 100 < percent
        }
        var told: [DialectClient.Message] = []
        var queue: [DialectClient.Message] = []
        var faults = 0
        var triesOfHead = 0
        while faults < Self.faults || !queue.isEmpty {
            // The client goes on seeing things, sometimes many before it is heard.
            if faults < Self.faults {
                for _ in 0..<(queue.isEmpty || chance(of: 10) ? client.batch * 2 : 1) {
                    queue.append(client.message(told.count))
                    told.append(client.message(told.count))
                }
            }
            let batch = queue.prefix(client.batch)
            let newest = queue.count > batch.count ? queue.last { if case .fix = $0 { true } else { false } } : nil
            triesOfHead += 1
            try #require(triesOfHead < 100, "The queue stands still.")
            if chance(of: 15) {
                faults += 1  // The request is lost.
            } else if chance(of: 15) {
                // The answer is lost: the client sends the same again, perhaps with more behind it.
                faults += 1
                _ = client.send(batch, newest: newest, key, to: house)
            } else if chance(of: 1) {
                faults += 1
                try house.restart()
            } else if client.forgets(client.send(batch, newest: newest, key, to: house)) {
                queue.removeFirst(batch.count)
                triesOfHead = 0
            }
        }
        // A current location that was sent ahead of the queue is in the log before older fixes.
        #expect(try kept(house) == told.sorted { $0.second < $1.second })
    }

    /// The log's messages in the order of the device's time.
    private func kept(_ house: ServiceUnderTest) throws -> [DialectClient.Message] {
        func second(_ time: Timestamp) -> Int { Int(time.milliseconds / 1000) }
        /// The only number of ten digits that the client wrote.
        func second(in text: String) -> Int {
            text.split { !$0.isNumber }.lazy.filter { $0.count == 10 }.compactMap { Int($0) }.first ?? 0
        }
        return try house.events().compactMap { recorded -> DialectClient.Message? in
            switch recorded.event {
            case .fixReported(_, _, .open(let fix)): .fix(second(fix.timestamp))
            case .sightingReported(_, _, .open(.crossing(let crossing))): .crossing(second(crossing.timestamp))
            case .sightingReported(_, _, .open(.visit(let visit))): .visit(second(visit.timestamp))
            case .regionAdded(_, .open(let region)): .region(second(region.waypoint ?? Timestamp(milliseconds: 0)))
            case .messageReported(_, .open(let message)): .words(second(in: message.text))
            case .inputRejected(_, _, _, .open(let input)):
                .hopeless(second(in: String(decoding: input.head, as: UTF8.self)))
            default: nil
            }
        }.sorted { $0.second < $1.second }
    }

    /// Members without a field do not decide whether two fixes are the same, in the rows as well.
    @Test func `what came with members of its own is known from the rows after a restart`() throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let key = try house.addDevice("phone", of: "walker")
        let message = #"{"_type":"location","lat":46.5,"lon":9.25,"tst":1777800000,"alt":410,"tid":"ab","t":"u"}"#
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
}
