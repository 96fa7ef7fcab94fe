import JSON
import Log
import Testing
import Whereabouts

@testable import Service

/// `POST /v1/imports/{uuid}/batches` with many devices in one request.
@Suite struct ImportStoryTests {
    private static let target = "/v1/imports/6b1c4f6e-3f60-4cb9-9d1f-2f5f1a1f7a03/batches"

    private static func part(_ person: String, _ device: String, _ seconds: [Int], latitude: Double = 48) -> String {
        let fixes = seconds.map { #"{"timestamp":\#(1_700_000_000 + $0),"latitude":\#(latitude),"longitude":16}"# }
        return #"{"person":"\#(person)","device":"\#(device)","fixes":[\#(fixes.joined(separator: ","))]}"#
    }

    private static func devices(_ answer: Answer) -> [JSONValue] {
        answer["devices"]?.array.map { Array($0) } ?? []
    }

    private static func body(_ parts: [String]) -> String { #"{"devices":[\#(parts.joined(separator: ","))]}"# }

    @Test func `each device is told what became of its own, and the same again is nothing new`() throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("anna")
        let batch = Self.body([
            Self.part("anna", "anna-1", [1, 2, 2]), Self.part("ben", "ben-1", [1]), Self.part("ben", "ben-2", []),
            Self.part("cleo", "cleo-1", [1], latitude: 91), Self.part("anna", "anna-1", [2, 3]),
        ])
        func words(_ answer: Answer) -> [String] {
            Self.devices(answer).map { device in
                let counts = ["new", "duplicate", "twins"].map { "\(device[$0]?.int ?? -1)" }
                let rejected = (device["rejected"]?.array.map(Array.init) ?? []).map {
                    "\($0["index"]?.int ?? -1) \($0["reason"]?.string ?? "")"
                }
                let added = ["addedPerson", "addedDevice"].map { device[$0]?.bool == true ? "+" : "-" }
                return (added + counts + rejected).joined(separator: " ")
            }
        }
        let first = house.manage("POST", Self.target, batch)
        #expect(first.status == 200, "\(first.text)")
        #expect(words(first) == ["- + 2 1 0", "+ + 1 0 0", "- + 0 0 0", "+ + 0 0 0 0 badCoordinate", "- - 1 1 0"])
        #expect(first["number"]?.int == house.service.log.head)

        let head = house.service.log.head
        let again = house.manage("POST", Self.target, batch)
        #expect(words(again) == ["- - 0 3 0", "- - 0 1 0", "- - 0 0 0", "- - 0 0 0 0 badCoordinate", "- - 0 2 0"])
        #expect(house.service.log.head == head)
        let track = house.manage("GET", "/v1/people/anna/track?at-least=\(head)&from=2023-01-01T00:00:00Z")
        #expect(track.items.count == 3, "\(track.text)")
        let verified = house.manage("GET", "/v1/verify")
        #expect(verified["ok"]?.bool == true, "\(verified.text)")
    }

    @Test func `a thousand new people share commits`() throws {
        let house = try ServiceUnderTest()
        let before = house.service.log.commits
        let parts = (0..<1000).map { Self.part("p\($0)", "d\($0)", [$0]) }
        let answer = house.manage("POST", Self.target, Self.body(parts))
        #expect(Self.devices(answer).count == 1000, "\(answer.text.prefix(300))")
        // Each commit takes at least sixteen people, but for the one under way when they came.
        #expect(house.service.log.commits - before <= 1000 / 16 + 2)
        #expect(house.service.log.withStanding { $0.persons.handles.count } == 1000)
    }

    @Test func `what is no batch is refused whole, with what to do`() throws {
        let house = try ServiceUnderTest()
        let head = house.service.log.head
        let good = Self.part("ben", "ben-1", [1])
        let bad: [(String, Int)] = [
            (#"{"devices":{}}"#, 400), (#"{"devices":[1]}"#, 400),
            (Self.body([good, #"{"person":"Ben B","device":"ben-2","fixes":[]}"#]), 400),
            (Self.body([good, #"{"person":"ben","fixes":[]}"#]), 400),
            (Self.body([good, #"{"person":"ben","device":"ben-2","fixes":{}}"#]), 400),
            (Self.body((0...1000).map { Self.part("p\($0)", "d\($0)", []) }), 413),
            (Self.body([Self.part("ben", "a", Array(0...500)), Self.part("ben", "b", Array(0..<500))]), 413),
        ]
        for (body, status) in bad {
            let answer = house.send("POST", Self.target, as: house.operatorToken, body)
            #expect(answer.status == status, "\(body.prefix(80)): \(answer.text)")
        }
        #expect(house.service.log.head == head)
    }

    @Test func `a device of another person is refused, and the rest is taken`() throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("anna")
        _ = try house.addDevice("phone", of: "anna")
        let answer = house.send(
            "POST", Self.target, as: house.operatorToken,
            Self.body([Self.part("ben", "ben-1", [1]), Self.part("ben", "phone", [1]), Self.part("ben", "ben-3", [1])]))
        #expect(answer.status == 409, "\(answer.text)")
        #expect(answer["detail"]?.string?.contains("phone") == true)
        let again = house.manage(
            "POST", Self.target, Self.body([Self.part("ben", "ben-1", [1]), Self.part("ben", "ben-3", [1])]))
        #expect(Self.devices(again).map { $0["duplicate"]?.int } == [1, 1])
    }

    /// More visits than are remembered for the repeats of a phone.
    @Test func `visits of another system are reported visits, and the same again is nothing new`() throws {
        let house = try ServiceUnderTest()
        func body(_ hours: Range<Int>) -> String {
            let visits = hours.map {
                #"{"latitude":48,"longitude":16,"arrival":\#(1_600_000_000 + $0 * 7200),"departure":\#(1_600_003_600 + $0 * 7200),"timestamp":\#(1_600_003_600 + $0 * 7200)}"#
            }
            return Self.body([
                #"{"person":"anna","device":"anna-1","fixes":[{"timestamp":1700000000,"latitude":48,"longitude":16}],"visits":[\#(visits.joined(separator: ","))]}"#
            ])
        }
        func counts(_ answer: Answer) -> [Int64?] {
            let device = Self.devices(answer).first
            return [device?["new"]?.int, device?["visits"]?["new"]?.int, device?["visits"]?["duplicate"]?.int]
        }
        #expect(counts(house.manage("POST", Self.target, body(0..<900))) == [1, 900, 0])
        #expect(counts(house.manage("POST", Self.target, body(900..<1800))) == [0, 900, 0])
        let head = house.service.log.head
        #expect(counts(house.manage("POST", Self.target, body(0..<900))) == [0, 0, 900])
        #expect(counts(house.manage("POST", Self.target, body(900..<1800))) == [0, 0, 900])
        #expect(house.service.log.head == head)
        let bad = house.manage(
            "POST", Self.target,
            Self.body([
                #"{"person":"anna","device":"anna-1","fixes":[],"visits":[{"latitude":99,"longitude":1,"timestamp":1}]}"#
            ]))
        #expect(Self.devices(bad).first?["visits"]?["rejected"]?.array.map { Array($0) }?.count == 1, "\(bad.text)")
    }
}
