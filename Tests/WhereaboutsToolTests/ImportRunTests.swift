import FileFormats
import Geodesy
import JSON
import ReferenceSystems
import Service
import Synchronization
import TestSupport
import Testing
import Whereabouts
import WhereaboutsClient
import WireFormats

@testable import Log
@testable import WhereaboutsTool

@Suite struct ImportRunTests {
    /// 2030-01-01T00:00:00Z: later than every fix in these tests.
    private static let now = Timestamp(milliseconds: 1_893_456_000_000)

    private func run(
        _ service: FakeService, person: String? = nil, device: String? = nil, system: CoordinateReferenceSystem? = nil,
        console: Console = Screen().console
    ) -> ImportRun {
        let choices = ImportRun.Choices(
            person: person.flatMap { Handle($0) }, device: device.flatMap { Handle($0) }, system: system, now: Self.now)
        return ImportRun(
            client: Client(service: ServiceClient(transport: service, token: "wo_test")), choices: choices,
            console: console)
    }

    /// The counts, times and boxes that gpxpy found; boxes there are of all points, so they are compared where every
    /// point has a time.
    @Test(
        .enabled(if: Repository.fixtures != nil, "WHEREABOUTS_FIXTURES names no folder with recorded files."),
        arguments: ["korita-zbevnica.gpx", "cerknicko-jezero.gpx", "garmin-connect-run.gpx", "elgolfo1.gpx"])
    func `a recorded file is reported as another reader counts it`(name: String) throws {
        let folder = try #require(Repository.fixtures)
        let allExpected = try json(contents("\(folder)/expected.json"))
        let expected = try #require(allExpected[name])
        let service = FakeService()
        var run = run(service, person: "anna")

        let report = try run.importFile("\(folder)/\(name)")
        let answer = try json(String(decoding: report.json, as: UTF8.self))

        let timed = try #require(expected["timed"]?.int)
        #expect(answer["format"]?.string == "gpx")
        #expect(answer["read"]?.int == expected["fixes"]?.int)
        #expect(answer["untimed"]?.int == expected["fixes"]?.int.map { $0 - timed })
        #expect(answer["new"]?.int == expected["distinct"]?.int ?? 0)
        #expect(answer["duplicate"]?.int == expected["distinct"]?.int.map { timed - $0 } ?? 0)
        #expect(answer["rejected"]?.count == 0)
        #expect(answer["firstFix"]?.double == expected["first"]?.string.flatMap { ISO8601.parse($0)?.seconds })
        #expect(answer["lastFix"]?.double == expected["last"]?.string.flatMap { ISO8601.parse($0)?.seconds })
        if timed > 0 {
            let box = answer["bbox"]?.array?.compactMap(\.double) ?? []
            let expectedBox = expected["bbox"]?.array?.compactMap(\.double) ?? []
            #expect(box.count == 4 && expectedBox.count == 4)
            #expect(zip(box, expectedBox).allSatisfy { abs($0 - $1) <= 0.5e-6 + 1e-12 })
        }
        #expect(
            run.additions == (timed > 0 ? ["Added the person anna.", "Added the device import-anna of anna."] : []))

        let again = try run.importFile("\(folder)/\(name)")
        #expect(again.new == 0)
        #expect(again.duplicate == Int(timed))
    }

    private func contents(_ path: String) throws -> String {
        String(decoding: try #require(DataDirectory.read(path, atMost: 1 << 20)), as: UTF8.self)
    }

    @Test func `lines go to the people they name, who are added if they do not exist`() throws {
        let folder = TemporaryFolder()
        let file = try folder.write(
            """
            {"user":"anna","timestamp":1700000000,"latitude":1,"longitude":2}
            {"user":"ben","timestamp":1700000001,"latitude":3,"longitude":4}
            {"timestamp":1700000002,"latitude":5,"longitude":6}

            {"user":"anna","timestamp":1700000000,"latitude":1,"longitude":2}
            {"user":"ben","timestamp":1700000001,"latitude":91,"longitude":4}
            {"user":"ben","latitude":1,"longitude":4}
            no json
            {"user":"ben","timestamp":1700000003,"latitude":-91,"longitude":4}
            """, to: "mixed.jsonl")
        let service = FakeService(.init(people: ["anna": ["phone"]]))
        var run = run(service)

        let report = try run.importFile(file)

        #expect((report.read, report.new, report.duplicate, report.untimed) == (8, 2, 1, 0))
        let rejected = report.rejected.map { "\($0.reason) \($0.count) \($0.firstAt)" }
        #expect(rejected == ["missingField 2 3", "badCoordinate 2 6", "notJSON 1 8"])
        #expect(
            run.additions == [
                "Added the device import-anna of anna.", "Added the person ben.", "Added the device import-ben of ben.",
            ])
        #expect(service.state.withLock { $0.people } == ["anna": ["phone", "import-anna"], "ben": ["import-ben"]])
    }

    @Test func `a long file is posted in batches of a thousand`() throws {
        let folder = TemporaryFolder()
        let lines = (0..<2500).map { #"{"timestamp":\#(1_700_000_000 + $0),"latitude":1,"longitude":2}"# }
        let file = try folder.write(lines.joined(separator: "\n"), to: "long.jsonl")
        let service = FakeService()
        var run = run(service, person: "anna")

        let report = try run.importFile(file)

        #expect(service.state.withLock { $0.batchSizes } == [1000, 1000, 500])
        #expect(report.new == 2500)
        #expect(report.firstFix?.milliseconds == 1_700_000_000_000)
        #expect(report.lastFix?.milliseconds == 1_700_002_499_000)
    }

    @Test func `what the service rejects is counted with its line and not covered`() throws {
        let folder = TemporaryFolder()
        let file = try folder.write(
            """
            {"timestamp":1700000000,"latitude":10,"longitude":2}
            {"timestamp":1700000009,"latitude":80,"longitude":2}
            """, to: "a.jsonl")
        var run = run(FakeService(.init(northernmost: 50)), person: "anna")

        let report = try run.importFile(file)

        #expect(
            String(decoding: report.json, as: UTF8.self)
                == #"{"file":"\#(file)","format":"fixes","import":"\#(report.undoID ?? "")","read":2,"new":1,"#
                + #""duplicate":0,"twins":0,"untimed":0,"rejected":[{"reason":"badCoordinate","count":1,"firstAt":2}],"#
                + #""firstFix":1700000000,"lastFix":1700000000,"bbox":[10,2,10,2]}"# + "\n")
    }

    /// EPSG:3857 at Vienna by pyproj 3.7.2: (16.3738, 48.2082) is (1822723.07835, 6141562.05432).
    @Test func `a file in another reference system is converted`() throws {
        let folder = TemporaryFolder()
        let file = try folder.write(
            """
            <gpx><trk><trkseg>
            <trkpt lat="6141562.05432" lon="1822723.07835"><time>2024-01-01T00:00:00Z</time></trkpt>
            <trkpt lat="9e9" lon="0"><time>2024-01-01T00:00:01Z</time></trkpt>
            <trkpt lat="9e9" lon="0"></trkpt>
            </trkseg></trk></gpx>
            """, to: "mercator.gpx")
        var run = run(FakeService(), person: "anna", system: try CoordinateReferenceSystem(code: "EPSG:3857"))

        let report = try run.importFile(file)

        let box = try #require(report.box)
        #expect(abs(box.south - 48.2082) < 1e-8 && abs(box.west - 16.3738) < 1e-8)
        #expect(report.rejected.map { "\($0.reason) \($0.count) \($0.firstAt)" } == ["badCoordinate 1 3"])
        #expect(report.untimed == 1)
    }

    @Test func `what stands before the damage is imported, and the damage told`() throws {
        let folder = TemporaryFolder()
        let file = try folder.write(
            """
            <gpx><trk><trkseg><trkpt lat="1" lon="2"><time>2024-01-01T00:00:00Z</time></trkpt>
            <trkpt lat="1" lon=
            """, to: "cut.gpx")
        var run = run(FakeService(), person: "anna")

        let report = try run.importFile(file)

        #expect(report.new == 1)
        let start = "\(file) was not read to its end: The file is damaged (GPX): The XML is malformed at line 2"
        #expect(report.fault?.hasPrefix(start) == true)
    }

    @Test func `files that cannot be imported say why`() throws {
        let folder = TemporaryFolder()
        var run = run(FakeService(), person: "anna")
        #expect(
            try run.importFile(folder.write("", to: "e")).fault?.hasSuffix(
                "/e was not imported. The file is empty; export or copy it again.")
                == true)
        #expect(
            try run.importFile(folder.path + "/none").fault?.hasSuffix(
                "/none cannot be opened: No such file or directory.") == true)
        #expect(try run.importFile(folder.path).fault?.hasSuffix(" cannot be read: Is a directory.") == true)
    }

    @Test func `one device is not used for two people`() throws {
        let folder = TemporaryFolder()
        let file = try folder.write(
            """
            {"user":"anna","timestamp":1700000000,"latitude":1,"longitude":2}
            {"user":"ben","timestamp":1700000001,"latitude":3,"longitude":4}
            """, to: "two.jsonl")
        var run = run(FakeService(), device: "logger")
        #expect(throws: ToolError.self) { try run.importFile(file) }
    }

    @Test func `a track without a person asks for one`() throws {
        let folder = TemporaryFolder()
        let file = try folder.write("<gpx></gpx>", to: "a.gpx")
        var run = run(FakeService())
        #expect(throws: ToolError.usage("\(file) does not name a person; add --person HANDLE.")) {
            try run.importFile(file)
        }
    }

    @Test func `a token that is not good ends the import`() throws {
        let folder = TemporaryFolder()
        let file = try folder.write(#"{"timestamp":1700000000,"latitude":1,"longitude":2}"#, to: "a.jsonl")
        let choices = ImportRun.Choices(person: Handle("anna"), now: Self.now)
        var run = ImportRun(
            client: Client(service: ServiceClient(transport: FakeService(), token: "wo_other")), choices: choices,
            console: Screen().console)
        #expect(throws: ToolError.data("Not authenticated")) { try run.importFile(file) }
    }

    @Test func `a kept state with counts that no import can have is not continued`() throws {
        let place = ImportState.Place(
            ["\(UInt64.random(in: 0 ... .max))"], head: Hash256(words: (1, 2, 3, 4)), byteCount: 5)
        defer { ImportState.remove(place) }
        func state(_ count: Int64, ofPerson: Int64) throws -> ImportState? {
            let anna = try #require(Handle("anna"))
            var report = ImportReport(file: "walk.gpx", format: "gpx")
            report.new = Int(count)
            ImportState(
                id: Identifier128(high: 1, low: 2).description, log: "1/1", position: FilePosition(part: 0, records: 1),
                report: report, people: [anna: ImportCounts(new: ofPerson)]
            ).save(place)
            return ImportState(place)
        }
        #expect(try state(7, ofPerson: 7)?.report.new == 7)
        #expect(try state(.max, ofPerson: 7) == nil)
        #expect(try state(7, ofPerson: .max) == nil)
    }
}
