import JSON
import Service
import TestSupport
import Testing

@testable import WhereaboutsTool

/// The archive of a person, and its way into another service.
@Suite struct ArchiveTests {
    private let folder = TemporaryFolder()

    private func tool(_ house: String, _ arguments: String...) -> (exitCode: Int32, results: String, notes: String) {
        let screen = Screen()
        let exitCode = Program.run(["--data", "\(folder.path)/\(house)"] + arguments, console: screen.console)
        return (exitCode, screen.results, screen.notes)
    }

    /// Days in two places, a week between them, with way from one to the other; some fixes have a time of receipt.
    private func fixes(weeks: Int, devices: [String]) throws -> String {
        var lines: [String] = []
        for week in 0..<weeks {
            for quarter in 0..<32 {
                let second = 1_767_225_600 + week * 604_800 + quarter * 900
                let latitude = quarter < 16 ? 48.2 : 48.25 + Double(quarter % 3) / 100_000
                let receipt = quarter % 2 == 0 ? #","receivedAt":\#(second + 30)"# : ""
                let device = devices[week % devices.count]
                lines.append(
                    #"{"user":"anna","device":"\#(device)","timestamp":\#(second).25,"latitude":\#(latitude),"longitude":16.3,"horizontalAccuracy":8,"altitude":171.5,"speed":0.5,"remainder":{"conn":"w"}\#(receipt)}"#
                )
            }
        }
        return try folder.write(lines.joined(separator: "\n"), to: "fixes.jsonl")
    }

    private func fill(_ house: String) throws {
        let report = try json(
            tool(house, "import", "--json", try fixes(weeks: 10, devices: ["phone", "watch"])).results)
        #expect(report["new"]?.int == 320)
        let visit = try folder.write(
            #"{"user":"anna","device":"phone","type":"visit","latitude":48.3,"longitude":16.4,"arrival":1766000000,"departure":1766007200,"timestamp":1766007200}"#,
            to: "visits.jsonl")
        let visits = try json(tool(house, "import", "--json", visit))
        #expect(visits["format"]?.string == "whereabouts")
        #expect(visits["visits"]?["new"]?.int == 1)
        #expect(
            tool(house, "region", "add", "--person", "anna", "--id", "Büro", "--circle", "48.25,16.3,200").exitCode == 0
        )
        #expect(
            tool(
                house, "correction", "add", "--person", "anna", "--not-visit", "--from", "2026-01-08T00:00:00Z", "--to",
                "2026-01-08T04:00:00Z"
            ).exitCode == 0)
        #expect(tool(house, "person", "add", "ben").exitCode == 0)
        #expect(
            tool(house, "grant", "add", "--person", "anna", "--requester", "ben", "--precision", "exact").exitCode == 0)
    }

    private func export(_ house: String, to name: String) throws -> String {
        let screen = Screen()
        let exitCode = Program.run(
            [
                "--data", "\(folder.path)/\(house)", "export", "--person", "anna", "--purpose", "a test", "--format",
                "archive",
            ], console: screen.console)
        #expect(exitCode == 0, "\(screen.notes)")
        let path = "\(folder.path)/\(name)"
        try write(screen.bytes, to: path)
        return path
    }

    /// The answers of a house without the parts that depend on its history: numbers of events and times of reports.
    private func answers(_ house: String) throws -> [String] {
        try ["track", "visits", "trips", "crossings"].flatMap { list in
            let text = tool(house, list, "--person", "anna", "--json").results
            let items = try #require(try json(text)[list == "track" ? "fixes" : list]?.array)
            return items.map { item in
                var writer = JSONWriter()
                writer.beginObject()
                for (name, value) in item.members?.map({ $0 }) ?? [] {
                    guard !["number", "reported", "firstReported", "departureReported"].contains(name) else { continue }
                    writer.key(name)
                    writer.value(value)
                }
                writer.endObject()
                return "\(list) \(String(decoding: writer.bytes, as: UTF8.self))"
            }
        }
    }

    private func fingerprint(_ house: String) throws -> String? {
        let status = try json(tool(house, "projections", "--json"))
        return status["projections"]?.array?.first { $0["name"]?.string == "timeline" }?["fingerprint"]?.string
    }

    @Test func `an archive restored into an empty house gives the same history, and again nothing`() throws {
        try fill("old")
        let archive = try export("old", to: "anna.zip")
        let imported = tool("new", "import", "--json", archive)
        #expect(imported.exitCode == 0, "\(imported.notes)")
        let skipped = imported.notes.split(separator: "\n").filter { $0.contains("skipped") }
        #expect(skipped.count == 1, "\(imported.notes)")
        #expect(skipped.first?.contains("lists and what is derived from the fixes, which are not restored") == true)
        let report = try json(imported.results)
        #expect(report["new"]?.int == 320)
        #expect(report["visits"]?["new"]?.int == 1)
        #expect(report["settings"]?["new"]?.int == 2)
        #expect(report["rejected"]?.count == 0)
        let (before, after) = (try answers("old"), try answers("new"))
        #expect(before == after)
        #expect(before.contains { $0.hasPrefix("crossings") })
        #expect(before.contains { $0.hasPrefix("trips") })
        let again = try json(tool("new", "import", "--json", archive))
        #expect(again["new"]?.int == 0)
        #expect(again["duplicate"]?.int == 320)
        #expect((again["visits"]?["new"]?.int, again["visits"]?["duplicate"]?.int) == (0, 1))
        #expect((again["settings"]?["new"]?.int, again["settings"]?["duplicate"]?.int) == (0, 2))
    }

    /// Ids of regions are numbers of a log, so only a house without them has the same rows.
    @Test func `an archive of fixes alone gives an equal fingerprint`() throws {
        _ = tool("old", "import", try fixes(weeks: 3, devices: ["phone"]))
        let imported = tool("new", "import", "--json", try export("old", to: "anna.zip"))
        #expect(try json(imported.results)["new"]?.int == 96)
        #expect(try fingerprint("old") != nil)
        #expect(try fingerprint("old") == fingerprint("new"))
    }

    @Test func `the manifest has the length, the items and the hash of every other member`() throws {
        try fill("old")
        let archive = try export("old", to: "anna.zip")
        let program = """
            import hashlib, json, sys, zipfile
            archive = zipfile.ZipFile(sys.argv[1])
            assert archive.testzip() is None
            manifest = json.loads(archive.read("manifest.json"))
            assert (manifest["form"], manifest["version"], manifest["person"]) == ("whereabouts-archive", 1, "anna")
            assert [entry["name"] for entry in manifest["members"]] == archive.namelist()[:-1]
            for entry in manifest["members"]:
                content = archive.read(entry["name"])
                assert len(content) == entry["bytes"], entry
                assert hashlib.sha256(content).hexdigest() == entry["sha256"], entry
                if entry["name"].endswith(".jsonl"):
                    assert len(content.splitlines()) == entry["items"], entry
                    for line in content.splitlines():
                        json.loads(line)
            items = {entry["name"]: entry["items"] for entry in manifest["members"]}
            assert sum(count for name, count in items.items() if name.startswith("fixes/")) == 320
            assert items["grants.jsonl"] == 1 and items["regions.jsonl"] == 1 and items["corrections.jsonl"] == 1
            assert items["events.jsonl"] > 320 and items["audit.jsonl"] > 0 and items["visits.jsonl"] > 0
            open(sys.argv[2], "wb").write(archive.read("proof/anna.person-proof"))
            key = json.loads(archive.read("proof/checkpoint.json"))["key"]
            open(sys.argv[3], "w").write(f"log {key}\\nquorum none\\n")
            """
        let file = try folder.write(program, to: "check.py")
        let (proof, policy) = ("\(folder.path)/proof", "\(folder.path)/policy")
        let (status, output) = Foreign.run("python3 '\(file)' '\(archive)' '\(proof)' '\(policy)' 2>&1")
        #expect(status == 0, "\(output)")
        let verified = Foreign.run(
            "'\(Foreign.python)' '\(Repository.root)/scripts/verify_proof.py' '\(proof)' --policy '\(policy)' 2>&1")
        #expect(verified.status == 0, "\(verified.output)")
    }

    /// Live fixes have the service's time of receipt, which decides which of them are used.
    @Test func `live fixes keep their time of receipt, and a person exports without the operator's events`() throws {
        let service = try House.open("\(folder.path)/live")
        defer { service.stop() }
        let url = "http://127.0.0.1:\(try service.listen(host: "127.0.0.1", port: 0))"
        let reach = ["--url", url, "--token", service.adminToken]
        #expect(whereabouts(words: reach + ["person", "add", "anna"]).exitCode == 0)
        let added = whereabouts(words: reach + ["device", "add", "phone", "--person", "anna", "--json"])
        let key = try #require(try json(added.results)["password"]?.string)
        // The last one is too far in the future to be used.
        let program = """
            import json, sys, time, urllib.request
            url, key = sys.stdin.read().split()
            begin = int(time.time()) - 7200
            fixes = [
                {"timestamp": begin + 60 * n + 0.5, "latitude": 48.2, "longitude": 16.3 + n // 60 / 10,
                 "horizontalAccuracy": 8}
                for n in range(120)
            ] + [{"timestamp": time.time() + 600, "latitude": 10, "longitude": 10}]
            request = urllib.request.Request(
                url + "/v1/fixes", json.dumps({"fixes": fixes}).encode(),
                {"Authorization": "Bearer " + key, "Content-Type": "application/json"})
            print(json.load(urllib.request.urlopen(request, timeout=60))["new"])
            """
        #expect(try Foreign.python(program, input: "\(url) \(key)") == "121\n")
        // Another program has posted them, so the tool does not know which event to wait for.
        _ = try eventually("the fixes in the track") { () -> Bool? in
            let track = try json(whereabouts(words: reach + ["track", "--person", "anna", "--json"]))
            return track["fixes"]?.count == 121 ? true : nil
        }

        let own = try json(
            whereabouts(
                words: reach + ["token", "add", "--person", "anna", "--scopes", "query,audit,manage", "--json"]
            )
            .results)
        let personal = ["--url", url, "--token", try #require(own["token"]?.string)]
        var answers: [[String]] = []
        for (name, reach) in [("operator", reach), ("anna", personal)] {
            let screen = Screen()
            let exitCode = Program.run(
                reach + ["export", "--person", "anna", "--purpose", "a test", "--format", "archive"],
                console: screen.console)
            #expect(exitCode == 0, "\(screen.notes)")
            try write(screen.bytes, to: "\(folder.path)/\(name).zip")
            let list = Foreign.run("python3 -m zipfile -l '\(folder.path)/\(name).zip'")
            #expect(list.output.contains("events.jsonl") == (name == "operator"))
            let imported = tool(name, "import", "--json", "\(folder.path)/\(name).zip")
            #expect(try json(imported.results)["new"]?.int == 121, "\(imported.notes)")
            answers.append(try self.answers(name))
        }
        #expect(answers[0] == answers[1])
        let before = whereabouts(words: reach + ["visits", "--person", "anna", "--json"]).results
        let visits = try #require(try json(before)["visits"]?.array?.map { $0["arrival"]?.double })
        let after = try json(tool("operator", "visits", "--person", "anna", "--json"))
        #expect(try #require(after["visits"]?.array?.map { $0["arrival"]?.double }) == visits)
        #expect(visits.count == 2)
        let track = try json(tool("operator", "track", "--person", "anna", "--json"))
        #expect(
            track["fixes"]?.array?.allSatisfy { $0["receivedAt"] != nil && $0["device"]?.string == "phone" } == true)
        #expect(track["fixes"]?.array?.filter { $0["anomaly"] != nil }.count == 1)
    }

    @Test func `a region that the service refuses is rejected, and the next one is made`() throws {
        let file = try folder.write(
            [
                #"{"user":"anna","id":"nowhere","circle":{"latitude":91,"longitude":16,"radiusMeters":100}}"#,
                #"{"user":"anna","id":"home","circle":{"latitude":48.2,"longitude":16,"radiusMeters":100}}"#,
                #"{"user":"anna","type":"rename","latitude":48.2,"longitude":16,"name":"Home"}"#,
                #"{"user":"anna","type":"merge","from":2,"to":1}"#,
            ].joined(separator: "\n"), to: "regions.jsonl")
        let imported = tool("empty", "import", "--json", file)
        #expect(imported.exitCode == 0)
        #expect(imported.notes == "Added the person anna.\n")
        let report = try json(imported.results)
        #expect(report["settings"]?["new"]?.int == 2)
        let rejected = report["rejected"]?.array?.map { "\($0.text("reason")) \($0["firstAt"]?.int ?? 0)" }
        #expect(rejected == ["badValue 1"])
        #expect(tool("empty", "region", "list", "--person", "anna").results.contains("home"))
    }

    @Test func `a friend's archive has the fixes of the grant, and restores them`() throws {
        try fill("old")
        let refused = tool(
            "old", "grant", "add", "--person", "anna", "--requester", "ben", "--history", "--precision", "exact")
        #expect(refused.exitCode == 0, "\(refused.notes)")
        let screen = Screen()
        let exitCode = Program.run(
            [
                "--data", "\(folder.path)/old", "export", "--person", "anna", "--purpose", "a test", "--format",
                "archive",
                "--as", "ben",
            ], console: screen.console)
        #expect(exitCode == 0, "\(screen.notes)")
        try write(screen.bytes, to: "\(folder.path)/ben.zip")
        let list = Foreign.run("python3 -m zipfile -l '\(folder.path)/ben.zip'").output
        #expect(
            list.contains("fixes/2026-01.jsonl") && !list.contains("audit.jsonl") && !list.contains("regions.jsonl"))
        let report = try json(tool("new", "import", "--json", "\(folder.path)/ben.zip"))
        #expect(report["new"]?.int == 320 && report["settings"] == nil, "\(report)")
        let tracks = try ["old", "new"].map { house in
            try #require(try json(tool(house, "track", "--person", "anna", "--json"))["fixes"]?.array).map {
                "\($0["timestamp"]?.double ?? 0) \($0["latitude"]?.double ?? 0) \($0["device"]?.string ?? "")"
            }
        }
        #expect(tracks[0] == tracks[1])
    }

    @Test func `a range or a device is for tracks`() {
        for option in [["--device", "phone"], ["--from", "today"]] {
            let (exitCode, _, notes) = whereabouts(
                words: [
                    "--data", folder.path + "/none", "export", "--person", "anna", "--purpose", "x", "--format",
                    "archive",
                ] + option)
            #expect(exitCode == 2)
            #expect(notes.contains("not limited to a range or a device"))
        }
    }
}
