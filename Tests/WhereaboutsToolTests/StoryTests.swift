import Glibc
import JSON
import Log
import Service
import Synchronization
import TestSupport
import Testing
import Threading

@testable import WhereaboutsTool

/// The tool on its own data directory. No service is running, so the tool opens the log itself.
@Suite struct StoryTests {
    @Test func `an import counts new fixes, known fixes and twins apart`() throws {
        let folder = TemporaryFolder()
        let lines = [
            #"{"timestamp":1704067200,"latitude":30,"longitude":-40}"#,
            #"{"timestamp":1704067200,"latitude":30,"longitude":-40,"speed":3}"#,
            #"{"timestamp":1704067100,"latitude":30,"longitude":-40}"#,
            #"{"timestamp":1704067300,"latitude":91,"longitude":-40}"#,
        ]
        func counts(_ lines: some Sequence<String>) throws -> [Int64?] {
            let file = try folder.write(lines.joined(separator: "\n"), to: "fixes.jsonl")
            let screen = Screen()
            let state = folder.path + "/state"
            _ = Program.run(
                ["--data", state, "import", "--person", "anna", "--json", file], console: screen.console)
            let report = try json(screen.results)
            return ["read", "new", "duplicate", "twins"].map { report[$0]?.int }
                + [report["rejected"]?.count].map { $0.map(Int64.init) }
        }
        #expect(try counts(lines[..<1]) == [1, 1, 0, 0, 0])
        #expect(try counts(lines) == [4, 1, 1, 1, 1])
        #expect(try counts(lines[..<3].reversed()) == [3, 0, 3, 0, 0])
    }

    @Test func `a person is added, imported, asked about, read, audited and erased`() throws {
        let folder = TemporaryFolder()
        let data = folder.path + "/state"
        func tool(_ arguments: String...) -> (exitCode: Int32, results: String, notes: String) {
            let screen = Screen()
            let exitCode = Program.run(["--data", data] + arguments, console: screen.console)
            return (exitCode, screen.results, screen.notes)
        }
        // Two hours at one spot of the open Atlantic, a fix a minute.
        let points = (0..<120).map { minute in
            let time = "2024-01-01T\(minute < 60 ? "00" : "01"):\(minute % 60 < 10 ? "0" : "")\(minute % 60):00Z"
            return #"<trkpt lat="30.0001" lon="-40.0001"><time>\#(time)</time></trkpt>"#
        }
        let file = try folder.write("<gpx><trk><trkseg>\(points.joined())</trkseg></trk></gpx>", to: "stay.gpx")

        #expect(tool("person", "add", "ben").results == "Added the person ben.\n")
        let imported = tool("import", "--person", "anna", "--json", file)
        #expect(imported.exitCode == 0)
        #expect(try json(imported.results)["new"]?.int == 120)
        let begun = try #require(try json(imported.results)["import"]?.string)
        #expect(
            imported.notes
                == "Import \(begun). To undo it: whereabouts import undo \(begun)\n"
                + "Added the person anna.\nAdded the device import-anna of anna.\n")
        #expect(try json(tool("import", "--person", "anna", "--json", file))["duplicate"]?.int == 120)

        let region = ["--person", "anna", "--id", "spot", "--circle", "30,-40,500"]
        #expect(Program.run(["--data", data, "region", "add"] + region, console: Screen().console) == 0)

        let track = try json(tool("track", "--person", "anna", "--json", "--purpose", "a test"))
        #expect(track["fixes"]?.count == 120)
        let visits = try json(tool("visits", "--person", "anna", "--json"))
        #expect(visits["visits"]?.count == 1)
        let visit = try #require(visits["visits"]?.array.map(Array.init)?.first)
        #expect(visit["arrival"]?.double == 1_704_067_200)

        // No grant, so no such person; then a grant.
        #expect(tool("location", "--person", "anna", "--as", "ben").notes == "whereabouts: There is no such person.\n")
        #expect(tool("grant", "add", "--person", "anna", "--requester", "ben", "--precision", "exact").exitCode == 0)
        #expect(tool("location", "--person", "anna", "--as", "ben").exitCode == 0)

        #expect(
            tool("person", "schedule", "anna", "--every", "30m").results.hasSuffix(
                "the service asks where anna is every 1800 s.\n"))
        let schedules = try json(tool("person", "schedule", "anna", "--json"))["schedules"]?.array.map(
            Array.init)
        #expect(schedules?.first?["everySeconds"]?.int == 1800)
        #expect(tool("person", "schedule", "anna", "--stop", "\(schedules?.first?["id"]?.int ?? 0)").exitCode == 0)
        #expect(tool("person", "schedule", "anna").notes.hasPrefix("anna has no schedules"))

        let corrected = tool(
            "correction", "add", "--person", "anna", "--split", "2024-01-01T01:00:00Z", "--json"
        ).results
        #expect(try json(tool("visits", "--person", "anna", "--json"))["visits"]?.count == 2)
        #expect(tool("correction", "list", "--person", "anna").results.contains("split"))
        #expect(tool("correction", "add", "--person", "anna", "--at", "1,2").exitCode == 2)
        for option in [["--name", "Home"], ["--same-place", "1,2"]] {
            let screen = Screen()
            let words = ["--data", data, "correction", "add", "--person", "anna"] + option
            #expect(Program.run(words, console: screen.console) == 2)
            #expect(screen.notes.contains("\(option[0]) needs the coordinate of the place: give --at LAT,LON too."))
        }
        #expect(
            tool("correction", "remove", "\(try json(corrected)["id"]?.int ?? 0)", "--person", "anna").exitCode == 0)

        // A fix, and then the whole import, are taken back and restored.
        func fixes() throws -> Int? {
            try json(tool("track", "--person", "anna", "--json", "--purpose", "a test"))["fixes"]?.count
        }
        let number = "\(try #require(track["fixes"]?.array.map(Array.init)?.first?["number"]?.int))"
        let fix = ["--person", "anna", number, "--reason", "wrong clock"]
        #expect(tool("fix", "withdraw", "--person", "anna", number).exitCode == 2)
        #expect(Program.run(["--data", data, "fix", "withdraw"] + fix, console: Screen().console) == 0)
        #expect(try fixes() == 119)
        #expect(tool("fix", "list", "--person", "anna").results.contains(number))
        #expect(Program.run(["--data", data, "fix", "restore"] + fix, console: Screen().console) == 0)
        #expect(tool("fix", "list", "--person", "anna").notes == "anna has withdrawn nothing.\n")
        let id = try #require(try json(imported.results)["import"]?.string)
        #expect(tool("import", "undo", id).results == "Withdrew 120 fixes of the import \(id).\n")
        #expect(try fixes() == 0)
        #expect(tool("location", "--person", "anna").notes == "anna has no known location.\n")
        #expect(try json(tool("import", "redo", id, "--json"))["fixes"]?.int == 120)
        #expect(try fixes() == 120)
        #expect(tool("import", "undo", "nonsense").exitCode == 2)
        let listed = try json(tool("import", "list", "--person", "anna", "--json").results)["imports"]?.array.map(
            Array.init)
        #expect(listed?.compactMap { $0["state"]?.string } == ["ended", "ended"])
        #expect(listed?.first?["id"]?.string == id && listed?.first?["counts"]?["new"]?.int == 120)
        #expect(tool("import", "list").results.contains("\(id)  ended"))

        let audit = try json(tool("audit", "--person", "anna", "--json"))
        let reads = audit["audit"]?.array.map(Array.init)?.filter { $0["question"]?.string == "track" } ?? []
        #expect(reads.first?["purpose"]?.string == "a test")

        let diff = ["projections", "rebuild", "timeline"]
        #expect(Program.run(["--data", data] + diff, console: Screen().console) == 0)
        // Web Mercator: x is the longitude times the radius of the equator.
        let mercator = try json(tool("location", "--person", "anna", "--crs", "EPSG:3857", "--json"))
        let x = try #require(mercator["location"]?["x"]?.double)
        #expect(abs(x + 40.0001 * .pi / 180 * 6_378_137) < 0.01)
        #expect(tool("location", "--person", "anna", "--crs", "EPSG:3857").results.contains("-4452790."))
        // Midnight in Greenwich is still the old year three hours further west.
        for (day, zone, count) in [("2024-01-01", "Etc/UTC", 120), ("2023-12-31", "Etc/GMT+3", 120)] {
            let fixes = tool("track", "--person", "anna", "--day", day, "--time-zone", zone, "--json").results
            #expect(try json(fixes)["fixes"]?.count == count)
        }
        let code = tool("account", "invite").results.prefix(24)
        #expect(tool("account", "list").results.contains("INVITATION"))
        #expect(tool("account", "open", String(code), "--name", "carl").results.hasPrefix("You are carl-"))
        #expect(tool("account", "open", String(code), "--name", "carl").exitCode == 3)

        #expect(tool("projections", "diff", "timeline").exitCode == 0)
        #expect(tool("verify").exitCode == 0)

        let receipts = folder.path + "/anna.erasures"
        let erased = tool("erase", "--person", "anna", "--yes", "--receipt", receipts).results
        #expect(erased.hasSuffix("The receipt is in \(receipts).\n"), "\(erased)")
        #expect(
            String(decoding: try contents(ofFile: receipts), as: UTF8.self).hasPrefix("whereabouts erasure v1\nlog "))
        #expect(tool("visits", "--person", "anna").exitCode == 3)
        #expect(tool("verify").exitCode == 0)
        let events = tool("events", "--as-stored").results.split(separator: "\n")
        #expect(try events.map { try json(String($0))["number"]?.int } == (1...events.count).map { Int64($0) })
    }

    @Test(arguments: [
        ["person", "list"], ["verify"], ["audit", "--person", "anna"], ["person", "remove", "anna", "--yes"],
    ])
    func `a mistyped data directory is named, and nothing is created there`(words: [String]) throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/typo"
        let (exitCode, _, notes) = whereabouts(words: ["--data", path] + words)
        #expect(exitCode == 3)
        #expect(notes.contains("There is no installation in \(path)."))
        #expect(access(path, F_OK) != 0)
    }

    @Test func `while another process has the directory the tool says who`() throws {
        let folder = TemporaryFolder()
        let service = try House.open(folder.path)
        defer { service.stop() }
        let (exitCode, _, notes) = whereabouts("--data", folder.path, "person", "list")
        #expect(exitCode == 3)
        #expect(notes.hasPrefix("whereabouts: Another command (process "))
    }

    @Test func `a command waits for another one that is about to end`() throws {
        let folder = TemporaryFolder()
        #expect(whereabouts("--data", folder.path, "person", "add", "anna").exitCode == 0)
        let other = Mutex<DataDirectory?>(try DataDirectory(path: folder.path))
        #expect(DataDirectory.running(in: folder.path) != nil)
        let ending = WorkerThread {
            usleep(300_000)
            other.withLock { $0 = nil }
        }
        defer { ending.join() }
        let (exitCode, results, notes) = whereabouts("--data", folder.path, "person", "list")
        #expect(exitCode == 0, "\(notes)")
        #expect(results.contains("anna"))
    }

    @Test func `a service that listens is asked over its socket`() throws {
        let folder = TemporaryFolder()
        let service = try House.open(folder.path)
        defer { service.stop() }
        _ = try service.listen(host: "127.0.0.1", port: 0)
        #expect(whereabouts("--data", folder.path, "person", "add", "anna").exitCode == 0)
        let people = try json(whereabouts("--data", folder.path, "person", "list", "--json"))
        #expect(people["people"]?.array.map(Array.init)?.map { $0.text("handle") } == ["anna"])
        #expect(whereabouts("--data", folder.path, "person", "add", "anna").exitCode == 3)
        let added = try json(
            whereabouts("--data", folder.path, "device", "add", "phone", "--person", "anna", "--json").results)
        #expect(added["user"]?.string == "phone")
        #expect(added["password"]?.string?.hasPrefix("wd_") == true)
        #expect(whereabouts("--data", folder.path, "doctor").results.contains("service            good"))
    }
}
