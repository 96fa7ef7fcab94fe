import Cryptography
import Geodesy
import Glibc
import LogVerifying
import SQLite
import Testing
import Whereabouts

@testable import Log
@testable import LogTests

@Suite struct ErasureTests {
    private static let latitude = 47.1234567
    private static let longitude = -122.7654321

    /// A person with fixes, a region and a token for pushes; the standing was saved since.
    private static func arranged() throws -> (scene: LogScene, admin: Caller, phone: Caller) {
        let scene = LogScene.withStandingFile()
        let (admin, phone) = try scene.people("unmistakable", phone: "peculiar")
        let log = try scene.open()
        let center = try Coordinate(latitude: latitude, longitude: longitude)
        let region = Region(identifier: "hideaway", circle: try Circle(center: center, radiusMeters: 100))
        _ = try log.appendAndWait(
            .addRegion(region, of: LogScene.handle("unmistakable")), by: admin, correlation: .random())
        let fixes = try (1...50).map { try scene.fix($0, latitude: latitude, longitude: longitude) }
        _ = try scene.report(fixes, by: phone)
        scene.stop()
        return (scene, admin, phone)
    }

    private static func erase(_ scene: LogScene, by admin: Caller) throws {
        _ = try scene.open().appendAndWait(
            .erasePerson(LogScene.handle("unmistakable")), by: admin, correlation: .random())
    }

    /// The byte forms of the places and names.
    private static var encodings: [[UInt8]] {
        var encodings = ["unmistakable", "peculiar", "hideaway"].map { Array($0.utf8) }
        for degrees in [latitude, longitude] {
            let whole = Int32((degrees * 1e7).rounded())
            encodings.append(Array("\(degrees)".utf8))
            encodings.append(Array("\(abs(whole))".utf8))
            // CBOR has −1 − n for a negative n.
            for integer in [whole, ~whole, -whole] {
                encodings.append(withUnsafeBytes(of: integer.bigEndian) { Array($0) })
                encodings.append(withUnsafeBytes(of: integer.littleEndian) { Array($0) })
            }
            encodings.append(withUnsafeBytes(of: degrees.bitPattern.bigEndian) { Array($0) })
            encodings.append(withUnsafeBytes(of: degrees.bitPattern.littleEndian) { Array($0) })
            encodings.append(withUnsafeBytes(of: Float(degrees).bitPattern.bigEndian) { Array($0) })
            encodings.append(withUnsafeBytes(of: Float(degrees).bitPattern.littleEndian) { Array($0) })
        }
        return encodings
    }

    /// The files that contain a place or name of the person.
    private static func hits(_ scene: LogScene) -> [String] {
        scene.files().flatMap { file in
            encodings.filter { contains(file.bytes, $0) }.map { "\(file.name): \($0)" }
        }
    }

    private static func contains(_ bytes: [UInt8], _ pattern: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            pattern.withUnsafeBytes { pattern in
                guard let start = bytes.baseAddress, let first = pattern.first, let wanted = pattern.baseAddress else {
                    return false
                }
                var offset = 0
                while offset + pattern.count <= bytes.count,
                    let hit = memchr(start + offset, Int32(first), bytes.count - pattern.count - offset + 1)
                {
                    if memcmp(hit, wanted, pattern.count) == 0 { return true }
                    offset = UnsafeRawPointer(hit) - start + 1
                }
                return false
            }
        }
    }

    @Test func `after an erasure no file holds a place or a name of the person, and the log still verifies`() throws {
        let (scene, admin, _) = try Self.arranged()
        // The search finds existing data: the saved standing has the region and the handles; the log discloses nothing.
        let before = Self.hits(scene)
        #expect(before.contains { $0.hasPrefix("/projections/standing") })
        #expect(before.allSatisfy { $0.hasPrefix("/projections/standing") })
        let root = try scene.verify().root
        try Self.erase(scene, by: admin)
        #expect(Self.hits(scene) == [])
        scene.stop()
        #expect(Self.hits(scene) == [])
        let verification = try scene.verify()
        #expect(verification.problem == nil)
        #expect(verification.root != root)
        #expect(verification.erasedParts == 53 && verification.lostParts == 0)
    }

    @Test func `what was sealed for an erased person reads as erased, and the rest as before`() throws {
        let (scene, admin, _) = try Self.arranged()
        try Self.erase(scene, by: admin)
        for event in try scene.events() {
            switch event.event {
            case .fixReported(_, _, let part): #expect(part == .erased)
            case .personAdded(_, let handle), .deviceAdded(_, _, let handle): #expect(handle == .erased)
            case .tokenIssued(let token): #expect(token.hash.bytes.count == 32)
            default: break
            }
        }
    }

    @Test func `a key that is gone without a record is lost, not erased`() throws {
        let (scene, _, _) = try Self.arranged()
        do {
            let keys = try Connection(path: scene.path + "/keys.sqlite", access: .readWrite)
            try keys.execute("DELETE FROM key WHERE class = 0")
        }
        let verification = try scene.verify()
        #expect(verification.problem == nil)
        #expect(verification.erasedParts == 0 && verification.lostParts == 50)
        let parts = try scene.events().compactMap { event -> Part<Fix>? in
            if case .fixReported(_, _, let part) = event.event { part } else { nil }
        }
        #expect(parts == [Part<Fix>](repeating: .keyLost, count: 50))
    }

    @Test func `a wrapped key that was tampered with is lost`() throws {
        let (scene, _, _) = try Self.arranged()
        do {
            let keys = try Connection(path: scene.path + "/keys.sqlite", access: .readWrite)
            try keys.execute("UPDATE key SET person = person + 1 WHERE class = 1")
        }
        #expect(try scene.verify().lostParts == 3)
    }

    @Test func `a crash between the event and the destruction of the keys is made good at the next start`() throws {
        let (scene, admin, _) = try Self.arranged()
        // As the files were before the erasure, but for the log, which has the event.
        let kept = scene.path + "-kept"
        _ = system("cp -r '\(scene.path)' '\(kept)'")
        try Self.erase(scene, by: admin)
        scene.stop()
        _ = system(
            "cp '\(kept)'/keys.sqlite* '\(scene.path)/'; cp '\(kept)'/projections/* '\(scene.path)/projections/'")
        _ = system("rm -r '\(kept)'")
        #expect(!Self.hits(scene).isEmpty)
        _ = try scene.open()
        #expect(Self.hits(scene) == [])
        #expect(try scene.verify().erasedParts == 53)
    }

    @Test func `another person's keys outlive an erasure, and a new month has new ones`() throws {
        let (scene, admin, _) = try Self.arranged()
        let log = try scene.open()
        for command: Command in [
            .addPerson(LogScene.handle("friend")), .addDevice(LogScene.handle("tablet"), of: LogScene.handle("friend")),
        ] {
            _ = try log.appendAndWait(command, by: admin, correlation: .random())
        }
        let tablet = try scene.caller(.device(LogScene.handle("tablet")), .report, by: admin)
        #expect(try scene.report([try scene.fix(1)], by: tablet) == [.new])
        scene.clock.advance(seconds: 40 * 86_400)
        #expect(try scene.report([try scene.fix(40 * 86_400)], by: tablet) == [.new])
        try Self.erase(scene, by: admin)
        #expect(try scene.report([try scene.fix(40 * 86_400 + 1)], by: tablet) == [.new])
        let open = try scene.events().filter {
            if case .fixReported(_, _, .open) = $0.event { true } else { false }
        }
        #expect(open.count == 3)
        scene.stop()
        let keys = try Connection(path: scene.path + "/keys.sqlite", access: .readOnly)
        let periods = try keys.cached("SELECT DISTINCT period FROM key WHERE class = 0 ORDER BY period") {
            (statement) throws(SQLiteError) -> [Int64] in
            var periods: [Int64] = []
            while try statement.step() { periods.append(statement.int(at: 0)) }
            return periods
        }
        #expect(periods == [202_601, 202_602])
    }

    @Test(
        arguments: [
            (0, 197_001), (1_709_164_800_000, 202_402), (1_709_251_200_000, 202_403), (1_767_225_599_999, 202_512),
            (1_767_225_600_000, 202_601), (-1, 196_912), (951_782_400_000, 200_002),
        ] as [(Int64, Int64)])
    func `a month is the month of the civil calendar`(milliseconds: Int64, period: Int64) {
        #expect(KeyRing.period(of: Timestamp(milliseconds: milliseconds)) == period)
    }
}
