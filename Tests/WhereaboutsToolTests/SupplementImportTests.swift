import Foundation
import Geodesy
import Glibc
import JSON
import Service
import TestProcesses
import TestSupport
import Testing

@testable import Gazetteer
@testable import WhereaboutsTool

@Suite(.enabled(if: GazetteerLocation.find() != nil, "There is no gazetteer beside the program."))
struct SupplementImportTests {
    // MARK: Rejected files

    @Test func `what cannot be an address is counted by reason, and the rest is taken`() throws {
        let folder = try GazetteerFolder()
        let good = "2.36,48.85,1,Rue A,,Paris,,,75004,1,1"
        var file = Data((SourceFiles.header + good + "\r\n").utf8)
        for line in [
            "2.36,48.85,1,Rue A", "2.36,48.85,1,Rue A,,Paris,,,75004,1,1,1", ",,1,Rue A,,,,,,1,1",
            "x,48.85,1,Rue A,,,,,,1,1", "181,48.85,1,Rue A,,,,,,1,1", "48.85,-122.3,1,Rue A,,,,,,1,1",
            "nan,inf,1,Rue A,,,,,,1,1", "0,0,1,Rue A,,,,,,1,1", "2.36,48.85,1,,,,,,,1,1", "2.36,48.85,1,  ,,,,,,1,1",
            "2.36,48.85,1,\"Rue A,,,,,,1,1", "2.36,48.85,1,\"Rue\" A,,,,,,1,1", "2.36,48.85,1,Rue\0A,,,,,,1,1",
            "2.36,48.85,1,\(String(repeating: "x", count: 201)),,,,,,1,1",
        ] { file += Data((line + "\n").utf8) }
        file += Data("2.36,48.85,1,Rue ".utf8) + Data([0xFF, 0xC3, 0x28]) + Data(",,,,,,1,1\n".utf8)
        file += Data("\n\n".utf8)
        file += Data(repeating: UInt8(ascii: "9"), count: 200_000) + Data("\n".utf8)
        file += Data("2.37,48.86,2,Rue A,,Paris,,,75004,1,1".utf8)
        let path = folder.path + "hostile.csv"
        try file.write(to: URL(filePath: path))
        let report = try folder.import("hostile", [path])
        #expect(report.supplement?.addressCount == 2)
        #expect(report.supplement?.streetCount == 1)
        let counts = Dictionary(uniqueKeysWithValues: report.files[0].rejected.map { ($0.reason, $0.count) })
        #expect(
            counts == [
                "columnCount": 2, "noCoordinate": 3, "coordinateOutOfRange": 2, "zeroCoordinate": 1, "noStreet": 2,
                "quote": 2, "controlCharacter": 1, "fieldTooLong": 1, "invalidUTF8": 1, "lineTooLong": 1,
            ])
        #expect(report.files[0].rejected.first { $0.reason == "columnCount" }?.firstAt == 3)
        #expect(report.files[0].lines == 21)
    }

    @Test func `features that are no points, no JSON or nowhere are counted`() throws {
        let folder = try GazetteerFolder()
        func feature(_ geometry: String, _ street: String = "\"MAIN ST\"") -> String {
            #"{"type":"Feature","properties":{"hash":"1","number":"0","street":\#(street)},"#
                + #""geometry":\#(geometry)}"# + "\n"
        }
        let report = try folder.add(
            feature("{\"type\":\"Point\",\"coordinates\":[-83.68,32.87]}") + feature("null")
                + feature("{\"type\":\"Polygon\",\"coordinates\":[[[0,0],[1,0],[1,1],[0,0]]]}")
                + feature("{\"type\":\"Point\",\"coordinates\":[]}")
                + feature("{\"type\":\"Point\",\"coordinates\":[\"-83\",32]}")
                + feature("{\"type\":\"Point\",\"coordinates\":[-83.68,32.87]}", "null")
                + String(repeating: "[", count: 1000) + "\n{\"type\":\"Feature\"\n\u{FEFF}{}\n")
        #expect(report.supplement?.addressCount == 1)
        let counts = Dictionary(uniqueKeysWithValues: report.files[0].rejected.map { ($0.reason, $0.count) })
        #expect(counts == ["noCoordinate": 3, "notAPoint": 1, "noStreet": 1, "malformedJSON": 3])
        // A county that writes 0 knows no number.
        #expect(try folder.reverse(32.87, -83.68).thoroughfare == "MAIN ST")
        #expect(try folder.reverse(32.87, -83.68).subThoroughfare == nil)
    }

    @Test(arguments: [
        ("", "form"), ("\n\n", "form"), ("name,street\n", "form"), ("{\"a\":1}\n", "form"), ("\u{1F}\u{8B}", "form"),
        ("PK\u{3}\u{4}", "compressed"), (String(repeating: "x", count: 100_000), "form"),
        ("{\"type\":\"FeatureCollection\",\"features\":[]}\n", "one GeoJSON document"),
    ])
    func `a file of another form is refused in a sentence, and nothing is left`(text: String, word: String) throws {
        let folder = try GazetteerFolder()
        let error = #expect(throws: ToolError.self) { try folder.add(text) }
        #expect(error?.description.contains(word) == true)
        #expect(Supplement.names(in: folder.path) == [])
    }

    @Test func `data of unknown right are not taken`() throws {
        let folder = try GazetteerFolder()
        let error = #expect(throws: ToolError.self) {
            try folder.add(attribution: "The city", licence: nil, SourceFiles.paris)
        }
        #expect(error?.exitCode == 2)
        try folder.add(name: "codes", attribution: nil, licence: nil, SourceFiles.postal)
        #expect(
            try folder.gazetteer().attribution.contains("codes: GeoNames (geonames.org) (CC BY 4.0)"))
    }

    // MARK: Bytes

    private static func rows(_ count: Int) -> [String] {
        (0..<count).map { number in
            let (street, house) = (number / 40, number % 40 + 1)
            return "\(-3.7 + Double(street % 97) * 0.001),\(40.4 + Double(number % 1009) * 0.0001),\(house),"
                + "Calle \(street % 300),,Madrid,,,280\(street % 55),\(number),\(number)\n"
        }
    }

    @Test func `the same rows give the same bytes, in whatever order, file or repetition they come`() throws {
        let folder = try GazetteerFolder()
        let rows = Self.rows(5000)
        try folder.add(name: "one", SourceFiles.header + rows.joined())
        var chance = SplitMix(20_261_122)
        let (half, rest) = (rows.shuffled(using: &chance).prefix(3000), rows.shuffled(using: &chance))
        try folder.add(name: "two", SourceFiles.header + half.joined(), SourceFiles.header + rest.joined())
        #expect(try folder.bytes(of: "one") == folder.bytes(of: "two"))
    }

    @Test func `an import broken off between batches goes on, and comes to the same bytes`() throws {
        let folder = try GazetteerFolder()
        let file = SourceFiles.header + Self.rows(2500).joined() + "bad\n"
        try folder.add(name: "whole", file)
        #expect(throws: ToolError.self) { try folder.add(name: "broken", file, isEnding: { true }) }
        #expect(Supplement.names(in: folder.path) == ["whole"])
        // The line that was broken off at is not read again, and none is left out.
        let path = folder.path + "broken-0"
        #expect(throws: ToolError.self) { try folder.import("broken", [path], isEnding: { true }) }
        let report = try folder.import("broken", [path])
        #expect(report.files[0].lines == 2502)
        #expect(report.files[0].rejected.map(\.count) == [1])
        #expect(try folder.bytes(of: "broken") == folder.bytes(of: "whole"))
    }

    @Test func `a broken-off import does not go on with other files`() throws {
        let folder = try GazetteerFolder()
        let file = SourceFiles.header + Self.rows(1100).joined()
        #expect(throws: ToolError.self) { try folder.add(file, isEnding: { true }) }
        let error = #expect(throws: ToolError.self) { try folder.add(file + "more\n") }
        #expect(error?.description.contains("gazetteer remove test") == true)
    }

    // MARK: Files that are none

    @Test func `a corrupt or foreign supplement is refused by name`() throws {
        let folder = try GazetteerFolder()
        try folder.add(SourceFiles.paris)
        let path = Supplement.path(of: "test", in: folder.path)
        let good = try folder.bytes(of: "test")
        for (bytes, word) in [
            (Data(good.dropLast()), "damaged"), (good + Data([0]), "damaged"), (Data(good.prefix(40)), "damaged"),
            (Data("SQLite format 3\0".utf8), "not a gazetteer"), (Data(), "not a gazetteer"),
            (good.prefix(8) + Data([9, 0, 0, 0]) + good.dropFirst(12), "version 9"),
        ] {
            try bytes.write(to: URL(filePath: path))
            let error = #expect(throws: GazetteerError.self) { try folder.gazetteer() }
            #expect(error?.description.contains(path) == true)
            #expect(error?.description.contains(word) == true)
        }
    }

    /// Any byte behind the header may be wrong.
    @Test func `a supplement damaged further in answers wrongly or not at all, but never crashes`() throws {
        let folder = try GazetteerFolder()
        try folder.add(
            SourceFiles.paris, SourceFiles.postal,
            SourceFiles.place(900_000_001, "Ici", 48.8556, 2.3601, "P.PPL", country: "FR"))
        let good = try folder.bytes(of: "test")
        let path = Supplement.path(of: "test", in: folder.path)
        // Behind the tables of the fold, which are many and small damage in them says little.
        let begin = good.count - 2000
        let transform = GeocentricTransform()
        var chance = SplitMix(20_261_122)
        for _ in 0..<150 {
            var bytes = good
            for _ in 0..<40 {
                let byte = [0, 0xFF, 0x80, UInt8.random(in: 0...255, using: &chance)].randomElement(using: &chance)
                bytes[Int.random(in: begin..<bytes.count, using: &chance)] = byte ?? 0
            }
            try bytes.write(to: URL(filePath: path), options: .atomic)
            let gazetteer = try folder.gazetteer()
            let mark = gazetteer.placemark(
                at: try Coordinate(latitude: 48.8556, longitude: 2.3601), using: transform)
            // Damage in a supplement changes nothing that the bundled file says.
            #expect(mark.isoCountryCode?.description == "FR")
            _ = (
                mark.name, mark.thoroughfare, mark.subThoroughfare, mark.postalCode, mark.locality, mark.areasOfInterest
            )
            for text in ["10 Rue de Rivoli, Paris", "75001", "36120 Ardentes", "5 Rue de Fontenay", "Ici"] {
                for address in gazetteer.addresses(named: text, limit: 5, using: transform) {
                    _ = gazetteer.placemark(of: address, using: transform).name
                }
            }
        }
    }

    // MARK: The command

    private static let tool: String? = {
        let folders = [Bundle.main.bundleURL.deletingLastPathComponent(), Bundle.main.bundleURL]
        return folders.map { $0.appending(path: "whereabouts").path }.first { access($0, X_OK) == 0 }
    }()

    /// Runs the built tool on a separate gazetteer.
    private func run(_ folder: GazetteerFolder, _ arguments: [String], errors: Any? = nil) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: try #require(Self.tool))
        process.arguments = ["--data", folder.path + "data"] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging([
            "WHEREABOUTS_GAZETTEER": folder.path + "places.gazetteer"
        ]) { $1 }
        process.standardOutput = Pipe()
        process.standardError = errors ?? Pipe()
        try process.runBounded()
        return process
    }

    private func first(_ items: JSONValue?) -> JSONValue? { items?.array.map(Array.init)?.first }

    private func text(_ output: Any?) throws -> String {
        String(decoding: try #require(output as? Pipe).fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }

    @Test(.enabled(if: tool != nil, "whereabouts was not built beside the tests"))
    func `what is imported is listed, answers, is attributed and can be removed`() throws {
        let folder = try GazetteerFolder()
        let file = try folder.folder.write(SourceFiles.paris + "bad\n", to: "paris.csv")
        let rights = ["--attribution", "Ville de Paris", "--licence", "ODbL 1.0"]
        let done = try run(folder, ["gazetteer", "import", "--name", "paris", file, "--json"] + rights)
        let report = try json(text(done.standardOutput))
        // A pipe gets no progress.
        #expect(try text(done.standardError) == "")
        done.waitUntilExit()
        #expect(done.terminationStatus == 0)
        #expect(report["addresses"]?.int == 6)
        #expect(first(first(report["files"])?["rejected"])?["reason"]?.string == "columnCount")
        #expect(access(SupplementImport.stagingFolder(of: "paris", in: folder.path), F_OK) != 0)

        let reverse = try run(folder, ["geocode", "reverse", "48.8556,2.3601"])
        #expect(try json(text(reverse.standardOutput))["thoroughfare"]?.string == "Rue de Rivoli")
        let unsure = try run(folder, ["geocode", "reverse", "48.8556,2.3601", "--accuracy", "150"])
        #expect(try json(text(unsure.standardOutput))["thoroughfare"] == nil)
        let forward = try run(folder, ["geocode", "forward", "12 Rue de Rivoli, Paris"])
        #expect(try json(text(forward.standardOutput))["longitude"]?.double == 2.3597)
        let about = try run(folder, ["about"])
        #expect(try text(about.standardOutput).contains("paris: Ville de Paris (ODbL 1.0)"))
        let list = try json(text(try run(folder, ["gazetteer", "list", "--json"]).standardOutput))
        #expect(first(list["items"])?["licence"]?.string == "ODbL 1.0")

        let remove = try run(folder, ["gazetteer", "remove", "paris"])
        remove.waitUntilExit()
        #expect(remove.terminationStatus == 0)
        #expect(Supplement.names(in: folder.path) == [])
        let again = try run(folder, ["gazetteer", "remove", "paris"])
        again.waitUntilExit()
        #expect(again.terminationStatus == 3)
    }

    @Test(.enabled(if: tool != nil, "whereabouts was not built beside the tests"))
    func `a killed import goes on where it was, and comes to the same bytes`() throws {
        let folder = try GazetteerFolder()
        let file = try folder.folder.write(SourceFiles.header + Self.rows(30_000).joined(), to: "big.csv")
        try folder.import("whole", [file])
        let rights = ["--attribution", "The city", "--licence", "CC0 1.0"]
        let words = ["gazetteer", "import", "--name", "killed", file] + rights
        // On a terminal it says how far it is, which is after the batch is durable.
        var (terminal, end): (Int32, Int32) = (-1, -1)
        try #require(openpty(&terminal, &end, nil, nil, nil) == 0)
        let killed = try run(folder, words, errors: FileHandle(fileDescriptor: end, closeOnDealloc: true))
        var said = ""
        var bytes = [UInt8](repeating: 0, count: 4096)
        try eventually("a durable batch of the import") {
            var readable = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
            guard poll(&readable, 1, 100) > 0, case let count = read(terminal, &bytes, bytes.count), count > 0 else {
                return !killed.isRunning
            }
            said += String(decoding: bytes[..<count], as: UTF8.self)
            return said.contains("20,000 lines")
        }
        kill(killed.processIdentifier, SIGKILL)
        killed.waitUntilExit()
        close(terminal)
        #expect(killed.terminationReason == .uncaughtSignal)
        #expect(Supplement.names(in: folder.path) == ["whole"])
        let second = try run(folder, words)
        #expect(try text(second.standardError).contains("continuing after line"))
        second.waitUntilExit()
        #expect(second.terminationStatus == 0)
        #expect(try folder.bytes(of: "killed") == folder.bytes(of: "whole"))
    }

    /// The largest resident memory of the process, by getrusage(2).
    @Test(
        .enabled(if: tool != nil && isLongForm, "A minute long: set WHEREABOUTS_LONG=1."))
    func `a million addresses are imported in 96 MB`() throws {
        let folder = try GazetteerFolder()
        let path = folder.path + "million.csv"
        let file = try #require(fopen(path, "w"))
        fputs(SourceFiles.header, file)
        for number in 0..<1_000_000 {
            let (street, house) = (number / 20, number % 20 + 1)
            fputs(
                "\(-5 + Double(number % 9973) * 0.001),\(38 + Double(number % 10_007) * 0.0004),\(house),"
                    + "Calle de los \(street),,Pueblo \(street / 60),,,\(10_000 + street % 40_000),,\n", file)
        }
        fclose(file)
        let tool = try #require(Self.tool)
        // Measured from a small process: a child of this one would count this one's memory until its exec.
        let said = try Foreign.python(
            """
            import resource, subprocess
            subprocess.run(
                ["\(tool)", "gazetteer", "import", "--name", "million", "\(path)", "--attribution", "Nobody",
                 "--licence", "CC0"],
                env={"WHEREABOUTS_GAZETTEER": "\(folder.path)places.gazetteer"}, stdout=subprocess.DEVNULL, check=True)
            print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
            """)
        let kibibytes = try #require(Int(said.split(separator: "\n")[0]))
        #expect(kibibytes < 96 << 10)
        let made = try Supplement(path: Supplement.path(of: "million", in: folder.path), name: "million")
        #expect(made.addressCount == 1_000_000)
        #expect(made.streetCount == 50_000)
    }
}
