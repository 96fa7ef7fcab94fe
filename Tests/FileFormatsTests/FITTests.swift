import Geodesy
import Testing
import Whereabouts
import WireFormats

@testable import FileFormats

/// Makes FIT files in tests.
struct FITWriter {
    var data: [UInt8] = []

    /// The file with its header and checksum.
    var file: [UInt8] {
        let header = [14, 0x10, 0x44, 0x08] + little(data.count, 4) + Array(".FIT".utf8) + [0, 0]
        var checksum = FITChecksum()
        checksum.add((header + data)[...])
        return header + data + little(Int(checksum.value), 2)
    }

    func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    func big(_ value: Int, _ count: Int) -> [UInt8] { little(value, count).reversed() }

    mutating func define(
        _ type: UInt8, message: Int, isBigEndian: Bool = false, _ fields: [(UInt8, UInt8, UInt8)],
        developer: [(UInt8, UInt8, UInt8)] = []
    ) {
        data += [0x40 | type | (developer.isEmpty ? 0 : 0x20), 0, isBigEndian ? 1 : 0]
        data += isBigEndian ? big(message, 2) : little(message, 2)
        data += [UInt8(fields.count)] + fields.flatMap { [$0.0, $0.1, $0.2] }
        if !developer.isEmpty { data += [UInt8(developer.count)] + developer.flatMap { [$0.0, $0.1, $0.2] } }
    }

    /// 48.5° and 16.25° in semicircles.
    static let latitude = Int((48.5 * 0x1p31 / 180).rounded()), longitude = Int((16.25 * 0x1p31 / 180).rounded())
    /// 2026-07-01T10:00:00Z in FIT's seconds.
    static let time = 1_782_900_000 - 631_065_600

    static let sample: [UInt8] = {
        var writer = FITWriter()
        writer.define(0, message: 20, [(253, 4, 0x86), (0, 4, 0x85), (1, 4, 0x85)])
        writer.data += [0] + writer.little(time, 4) + writer.little(latitude, 4) + writer.little(longitude, 4)
        return writer.file
    }()
}

@Suite struct FITTests {
    /// Each record has an offset of five bits; 10 records 7 s apart roll over twice.
    /// fitdecode 0.11 and fitparse 1.2 find the same times in this file.
    @Test func `compressed time stamps roll over after 32 s`() {
        var writer = FITWriter()
        writer.define(1, message: 20, [(253, 4, 0x86)])
        writer.define(0, message: 20, [(0, 4, 0x85), (1, 4, 0x85)])
        writer.data += [1] + writer.little(FITWriter.time, 4)
        for number in 1...10 {
            let offset = UInt8((FITWriter.time + 7 * number) & 0x1F)
            writer.data +=
                [0x80 | offset] + writer.little(FITWriter.latitude, 4) + writer.little(FITWriter.longitude, 4)
        }
        let found = read(writer.file)
        #expect(found.fault == nil)
        #expect(found.fixes.map(\.timestamp.seconds) == (1...10).map { 1_782_900_000 + 7 * Double($0) })
        #expect(found.fixes.allSatisfy { abs($0.coordinate.latitude - 48.5) < 1e-7 })
    }

    /// Found by libFuzzer: a field may be defined as signed.
    @Test func `a speed below zero is not known`() {
        var writer = FITWriter()
        writer.define(0, message: 20, [(253, 4, 0x86), (0, 4, 0x85), (1, 4, 0x85), (6, 2, 0x83)])
        writer.data +=
            [0] + writer.little(FITWriter.time, 4) + writer.little(FITWriter.latitude, 4)
            + writer.little(FITWriter.longitude, 4) + writer.little(-1, 2)
        let found = read(writer.file)
        #expect(found.fixes.count == 1 && found.fixes.first?.speed == nil)
    }

    @Test(arguments: [false, true])
    func `values are read in both byte orders, beside the fields of developers`(isBigEndian: Bool) {
        var writer = FITWriter()
        writer.define(
            3, message: 20, isBigEndian: isBigEndian,
            [
                (253, 4, 0x86), (0, 4, 0x85), (1, 4, 0x85), (78, 4, 0x86), (2, 2, 0x84), (73, 4, 0x86), (31, 1, 0x02),
                (39, 3, 0x84),
            ],
            developer: [(0, 5, 0)])
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            isBigEndian ? writer.big(value, count) : writer.little(value, count)
        }
        writer.data +=
            [3] + number(FITWriter.time, 4) + number(-FITWriter.latitude, 4) + number(FITWriter.longitude, 4)
            + number((171 + 500) * 5, 4) + [0, 0] + number(1500, 4) + [5] + [1, 2, 3] + [9, 9, 9, 9, 9]
        // No position, and no time: 0x7FFFFFFF.
        writer.data +=
            [3] + number(FITWriter.time, 4) + number(0x7FFF_FFFF, 4) + number(0x7FFF_FFFF, 4) + number(-1, 4) + [
                0xFF, 0xFF,
            ]
            + number(-1, 4) + [0xFF] + [1, 2, 3] + [9, 9, 9, 9, 9]
        let found = read(writer.file)
        #expect(found.fault == nil)
        #expect(found.fixes.count == 1)
        let fix = found.fixes.first
        #expect(fix.map { abs($0.coordinate.latitude + 48.5) < 1e-7 } == true)
        #expect((fix?.altitude, fix?.speed, fix?.horizontalAccuracy) == (171, 1.5, 5))
        #expect(found.summary.passedOver[.pointsWithoutPlace] == 1)
        #expect(found.summary.passedOver.notes.isEmpty)
    }

    @Test func `positions of a camera have milliseconds and a heading`() {
        var writer = FITWriter()
        writer.define(
            0, message: 160,
            [
                (253, 4, 0x86), (0, 2, 0x84), (1, 4, 0x85), (2, 4, 0x85), (3, 4, 0x86), (4, 4, 0x86), (5, 2, 0x84),
                (6, 4, 0x86),
            ])
        // 600° is no course.
        for (time, utc, heading) in [
            (FITWriter.time, 0xFFFF_FFFF, 9000), (100, FITWriter.time + 1, 60_000), (100, 0xFFFF_FFFF, 9000),
        ] {
            writer.data +=
                [0] + writer.little(time, 4) + writer.little(250, 2) + writer.little(FITWriter.latitude, 4)
                + writer.little(FITWriter.longitude, 4) + writer.little(3355, 4) + writer.little(2500, 4)
                + writer.little(heading, 2) + writer.little(utc, 4)
        }
        let found = read(writer.file)
        #expect(found.fixes.map(\.timestamp.milliseconds) == [1_782_900_000_250, 1_782_900_001_250])
        #expect(found.fixes.map(\.course) == [90, nil])
        #expect(found.untimed == 1)
        #expect(found.summary.passedOver[.pointsPowerOn] == 1)
    }

    @Test func `files may follow one another, and each has its own definitions`() {
        #expect(read(FITWriter.sample + FITWriter.sample).fixes.count == 2)
        var writer = FITWriter()
        writer.data += [0] + Array(repeating: 0, count: 12)
        let found = read(FITWriter.sample + writer.file)
        #expect(found.fixes.count == 1)
        #expect(found.fault?.description.contains("no definition") == true)
    }

    @Test func `a wrong checksum is noted, and the file is read`() {
        var file = FITWriter.sample
        file[file.count - 1] ^= 1
        let found = read(file)
        #expect(found.fault == nil)
        #expect(found.fixes.count == 1)
        #expect(found.summary.passedOver.notes.count == 1)
    }
}
