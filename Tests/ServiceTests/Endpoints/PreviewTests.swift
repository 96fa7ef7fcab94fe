import JSON
import Log
import Testing
import Whereabouts

@testable import Service

/// Previews of the answers to others.
@Suite struct PreviewTests {
    /// The members of a location that can be compared.
    private static func told(_ answer: Answer) -> [String] {
        let location = answer["location"]
        let numbers = ["timestamp", "latitude", "longitude", "horizontalAccuracy"].compactMap { name in
            location?[name]?.double.map { "\(name) \($0)" }
        }
        return numbers + [location?["precision"]?.string, location?["place"]?["name"]?.string].compactMap { $0 }
    }

    /// The preview is compared with the other person's answer.
    @Test func `a preview shows what the other person would be shown, and asks in no one's name`() throws {
        let village = try Village()
        _ = village.house.settled()
        for (asker, name) in [
            (Village.Asker.kilometerFriend, "kilometerfriend"), (.cityFriend, "cityfriend"),
            (.placeFriend, "placefriend"), (.liveFriend, "livefriend"), (.oldFriend, "oldfriend"),
        ] {
            let before = village.house.service.log.head
            let preview = village.house.send(
                "GET", "/v1/people/walker/previews/\(name)", as: village.tokens[.subject])
            let reads = try village.house.events(after: before).compactMap { recorded -> LocationRead? in
                if case .locationRead(let read) = recorded.event { read } else { nil }
            }
            #expect(reads.count == 1 && reads.first?.verdict == .own, "\(name)")
            let shown = village.house.send("GET", "/v1/people/walker/location", as: village.tokens[asker])
            #expect(preview.status == 200, "\(preview.text)")
            #expect(
                Self.told(preview) == Self.told(shown) && Self.told(shown).count > (asker == .placeFriend ? 2 : 3),
                "\(name)")
            #expect(preview["history"]?.bool == (asker == .oldFriend), "\(name)")
            village.house.clock.advance(seconds: 61)
        }
    }

    @Test(arguments: [
        ("stranger", "noGrant"), ("nobody-at-all", "noGrant"), ("formerfriend", "noGrant"),
        ("expiredfriend", "notInForce"), ("nonefriend", "precisionNone"), ("askingfriend", "consentNeeded"),
    ])
    func `a preview of nothing says why`(name: String, reason: String) throws {
        let village = try Village()
        let preview = village.house.send("GET", "/v1/people/walker/previews/\(name)", as: village.tokens[.subject])
        #expect(preview.status == 200 && preview["location"]?.isNull == true, "\(preview.text)")
        #expect(preview["reason"]?.string == reason && preview["history"]?.bool == false)
    }

    @Test func `a preview for a name that no person can have is not found`() throws {
        let village = try Village()
        for name in ["-4.9e-112", "Stranger", "%20", String(repeating: "a", count: 64)] {
            let preview = village.house.send("GET", "/v1/people/walker/previews/\(name)", as: village.tokens[.subject])
            #expect(preview.status == 404, "\(name): \(preview.text)")
        }
    }

    @Test func `people see who shares with them, by what asking would tell`() throws {
        let village = try Village()
        func shared(_ asker: Village.Asker) -> [[Bool?]] {
            village.house.send("GET", "/v1/shared-with-me", as: village.tokens[asker]).items
                .filter { $0["handle"]?.string == "walker" }.map { [$0["location"]?.bool, $0["history"]?.bool] }
        }
        #expect(shared(.oldFriend) == [[true, true]] && shared(.liveFriend) == [[true, false]])
        #expect(shared(.askingFriend) == [[false, false]])
        #expect(shared(.stranger) == [] && shared(.expiredFriend) == [] && shared(.noneFriend) == [])
        #expect(shared(.subject) == [])
    }
}
