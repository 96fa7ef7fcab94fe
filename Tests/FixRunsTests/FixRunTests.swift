import Cryptography
import Glibc
import TestSupport
import Testing
import Whereabouts

@testable import FixRuns

@Suite struct FixRunTests {
    private static let key = SipHash(key: [UInt8](0..<16))

    private static func header(from: Int64 = 0, to: Int64 = 1_000_000) -> FixRun.Header {
        FixRun.Header(
            log: Identifier128(high: 1, low: 2), epoch: 1, from: from, to: to, leaf: SHA256().hash([1]), erased: 0,
            marks: 0)
    }

    private static func run(_ marks: [FixMark], in folder: TemporaryFolder) throws -> FixRun {
        var writer = try FixRun.Writer(folder: folder.path, header(), key: key)
        for mark in marks.sorted() { try writer.append(mark) }
        return try writer.finish()
    }

    private static func marks(of run: FixRun) throws -> [FixMark] {
        var marks: [FixMark] = []
        var cursor = try FixRun.Cursor(run)
        while let mark = cursor.mark {
            marks.append(mark)
            try cursor.advance()
        }
        return marks
    }

    /// Few identities with few contents each, so that equal hashes cross the ends of blocks, and the least and the
    /// greatest hash.
    @Test(arguments: [0, 1, 21, 22, 42, 1000, 62 * 21 * 2])
    func `a run finds the marks of a hash and of its twins, and none that it does not have`(count: Int) throws {
        let folder = TemporaryFolder()
        var random = SystemRandomNumberGenerator()
        let identities =
            [0, ~FixMark.contentBits]
            + (0..<max(1, count / 100)).map { _ in UInt64.random(in: 0...UInt64.max) & ~FixMark.contentBits }
        let contents = [0, FixMark.contentBits] + (0..<30).map { _ in UInt64.random(in: 0...FixMark.contentBits) }
        let marks = (0..<count).map { number in
            let hash = identities.randomElement(using: &random)! | contents.randomElement(using: &random)!
            return FixMark(hash: hash, number: Int64(number + 1), person: PersonID(rawValue: 2))
        }
        let run = try Self.run(marks, in: folder)
        #expect(try Self.marks(of: run) == marks.sorted())
        var block = FixRun.Block()
        func check(_ hash: UInt64) throws {
            let found = try run.candidates(of: hash, reading: &block)
            let same = marks.filter { $0.hash == hash }.map(\.number).sorted()
            #expect(found.same == Array(same.prefix(FixRun.candidatesMax)))
            let twins = Set(
                marks.filter { $0.hash != hash && ($0.hash ^ hash) & ~FixMark.contentBits == 0 }.map(\.number))
            #expect(Set(found.twins).isSubset(of: twins) && found.twins.count <= 2)
            // Of many equal ones the rest is not looked at; they are enough.
            if same.isEmpty { #expect(found.twins.isEmpty == twins.isEmpty) }
        }
        for identity in identities {
            for content in contents.prefix(8) + [1, FixMark.contentBits / 2] { try check(identity | content) }
            try check(identity ^ 1 << 24)
        }
    }

    /// The bound on the events that the writer opens for a device that sends twins.
    @Test func `among ten thousand twins, two are looked at`() throws {
        let folder = TemporaryFolder()
        let marks = (1...10_000).map { number in
            FixMark(hash: 7 << 24 | UInt64(2 * number), number: Int64(number), person: PersonID(rawValue: 2))
        }
        let run = try Self.run(marks, in: folder)
        var block = FixRun.Block()
        for number in [1, 21, 22, 5000, 9999] {
            #expect(try run.candidates(of: 7 << 24 | UInt64(2 * number), reading: &block).same == [Int64(number)])
            let between = try run.candidates(of: 7 << 24 | UInt64(2 * number + 1), reading: &block)
            #expect(between.same.isEmpty && Set(between.twins) == [Int64(number), Int64(number + 1)])
        }
    }

    @Test func `a flip of any byte is found`() throws {
        let folder = TemporaryFolder()
        let marks = (1...100).map {
            FixMark(hash: .random(in: 0...UInt64.max), number: $0, person: PersonID(rawValue: 2))
        }
        let path = try Self.run(marks, in: folder).path
        let bytes = try contents(ofFile: path)
        #expect(bytes.count == 7 * 512)
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 1 << UInt8(index % 8)
            try TestSupport.write(damaged, to: path)
            #expect(throws: FixRunFailure.self, "byte \(index)") {
                _ = try Self.marks(of: try FixRun(path: path, key: Self.key))
            }
        }
        for length in [0, 1, 511, 512, 6 * 512, 7 * 512 - 1] {
            try TestSupport.write(Array(bytes[..<length]), to: path)
            #expect(throws: FixRunFailure.self, "\(length) bytes") {
                _ = try Self.marks(of: try FixRun(path: path, key: Self.key))
            }
        }
        try TestSupport.write(bytes, to: path)
        #expect(try Self.marks(of: try FixRun(path: path, key: Self.key)) == marks.sorted())
        #expect(throws: FixRunFailure.self) { _ = try FixRun(path: path, key: SipHash(key: [UInt8](1...16))) }
    }

    /// A run of these events: one mark each, of a person who changes from event to event.
    private static func run(_ events: ClosedRange<Int64>, in folder: TemporaryFolder) throws -> FixRun {
        var writer = try FixRun.Writer(
            folder: folder.path, header(from: events.lowerBound - 1, to: events.upperBound), key: key)
        let marks = events.map { number in
            FixMark(hash: .random(in: 0...UInt64.max), number: number, person: PersonID(rawValue: 2 + number % 3))
        }
        for mark in marks.sorted() { try writer.append(mark) }
        return try writer.finish()
    }

    @Test func `merged runs have the marks of their parts, but for those of erased persons`() throws {
        let folder = TemporaryFolder()
        let runs = try [1...200, 201...203, 204...900].map { try Self.run($0, in: folder) }
        let gone = PersonID(rawValue: 3)
        let merged = try #require(
            try FixRun.merged(runs, without: [gone], in: folder.path, key: Self.key, epoch: 2) { false })
        let kept = try runs.flatMap { try Self.marks(of: $0) }.filter { $0.person != gone }
        #expect(try Self.marks(of: merged) == kept.sorted() && kept.count == 600)
        #expect(merged.header.from == 0 && merged.header.to == 900)
        #expect(merged.header.epoch == 2 && merged.header.erased == 1)
    }

    /// Runs of like size are merged, and a large one waits until its neighbours have grown.
    @Test func `four runs of one size are merged, and a large one beside them is not`() throws {
        let folder = TemporaryFolder()
        let large = try Self.run(1...1000, in: folder)
        let small = try (0..<4).map { try Self.run(1001 + 10 * $0...1010 + 10 * $0, in: folder) }
        #expect(FixRun.mergeable([large] + small.dropLast()) == nil)
        let chosen = try #require(FixRun.mergeable([large] + small))
        #expect(chosen.map(\.path) == small.map(\.path))
        // A hole between two runs is no neighbourhood.
        #expect(FixRun.mergeable([large, small[0], small[2], small[3]]) == nil)
    }
}
