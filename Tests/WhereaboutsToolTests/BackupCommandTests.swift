import Glibc
import JSON
import Replies
import Service
import TestSupport
import Testing

@testable import WhereaboutsTool

/// `backup`, `restore` and `export`, with and without a service running.
@Suite struct BackupCommandTests {
    private let folder: TemporaryFolder
    private var data: String { folder.path + "/state" }

    /// Anna has stayed two hours at one spot of the open Atlantic, a fix a minute.
    init() throws {
        folder = TemporaryFolder()
        let lines = (0..<120).map { minute in
            #"{"user":"anna","timestamp":\#(1_704_067_200 + 60 * minute),"latitude":30.0001,"longitude":-40.0001}"#
        }
        let file = try folder.write(lines.joined(separator: "\n") + "\n", to: "stay.jsonl")
        #expect(tool("import", "--format", "fixes", file).exitCode == 0)
    }

    private func tool(_ arguments: String..., data: String? = nil) -> (exitCode: Int32, results: String, notes: String)
    {
        let screen = Screen()
        let exitCode = Program.run(["--data", data ?? self.data] + arguments, console: screen.console)
        return (exitCode, screen.results, screen.notes)
    }

    private func visits(_ data: String) throws -> [JSONValue] {
        let answer = try json(tool("visits", "--person", "anna", "--json", data: data))
        return answer["visits"]?.array.map(Array.init) ?? []
    }

    @Test func `a backup of a running service is put back as a directory that answers the same`() throws {
        func backedUp() throws -> (exitCode: Int32, results: String, notes: String) {
            // It holds the directory for as long as it lives.
            let service = try House.open(data)
            defer { service.stop() }
            _ = try service.listen(host: "127.0.0.1", port: 0)
            return tool("backup", folder.path + "/copy", "--json")
        }
        let made = try backedUp()
        #expect(made.exitCode == 0)
        #expect(tool("backup", folder.path + "/copy").notes.contains("Name a folder that does not exist yet"))

        let again = folder.path + "/again"
        #expect(tool("restore", folder.path + "/copy", data: again).exitCode == 3)
        let restored = tool("restore", folder.path + "/copy", "--kek", data + "/kek", data: again)
        #expect(restored.exitCode == 0)
        let events = try #require(try json(made.results)["events"]?.int)
        #expect(restored.results.hasPrefix("\(Text.count(Int(events))) events of "))
        #expect(tool("verify", data: again).exitCode == 0)
        let (before, after) = (try visits(data).map { $0.text("id") }, try visits(again).map { $0.text("id") })
        #expect(before.count == 1 && after == before)
        #expect(tool("restore", folder.path + "/copy", "--kek", data + "/kek", data: again).exitCode == 3)
    }

    @Test func `shipped events are put back up to a number or a moment, with their root`() throws {
        let target = folder.path + "/target"
        mkdir(target, 0o700)
        try folder.write(#"{"shipping":{"directory":"\#(target)"}}"#, to: "state/config.json")
        // The end of a service ships the remaining events.
        try House.open(data).stop()
        let log = target + "/" + (try #require(names(in: target).first))
        let whole = tool("restore", log, "--kek", data + "/kek", "--json", data: folder.path + "/whole")
        let all = try #require(try json(whole.results)["events"]?.int)
        let later = try json(whole.results)["later"]?.int
        #expect(whole.exitCode == 0 && later == 0)
        #expect(try json(whole.results).text("root").count == 64)

        let half = tool("restore", log, "--kek", data + "/kek", "--number", "60", data: folder.path + "/half")
        #expect(half.exitCode == 0 && half.results.contains("60 events of "), "\(half.notes)")
        #expect(half.results.contains("The root over them is "))
        #expect(half.results.contains("The folder has \(Text.count(Int(all) - 60)) later events."))
        #expect(tool("verify", data: folder.path + "/half").exitCode == 0)

        let early = tool("restore", log, "--kek", data + "/kek", "--until", "2001-01-01", data: folder.path + "/none")
        #expect(early.exitCode == 3 && early.notes.contains("The first event was recorded at"))
        let both = tool("restore", log, "--number", "1", "--until", "2026-01-01", data: folder.path + "/none")
        #expect(both.exitCode == 2 && both.notes.contains("not both"))
        let doctor = tool("doctor")
        #expect(doctor.results.contains("\(target) is writable"))
    }

    @Test func `an export holds all, is on record with its purpose, and can be imported again`() throws {
        #expect(tool("export", "--person", "anna").exitCode == 2)
        #expect(tool("export", "--person", "nobody", "--purpose", "x").exitCode == 3)
        let exported = tool("export", "--person", "anna", "--purpose", "she asked for it")
        #expect(exported.exitCode == 0 && exported.notes.isEmpty)
        let document = try json(exported.results)
        #expect(document.text("person") == "anna")
        for (member, _) in PersonLists.all { #expect(document[member]?.array != nil, "\(member)") }
        #expect(document["visits"]?.count == 1 && document["devices"]?.count == 1)
        let reads = document["audit"]?.array.map(Array.init)?.filter { $0.text("purpose") == "she asked for it" } ?? []
        let questions = Set(reads.compactMap { $0["question"]?.string })
        #expect(questions.isSuperset(of: ["track", "visits", "trips", "crossings", "places", "settings"]))

        let fixes = document["fixes"]?.array.map(Array.init) ?? []
        #expect(fixes.count == 120)
        let file = try folder.write(
            fixes.map { String(decoding: $0.jsonLine, as: UTF8.self) }.joined(), to: "export.jsonl")
        let other = folder.path + "/other"
        let imported = tool("import", "--format", "fixes", "--person", "anna", "--json", file, data: other)
        #expect(try json(imported.results)["new"]?.int == 120)
        let (before, after) = (try visits(data), try visits(other))
        for member in ["arrival", "departure", "latitude", "longitude"] {
            #expect(before.map { $0[member]?.double } == after.map { $0[member]?.double }, "\(member)")
        }
    }

    @Test(arguments: ["gpx", "geojson", "kml", "csv", "owntracks", "fixes"])
    func `the exported track is imported here as known, and elsewhere as new`(form: String) throws {
        let exported = tool("export", "--person", "anna", "--purpose", "for my map", "--format", form)
        #expect(exported.exitCode == 0 && exported.notes.isEmpty)
        let file = try folder.write(exported.results, to: "track")
        let again = tool("import", "--person", "anna", "--device", "import-anna", "--json", file)
        let counts = try json(again.results)
        #expect(counts["new"]?.int == 0 && counts["duplicate"]?.int == 120)
        let elsewhere = tool("import", "--person", "anna", "--json", file, data: folder.path + "/\(form)")
        #expect(try json(elsewhere.results)["new"]?.int == 120)
        let visits = (try visits(data), try visits(folder.path + "/\(form)"))
        #expect(visits.0.map { $0["arrival"]?.double } == visits.1.map { $0["arrival"]?.double } && visits.0.count == 1)
        let audit = try json(tool("audit", "--person", "anna", "--json"))["audit"]?.array.map(Array.init) ?? []
        #expect(audit.contains { $0["purpose"]?.string == "for my map" && $0["question"]?.string == "track" })
    }

    /// A fix that came back with another member would be a second event beside the first.
    @Test func `JSON lines of fixes come back as the very same fixes`() throws {
        let lines = (0..<20).map { minute in
            #"{"user":"ben","timestamp":\#(1_704_067_200 + 60 * minute).25,"latitude":48.2,"longitude":16.37,"#
                + #""horizontalAccuracy":4.5,"altitude":\#(171 + minute),"verticalAccuracy":3,"batteryLevel":0.5,"#
                + #""speed":1.25,"course":90.5,"id":"a\#(minute)","wifi":{"ssid":"home"}}"#
        }
        let file = try folder.write(lines.joined(separator: "\n") + "\n", to: "ben.jsonl")
        #expect(tool("import", "--format", "fixes", "--device", "ben-phone", file).exitCode == 0)
        let exported = tool("export", "--person", "ben", "--purpose", "x", "--format", "fixes")
        #expect(exported.exitCode == 0 && !exported.results.contains("ben-phone"))
        let again = try folder.write(exported.results, to: "again.jsonl")
        let counts = try json(
            tool("import", "--person", "ben", "--device", "ben-phone", "--json", again).results)
        #expect(counts["read"]?.int == 20 && counts["duplicate"]?.int == 20)
        #expect(counts["new"]?.int == 0 && counts["twins"]?.int == 0)
    }

    @Test func `a range and a device choose the fixes of a track`() throws {
        func points(_ arguments: String...) -> Int {
            let screen = Screen()
            let words = ["--data", data, "export", "--person", "anna", "--purpose", "x", "--format", "gpx"]
            #expect(Program.run(words + arguments, console: screen.console) == 0)
            return screen.results.split(separator: "<trkpt ").count - 1
        }
        #expect(points("--from", "1704067200", "--to", "1704070800") == 60)
        #expect(points("--device", "import-anna") == 120)
        #expect(points("--device", "anna-phone") == 0)
        #expect(tool("export", "--person", "anna", "--purpose", "x", "--day", "2024-01-01").exitCode == 2)
    }
}
