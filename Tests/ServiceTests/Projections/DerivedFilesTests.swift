import Cryptography
import Glibc
import JSON
import LogVerifying
import TestSupport
import Testing
import Whereabouts

@testable import Log
@testable import LogTests
@testable import Maintenance
@testable import Projections
@testable import ProjectionsTests
@testable import Service

/// Files derived from the log never affect it: after any flipped bit in them, the log continues as without the flip.
@Suite struct DerivedFilesTests {
    /// A log with its projections as a killed process left it, and the changes that a test makes to it.
    private final class Left {
        let scene = LogScene.withStandingFile()
        private let phones: [Caller]
        private let admin: Caller
        private let files: [(name: String, bytes: [UInt8])]

        /// - Parameter isFolded: whether the projections are there, with their write-ahead logs; the standing alone if not.
        init(isFolded: Bool) throws {
            let (admin, phone) = try scene.people()
            let (_, other) = try scene.people("runner", phone: "watch")
            (self.admin, phones) = (admin, [phone, other])
            for second in 0..<40 {
                _ = try scene.report([try scene.fix(Int64(second), latitude: 52 + Double(second) / 100)], by: phone)
                _ = try scene.report([try scene.fix(Int64(second))], by: other)
            }
            scene.stop()
            guard isFolded else {
                files = scene.files()
                return
            }
            let folded = try FoldedLog(
                in: try DataDirectory(path: scene.path), clock: { [clock = scene.clock] in clock.now })
            try #require(folded.waitForFolds())
            files = scene.files()
            folded.stop()
        }

        /// The files that are derived from the log.
        var derived: [(name: String, bytes: [UInt8])] {
            files.filter { file in
                ["/projections/", "/catalog."].contains { file.name.contains($0) } && !file.name.hasSuffix("-shm")
                    && !file.bytes.isEmpty
            }
        }

        /// Restores all files, with `bytes` in place of one of them.
        func put(_ bytes: [UInt8], into name: String) throws {
            scene.stop()
            for folder in ["", "/projections"] {
                for name in names(in: scene.path + folder) where name != "projections" {
                    unlink("\(scene.path)\(folder)/\(name)")
                }
            }
            for file in files where !file.name.hasSuffix("-shm") {
                let content = file.name == name ? bytes : file.bytes
                let descriptor = open(scene.path + file.name, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
                defer { close(descriptor) }
                try #require(content.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == content.count)
            }
        }

        /// Further acts of both phones and the operator; returns the log's events afterwards, in words.
        func goOn(isFolded: Bool) throws -> [String] {
            if isFolded {
                let folded = try FoldedLog(
                    in: try DataDirectory(path: scene.path), clock: { [clock = scene.clock] in clock.now })
                try append(to: folded.log)
                #expect(folded.waitForFolds())
                folded.stop()
            } else {
                try append(to: try scene.open())
            }
            let verified = try scene.verify()
            #expect(verified.problem == nil && verified.lostParts == 0)
            let reader = try scene.open().reader()
            return try reader.events(after: 0, limit: .max).map { "\($0.event)" }
        }

        private func append(to log: EventLog) throws {
            for (index, phone) in phones.enumerated() {
                let report = DeviceReport.fix(try scene.fix(100 + Int64(index)), answering: nil)
                _ = try log.appendAndWait(
                    .reportFixes(device: .caller, [report]), by: phone, correlation: RequestID(high: 1, low: 1))
            }
            _ = try log.appendAndWait(
                .addPerson(LogScene.handle("newcomer")), by: admin, correlation: RequestID(high: 1, low: 2))
        }
    }

    /// One bit in every 53rd byte, so that each page is hit some eighty times.
    @Test func `after a flipped bit in the saved standing, the log continues as without it`() throws {
        let left = try Left(isFolded: false)
        let standing = try #require(left.derived.first { $0.name.contains("standing") })
        try left.put(standing.bytes, into: standing.name)
        let expected = try left.goOn(isFolded: false)
        #expect(expected.count == 91)
        for offset in stride(from: 0, to: standing.bytes.count, by: 53) {
            var bytes = standing.bytes
            bytes[offset] ^= 1 << UInt8(offset % 8)
            try left.put(bytes, into: standing.name)
            #expect(try left.goOn(isFolded: false) == expected, "byte \(offset) of \(standing.name)")
        }
    }

    @Test func `after a flipped bit in a projection, its journal or the catalog, the log continues as without it`()
        throws
    {
        let left = try Left(isFolded: true)
        let derived = left.derived
        for name in ["catalog.sqlite", "timeline", "current", "audit", "streamIndex"] {
            try #require(derived.contains { $0.name.contains(name) && $0.name.hasSuffix("-wal") }, "\(name) has no WAL")
        }
        try left.put(derived[0].bytes, into: derived[0].name)
        let expected = try left.goOn(isFolded: true)
        #expect(expected.count == 91)
        var dice = SplitMix(13)
        for file in derived {
            for _ in 0..<10 {
                var bytes = file.bytes
                let offset = Int.random(in: bytes.indices, using: &dice)
                bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &dice)
                try left.put(bytes, into: file.name)
                #expect(try left.goOn(isFolded: true) == expected, "byte \(offset) of \(file.name)")
            }
        }
    }

    @Test(arguments: ["version", "leaf", "number", "missing"])
    func `a valid standing that disagrees with the log is refolded`(what: String) throws {
        let left = try Left(isFolded: false)
        let log = try left.scene.open()
        let reader = try log.reader()
        var standing = Standing()
        var heads = StreamHeads()
        try EventLog.catchUp(&standing, &heads, to: log.head, reader)
        let identity = try reader.identity()
        left.scene.stop()
        // The newest event is that of the place.
        let (stream, head) = try #require(heads.first { $0.value.number != log.head })
        switch what {
        case "version": heads[stream] = StreamHead(number: head.number, version: head.version + 1, leaf: head.leaf)
        case "number": heads[stream] = StreamHead(number: head.number - 1, version: head.version, leaf: head.leaf)
        case "leaf":
            heads[stream] = StreamHead(number: head.number, version: head.version, leaf: SHA256().hash([1]))
        default: heads[stream] = nil
        }
        let file = StandingFile(directory: left.scene.path + "/projections")
        try file.save(standing, heads, log: identity)
        _ = try left.goOn(isFolded: false)
    }

    /// With a wrong version in the saved standing, every later start once trapped.
    @Test func `verify folds the standing from zero`() throws {
        let house = try ServiceUnderTest()
        let verified = house.manage("GET", "/v1/verify")
        let standing = try #require(verified["projections"]?.array?.first { $0["name"]?.string == "standing" })
        #expect(standing["refold"]?.string == "equal" && standing["place"]?.int == house.service.log.head)
        house.service.log.changeStanding { $0 = Standing(skippingAVersionOf: $0) }
        #expect(house.manage("GET", "/v1/verify")["ok"]?.bool == false)
    }

    @Test func `an event that does not continue its stream is not written`() throws {
        let scene = LogScene.withStandingFile()
        let (_, phone) = try scene.people()
        _ = try scene.report([try scene.fix(1)], by: phone)
        try scene.open().changeStanding { $0 = Standing(skippingAVersionOf: $0) }
        #expect(throws: AppendFailure.self) { try scene.report([try scene.fix(2)], by: phone) }
        scene.stop()
        // The next start rejects the saved standing and continues.
        #expect(try scene.report([try scene.fix(2)], by: phone) == [.new])
        #expect(try scene.verify().problem == nil)
    }
}

extension Standing {
    /// A standing in which every stream is one version ahead.
    fileprivate init(skippingAVersionOf other: Standing) {
        var entries: [StandingEntry] = []
        other.forEachEntry { entry in
            guard entry.kind == .version else { return entries.append(entry) }
            var body = CBORWriter()
            body.map(1)
            body.integer(1)
            body.integer(1000 + entry.id)
            entries.append(StandingEntry(kind: .version, id: entry.id, body: body.bytes))
        }
        do { self = try Standing(place: other.place, entries: entries) } catch { preconditionFailure("\(error)") }
    }
}
