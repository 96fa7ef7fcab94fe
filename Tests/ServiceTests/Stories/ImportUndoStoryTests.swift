import JSON
import Log
import Projections
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
    private static func bring(_ village: Village, known: JSONValue, as id: String = id) throws -> Answer {
        let time = 1_777_881_600 - 3600
        var fixes = (0..<90).map { index in
            #"{"timestamp":\#(time + index * 60),"latitude":48.25,"longitude":16.4,"horizontalAccuracy":9}"#
        }
        let (latitude, longitude) = (known["latitude"]?.double ?? 0, known["longitude"]?.double ?? 0)
        // Another system's stay, on the day before.
        let visit =
            #"{"timestamp":\#(time - 70_000),"latitude":48.26,"longitude":16.41,"horizontalAccuracy":20,"#
            + #""arrival":\#(time - 80_000),"departure":\#(time - 70_000)}"#
        fixes.append(
            """
            {"timestamp":\(known["timestamp"]?.double ?? 0),"latitude":\(latitude),"longitude":\(longitude),
            "horizontalAccuracy":\(known["horizontalAccuracy"]?.double ?? 0)}
            """)
        let batch =
            #"{"devices":[{"person":"walker","device":"walker-phone","fixes":[\#(fixes.joined(separator: ","))],"#
            + #""visits":[\#(visit)]}]}"#
        return village.house.send(
            "POST", "/v1/imports/\(id)/batches", as: village.house.operatorToken, batch)
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
        #expect(undone["fixes"]?.int == 90 && undone["visits"]?.int == 1, "\(undone.text)")
        #expect(undone["next"]?.isNull == true)
        #expect(Self.states(village) == ["undone"])
        #expect(Self.seen(village) == before)
        // Again: there is nothing more to do, and no event.
        let head = village.house.service.log.head
        #expect(Self.revise(village, "withdrawals")["fixes"]?.int == 90)
        #expect(try village.house.events(after: head).filter { $0.event.kind == .fixesWithdrawn }.isEmpty)
        // The same file again brings nothing back, and the import that was undone takes no more.
        #expect(try Self.bring(village, known: known).status == 422)
        let again = try Self.bring(village, known: known, as: "5f0c1d6e-3f60-4cb9-9d1f-2f5f1a1f7a04")
        #expect(Self.count(again, "new") == 0 && Self.count(again, "duplicate") == 91)
        #expect(Self.seen(village) == before)

        #expect(Self.revise(village, "restorations")["fixes"]?.int == 90)
        #expect(Self.seen(village) == after)
        for table in ["current", "timeline"] {
            #expect(village.house.fingerprints()[table] == fingerprints[table])
        }
    }

    private static func states(_ village: Village) -> [String] {
        village.house.manage("GET", "/v1/imports").items.compactMap { $0["state"]?.string }
    }

    // MARK: Regions and corrections

    private static let evening = 1_777_881_600 - 3600
    /// A region where only the import has fixes.
    private static let region =
        #"{"id":"evening","circle":{"latitude":48.25,"longitude":16.4,"radiusMeters":200}}"#
    /// A correction of each kind. The first three name what only the import has caused; the last one also names a stay
    /// that the phone has reported.
    private static let corrections = [
        #"{"type":"split","at":\#(evening + 2400)}"#,
        #"{"type":"rename","latitude":48.25,"longitude":16.4,"name":"The tent"}"#,
        #"{"type":"notVisit","from":\#(evening - 81_000),"to":\#(evening - 69_000)}"#,
        #"{"type":"merge","from":\#(evening - 14_400),"to":\#(evening + 5400)}"#,
    ]

    /// Adds the region and the corrections.
    ///
    /// - Returns: The ids of the corrections.
    private static func settle(_ village: Village) throws -> [String] {
        let added = village.house.send(
            "POST", "/v1/people/walker/regions", as: village.tokens[.subject], region)
        #expect(added.status == 201, "\(added.text)")
        return try corrections.map { body in
            let made = village.house.send(
                "POST", "/v1/people/walker/corrections", as: village.tokens[.subject], body)
            return try #require(made["id"]?.string, "\(made.text)")
        }
    }

    private static func unsettle(_ village: Village, _ corrections: [String]) {
        for path in ["regions/evening"] + corrections.map({ "corrections/\($0)" }) {
            let gone = village.house.send("DELETE", "/v1/people/walker/\(path)", as: village.tokens[.subject])
            #expect(gone.status == 200, "\(gone.text)")
        }
    }

    private static func tables(_ village: Village) -> [String: Fingerprint?] {
        let all = village.house.fingerprints()
        return ["current": all["current"], "timeline": all["timeline"]]
    }

    private static func known(_ village: Village) throws -> JSONValue {
        try #require(village.house.manage("GET", "/v1/people/walker/track?limit=1").items.first)
    }

    @Test func `regions and corrections from before the import are as before after it is undone`() throws {
        let village = try Village()
        _ = try Self.settle(village)
        let before = Self.seen(village)
        _ = try Self.bring(village, known: try Self.known(village))
        let (after, brought) = (Self.seen(village), Self.tables(village))
        #expect(after[2].contains("evening") && !before[2].contains("evening"), "The import crosses the region.")
        #expect(after[1] != before[1])
        #expect(Self.revise(village, "withdrawals")["fixes"]?.int == 90)
        #expect(Self.seen(village) == before)
        #expect(Self.revise(village, "restorations")["fixes"]?.int == 90)
        #expect(Self.seen(village) == after)
        #expect(Self.tables(village) == brought)
    }

    @Test func `regions and corrections made meanwhile stay, act on nothing that is gone, and act again`() throws {
        let village = try Village()
        let before = Self.seen(village)
        _ = try Self.bring(village, known: try Self.known(village))
        let imported = Self.seen(village)
        let corrections = try Self.settle(village)
        let (corrected, correctedTables) = (Self.seen(village), Self.tables(village))
        #expect(corrected[1] != imported[1] && corrected[2].contains("evening"))
        #expect(Self.revise(village, "withdrawals")["fixes"]?.int == 90)
        // As in a house that never had the import and has the same settings.
        let other = try Village()
        _ = try Self.settle(other)
        #expect(Self.seen(village).map(Self.plain) == Self.seen(other).map(Self.plain))
        let listed = village.house.send("GET", "/v1/people/walker/corrections", as: village.tokens[.subject]).items
        #expect(listed.count == 4)
        // The import is restored: what the person has corrected is corrected again.
        #expect(Self.revise(village, "restorations")["fixes"]?.int == 90)
        #expect(Self.seen(village) == corrected)
        #expect(Self.tables(village) == correctedTables)
        // Without the import and without the settings, everything is as before both.
        _ = Self.revise(village, "withdrawals")
        Self.unsettle(village, corrections)
        #expect(Self.seen(village) == before)
    }

    /// An answer without what depends on the house: references and times of reports.
    private static func plain(_ text: String) -> String {
        text.replacing(/"(number|reported|firstReported|departureReported)":("[^"]*"|[0-9.]+)/, with: "")
    }

    @Test func `an import is begun once for the same file, is listed, ends, and its person may undo it`() throws {
        let village = try Village()
        let head = String(repeating: "5f", count: 32)
        func begin(_ bytes: Int) -> Answer {
            village.house.manage(
                "POST", "/v1/imports",
                #"{"person":"walker","file":{"name":"Records.json","format":"google-records","bytes":\#(bytes),"#
                    + #""sha256":"\#(head)"}}"#)
        }
        let (first, same, other) = (begin(900), begin(900), begin(901))
        let id = try #require(first["id"]?.string, "\(first.text)")
        #expect(first["resumed"]?.bool == false && first["addedPerson"]?.bool == false)
        #expect(same["id"]?.string == id && same["resumed"]?.bool == true)
        #expect(other["id"]?.string != id && other["resumed"]?.bool == false)

        let known = try #require(village.house.manage("GET", "/v1/people/walker/track?limit=1").items.first)
        let before = Self.seen(village)
        #expect(Self.count(try Self.bring(village, known: known, as: id), "new") == 90)
        let counts = #"{"people":[{"person":"walker","new":90,"duplicate":1,"visits":1}],"fault":"Cut short."}"#
        for _ in 0..<2 {
            #expect(village.house.manage("POST", "/v1/imports/\(id)/ends", counts).status == 200)
        }
        #expect(try Self.bring(village, known: known, as: id).status == 422)
        #expect(begin(900)["id"]?.string != id)
        let listed = village.house.send("GET", "/v1/people/walker/imports", as: village.tokens[.subject]).items
        let item = try #require(listed.first { $0["id"]?.string == id })
        #expect(item["state"]?.string == "ended" && item["file"]?.string == "Records.json")
        #expect(item["counts"]?["new"]?.int == 90 && item["counts"]?["visits"]?.int == 1)
        #expect(item["faulty"]?.bool == true && item["fault"]?.string == "Cut short.")
        #expect(listed.compactMap { $0["state"]?.string }.sorted() == ["ended", "running", "running"])
        let audited = try #require(
            village.house.send("GET", "/v1/people/walker/audit", as: village.tokens[.subject]).items.first {
                $0["event"]?.string == "ImportBegan"
            })
        #expect(audited["name"]?.string == "Records.json")

        // A person knows no numbers of the log.
        let undone = village.house.send(
            "POST", "/v1/imports/\(id)/withdrawals", as: village.tokens[.subject], #"{"reason":"not my file"}"#)
        #expect(undone["fixes"]?.int == 90 && undone["visits"]?.int == 1, "\(undone.text)")
        #expect(Self.seen(village) == before)
        // The standing is the same after a refold.
        try village.house.restart()
        let again = village.house.send("GET", "/v1/people/walker/imports", as: village.tokens[.subject]).items
        #expect(again.first { $0["id"]?.string == id }?["state"]?.string == "undone")
    }

    @Test func `an import of two people is undone by each for their own history, and by the operator for both`() throws
    {
        let village = try Village()
        func batch(_ id: String) -> Answer {
            let fix = #"{"timestamp":1500000000,"latitude":1,"longitude":2}"#
            let devices = ["walker", "stranger"].map { person in
                #"{"person":"\#(person)","device":"import-\#(person)","fixes":[\#(fix)]}"#
            }
            return village.house.manage(
                "POST", "/v1/imports/\(id)/batches", #"{"devices":[\#(devices.joined(separator: ","))]}"#)
        }
        #expect(batch(Self.id).status == 200)
        let item = try #require(village.house.manage("GET", "/v1/imports").items.first)
        #expect(item["people"]?.array.map { $0.compactMap(\.string) } == ["walker", "stranger"])
        let path = "/v1/imports/\(Self.id)/withdrawals"
        let own = village.house.send("POST", path, as: village.tokens[.subject], #"{"reason":"not mine"}"#)
        #expect(own["fixes"]?.int == 1, "\(own.text)")
        _ = village.house.settled()
        func fixes(_ person: String) -> Int {
            village.house.manage("GET", "/v1/people/\(person)/track?to=1600000000").items.count
        }
        #expect(fixes("walker") == 0 && fixes("stranger") == 1)
        #expect(Self.revise(village, "withdrawals")["fixes"]?.int == 2)
        _ = village.house.settled()
        #expect(fixes("stranger") == 0)
        #expect(Self.revise(village, "restorations")["fixes"]?.int == 2)
        _ = village.house.settled()
        #expect(fixes("walker") == 1 && fixes("stranger") == 1)
    }

    @Test func `strangers undo no import, one that nobody made has no fixes, and ids have a form`() throws {
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
        for what in ["withdrawals", "restorations"] {
            let unsaid = village.house.send(
                "POST", "/v1/imports/\(Self.id)/\(what)", as: village.house.operatorToken, #"{"reason":""}"#)
            #expect(unsaid.status == 422 && unsaid.text.contains("1 to 500 characters"), "\(unsaid.text)")
        }
        for id in ["x", "5f0c1d6e-3f60-8cb9-9d1f-2f5f1a1f7a03"] {
            let refused = village.house.send(
                "POST", "/v1/imports/\(id)/batches", as: village.house.operatorToken,
                #"{"device":"walker-phone","fixes":[]}"#)
            #expect(refused.status == 400, "\(refused.text)")
        }
    }

    @Test func `counts that no import can have are refused, and the list of imports goes on`() throws {
        let village = try Village()
        let known = try #require(
            village.house.manage("GET", "/v1/people/walker/track?limit=1").items.first)
        _ = try Self.bring(village, known: known)
        for count in ["-1", "1000000000001", "9223372036854775807"] {
            let end = village.house.send(
                "POST", "/v1/imports/\(Self.id)/ends", as: village.house.operatorToken,
                #"{"people":[{"person":"walker","new":\#(count)}]}"#)
            #expect(end.status == 422, "\(end.text)")
        }
        #expect(village.house.manage("GET", "/v1/imports").items.first?["state"]?.string == "running")
        let beyond = village.house.send(
            "POST", "/v1/imports/\(Self.id)/withdrawals", as: village.house.operatorToken,
            #"{"reason":"x","after":"9223372036854775807"}"#)
        #expect(beyond.status == 200 && beyond["fixes"]?.int == 0, "\(beyond.text)")
    }
}
