import Geodesy
import Glibc
import TestSupport
import Testing

@testable import Gazetteer

@Suite struct GazetteerFileTests {
    private func error(opening path: String) -> GazetteerError? {
        do throws(GazetteerError) {
            _ = try Gazetteer(path: path)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a file that is not there is refused by name`() {
        let path = "/nowhere/places.gazetteer"
        #expect(error(opening: path) == .unreadable(path: path, reason: "No such file or directory"))
        #expect(
            error(opening: path)?.description
                == "The gazetteer /nowhere/places.gazetteer cannot be read: No such file or directory.")
    }

    @Test func `a folder is refused`() {
        #expect(error(opening: "/tmp") == .unreadable(path: "/tmp", reason: "not a file"))
    }

    @Test(arguments: [[], [80], Array("PLACES\n\0".utf8), Array("SQLite format 3\0".utf8)] as [[UInt8]])
    func `a foreign file is refused`(content: [UInt8]) throws {
        let file = try TemporaryFile(content)
        #expect(error(opening: file.path) == .foreign(path: file.path))
    }

    @Test func `a file of another version is refused with both versions`() throws {
        var content = try contents(ofFile: Repository.gazetteerPath)
        content[8] = 9
        let file = try TemporaryFile(content)
        #expect(error(opening: file.path) == .otherVersion(path: file.path, found: 9, expected: 5))
    }

    @Test func `a file of another length than its header says is refused`() throws {
        let content = try contents(ofFile: Repository.gazetteerPath)
        for length in [8, 20, 64, content.count - 1, content.count + 1] {
            let file = try TemporaryFile(Array((content + [0]).prefix(length)))
            guard case .damaged? = error(opening: file.path) else {
                Issue.record("\(length) bytes were accepted")
                continue
            }
        }
    }

    /// Counts and levels at their extremes; the header must contradict itself for each.
    @Test(arguments: [12, 16, 20, 24, 28, 32, 36, 40], [0, 0x7fff_ffff, 0xffff_ffff] as [UInt32])
    func `a header with an impossible number is refused`(offset: Int, value: UInt32) throws {
        var header = try Array(contents(ofFile: Repository.gazetteerPath).prefix(1 << 12))
        // The high half of the length is 0 in the file itself.
        if offset == 20, value == 0 { return }
        withUnsafeBytes(of: value.littleEndian) { header.replaceSubrange(offset..<offset + 4, with: $0) }
        let file = try TemporaryFile(header)
        guard case .damaged? = error(opening: file.path) else {
            Issue.record("offset \(offset) with \(value) was accepted")
            return
        }
    }

    /// Flips bytes anywhere, or sets them to extremes, while the file is mapped; every answer is looked at, so all
    /// parts of it have been read. Odd rounds flip within the header, tables and names, where indexes and offsets are.
    @Test func `a damaged file answers wrongly or not at all, but never crashes`() throws {
        let content = try contents(ofFile: Repository.gazetteerPath)
        let file = try TemporaryFile(content)
        let descriptor = open(file.path, O_RDWR)
        defer { close(descriptor) }
        let transform = GeocentricTransform()
        var chance = SplitMix(20_261_121)
        var answered = 0
        var refused = 0
        for round in 0..<600 {
            var flipped: [Int] = []
            for _ in 0..<(round % 3 == 0 ? 1 : 2000) {
                let range = round % 3 == 0 ? 8..<64 : round % 3 == 1 ? 64..<content.count : 8_000_000..<9_000_000
                let at = Int.random(in: range, using: &chance)
                var byte = [0xff, 0x80, 0x00, UInt8.random(in: 0...255, using: &chance)].randomElement(using: &chance)!
                pwrite(descriptor, &byte, 1, at)
                flipped.append(at)
            }
            if let gazetteer = try? Gazetteer(path: file.path) {
                _ = gazetteer.attribution
                for _ in 0..<20 {
                    let places = try gazetteer.nearest(to: chance.coordinate(), count: 3, using: transform)
                    answered += places.count
                    for place in places { #expect(place.distanceMeters.isFinite && !place.name.isEmpty) }
                }
            } else {
                refused += 1
            }
            for at in flipped {
                var byte = content[at]
                pwrite(descriptor, &byte, 1, at)
            }
        }
        #expect(answered > 10_000)
        #expect(refused > 50)
    }
}
