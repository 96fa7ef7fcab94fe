import Foundation
import GZIP
import TestSupport
import Testing
import Whereabouts

@testable import FileFormats

/// Packed files. Zip files of Python's `zipfile` and files of `gzip` are read too.
@Suite struct LayerTests {
    private static func track(_ second: Int) -> [UInt8] {
        Array("time,lat,lon\n\(1_782_900_000 + second),48.5,16.25\n".utf8)
    }

    @Test(arguments: [ZipWriter.Packing.stored, .deflated, .deflatedWithDescriptor])
    func `members of an archive are read one by one, whatever they are`(packing: ZipWriter.Packing) {
        var zip = ZipWriter()
        zip.add("folder/", [], .stored)
        zip.add("../../etc/passwd", Self.track(0), packing)
        zip.add("a.html", Array("<html></html>".utf8), packing)
        zip.add("b.gz", gzipped(Self.track(1)) ?? [], packing)
        zip.add(
            "c.json", Array(#"{"locations":[{"latitudeE7":1,"longitudeE7":2,"timestampMs":"1782900002000"}]}"#.utf8),
            packing)
        zip.add("d.png", [0x89, 0x50, 0x4E, 0x47], packing)
        let found = read(zip.file)
        #expect(found.fault == nil)
        #expect(found.fixes.map(\.timestamp.seconds) == [1_782_900_000, 1_782_900_001, 1_782_900_002])
        #expect(found.summary.parts == [.csv: 2, .googleRecords: 1])
        #expect(found.summary.skipped.map(\.reason) == ["HTML", "an image"])
        #expect(found.summary.isArchive)
    }

    @Test(arguments: [ZipWriter.Packing.stored, .deflated, .deflatedWithDescriptor])
    func `a member with a wrong checksum is read and named, and so are those after it`(packing: ZipWriter.Packing) {
        var zip = ZipWriter()
        zip.add("flipped.csv", Array(Self.track(0).dropLast()), packing, flips: 1)
        zip.add("flipped.png", [0x89, 0x50, 0x4E, 0x47], packing, flips: 1)
        zip.add("good.csv", Self.track(1), packing)
        let found = read(zip.file)
        #expect(found.fault == nil)
        #expect(found.fixes.map(\.timestamp.seconds) == [1_782_900_000, 1_782_900_001])
        #expect(found.summary.damaged.map(\.name) == ["flipped.csv"])
        #expect(found.summary.damaged.first?.reason.hasPrefix("The checksum is wrong") == true)
    }

    @Test func `an archive in an archive is read, and a third one is not`() {
        var inner = ZipWriter()
        inner.add("track.csv", Self.track(0))
        var outer = ZipWriter()
        outer.add("part.zip", inner.file)
        outer.add("more.csv", Self.track(1))
        let found = read(outer.file)
        #expect(found.fault == nil)
        #expect(found.fixes.count == 2)
        var outermost = ZipWriter()
        outermost.add("all.zip", outer.file)
        outermost.add("last.csv", Self.track(2))
        let nested = read(outermost.file)
        #expect(nested.fixes.map(\.timestamp.seconds) == [1_782_900_001, 1_782_900_002])
        #expect(nested.summary.damaged.count == 1)
    }

    @Test func `a damaged member is named, and those after it are read`() {
        var zip = ZipWriter()
        zip.add("bad.gpx", Array("<gpx><trk>".utf8))
        zip.add("secret.csv", Self.track(0), .encrypted)
        zip.add("good.csv", Self.track(1))
        let found = read(zip.file)
        #expect(found.fault == nil)
        #expect(found.fixes.count == 1)
        #expect(found.summary.damaged.map(\.name) == ["bad.gpx"])
        #expect(found.summary.skipped.map(\.reason) == ["it is encrypted"])
    }

    @Test func `an archive without a history is refused`() {
        var zip = ZipWriter()
        zip.add("readme.txt", Array("hello\n".utf8))
        #expect(read(zip.file).fault == .nothingInArchive)
    }

    @Test func `a file that ends anywhere ends in records and a sentence`() {
        var zip = ZipWriter()
        zip.add("a.csv", Self.track(0))
        zip.add("b.csv", Self.track(1), .stored)
        let file = zip.bytes
        for length in 0..<file.count {
            let found = read(Array(file.prefix(length)))
            #expect(found.fault != nil || !found.summary.damaged.isEmpty, "\(length)")
        }
        let packed = gzipped(Self.track(0)) ?? []
        for length in 0..<packed.count { #expect(read(Array(packed.prefix(length))).fault != nil, "\(length)") }
    }

    @Test func `a bomb is refused before it expands`() {
        let line = Array(repeating: UInt8(ascii: "\n"), count: 20 << 20)
        var zip = ZipWriter()
        zip.add("bomb.csv", Array("time,lat,lon\n".utf8) + line)
        #expect(read(zip.file, pieceBytes: 1 << 20).fault == .expandsTooMuch)
        #expect(read(gzipped(Array("time,lat,lon\n".utf8) + line) ?? [], pieceBytes: 1 << 20).fault == .expandsTooMuch)
    }

    @Test func `a million members are refused`() {
        var zip = ZipWriter()
        for number in 0...ZipMembers.membersMax { zip.add("\(number)", [], .stored) }
        #expect(read(zip.file, pieceBytes: 1 << 20).fault == .tooManyMembers)
    }

    @Test func `zip files of Python and files of gzip are read`() throws {
        let script = """
            import zipfile, io, sys, base64
            inner = io.BytesIO()
            with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as z:
                z.writestr("b.csv", "time,lat,lon\\n1782900001,48.5,16.25\\n")
            class Pipe(io.RawIOBase):
                def __init__(self): self.data = b""
                def writable(self): return True
                def write(self, b): self.data += bytes(b); return len(b)
            pipe = Pipe()
            with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as z:
                z.writestr("a.csv", "time,lat,lon\\n1782900000,48.5,16.25\\n")
                z.writestr("inner.zip", inner.getvalue())
                with z.open("large.csv", "w", force_zip64=True) as f: f.write(b"time,lat,lon\\n1782900002,48.5,16.25\\n")
            print(base64.b64encode(pipe.data).decode(), end="")
            """
        let (status, output) = Foreign.run("python3 -", input: script)
        #expect(status == 0)
        let found = read(try #require(Data(base64Encoded: output).map { [UInt8]($0) }))
        #expect(found.fault == nil)
        #expect(found.fixes.map(\.timestamp.seconds) == [1_782_900_000, 1_782_900_001, 1_782_900_002])

        let (packed, text) = Foreign.run(
            "{ gzip --stdout; printf '1782900001,1,2' | gzip --stdout; } | base64 --wrap=0",
            input: "time,lat,lon\n1782900000,48.5,16.25\n")
        #expect(packed == 0)
        let both = read(try #require(Data(base64Encoded: text).map { [UInt8]($0) }))
        #expect(both.fixes.count == 2)
    }

    @Test(arguments: ["gnu", "pax", "ustar"])
    func `a packed tar file, as Takeout makes them, is read`(form: String) throws {
        let folder = TemporaryFolder()
        _ = try folder.write("time,lat,lon\n1782900000,48.5,16.25\n", to: "a.csv")
        _ = try folder.write("<html></html>", to: "b.html")
        _ = try folder.write(String(repeating: "time,lat,lon\n", count: 100) + "1782900001,48.5,16.25\n", to: "c.csv")
        let (status, text) = Foreign.run(
            "cd '\(folder.path)' && ln -s a.csv link && tar --format=\(form) -czf - --exclude=input a.csv b.html link c.csv | base64 --wrap=0"
        )
        #expect(status == 0)
        let file = try #require(Data(base64Encoded: text).map { [UInt8]($0) })
        let found = read(file)
        #expect(found.fault == nil)
        #expect(found.fixes.map(\.timestamp.seconds) == [1_782_900_000, 1_782_900_001])
        #expect(found.summary.skipped.map(\.reason) == ["HTML"])
        for length in stride(from: 1, to: file.count, by: 7) {
            let cut = read(Array(file.prefix(length)))
            #expect(cut.fault != nil || !cut.summary.damaged.isEmpty, "\(length)")
        }
    }
}
