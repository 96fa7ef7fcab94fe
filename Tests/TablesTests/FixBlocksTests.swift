import Cryptography
import Geodesy
import SQLite
import TestSupport
import Testing

@testable import Projections
@testable import Tables
@testable import Whereabouts

/// The rows of `fix`, each of which has a block of fixes, beside a dictionary.
@Suite struct FixBlocksTests {
    private static let persons = [PersonID(rawValue: 2), PersonID(rawValue: 5)]

    // MARK: Packing

    private static func row(
        _ milliseconds: Int64, device: Int64 = 3, latitude: Double = 48.2, longitude: Double = 16.37,
        accuracy: Double? = 5, details: [UInt8]? = [0xA1, 0x0F, 0x01], number: Int64 = 7, receivedAfter: Int64? = 1000
    ) -> FixRow {
        FixRow(
            person: persons[0], device: DeviceID(rawValue: device),
            columns: FixColumns(
                timestamp: Timestamp(milliseconds: milliseconds), latitude: FixColumns.Degrees(latitude),
                longitude: FixColumns.Degrees(longitude), horizontalAccuracy: accuracy, details: details),
            number: number, receivedAfter: receivedAfter)
    }

    private static func unpacked(_ bytes: [UInt8], after first: FixRow) throws -> [FixRow] {
        var rows: [FixRow] = []
        try bytes.withUnsafeBytes { bytes in
            var unpacking = FixUnpacking(bytes, after: first)
            while let row = try unpacking.next() { rows.append(row) }
        }
        return rows
    }

    @Test func `a fix of the same phone in the same place takes ten bytes`() throws {
        let first = Self.row(0)
        let second = Self.row(10_000, latitude: 48.2001375, longitude: 16.3701375, number: 8)
        var packing = FixPacking(after: first)
        packing.append(second)
        #expect(packing.bytes == [0x54, 0x90, 0x4E, 0x02, 0xBE, 0x15, 0xBE, 0x15, 0xD0, 0x0F])
        #expect(try Self.unpacked(packing.bytes, after: first).map(\.text) == [second.text])
    }

    /// The greatest and least numbers, all forms of accuracy and details, three devices in turn.
    @Test func `every fix comes back as it was`() throws {
        var dice = SplitMix(3)
        func any<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &dice)] }
        for _ in 0..<300 {
            let rows = (0..<40).map { _ in
                Self.row(
                    any([0, 1, 1_777_593_600_000, .max, .min, -1, .random(in: .min ... .max, using: &dice)]),
                    device: any([3, 4, .max, .min]),
                    latitude: any([0, -90, 90, 48.2, 1.0 / 3, 89.9999999, .random(in: -90...90, using: &dice)]),
                    longitude: any([0, -180, 180, 16.37, 2.0 / 3, .random(in: -180...180, using: &dice)]),
                    accuracy: any([nil, 0, 5, 4.25, 0.1, -1, 65, 1.0 / 3, 1e300, .infinity, 42_949_672.95]),
                    details: any([
                        nil, [], [1], [2], [1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3, 4, 5, 6, 7, 8, 8],
                        (0..<300).map { UInt8(truncatingIfNeeded: $0 &* Int.random(in: 0..<3, using: &dice)) },
                    ]),
                    number: any([1, 2, 1_000_000, .max, .min]), receivedAfter: any([nil, 0, 1000, -90_000, .max, .min]))
            }
            var packing = FixPacking(after: rows[0])
            for row in rows.dropFirst() { packing.append(row) }
            #expect(try Self.unpacked(packing.bytes, after: rows[0]).map(\.text) == rows.dropFirst().map(\.text))
        }
    }

    /// A file can be damaged: no bytes end the process, and a cut is found unless it is between two fixes.
    @Test func `damaged bytes are refused or read, and cut ones refused`() throws {
        var dice = SplitMix(9)
        let rows = (0..<30).map {
            Self.row(
                $0 * 1000, device: 3 + $0 % 3, latitude: 48 + Double($0) / 1e7, details: $0 % 5 == 0 ? nil : [1, 2])
        }
        var packing = FixPacking(after: rows[0])
        var ends: Set<Int> = [0]
        for row in rows.dropFirst() {
            packing.append(row)
            ends.insert(packing.bytes.count)
        }
        for cut in 0...packing.bytes.count {
            let read = try? Self.unpacked(Array(packing.bytes[..<cut]), after: rows[0])
            #expect((read != nil) == ends.contains(cut), "\(cut)")
        }
        var refused = 0
        for _ in 0..<20_000 {
            var bytes = packing.bytes
            for _ in 0..<Int.random(in: 1...4, using: &dice) {
                bytes[Int.random(in: bytes.indices, using: &dice)] = .random(in: 0...255, using: &dice)
            }
            if (try? Self.unpacked(bytes, after: rows[0])) == nil { refused += 1 }
        }
        #expect(refused > 1000)
    }

    // MARK: Blocks

    private struct Key: Hashable {
        let person: Int64, time: Int64, device: Int64, latitude: Double, longitude: Double

        init(_ row: FixRow) {
            (person, time, device) = (
                row.person.rawValue, row.columns.timestamp.milliseconds, row.device.rawValue
            )
            (latitude, longitude) = (row.columns.latitude.value, row.columns.longitude.value)
        }
    }

    private static func file() throws -> ProjectionFile {
        let file = try ProjectionFile(path: ":memory:", access: .readWrite)
        try file.connection.execute(TimelineTable.schema)
        return file
    }

    private static func fixes(
        of person: PersonID, in file: ProjectionFile, from: Int64 = .min, through: Int64 = .max
    ) throws -> [FixRow] {
        var rows: [FixRow] = []
        try FixBlocks.eachFix(of: person, from: from, through: through, in: file.connection) {
            rows.append($0)
            return true
        }
        return rows
    }

    /// Insertions in order, late, repeated and of twins; removals and replacements; commits, rollbacks and restarts between.
    @Test(arguments: 1...6 as ClosedRange<UInt64>) func `blocks have what a dictionary has`(seed: UInt64) throws {
        var dice = SplitMix(seed)
        let reports = try History.reports(seed: seed, hours: 60)
        let file = try Self.file()
        // Half of the runs have memory for one person's block.
        let blocks = FixBlocks(file, memoryMax: seed.isMultiple(of: 2) ? 0 : FixBlocks.memoryMax)
        var expected: [Key: FixRow] = [:]
        var committed = expected
        try file.connection.begin()
        // A stretch of reports that were sent late, and each seventh one a little late.
        var order = reports.enumerated().map { (at: $0.offset % 7 == 0 ? $0.offset + 40 : $0.offset, $0.element) }
        for index in order.indices where index % 900 > 700 { order[index].at += 3000 }
        order.sort { $0.at < $1.at }
        for (number, (_, report)) in order.enumerated() {
            let row = FixRow(
                person: report.person, device: report.device, columns: FixColumns(report.fix), number: Int64(number),
                receivedAfter: 1000)
            let known = try blocks.insert(row)
            #expect(known?.text == expected[Key(row)]?.text)
            if known == nil {
                expected[Key(row)] = row
            } else if dice.chance(0.5) {
                try blocks.replace(with: row)
                expected[Key(row)] = row
            }
            if dice.chance(0.03), let other = expected.values.randomElement(using: &dice) {
                try blocks.remove(other)
                expected[Key(other)] = nil
            }
            if dice.chance(0.002) {
                try file.connection.rollback()
                blocks.forget()
                expected = committed
                try file.connection.begin()
            } else if dice.chance(0.02) {
                try blocks.write()
                if dice.chance(0.3) { blocks.forget() }
                try file.connection.commit()
                committed = expected
                try file.connection.begin()
            }
        }
        try blocks.write()
        try file.connection.commit()
        #expect(expected.count > 1000)
        for person in Self.persons {
            let all = expected.values.filter { $0.person == person }.sorted { $0.identity < $1.identity }
            #expect(try Self.fixes(of: person, in: file).map(\.text) == all.map(\.text))
            for _ in 0..<30 {
                let bounds = (0..<2).map { _ in all.randomElement(using: &dice)?.columns.timestamp.milliseconds ?? 0 }
                let (from, through) = (min(bounds[0], bounds[1]), max(bounds[0], bounds[1]))
                let inside = all.filter { (from...through).contains($0.columns.timestamp.milliseconds) }
                #expect(
                    try Self.fixes(of: person, in: file, from: from, through: through).map(\.text) == inside.map(\.text)
                )
                var backwards: [String] = []
                try FixBlocks.eachFixBackwards(of: person, through: through, in: file.connection) {
                    backwards.append($0.text)
                    return true
                }
                let earlier = all.filter { $0.columns.timestamp.milliseconds <= through }
                #expect(backwards == earlier.reversed().map(\.text))
            }
        }
        // With a change that is not written, and once more with a fix that comes afterwards.
        let newest = Self.row(Int64(1) << 50)
        #expect(try blocks.insert(newest) == nil)
        try blocks.removeAll(of: Self.persons[0])
        try blocks.write()
        #expect(try Self.fixes(of: Self.persons[0], in: file).isEmpty)
        #expect(try blocks.insert(newest) == nil)
        try blocks.write()
        #expect(try Self.fixes(of: Self.persons[0], in: file).map(\.text) == [newest.text])
        #expect(try !Self.fixes(of: Self.persons[1], in: file).isEmpty)
    }

    /// SQLite stores the bytes of a row beyond 1002 in overflow pages.
    @Test func `a row is in one page and is more than half full, unless one fix is longer`() throws {
        for isLate in [false, true] {
            let file = try Self.file()
            let blocks = FixBlocks(file)
            try file.connection.begin()
            var reports = try History.reports(seed: 4)
            if isLate { reports.reverse() }
            for (number, report) in reports.enumerated() {
                var fix = report.fix
                if number == 100 { fix.remainder = "{\"x\":\"" + String(repeating: "long", count: 600) + "\"}" }
                _ = try blocks.insert(
                    FixRow(
                        person: report.person, device: report.device, columns: FixColumns(fix), number: Int64(number),
                        receivedAfter: 1000))
            }
            try blocks.write()
            try file.connection.commit()
            let sizes = try file.connection.prepare(
                """
                SELECT 64 + coalesce(length(details), 0) + coalesce(length(following), 0), following IS NULL FROM fix
                """)
            var (rows, bytes, long) = (0, 0, 0)
            while try sizes.step() {
                let size = Int(sizes.int(at: 0))
                if size > 1002 {
                    long += 1
                    #expect(sizes.int(at: 1) == 1)
                } else {
                    rows += 1
                    bytes += size
                }
            }
            #expect(long == 1)
            #expect(bytes / rows > 500, "\(isLate)")
        }
    }

    // MARK: Files of earlier programs

    /// The old tables are filled here by hand: each fix is a row.
    @Test func `the readers read a file with one row for each fix`() throws {
        var log = MemoryLog()
        for report in try History.reports(seed: 2) { log.add(report) }
        let new = try Folded<TimelineTable>(log.events)
        let form = try #require(TimelineTable.olderForms.last)
        let old = try ProjectionFile(path: ":memory:", access: .readWrite)
        try old.connection.execute(TimelineTable.schema)
        try old.connection.execute("ALTER TABLE fix DROP COLUMN following")
        for person in Self.persons {
            for fix in try Self.fixes(of: person, in: new.file) {
                let statement = try old.connection.prepare(
                    """
                    INSERT INTO fix
                        (person, device, timestamp_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters,
                        details, number, received_after_ms)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """)
                try fix.bind(to: statement)
                try statement.run()
            }
        }
        try old.connection.lift(form.lift)
        for person in Self.persons {
            func read(_ file: ProjectionFile) throws -> [ReportedFix] {
                var found: [ReportedFix] = []
                while true {
                    let page = try TimelineReader.fixes(
                        of: person, from: History.start.adding(seconds: 3600),
                        to: History.start.adding(seconds: 90_000),
                        after: found.last.map(TimelineReader.FixKey.init), limit: 100, in: file.connection)
                    if page.isEmpty { return found }
                    found += page
                }
            }
            let found = try read(new.file)
            #expect(found.count > 300)
            #expect(try read(old) == found)
            let noon = History.start.adding(seconds: 43_200)
            let newest = try TimelineReader.latestFix(of: person, atOrBefore: noon, in: new.file.connection)
            #expect(newest != nil)
            #expect(try TimelineReader.latestFix(of: person, atOrBefore: noon, in: old.connection) == newest)
        }
        // The statements of the programs before, whose hash is in their files.
        let statements = "\(TimelineTable.schema)".replacing("    following BLOB,\n", with: "")
        #expect(form.form == SHA256().hash(Array("\(ProjectionFile.placeSchema);\(statements);".utf8)))
    }
}

extension FixRow {
    /// All of it, with the bits of its numbers.
    fileprivate var text: String {
        func text(_ degrees: FixColumns.Degrees) -> String {
            degrees.whole.map { "\($0)" } ?? "\(degrees.value.bitPattern)"
        }
        return "\(person.rawValue) \(device.rawValue) \(columns.timestamp.milliseconds) \(text(columns.latitude)) "
            + "\(text(columns.longitude)) \(columns.horizontalAccuracy?.bitPattern ?? 1) \(columns.details ?? [255, 255]) "
            + "\(number) \(receivedAfter ?? .max - 7)"
    }
}
