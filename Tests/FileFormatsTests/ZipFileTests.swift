import FileFormats
import TestSupport
import Testing
import Whereabouts

/// Zip files that the writer makes, read by Python's `zipfile`, by `unzip` and by our own reader.
@Suite struct ZipFileTests {
    /// SplitMix64 (Steele, Lea and Flood 2014).
    private struct Chance: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var z = state
            z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
            z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
            return z ^ (z >> 31)
        }
    }

    private static func packed(_ members: [(name: String, content: [UInt8])], pieceBytes: Int = 1000) -> [UInt8] {
        var zip = ZipFile(at: DosTime(iso: "2026-01-02T03:04:05Z"))
        var bytes: [UInt8] = []
        for (name, content) in members {
            zip.begin(name)
            var rest = content[...]
            while !rest.isEmpty {
                zip.add(Array(rest.prefix(pieceBytes)))
                rest = rest.dropFirst(pieceBytes)
                bytes += zip.takeBytes()
            }
            #expect(zip.endMember().byteCount == content.count)
        }
        zip.finish()
        return bytes + zip.takeBytes()
    }

    private static func noise(_ count: Int, _ seed: UInt64) -> [UInt8] {
        var chance = Chance(state: seed)
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
    }

    @Test(arguments: [1, 999, 100_000])
    func `every reader finds the members as they were written`(pieceBytes: Int) throws {
        let members: [(name: String, content: [UInt8])] = [
            ("empty.txt", []), ("fixes/2026-01.jsonl", Array(String(repeating: "{\"a\":1}\n", count: 5000).utf8)),
            ("Übersicht.bin", Self.noise(70_000, 7)), ("one", [0x0A]),
        ]
        let folder = TemporaryFolder()
        let path = folder.path + "/a.zip"
        try write(Self.packed(members, pieceBytes: pieceBytes), to: path)
        for (name, content) in members {
            try write(content, to: "\(folder.path)/\(name.replacing("/", with: "_"))")
        }
        let script = """
            import sys, zipfile
            archive = zipfile.ZipFile(sys.argv[1])
            assert archive.testzip() is None
            for entry in archive.infolist():
                content = open(sys.argv[2] + "/" + entry.filename.replace("/", "_"), "rb").read()
                assert archive.read(entry) == content, entry
                assert entry.date_time == (2026, 1, 2, 3, 4, 4), entry.date_time
            print(len(archive.namelist()))
            """
        let program = try folder.write(script, to: "read.py")
        let read = Foreign.run("python3 '\(program)' '\(path)' '\(folder.path)'")
        #expect(read.status == 0 && read.output == "4\n", "\(read.output)")
    }

    @Test(.enabled(if: Foreign.has("unzip"), "unzip is not installed."))
    func `unzip finds no error`() throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/a.zip"
        try write(Self.packed([("a/b.txt", Self.noise(70_000, 8)), ("empty", [])]), to: path)
        let (status, output) = Foreign.run("unzip -tq '\(path)'")
        #expect(status == 0 && output.contains("No errors detected"), "\(output)")
    }

    @Test func `our own reader finds the records of the members`() {
        let lines = (0..<3000).map { #"{"timestamp":\#(1_782_900_000 + $0),"latitude":48.5,"longitude":16.25}"# }
        let members = [lines.prefix(1000), lines.dropFirst(1000)].enumerated().map { index, lines in
            (name: "fixes/\(index).jsonl", content: Array(lines.joined(separator: "\n").utf8))
        }
        let found = read(Self.packed(members))
        #expect(found.fault == nil)
        #expect(found.fixes.map(\.timestamp.seconds) == (0..<3000).map { 1_782_900_000 + Double($0) })
        #expect(found.summary.parts == [.fixes: 2])
    }

    /// 65,535 members are the end of the plain directory's counts.
    @Test func `an archive of very many members has the wide directory`() throws {
        let folder = TemporaryFolder()
        let members = (0..<66_000).map { (name: "m\($0)", content: [UInt8]()) }
        let path = folder.path + "/many.zip"
        try write(Self.packed(members), to: path)
        let program = "import sys, zipfile; print(len(zipfile.ZipFile(sys.argv[1]).namelist()))"
        let read = Foreign.run("python3 -c '\(program)' '\(path)'")
        #expect(read.status == 0 && read.output == "66000\n", "\(read.output)")
    }
}
