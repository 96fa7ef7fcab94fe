import Cryptography
import HTTPServer
import JSON
import Replies
import Synchronization
import TestProcesses
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Answers
@testable import HTTPInterface
@testable import Log
@testable import PostgreSQL
@testable import PostgreSQLLog
@testable import Readers
@testable import Service

/// What holds for every answer of a reader.
@Suite(.enabled(if: PostgreSQLServer.programs != nil, "PostgreSQL is not installed."))
struct ReaderLawTests {
    /// Every read that a reader answers, about Anna.
    private static let targets = [
        "location", "location?crs=EPSG:3857", "track", "track?limit=20", "track?form=points&zoom=12", "visits",
        "crossings", "trips", "places", "summary?from=2026-05-04T00:00:00Z&period=day", "exports/gpx", "envelopes",
    ].map { "/v1/people/anna/\($0)" }

    /// The answer without what is never the same twice: the place up to which it was computed, which moves by one with
    /// each read, sealed cursors, and the times at which the fold of one machine came to know of something.
    private static func text(_ answer: Answer) -> String {
        answer.text.replacing(
            #/"(asOf|next|firstReported|departureReported|reported)":("[^"]*"|[\d.]+)/#, with: "…")
    }

    @Test func `every read route of the reader is in the table of this test`() {
        let routes = RouteTable.all.routes.filter(AnsweredByReaders.includes)
        let tested = routes.filter { route in
            Self.targets.contains { route.match(Route.parts(String($0.prefix { $0 != "?" }))) != nil }
        }
        let others: Set = [
            // Each is a read of those above, in another form or for a part of the person's data.
            "/v1/people/*/visits/*", "/api/0/last", "/api/0/locations",
        ]
        #expect(Set(routes.map(\.path)).subtracting(tested.map(\.path)) == others)
    }

    @Test func `a reader's answer is the writer's, and is on record before it leaves`() throws {
        let scene = try ReaderScene()
        let anna = try scene.fill()
        let ben = try scene.writer.addPerson("ben")
        let cleo = try scene.writer.addPerson("cleo")
        try scene.writer.grant("anna", to: "ben", history: true)
        try scene.writer.grant("anna", to: "cleo", precision: "kilometer")
        let reader = try scene.reader()
        try scene.settle(reader)
        var recorded: Int64 = 0
        for (who, token) in [("anna", anna), ("ben", ben), ("cleo", cleo), ("operator", scene.writer.operatorToken)] {
            for target in Self.targets where who != "cleo" || target.contains("location") {
                // A requester has a limit of reads about one person.
                scene.clock.advance(seconds: 300)
                let headers = [("Whereabouts-Purpose", "test"), ("Accept-Language", "de")]
                let own = scene.writer.send("GET", target, as: token, headers: headers)
                try scene.settle(reader)
                let before = reader.counts.recorded
                let answer = reader.send("GET", target, as: token, headers: headers)
                #expect(answer.status == 200 && own.status == 200, "\(who) \(target): \(own.text) \(answer.text)")
                #expect(reader.counts.recorded == before + 1, "\(who) \(target) was passed on")
                recorded += 1
                #expect(Self.text(answer) == Self.text(own), "\(who) \(target)")
                let mask = { (answer: Answer) in
                    answer.headers.filter { !["whereabouts-request", "date"].contains($0.name.lowercased()) }.map {
                        $0.name == Receipts.header ? "\($0.name) \($0.value.count)" : "\($0.name) \($0.value)"
                    }
                }
                #expect(mask(answer) == mask(own), "\(who) \(target)")
                let record = try #require(try scene.record(of: answer), "\(who) \(target)")
                if !answer.body.isEmpty {
                    #expect(
                        record.content.content?.answerHash == Hash256(SHA256().hash(answer.body)), "\(who) \(target)")
                }
            }
        }
        #expect(reader.counts.recorded == recorded && reader.counts.elsewhere == 0 && reader.counts.unrecorded == 0)
    }

    @Test func `at the same number of the log, the bytes are equal to the last one`() throws {
        let scene = try ReaderScene()
        _ = try scene.fill()
        let reader = try scene.reader()
        try scene.settle(reader)
        let number = scene.writer.service.log.head
        for target in ["visits", "crossings", "trips", "places"] {
            let target = "/v1/people/anna/\(target)?as-of-number=\(number)"
            let headers = [("Whereabouts-Purpose", "test")]
            let token = scene.writer.operatorToken
            let own = scene.writer.send("GET", target, as: token, headers: headers)
            try scene.settle(reader)
            let answer = reader.send("GET", target, as: token, headers: headers)
            #expect(
                own.status == 200 && answer.body == own.body && answer["asOf"]?.int == number,
                "\(target) \(answer.text)")
        }
        #expect(reader.counts.recorded == 4)
    }

    @Test func `a person reads what they wrote, also through a reader`() throws {
        let scene = try ReaderScene()
        let anna = try scene.fill()
        let phone = try scene.writer.addDevice("watch", of: "anna")
        let reader = try scene.reader()
        try scene.settle(reader)
        for round in 1...10 {
            scene.clock.advance(seconds: 60)
            let fix =
                #"{"timestamp":\#(scene.clock.seconds),"latitude":\#(round),"longitude":7,"horizontalAccuracy":5}"#
            let written = reader.send("POST", "/v1/fixes", as: phone, fix)
            #expect(written.status == 200 || written.status == 201, "\(written.text)")
            let place = scene.writer.service.decisions.references(
                of: try #require(scene.writer.service.log.withStanding { $0.person(Handle("anna")!) })
            ).event(scene.writer.service.log.head).text
            let answer = reader.send("GET", "/v1/people/anna/location?at-least=\(place)", as: anna)
            #expect(answer["location"]?["latitude"]?.double == Double(round), "\(answer.status) \(answer.text)")
        }
        #expect(reader.counts.passedOn == 10 && reader.counts.recorded == 10)
    }

    @Test func `several readers at once record each of their answers once`() throws {
        let scene = try ReaderScene()
        let anna = try scene.fill()
        let readers = try (0..<3).map { _ in try scene.reader() }
        for reader in readers { try scene.settle(reader) }
        let answers = Mutex([Answer]())
        let boxes = readers.map { UncheckedBox($0) }
        let threads = (0..<6).map { index in
            WorkerThread {
                for round in 0..<20 {
                    let target = round % 2 == 0 ? "/v1/people/anna/visits" : "/v1/people/anna/location"
                    let answer = boxes[index % 3].value.send("GET", target, as: anna)
                    answers.withLock { $0.append(answer) }
                }
            }
        }
        for thread in threads { thread.join() }
        let all = answers.withLock { $0 }
        #expect(all.count == 120 && all.allSatisfy { $0.status == 200 })
        let reads = try scene.writer.events().filter { if case .locationRead = $0.event { true } else { false } }
        let ids = all.compactMap { $0.header("Whereabouts-Request").flatMap { RequestID($0) } }
        #expect(Set(ids).count == 120 && Set(reads.map(\.correlation)).isSuperset(of: ids))
        #expect(reads.count == 120)
    }

    @Test func `a read of several pages through a reader counts once`() throws {
        let scene = try ReaderScene()
        _ = try scene.fill()
        let ben = try scene.writer.addPerson("ben")
        try scene.writer.grant("anna", to: "ben", history: true)
        let reader = try scene.reader()
        try scene.settle(reader)
        scene.clock.advance(seconds: 60)
        var (next, pages, numbers): (String?, Int, [String]) = (nil, 0, [])
        repeat {
            // A page of the reader may not know yet that the page before is on record; the writer answers it then.
            let answer = reader.send(
                "GET", "/v1/people/anna/track?limit=10" + (next.map { "&after=\($0)" } ?? ""), as: ben)
            try #require(answer.status == 200, "\(answer.text)")
            numbers += answer.items.compactMap { $0["timestamp"]?.double.map { "\($0)" } }
            next = answer["next"]?.string
            pages += 1
        } while next != nil
        #expect(pages == 16 && Set(numbers).count == 150, "\(numbers.count) \(Set(numbers).count)")
        let reads = try scene.writer.events().compactMap { event -> LocationRead? in
            if case .locationRead(let read) = event.event { read } else { nil }
        }
        #expect(reads.count == 16 && reads.count { $0.continuing == nil } == 1)
    }
}
