import JSON
import Log
import Testing
import Whereabouts

@testable import Service

/// An import is undone by withdrawing the fixes that it alone brought.
@Suite struct ImportUndoStoryTests {
    private static let id = "5f0c1d6e-3f60-4cb9-9d1f-2f5f1a1f7a03"

    /// The subject's view, without the places up to which it was read.
    private static func seen(_ village: Village) -> [String] {
        _ = village.house.settled()
        return ["track", "visits", "crossings", "trips", "location"].map { what in
            village.house.send("GET", "/v1/people/walker/\(what)", as: village.tokens[.subject]).text
                .replacing(/"(asOf|next)":("[^"]*"|null)/, with: "")
        }
    }

    /// Imports an evening elsewhere, and fixes of the morning that the phone has reported already.
    private static func bring(_ village: Village, known: JSONValue) throws -> Answer {
        let time = 1_777_881_600 - 3600
        var fixes = (0..<90).map { index in
            #"{"timestamp":\#(time + index * 60),"latitude":48.25,"longitude":16.4,"horizontalAccuracy":9}"#
        }
        let (latitude, longitude) = (known["latitude"]?.double ?? 0, known["longitude"]?.double ?? 0)
        fixes.append(
            """
            {"timestamp":\(known["timestamp"]?.double ?? 0),"latitude":\(latitude),"longitude":\(longitude),
            "horizontalAccuracy":\(known["horizontalAccuracy"]?.double ?? 0)}
            """)
        let batch =
            #"{"devices":[{"person":"walker","device":"walker-phone","fixes":[\#(fixes.joined(separator: ","))]}]}"#
        return village.house.manage("POST", "/v1/imports/\(id)/batches", batch)
    }

    /// A count of the only device of a batch.
    private static func count(_ answer: Answer, _ name: String) -> Int64? {
        answer["devices"]?.array.map(Array.init)?.first?[name]?.int
    }

    private static func revise(_ village: Village, _ what: String) -> Answer {
        village.house.manage("POST", "/v1/imports/\(id)/\(what)", #"{"reason":"the wrong file"}"#)
    }

    @Test func `an undone import leaves everything as before it, and a redone one as after it`() throws {
        let village = try Village()
        let before = Self.seen(village)
        let known = try #require(
            village.house.manage("GET", "/v1/people/walker/track?limit=1").items.first)
        let brought = try Self.bring(village, known: known)
        #expect(Self.count(brought, "new") == 90 && Self.count(brought, "duplicate") == 1)
        let (after, fingerprints) = (Self.seen(village), village.house.fingerprints())
        #expect(after != before)

        let undone = Self.revise(village, "withdrawals")
        #expect(undone["fixes"]?.int == 90 && undone["next"]?.isNull == true, "\(undone.text)")
        #expect(Self.seen(village) == before)
        // Again: there is nothing more to do, and no event.
        let head = village.house.service.log.head
        #expect(Self.revise(village, "withdrawals")["fixes"]?.int == 90)
        #expect(try village.house.events(after: head).filter { $0.event.kind == .fixesWithdrawn }.isEmpty)
        // The same file again brings nothing back.
        let again = try Self.bring(village, known: known)
        #expect(Self.count(again, "new") == 0)
        #expect(Self.seen(village) == before)

        #expect(Self.revise(village, "restorations")["fixes"]?.int == 90)
        #expect(Self.seen(village) == after)
        for table in ["current", "timeline"] {
            #expect(village.house.fingerprints()[table] == fingerprints[table])
        }
    }

    @Test func `only the operator undoes an import, one that nobody made has no fixes, and ids have a form`() throws {
        let village = try Village()
        for asker in [Village.Asker.subject, .oldFriend, .stranger, .phone] {
            let refused = village.house.send(
                "POST", "/v1/imports/\(Self.id)/withdrawals", as: village.tokens[asker], #"{"reason":"x"}"#)
            #expect(refused.status == 404, "\(asker): \(refused.text)")
        }
        let none = Self.revise(village, "withdrawals")
        #expect(none["fixes"]?.int == 0 && none["next"]?.isNull == true)
        let path = "/v1/imports/\(Self.id)/withdrawals"
        let before = village.house.send("POST", path, as: village.house.operatorToken, #"{"reason":"x","after":-1}"#)
        #expect(before.status == 422, "\(before.text)")
        for id in ["x", "5f0c1d6e-3f60-8cb9-9d1f-2f5f1a1f7a03"] {
            let refused = village.house.send(
                "POST", "/v1/imports/\(id)/batches", as: village.house.operatorToken,
                #"{"device":"walker-phone","fixes":[]}"#)
            #expect(refused.status == 400, "\(refused.text)")
        }
    }
}
