import Geodesy
import Glibc
import TestSupport
import Testing

@testable import Gazetteer

@Suite struct TilingFileTests {
    private func error(opening path: String) -> GazetteerError? {
        do throws(GazetteerError) {
            _ = try Zones(path: path)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a file that is not there is refused by name`() {
        #expect(error(opening: "/no/zones") == .unreadable(path: "/no/zones", reason: "No such file or directory"))
    }

    @Test func `a foreign file is refused, and so is the file of places`() throws {
        let file = try TemporaryFile(Array("SQLite format 3\0".utf8))
        #expect(error(opening: file.path) == .foreign(path: file.path))
        #expect(error(opening: Repository.gazetteerPath) == .foreign(path: Repository.gazetteerPath))
    }

    @Test func `a file of another version is refused with both versions`() throws {
        var content = try contents(ofFile: Repository.zonesPath)
        content[8] = 9
        let file = try TemporaryFile(content)
        #expect(error(opening: file.path) == .otherVersion(path: file.path, found: 9, expected: 3))
    }

    @Test func `a file of another length than its header says is refused`() throws {
        let content = try contents(ofFile: Repository.zonesPath)
        for length in [8, 20, 64, content.count - 1, content.count + 1] {
            let file = try TemporaryFile(Array((content + [0]).prefix(length)))
            guard case .damaged? = error(opening: file.path) else {
                Issue.record("\(length) bytes were accepted")
                continue
            }
        }
    }

    @Test(arguments: [12, 16, 20, 24, 28, 32, 36, 40], [0, 0x7fff_ffff, 0xffff_ffff] as [UInt32])
    func `a header with an impossible number is refused`(offset: Int, value: UInt32) throws {
        var header = try Array(contents(ofFile: Repository.zonesPath).prefix(1 << 12))
        // The high half of the length is 0 in the file itself.
        if offset == 20, value == 0 { return }
        withUnsafeBytes(of: value.littleEndian) { header.replaceSubrange(offset..<offset + 4, with: $0) }
        let file = try TemporaryFile(header)
        guard case .damaged? = error(opening: file.path) else {
            Issue.record("offset \(offset) with \(value) was accepted")
            return
        }
    }

    /// Overwrites bytes anywhere while the file is mapped, with extremes among them, and asks everywhere.
    @Test func `a damaged file answers wrongly or not at all, but never crashes`() throws {
        let content = try contents(ofFile: Repository.zonesPath)
        let file = try TemporaryFile(content)
        let descriptor = open(file.path, O_RDWR)
        defer { close(descriptor) }
        var chance = SplitMix(20_261_121)
        var answered = 0
        for round in 0..<30 {
            var part = (0..<(1 << 16)).map { _ in
                [0xff, 0x80, 0x00, UInt8.random(in: 0...255, using: &chance)].randomElement(using: &chance)!
            }
            for _ in 0..<20 {
                // Every third round the tables of degrees and blocks, which hold the numbers of cells.
                let limit = round % 3 == 0 ? 2_500_000 : content.count - part.count
                pwrite(descriptor, &part, part.count, Int.random(in: 64..<limit, using: &chance))
            }
            let zones = try Zones(path: file.path)
            _ = zones.attribution
            for _ in 0..<20_000 {
                guard let number = try zones.number(at: chance.coordinate()) else { continue }
                _ = (zones.timeZone(number), zones.country(number))
                answered += 1
            }
        }
        #expect(answered > 10_000)
    }

    /// One square degree with one cell, written by hand from the description at the head of Tiling.swift.
    @Test func `a hand-made cell holds its southern and western sides and leaves the others to the next`() throws {
        let file = try TemporaryFile(handmade())
        let tiling = try Tiling(path: file.path)
        #expect(tiling.name(0) == "low")
        #expect(tiling.country(1)?.description == "AT")
        // The triangle (0, 0), (1, 0), (0, 1) is label 0, the rest of the degree from 0° N 0° E label 1.
        for (latitude, longitude, label) in [
            (0.0, 0.0, 0), (0.0, 0.9999999, 0), (0.9999999, 0.0, 0), (0.4, 0.5, 0), (0.6, 0.5, 1), (0.5, 0.5000001, 1),
        ] {
            #expect(try tiling.label(at: TilingPoint(Coordinate(latitude: latitude, longitude: longitude))) == label)
        }
        for (latitude, longitude) in [(0.0, 1.0), (1.0, 0.0), (-0.0000001, 0.5), (0.5, -0.0000001)] {
            #expect(try tiling.label(at: TilingPoint(Coordinate(latitude: latitude, longitude: longitude))) == nil)
        }
    }

    @Test func `both ends of the longitudes are one meridian, and a pole is one point`() throws {
        for latitude in stride(from: -89.5, through: 89.5, by: 0.5) {
            let west = TilingPoint(try Coordinate(latitude: latitude, longitude: -180))
            #expect(west == TilingPoint(try Coordinate(latitude: latitude, longitude: 180)))
            #expect(west != TilingPoint(try Coordinate(latitude: latitude, longitude: 179.999_999_9)))
        }
        for pole in [-90.0, 90] {
            let points = try stride(from: -180.0, through: 180, by: 7.5).map { longitude in
                TilingPoint(try Coordinate(latitude: pole, longitude: longitude))
            }
            #expect(Set(points).count == 1)
        }
    }

    private func handmade() -> [UInt8] {
        var all: [UInt8] = []
        func add<Integer: FixedWidthInteger>(_ value: Integer) {
            withUnsafeBytes(of: value.littleEndian) { all += $0 }
        }
        func align() { all += [UInt8](repeating: 0, count: (64 - all.count % 64) % 64) }
        // 4000 is 0xfa0: the corners (0, 0), (4000, 0), (0, 4000).
        let shapes: [UInt8] = [2, 0, 0, 1, 0, 3, 0, 0, 0, 0, 0xa0, 0x0f, 0, 0, 0, 0xfa, 1, 0, 0, 0x80]
        let strings = [0, 0, 3, 0] + Array("low".utf8) + [4, 0] + Array("high".utf8)
        all += Array("TILING\r\n".utf8)
        let blocksAt = 64 + (180 * 360 * 4 + 63) / 64 * 64
        for value in [3, 1] as [UInt32] { add(value) }
        add(UInt64(blocksAt + 64 * 4 + strings.count))
        for value in [6, 1, UInt32(shapes.count), 2, UInt32(strings.count), 0, 0, 0, 0, 0] as [UInt32] { add(value) }
        for degree in 0..<180 * 360 { add(degree == 90 * 360 + 180 ? 0x8000_0000 : 0x7fff_ffff as UInt32) }
        align()
        add(0 as UInt32)
        all += [0, 0x80]
        align()
        add(0 as UInt32)
        align()
        all += shapes
        align()
        for (name, country) in [(2, [0, 0]), (7, Array("AT".utf8))] as [(UInt32, [UInt8])] {
            add(name)
            add(0 as UInt32)
            all += country + [UInt8](repeating: 0, count: 6)
        }
        align()
        all += strings
        return all
    }
}
