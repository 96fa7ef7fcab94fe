import Cryptography
import LogVerifying
import SQLite
import Synchronization
import TestSupport
import Testing
import Threading
import Transparency

@testable import Log
@testable import LogTests
@testable import Projections
@testable import ProjectionsTests
@testable import Service
@testable import Whereabouts

/// The written events have no gap, and each sealed part is in its own place.
@Suite struct SealedBatchTests {
    /// The disk refuses one event in the middle; later events, which were numbered after it, would be taken.
    @Test func `nothing that was built on a failed batch is written or acknowledged`() throws {
        let scene = LogScene.withStandingFile()
        let (_, phone) = try scene.people()
        let log = try scene.open()
        let count = 4000
        let refused: Int64 = 2000
        try #require(log.head < 100)
        do {
            let other = try Connection(path: scene.path + "/log.sqlite", access: .readWrite)
            try other.execute(
                "CREATE TRIGGER refuse BEFORE INSERT ON event WHEN NEW.number = 2000 BEGIN SELECT RAISE(ABORT, 'refused'); END"
            )
        }
        let before = log.head
        let outcomes = Monitor([String]())
        for second in 0..<count {
            let report = DeviceReport.fix(try scene.fix(Int64(second)), answering: nil)
            log.submit(.reportFixes(device: .caller, [report]), by: phone, correlation: .random()) { result in
                outcomes.change { outcomes in
                    switch result {
                    case .success: outcomes.append("taken")
                    case .failure(let failure): outcomes.append("\(failure)")
                    }
                }
            }
        }
        let told = try #require(outcomes.wait(milliseconds: 60_000) { $0.count == count ? $0 : nil })
        let taken = told.count { $0 == "taken" }
        #expect(taken > 0 && before + Int64(taken) < refused)
        // All other callers got the same error: the writer did not try to continue.
        #expect(Set(told).count == 2 && told.contains { $0.contains("refused") }, "\(Set(told))")
        scene.stop()
        do {
            let other = try Connection(path: scene.path + "/log.sqlite", access: .readWrite)
            try other.execute("DROP TRIGGER refuse")
        }
        let verification = try scene.verify()
        #expect(verification.problem == nil && verification.events == before + Int64(taken))
        let numbers = try scene.events().map(\.number)
        #expect(numbers == Array(1...before + Int64(taken)))
        // It goes on where it is.
        #expect(try scene.report([try scene.fix(Int64(count))], by: phone) == [.new])
    }

    /// A numbered event that erases a person, and its bytes.
    private static func erasure(of person: Int64, _ number: Int64, version: Int64) -> (Batch.Event, CBORWriter) {
        let id = PersonID(rawValue: person)
        let header = EventHeader(
            number: number, stream: .audit(id), version: version, kind: EventKind.personErased.rawValue,
            recordedAt: TestClock.start, actor: .operator, correlation: RequestID(high: 1, low: 2), cause: 0)
        var sealer = EventSealer()
        var bytes = CBORWriter()
        var facts = FactWriter()
        let encoded = facts.write(.personErased(id), in: .audit(id), at: nil)
        let event = sealer.seal(header, encoded, of: facts, keys: [], into: &bytes)
        return (event, bytes)
    }

    private static func append(
        _ sealed: (event: Batch.Event, bytes: CBORWriter), to tip: inout LogTip
    ) throws(LogError) {
        let result: Result<Digest, LogError> = sealed.bytes.withBytes { bytes in
            do throws(LogError) { return .success(try tip.append(sealed.event, of: bytes)) } catch {
                return .failure(error)
            }
        }
        _ = try result.get()
    }

    @Test func `an event that does not continue the log or its stream is not taken`() throws {
        let scene = LogScene.withStandingFile()
        _ = try scene.people()
        scene.stop()
        let data = try DataDirectory(path: scene.path)
        let identity = try SQLiteLogEngine(path: data.log).identity
        let size = identity.size
        for (number, version, isGood) in [
            (size + 1, 1, true), (size + 2, 1, false), (size, 1, false), (size + 1, 2, false), (size + 1, 0, false),
        ] as [(Int64, Int64, Bool)] {
            var tip = LogTip(after: identity, heads: [:])
            tip.begin()
            var isTaken = true
            do throws(LogError) { try Self.append(Self.erasure(of: 900, number, version: version), to: &tip) } catch {
                isTaken = false
            }
            #expect(isTaken == isGood, "number \(number), version \(version)")
        }
    }

    @Test func `what was taken back leaves no trace in what is taken next`() throws {
        let scene = LogScene.withStandingFile()
        _ = try scene.people()
        scene.stop()
        let data = try DataDirectory(path: scene.path)
        let identity = try SQLiteLogEngine(path: data.log).identity
        let size = identity.size
        var direct = LogTip(after: identity, heads: [:])
        direct.begin()
        try Self.append(Self.erasure(of: 900, size + 1, version: 1), to: &direct)
        var tip = LogTip(after: identity, heads: [:])
        tip.begin()
        try Self.append(Self.erasure(of: 901, size + 1, version: 1), to: &tip)
        try Self.append(Self.erasure(of: 900, size + 2, version: 1), to: &tip)
        try Self.append(Self.erasure(of: 900, size + 3, version: 2), to: &tip)
        tip.takeBack()
        tip.begin()
        try Self.append(Self.erasure(of: 900, size + 1, version: 1), to: &tip)
        #expect(tip.heads == direct.heads)
        #expect(tip.range.bytes == direct.range.bytes && tip.headLeaf == direct.headLeaf)
    }

    @Test func `a sealed part opens in no other place of its event`() throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let friend = try house.addPerson("friend")
        try house.grant("walker", to: "friend")
        house.send("POST", "/v1/people/walker/location-queries", as: friend, #"{"purpose":"late for dinner"}"#)
        let reader = try house.service.log.reader()
        var tried = 0
        for stored in try reader.storedEvents(after: 0, limit: 1000) {
            guard case .array(let items) = try Self.item(stored.body), items.count > 2 else { continue }
            tried += 1
            let parts = Array(items.dropFirst())
            _ = try reader.open(stored)
            var body = CBORWriter()
            CBORValue.array([items[0]] + [parts[1], parts[0]] + parts.dropFirst(2)).write(to: &body)
            let exchanged = LogReader.StoredEvent(header: stored.header, body: body.bytes, leaf: stored.leaf)
            #expect(throws: LogError.self, "\(stored.header)") { try reader.open(exchanged) }
        }
        #expect(tried > 0, "No event has two parts.")
    }

    private static func item(_ bytes: [UInt8]) throws -> CBORValue {
        try bytes.withUnsafeBytes { bytes in
            var reader = CBORReader(bytes)
            return try reader.value()
        }
    }
}
