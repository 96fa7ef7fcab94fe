import Cryptography
import FileFormats
import HTTPServer
import JSON
import Log
import Replies
import TestSupport
import Testing
import Whereabouts

@testable import PersonEndpoints
@testable import Service

/// A person's archive by the API, opened by Python's `zipfile`.
@Suite struct ArchiveExportTests {
    private let village: Village
    private let folder = TemporaryFolder()

    init() throws { village = try Village() }

    private func export(_ asker: Village.Asker, _ query: String = "") -> Answer {
        _ = village.house.settled()
        return village.house.send(
            "GET", "/v1/people/walker/exports/archive\(query)", as: village.tokens[asker])
    }

    /// The members of an archive as JSON: the name, and the lines as text.
    private func members(of answer: Answer) throws -> [String: String] {
        let path = "\(folder.path)/walker.zip"
        try write(answer.body, to: path)
        let program = """
            import hashlib, json, sys, zipfile
            archive = zipfile.ZipFile(sys.stdin.read().strip())
            assert archive.testzip() is None
            manifest = json.loads(archive.read("manifest.json"))
            assert [entry["name"] for entry in manifest["members"]] == archive.namelist()[:-1]
            for entry in manifest["members"]:
                content = archive.read(entry["name"])
                assert (len(content), hashlib.sha256(content).hexdigest()) == (entry["bytes"], entry["sha256"]), entry
            print(json.dumps({name: archive.read(name).decode() for name in archive.namelist()}))
            """
        let all = try JSONDocument.parse(Array(try Foreign.python(program, input: path).utf8)).root
        return Dictionary(
            uniqueKeysWithValues: try #require(all.members).map { ($0.key, $0.value.string ?? "") })
    }

    /// The reads of the history or of settings that the last request recorded, oldest first.
    private func reads(after number: Int64) throws -> [(id: RequestID, read: LocationRead)] {
        try village.house.events(after: number).compactMap { recorded in
            if case .locationRead(let read) = recorded.event { (recorded.correlation, read) } else { nil }
        }
    }

    @Test(arguments: [Village.Asker.subject, .operator])
    func `the person and the operator get everything, and the record has the hash of the file`(
        asker: Village.Asker
    ) throws {
        let head = village.house.service.log.head
        let answer = export(asker)
        #expect(answer.status == 200 && answer.header("Content-Type") == "application/zip", "\(answer.text)")
        #expect(answer.header("Content-Disposition") == "attachment; filename=\"walker.zip\"")
        let reads = try reads(after: head)
        let last = try #require(reads.last)
        #expect(last.read.question == .track && !last.read.verdict.isRefused)
        #expect(last.read.content.content?.answerHash == Hash256(SHA256().hash(answer.body)))
        #expect(answer.header("Whereabouts-Count") == "\(last.read.count)")
        #expect(Set(reads.map(\.id)).count == 1, "All parts are of one request.")
        let questions = Set(reads.map(\.read.question))
        #expect(questions.isSuperset(of: [.visits, .trips, .crossings, .places, .settings, .audit, .track]))
        #expect(questions.contains(.events) == (asker == .operator))

        let members = try members(of: answer)
        #expect((members["events.jsonl"] != nil) == (asker == .operator))
        for (name, _) in PersonLists.all where name != "fixes" { #expect(members["\(name).jsonl"] != nil, "\(name)") }
        #expect(members["proof/walker.person-proof"]?.isEmpty == false)
        // The lists have the lines of their own routes; the two that are imported again name the person too.
        for list in ["visits", "trips", "places"] {
            let page = village.house.send("GET", "/v1/people/walker/\(list)", as: village.tokens[asker])
            let lines = page.items.map { item in
                var writer = JSONWriter()
                writer.value(item)
                return String(decoding: writer.bytes, as: UTF8.self)
            }
            #expect(!lines.isEmpty)
            #expect(members["\(list).jsonl"] == lines.map { $0 + "\n" }.joined(), "\(list)")
        }
        let fixes = village.house.send("GET", "/v1/people/walker/exports/fixes", as: village.tokens[asker]).text
        let months = members.filter { $0.key.hasPrefix("fixes/") }.sorted { $0.key < $1.key }
        #expect(try lines(months.map(\.value).joined()) == lines(fixes))
    }

    /// Lines without the device and the person, which only one of the forms names.
    private func lines(_ text: String) throws -> [String] {
        try text.split(separator: "\n").map { line in
            var writer = JSONWriter()
            writer.beginObject()
            for (name, value) in try #require(try JSONDocument.parse(Array(line.utf8)).root.members)
            where !["user", "device"].contains(name) {
                writer.key(name)
                writer.value(value)
            }
            writer.endObject()
            return String(decoding: writer.bytes, as: UTF8.self)
        }
    }

    @Test func `a friend gets the fixes that the grant shows, in one read, and nothing else`() throws {
        let friend = try village.house.addPerson("archivist")
        let track = village.house.manage("GET", "/v1/people/walker/track").items
        let middle = try #require(track[track.count / 2]["timestamp"]?.double)
        try village.house.grant("walker", to: "archivist", history: true, more: #","from":\#(middle)"#)
        _ = village.house.settled()
        let head = village.house.service.log.head
        let answer = village.house.send("GET", "/v1/people/walker/exports/archive", as: friend)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(try reads(after: head).count == 1)
        let members = try members(of: answer)
        let others = members.keys.filter { !$0.hasPrefix("fixes/") }.sorted()
        #expect(others == ["README.txt", "manifest.json"])
        #expect(members["README.txt"]?.hasPrefix(ArchiveLines.firstWords) == true)
        let fixes = try members.filter { $0.key.hasPrefix("fixes/") }.values.flatMap { text in
            try text.split(separator: "\n").map {
                try #require(try JSONDocument.parse(Array($0.utf8)).root["timestamp"]?.double)
            }
        }
        #expect(fixes.count == track.filter { ($0["timestamp"]?.double ?? 0) >= middle }.count)
        #expect(fixes.allSatisfy { $0 >= middle })
    }

    @Test func `a friend does not get the fixes of a pause`() throws {
        let friend = try village.house.addPerson("archivist")
        let begin = village.house.clock.seconds
        func report(_ seconds: Int64) {
            let answer = village.house.send(
                "POST", "/v1/fixes", as: village.tokens[.phone],
                #"{"timestamp":\#(seconds),"latitude":48.2,"longitude":16.4,"horizontalAccuracy":5}"#)
            #expect(answer.status == 200 && answer["new"]?.int == 1, "\(answer.text)")
        }
        func post(_ path: String, _ method: String = "POST") {
            let answer = village.house.send(method, path, as: village.tokens[.subject], "{}")
            #expect(answer.status < 300, "\(answer.text)")
        }
        report(begin)
        village.house.clock.advance(seconds: 60)
        post("/v1/people/walker/pauses")
        village.house.clock.advance(seconds: 60)
        report(begin + 120)
        village.house.clock.advance(seconds: 60)
        post("/v1/people/walker/pauses", "DELETE")
        village.house.clock.advance(seconds: 60)
        report(begin + 240)
        try village.house.grant("walker", to: "archivist", history: true)
        _ = village.house.settled()
        let all = [begin, begin + 120, begin + 240]
        for (asker, shown) in [(friend, [begin, begin + 240]), (try #require(village.tokens[.subject]), all)] {
            let answer = village.house.send("GET", "/v1/people/walker/exports/archive", as: asker)
            let times = try members(of: answer).filter { $0.key.hasPrefix("fixes/") }.values.flatMap { text in
                try text.split(separator: "\n").map {
                    try #require(try JSONDocument.parse(Array($0.utf8)).root["timestamp"]?.int)
                }
            }
            #expect(times.filter { $0 >= begin }.sorted() == shown)
        }
    }

    @Test func `a list has all its pages, and each entry once`() throws {
        // One page of the audit has a hundred entries.
        let reads = 230
        for _ in 0..<reads {
            // The limit on reads of one person by another.
            village.house.clock.advance(seconds: 60)
            let answer = village.house.send("GET", "/v1/people/walker/location", as: village.tokens[.oldFriend])
            #expect(answer.status == 200, "\(answer.text)")
        }
        let lines = try #require(try members(of: export(.operator))["audit.jsonl"]).split(separator: "\n")
        let entries = try lines.map { try JSONDocument.parse(Array($0.utf8)).root }
        let numbers = try entries.map { try #require($0["number"]?.int) }
        #expect(Set(numbers).count == numbers.count && numbers == numbers.sorted(by: >))
        #expect(
            entries.count { $0["requester"]?.string == "oldfriend" || $0["reader"]?.string == "oldfriend" } >= reads)
    }

    @Test func `a list is left out if the token is not good for it`() throws {
        _ = village.house.settled()
        let token = try village.house.token(of: "walker", scopes: #"["query"]"#)
        let head = village.house.service.log.head
        let answer = village.house.send("GET", "/v1/people/walker/exports/archive", as: token)
        #expect(answer.status == 200, "\(answer.text)")
        let members = try members(of: answer)
        #expect(members["visits.jsonl"] != nil && members["reported-visits.jsonl"] != nil)
        for name in ["audit", "grants", "tokens", "webhooks", "events"] { #expect(members["\(name).jsonl"] == nil) }
        #expect(members.keys.allSatisfy { !$0.hasPrefix("proof/") })
        #expect(try reads(after: head).allSatisfy { !$0.read.verdict.isRefused })
    }

    @Test func `an archive has no range and no device`() throws {
        for query in ["?from=0", "?to=1", "?day=2026-05-04", "?device=walker-phone"] {
            let answer = export(.subject, query)
            #expect(answer.status == 422, "\(query): \(answer.text)")
        }
    }

    @Test func `half of the answering threads write archives, and a turn that ends is free again`() {
        let turns = ArchiveTurns()
        #expect((0..<4).map { _ in turns.take() } == [true, true, false, false])
        turns.giveBack()
        #expect(turns.take() && !turns.take())
        // A request that ends, also with a refusal, gives its turn back.
        for _ in 0..<3 { #expect(export(.subject, "?from=0").status == 422) }
        for _ in 0..<3 { #expect(export(.stranger).status == 404) }
        for _ in 0..<3 { #expect(export(.subject).status == 200) }
    }
}
