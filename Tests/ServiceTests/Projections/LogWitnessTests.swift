import Cryptography
import Glibc
import JSON
import LogVerifying
import Replies
import SQLite
import TestSupport
import Testing
import Whereabouts

@testable import Log
@testable import LogTests
@testable import Maintenance
@testable import Projections
@testable import ProjectionsTests
@testable import Service
@testable import Tables

/// A log that lost durable events is not accepted as complete.
@Suite struct LogWitnessTests {
    /// A directory with projections as a killed process left it; with `isOld`, as it was before the last reports.
    private final class Killed {
        let scene = LogScene.withStandingFile()
        let phone: Caller
        private(set) var files: [(name: String, bytes: [UInt8])] = []

        init() throws {
            phone = try scene.people().phone
            scene.stop()
        }

        func folded(acceptingLoss: Bool = false) throws -> FoldedLog {
            try FoldedLog(
                in: try DataDirectory(path: scene.path), acceptingLoss: acceptingLoss,
                clock: { [clock = scene.clock] in clock.now })
        }

        /// Reports one fix a second from `seconds`, then keeps all files as they are while the process runs.
        func report(_ seconds: Range<Int64>) throws {
            let folded = try folded()
            for second in seconds {
                let report = DeviceReport.fix(try scene.fix(second), answering: nil)
                _ = try folded.log.appendAndWait(
                    .reportFixes(device: .caller, [report]), by: phone, correlation: .random())
            }
            try #require(folded.waitForFolds())
            files = scene.files()
            folded.stop()
        }

        func put(_ change: (inout [String: [UInt8]]) -> Void) throws {
            scene.stop()
            var contents = Dictionary(uniqueKeysWithValues: files.lazy.filter { !$0.name.hasSuffix("-shm") })
            change(&contents)
            for folder in ["", "/projections"] {
                for name in names(in: scene.path + folder) where name != "projections" {
                    unlink("\(scene.path)\(folder)/\(name)")
                }
            }
            for (name, bytes) in contents {
                let descriptor = open(scene.path + name, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
                defer { close(descriptor) }
                try #require(bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == bytes.count)
            }
        }

        func failure() -> LogError? {
            do throws(LogError) {
                let directory = try DataDirectory(path: scene.path)
                try FoldedLog(in: directory, clock: { [clock = scene.clock] in clock.now }).stop()
                return nil
            } catch { return error }
        }
    }

    /// Flipped bits in every part of the write-ahead log, as from a damaged disk.
    @Test func `a damaged write-ahead log is refused with a sentence, or is complete`() throws {
        let killed = try Killed()
        try killed.report(0..<60)
        let wal = try #require(killed.files.first { $0.name == "/log.sqlite-wal" })
        let head: Int64 = 64
        var refused = 0
        for round in 0..<60 {
            let offset = wal.bytes.count * round / 60 + round * 7 % 24
            // Without the witness file, the projections know.
            let isWitnessed = round % 2 == 0
            try killed.put { contents in
                contents["/log.sqlite-wal"]?[offset] ^= 0x10
                if !isWitnessed { contents["/log.witness"] = nil }
            }
            guard let failure = killed.failure() else {
                #expect(try killed.scene.open().head == head, "byte \(offset)")
                continue
            }
            guard case .lost(let loss) = failure else {
                Issue.record("byte \(offset): \(failure)")
                continue
            }
            refused += 1
            #expect(loss.known == head && loss.has < head && loss.from == loss.has + 1, "byte \(offset)")
            #expect("\(failure)".contains("event \(loss.has)") && "\(failure)".contains("--accept-loss"))
        }
        #expect(refused > 40)
    }

    @Test func `an accepted loss is recorded, and the house continues`() throws {
        let killed = try Killed()
        try killed.report(0..<10)
        let old = killed.files
        try killed.report(10..<20)
        try killed.put { contents in
            for file in old where file.name.hasPrefix("/log.sqlite") { contents[file.name] = file.bytes }
        }
        guard case .lost(let loss) = killed.failure() else {
            Issue.record("It was opened.")
            return
        }
        #expect(loss.has == 14 && loss.known == 24)
        let told = try JSONDocument.parse(try FilesVerification.run(killed.scene.path).bytes).root
        #expect(told["ok"]?.bool == false && told["log"]?["number"]?.int == 15)
        #expect(told["log"]?["problem"]?.string == "\(LogError.lost(loss))")
        do {
            let folded = try killed.folded(acceptingLoss: true)
            #expect(folded.log.epoch == 2 && folded.log.head == 15)
            let report = DeviceReport.fix(try killed.scene.fix(30), answering: nil)
            _ = try folded.log.appendAndWait(
                .reportFixes(device: .caller, [report]), by: killed.phone, correlation: .random())
            #expect(try folded.firstDifferentProjection() == nil)
            folded.stop()
        }
        // No loss remains: the log opens, and accepting a loss records nothing.
        #expect(killed.failure() == nil)
        try killed.folded(acceptingLoss: true).stop()
        let events = try killed.scene.events()
        #expect(events.count == 16 && events[14].event.isLoss(from: 15, to: 24, epoch: 2))
        #expect(events[14].stream == .house && events[14].actor == .house)
        #expect(try killed.scene.verify().problem == nil)
    }

    @Test func `an older copy of the log that was continued is refused, and so is an end before the copy`() throws {
        let killed = try Killed()
        try killed.report(0..<10)
        let old = killed.files
        try killed.report(10..<20)
        let witness = killed.files.filter { !$0.name.hasPrefix("/log.sqlite") && !$0.name.hasSuffix("-shm") }
        // The copy alone, without a witness, continues past the known number.
        try killed.put { contents in
            contents = contents.filter { name, _ in name.hasPrefix("/k") }
            for file in old where file.name.hasPrefix("/log.sqlite") && !file.name.hasSuffix("-shm") {
                contents[file.name] = file.bytes
            }
        }
        try killed.report(40..<60)
        try killed.put { contents in
            for file in witness { contents[file.name] = file.bytes }
        }
        guard case .lost(let loss) = killed.failure() else {
            Issue.record("It was opened.")
            return
        }
        #expect(loss.has == 34 && loss.known == 24 && "\(LogError.lost(loss))".contains("Event 24"))
        do {
            let folded = try killed.folded(acceptingLoss: true)
            #expect(try folded.firstDifferentProjection() == nil)
            folded.stop()
        }
        #expect(killed.failure() == nil)
    }

    @Test func `a witness that is lost, damaged or of another log is ignored`() throws {
        let (killed, other) = (try Killed(), try Killed())
        try killed.report(0..<10)
        try other.report(0..<30)
        let foreign = try #require(other.files.first { $0.name == "/log.witness" })
        #expect(foreign.bytes.count == 1024)
        for bytes in [nil, [], [UInt8](repeating: 7, count: 700), foreign.bytes] {
            try killed.put { $0["/log.witness"] = bytes }
            #expect(killed.failure() == nil)
        }
        let path = killed.scene.path + "/flipped"
        let bytes = try #require(killed.files.first { $0.name == "/log.witness" }).bytes
        try DataDirectory.writePrivate(bytes, to: path)
        let whole = WitnessFile.read(path)
        #expect(whole.count == 2)
        for offset in bytes.indices {
            var flipped = bytes
            flipped[offset] ^= 1
            try DataDirectory.writePrivate(flipped, to: path)
            let found = WitnessFile.read(path)
            #expect(!found.isEmpty && Set(found).isSubset(of: whole), "byte \(offset)")
        }
    }

    @Test func `the slots of a witness have the specified bytes`() throws {
        let scene = LogScene.withStandingFile()
        _ = try scene.people()
        let identity = try scene.open().reader().identity()
        scene.stop()
        let bytes = try #require(DataDirectory.read(scene.path + "/log.witness", atMost: 4096))
        let newest = try #require(
            [0, 512].map { Array(bytes[$0..<$0 + 104]) }.max { $0[39] < $1[39] })
        #expect(newest[..<8].elementsEqual("wbwitn01".utf8) && newest[8..<24].elementsEqual(identity.id.bytes))
        #expect(newest[24..<40].elementsEqual([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 4]))
        #expect(newest[40..<72].elementsEqual(identity.head?.bytes ?? []))
        #expect(newest[72..<104].elementsEqual(SHA256().hash(Array(newest[..<72])).bytes))
    }

    @Test func `verifying the files alone gives the result of the service`() throws {
        let village = try Village()
        let house = village.house
        _ = house.settled()
        let online = house.manage("GET", "/v1/verify")
        house.stop()
        let told = try JSONDocument.parse(try FilesVerification.run(house.directory).bytes).root
        #expect(told["ok"]?.bool == true && told["log"]?["root"]?.string == online["log"]?["root"]?.string)
        let projections = told["projections"]?.array.map(Array.init) ?? []
        #expect(projections.count == ProjectionKind.all.count)
        #expect(projections.allSatisfy { $0["rows"]?.string == "ok" && $0["refold"]?.string == "equal" })
        try house.start()
    }
}
