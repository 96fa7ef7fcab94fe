import Cryptography
import Glibc
import JSON
import LogVerifying
import Projections
import Replies
import SQLite
import Tables
import TestSupport
import Testing
import Threading
import Transparency
import Whereabouts

@testable import Log
@testable import Maintenance
@testable import Reactors
@testable import Service

/// Events are shipped as they come, and restored as of any of them.
@Suite struct ShippingStoryTests {
    /// A service that ships, with a person who reports.
    final class Scene: Sendable {
        let house: ServiceUnderTest
        let phone: String
        private let temporary = TemporaryFolder()
        var folder: String { temporary.path }
        var target: String { folder + "/target" }
        var kek: String { house.directory + "/kek" }

        /// - Parameter shipping: The target; the directory `target` of the scene if not given.
        init(_ shipping: ((_ folder: String) throws -> ServiceConfiguration.Shipping)? = nil) throws {
            let target = temporary.path + "/target"
            mkdir(target, 0o700)
            let shipping = try shipping?(temporary.path) ?? .directory(target)
            house = try ServiceUnderTest { $0.shipping = shipping }
            _ = try house.addPerson("walker")
            phone = try house.addDevice("walker-phone", of: "walker")
        }

        func report(_ count: Int) {
            for _ in 0..<count {
                house.clock.advance(seconds: 10)
                let answer = house.send(
                    "POST", "/v1/fixes", as: phone,
                    #"{"timestamp":\#(house.clock.seconds),"latitude":48.2,"longitude":16.4}"#)
                #expect(answer.status == 200)
            }
        }

        /// The folder of the log in the target.
        func shipped(epoch: Int64? = nil) -> String {
            "\(target)/\(house.service.log.id)-\(epoch ?? house.service.log.epoch)"
        }

        /// Waits until all events are shipped.
        func settle(sourceLocation: SourceLocation = #_sourceLocation) throws {
            try eventually("all events to be shipped") {
                let status = try #require(house.service.shipper).status
                return status.shipped == house.service.log.head && !status.isFailing && status.behindSince == nil
            }
        }

        /// The stored events of the service.
        func events() throws -> [LogReader.StoredEvent] {
            try house.service.log.reader().storedEvents(after: 0, limit: 10_000)
        }

        func restore(
            _ shipped: String? = nil, at point: RestorePoint = .newest, to name: String
        ) throws -> (path: String, outcome: Restore.Outcome) {
            let path = folder + "/" + name
            let outcome = try Restore.restore(
                from: shipped ?? self.shipped(), at: point, to: path, kek: kek, newerKeys: nil,
                clock: { [house] in house.clock.now })
            return (path, outcome)
        }

        /// The sentence with which a restore is refused.
        func refusal(_ shipped: String? = nil, at point: RestorePoint = .newest, kek: String? = nil) -> String {
            let path = folder + "/refused"
            defer { TestSupport.remove(path) }
            do {
                _ = try Restore.restore(
                    from: shipped ?? self.shipped(), at: point, to: path, kek: kek ?? self.kek, newerKeys: nil)
                return "restored"
            } catch {
                #expect(access(path + "/log.sqlite", F_OK) != 0)
                return "\(error)"
            }
        }

        /// The files with batches in a folder, in their order.
        func files(in folder: String) -> [String] { names(in: folder).filter { $0.hasPrefix("events-") } }

        /// Ships with small batches and files into another directory, until all is there.
        func shipInPieces(to name: String, batchEvents: Int = 3, fileBytes: Int64 = 600) throws -> String {
            let target = folder + "/" + name
            mkdir(target, 0o700)
            var pace = Shipper.Pace()
            (pace.batchEvents, pace.fileBytes, pace.tickMilliseconds) = (batchEvents, fileBytes, 20)
            let log = house.service.log
            let shipper = try Shipper(
                .directory(target), directory: house.service.directory, log: log,
                clock: { Timestamp(milliseconds: 0) }, pace: pace)
            try eventually("all events to be shipped") { shipper.status.shipped == log.head }
            #expect(shipper.stop(milliseconds: 60_000))
            return "\(target)/\(log.id)-\(log.epoch)"
        }
    }

    /// Fingerprints of all projections, folded from zero over a directory.
    private static func fingerprints(in path: String) throws -> [String: Fingerprint] {
        let directory = try DataDirectory(path: path)
        let log = try EventLog.alone(in: directory)
        let host = try ProjectionHost(
            log: log, directory: directory.projections, catalogPath: directory.catalog, kinds: ProjectionKind.all)
        defer {
            log.stop()
            host.stop(milliseconds: 60_000)
        }
        #expect(host.wait(for: log.head, in: ProjectionKind.all.map(\.name), milliseconds: patienceMilliseconds))
        return Dictionary(
            host.status.filter { $0.generation.role == .active }.map { ($0.generation.name, $0.fingerprint) }
        ) { first, _ in first }
    }

    private static func equal(_ one: LogReader.StoredEvent, _ other: LogReader.StoredEvent) -> Bool {
        one.leaf == other.leaf && one.body == other.body && one.header.number == other.header.number
    }

    // MARK: Shipping and restoring

    @Test func `events that are shipped while fixes come in are restored with the same bytes and leaves`() throws {
        let scene = try Scene()
        let isOver = Monitor(false)
        let writer = WorkerThread { while !isOver.read({ $0 }) { scene.report(1) } }
        try eventually("events to be shipped while others come") {
            (scene.house.service.shipper?.status.shipped ?? 0) > 30
        }
        isOver.change { $0 = true }
        writer.join()
        try scene.settle()
        let original = try scene.events()
        let (path, outcome) = try scene.restore(to: "again")
        #expect(outcome.epoch == 2 && outcome.rest == ShippedRest(later: 0, incompleteBytes: 0))
        #expect(outcome.manifest.events == Int64(original.count))
        let found = try LogVerifier.verify(try DataDirectory(path: path)) { _, _ in }
        #expect(found.problem == nil && found.lostParts == 0 && found.events == Int64(original.count) + 1)
        let keys = try KeyRing(
            path: path + "/keys.sqlite", keyEncryptionKey: try scene.house.service.directory.keyEncryptionKey())
        let copy = try LogReader(path: path + "/log.sqlite", keys: keys).storedEvents(after: 0, limit: 10_000)
        #expect(copy.count == original.count + 1 && zip(copy, original).allSatisfy(Self.equal))
    }

    @Test func `a log is restored as of each of its events, proven, with the tables of a log that ends there`() throws {
        let scene = try Scene()
        scene.report(4)
        scene.house.manage("POST", "/v1/people/walker/pauses", "{}")
        let pieces = try scene.shipInPieces(to: "pieces")
        #expect(scene.files(in: pieces).count > 2)
        let original = try scene.events()
        let head = Int64(original.count)
        let sha256 = SHA256()
        for number in 1...head {
            let (path, outcome) = try scene.restore(pieces, at: .number(number), to: "at-\(number)")
            #expect(outcome.manifest.events == number && outcome.rest?.later == head - number)
            var range = CompactRange()
            for event in original.prefix(Int(number)) { range.append(event.leaf, sha256) }
            #expect(range.root(sha256).hex == outcome.manifest.root)
            guard number == head || number == head / 2 else { continue }
            // A backup of a log that was never longer.
            let cut = scene.folder + "/cut-\(number)"
            mkdir(cut, 0o700)
            try TestSupport.copy(pieces + "/keys.sqlite", to: cut + "/keys.sqlite")
            do {
                let store = try SQLiteLogEngine(newAt: cut + "/log.sqlite", id: scene.house.service.log.id, epoch: 1)
                try store.copy(original.prefix(Int(number)), epoch: 1, range: range)
            }
            try write(outcome.manifest.reply.bytes, to: cut + "/backup.json")
            let (due, _) = try scene.restore(cut, to: "due-\(number)")
            let (fingerprints, wanted) = (try Self.fingerprints(in: path), try Self.fingerprints(in: due))
            #expect(fingerprints == wanted && fingerprints.count >= 4)
        }
        #expect(scene.refusal(pieces, at: .number(head + 1)).contains("ends with event \(head)"))
    }

    @Test func `a moment restores the events that were recorded up to it`() throws {
        let scene = try Scene()
        let start = scene.house.clock.now
        let before = scene.house.service.log.head
        scene.report(5)
        try scene.settle()
        func at(_ seconds: Int64) -> RestorePoint {
            .time(Timestamp(milliseconds: start.milliseconds + seconds * 1000))
        }
        #expect(try scene.restore(at: at(0), to: "a").outcome.manifest.events == before)
        let (_, outcome) = try scene.restore(at: at(20), to: "b")
        #expect(outcome.manifest.events == before + 2 && outcome.rest?.later == 3)
        #expect(outcome.manifest.madeAt.milliseconds == start.milliseconds + 20_000)
        #expect(try scene.restore(at: at(4711), to: "c").outcome.manifest.events == before + 5)
        #expect(scene.refusal(at: at(-1)).contains("The first event was recorded at \(start.milliseconds / 1000)"))
        scene.house.manage("POST", "/v1/backups")
        mkdir(scene.folder + "/backup", 0o700)
        try Backup.move(outOf: scene.house.directory, to: scene.folder + "/backup")
        #expect(scene.refusal(scene.folder + "/backup", at: at(0)).contains("A backup is of one moment"))
    }

    @Test func `a restored service ships into another folder, and the former one stays as it is`() throws {
        let scene = try Scene()
        scene.report(3)
        try scene.settle()
        let former = scene.shipped()
        let head = scene.house.service.log.head
        scene.house.stop()
        let bytes = try contents(ofFile: former + "/" + scene.files(in: former)[0])
        let (path, _) = try scene.restore(former, to: "again")
        var configuration = ServiceConfiguration()
        configuration.shipping = .directory(scene.target)
        let service = try Service(
            directory: try DataDirectory(path: path), configuration: configuration, gazetteerPath: nil)
        defer { service.stop() }
        try eventually("the restored log to be shipped") { service.shipper?.status.shipped == service.log.head }
        #expect(service.log.head > head && service.log.epoch == 2)
        #expect(try contents(ofFile: former + "/" + scene.files(in: former)[0]) == bytes)
        let later = "\(scene.target)/\(service.log.id)-2"
        #expect(try scene.restore(later, to: "later").outcome.manifest.events == service.log.head)
        // An erasure there reaches the keys in both.
        #expect(Set(try BackupList(of: path).entries.map(\.folder)) == [former, later])
    }

    // MARK: Erasure

    @Test func `an erasure destroys the person's keys in the shipped folder, also if the folder was away`() throws {
        let scene = try Scene()
        scene.report(2)
        _ = try scene.house.addPerson("neighbour")
        try scene.settle()
        func wrapped(_ file: String) throws -> [Int64: [UInt8]] {
            try Connection(path: file, access: .readOnly).cached("SELECT id, wrapped FROM key") {
                (statement) throws(SQLiteError) in
                var keys: [Int64: [UInt8]] = [:]
                while try statement.step() { keys[statement.int(at: 0)] = statement.bytes(at: 1) }
                return keys
            }
        }
        let shipped = scene.shipped()
        let before = try wrapped(scene.house.directory + "/keys.sqlite")
        // The file may be replaced while it is read.
        try eventually("the keys to be shipped") { (try? wrapped(shipped + "/keys.sqlite")) == before }
        func isThere(_ key: [UInt8]) -> Bool {
            names(in: shipped).contains { name in
                DataDirectory.read("\(shipped)/\(name)", atMost: 1 << 28)?.firstRange(of: key) != nil
            }
        }
        #expect(before.values.allSatisfy(isThere))
        #expect(scene.house.manage("DELETE", "/v1/people/neighbour").json?["backupsLeft"]?.int == 0)
        func gone() throws -> [[UInt8]] {
            let left = try wrapped(scene.house.directory + "/keys.sqlite")
            return before.filter { left[$0.key] == nil }.map(\.value)
        }
        #expect(try gone().count >= 2)
        #expect(try !gone().contains(where: isThere))

        #expect(rename(scene.target, scene.target + "-away") == 0)
        #expect(scene.house.manage("DELETE", "/v1/people/walker").json?["backupsLeft"]?.int == 1)
        #expect(rename(scene.target + "-away", scene.target) == 0)
        try eventually("the erasure to reach the folder") { try !gone().contains(where: isThere) }
        #expect(try gone().count == before.count)
        try scene.settle()
        let (path, _) = try scene.restore(to: "again")
        #expect(try LogVerifier.verify(try DataDirectory(path: path)) { _, _ in }.lostParts == 0)
    }

    /// A process that was killed while it shipped keys leaves copies of them.
    @Test func `copies of keys that a killed process left do not outlive an erasure`() throws {
        let scene = try Scene()
        scene.report(1)
        try scene.settle()
        let left = [scene.shipped() + "/keys.sqlite.new", scene.house.directory + "/shipping/keys.sqlite"]
        mkdir(scene.house.directory + "/shipping", 0o700)
        for file in left { try TestSupport.copy(scene.shipped() + "/keys.sqlite", to: file) }
        #expect(scene.house.manage("DELETE", "/v1/people/walker").json?["backupsLeft"]?.int == 0)
        #expect(left.allSatisfy { access($0, F_OK) != 0 })
    }

    // MARK: Trouble

    @Test func `while the target is away the service works and says so, and later ships all`() throws {
        let scene = try Scene()
        try scene.settle()
        let figures = { scene.house.manage("GET", "/metrics").text }
        #expect(figures().contains("whereabouts_shipping_failing 0"))
        #expect(figures().contains("whereabouts_shipping_behind_events 0"))
        #expect(rename(scene.target, scene.target + "-away") == 0)
        scene.report(5)
        try eventually("the trouble to be seen") { scene.house.service.shipper?.status.isFailing == true }
        scene.report(2)
        scene.house.clock.advance(seconds: 100)
        let ready = scene.house.send("GET", "/readyz", as: nil)
        #expect(
            ready.status == 200 && ready.text.contains("Events cannot be shipped") && !ready.text.contains("target"))
        let lines = figures()
        #expect(lines.contains("whereabouts_shipping_failing 1"))
        #expect(!lines.contains("whereabouts_shipping_behind_events 0"))
        #expect((scene.house.service.shipper?.secondsBehind ?? 0) >= 100)
        #expect(rename(scene.target + "-away", scene.target) == 0)
        try scene.settle()
        #expect(!scene.house.send("GET", "/readyz", as: nil).text.contains("shipped"))
        #expect(try scene.restore(to: "again").outcome.manifest.events == scene.house.service.log.head)
    }

    /// A folder on a share that hangs: from a moment on, no call returns until it answers again.
    private final class HangingShare: ShippingPlace {
        /// Whether calls return, and whether one is waiting.
        typealias Gate = Monitor<(answers: Bool, isWaiting: Bool)>
        private let folder: ShippedDirectory
        private let gate: Gate

        init(_ folder: ShippedDirectory, _ gate: Gate) { (self.folder, self.gate) = (folder, gate) }

        private func wait() {
            gate.change { $0.isWaiting = !$0.answers }
            gate.wait { $0.answers ? () : nil }
        }

        func open() throws(ShippingFault) -> Shipped {
            wait()
            return try folder.open()
        }

        func put(_ bytes: [UInt8], of batch: ShippedBatch) throws(ShippingFault) {
            wait()
            try folder.put(bytes, of: batch)
        }

        func put(_ keys: borrowing KeysCopy) throws(ShippingFault) -> Bool {
            wait()
            return try folder.put(keys)
        }

        func put(configuration: [UInt8]) throws(ShippingFault) { try folder.put(configuration: configuration) }

        func close() { folder.close() }
    }

    @Test func `a share that hangs delays no report, no erasure and no end, and gets all events once it answers`()
        throws
    {
        let scene = try Scene()
        let (log, clock) = (scene.house.service.log, scene.house.clock)
        let directory = scene.house.service.directory
        let target = scene.folder + "/hanging"
        mkdir(target, 0o700)
        var pace = Shipper.Pace()
        pace.patienceSeconds = 0.1
        let gate = HangingShare.Gate((answers: true, isWaiting: false))
        func ship() throws -> Shipper {
            try Shipper(directory: directory, log: log, clock: { clock.now }, pace: pace) { [pace] _ in
                HangingShare(
                    ShippedDirectory(target, directory, log, fileBytes: pace.fileBytes, clock: { clock.now }), gate)
            }
        }
        _ = try scene.house.addPerson("neighbour")
        let shipper = try ship()
        try eventually("all events to be shipped") { shipper.status.shipped == log.head }

        gate.change { $0.answers = false }
        scene.report(3)
        try eventually("a call to hang") { gate.read { $0.isWaiting } }
        try eventually("the share to count as failing") { shipper.isFailing }
        // No call has failed: none has returned.
        #expect(!shipper.status.isFailing && shipper.status.shipped.map { $0 < log.head } == true)
        #expect(scene.house.manage("DELETE", "/v1/people/neighbour").status == 200)
        scene.report(2)
        #expect(!shipper.stop(milliseconds: 100))

        gate.change { $0.answers = true }
        let next = try ship()
        try eventually("all events to be shipped") { next.status.shipped == log.head && !next.isFailing }
        #expect(next.stop(milliseconds: 10_000))
        let shipped = "\(target)/\(log.id)-\(log.epoch)"
        #expect(try scene.restore(shipped, to: "again").outcome.manifest.events == log.head)
    }

    @Test func `an append that did not end is cut off at the next start, and shipping goes on after it`() throws {
        let scene = try Scene()
        scene.report(2)
        try scene.settle()
        let file = scene.shipped() + "/" + scene.files(in: scene.shipped())[0]
        scene.house.stop()
        let whole = try contents(ofFile: file)
        for rest in [whole.prefix(1), whole.prefix(200), [UInt8](repeating: 0, count: 300)[...]] {
            try write(whole + rest, to: file)
            try scene.house.start()
            try scene.settle()
            let head = scene.house.service.log.head
            #expect(try scene.restore(to: "again-\(rest.count)").outcome.manifest.events == head)
            scene.house.stop()
            try write(whole, to: file)
        }
        // The whole file is the rest of its first append.
        try write(whole.prefix(60), to: file)
        try scene.house.start()
        try scene.settle()
        #expect(try scene.restore(to: "anew").outcome.manifest.events == scene.house.service.log.head)
    }

    @Test func `a damaged batch, a gap and another kek are refused, each with a sentence that says what to do`() throws
    {
        let scene = try Scene()
        scene.report(6)
        let pieces = try scene.shipInPieces(to: "pieces", batchEvents: 2, fileBytes: 1)
        let files = scene.files(in: pieces).map { "\(pieces)/\($0)" }
        #expect(files.count >= 4)
        let second = try contents(ofFile: files[1])
        let place = try #require(ShippedName(names(in: pieces).filter { $0.hasPrefix("events-") }[1])).first - 1

        var changed = second
        changed[150] ^= 1
        try write(changed, to: files[1])
        let sentence = scene.refusal(pieces)
        #expect(sentence.contains("A batch is damaged at byte 0 of \(files[1])"), "\(sentence)")
        #expect(sentence.contains("restore the events before it with --number \(place)."))
        #expect(try scene.restore(pieces, at: .number(place), to: "before").outcome.manifest.events == place)
        #expect(scene.refusal(pieces, at: .number(place + 1)).contains("--number \(place)"))

        unlink(files[1])
        let gap = scene.refusal(pieces)
        #expect(gap.contains("The events \(place + 1) to ") && gap.contains("--number \(place)"), "\(gap)")
        try write(second, to: files[1])
        #expect(try scene.restore(pieces, to: "whole").outcome.manifest.events == scene.house.service.log.head)

        try DataDirectory.writePrivate(randomBytes(32), to: scene.folder + "/other-kek")
        #expect(scene.refusal(pieces, kek: scene.folder + "/other-kek").contains("does not open the keys"))
        let empty = scene.folder + "/empty"
        mkdir(empty, 0o700)
        #expect(scene.refusal(empty).contains("is not a complete backup"))
    }

    /// The batch of another log is whole by itself.
    @Test func `batches of another course of events are refused by the tree`() throws {
        let scene = try Scene()
        let other = try Scene()
        scene.report(4)
        other.report(4)
        let (one, two) = (
            try scene.shipInPieces(to: "pieces", batchEvents: 2, fileBytes: 1),
            try other.shipInPieces(to: "pieces", batchEvents: 2, fileBytes: 1)
        )
        let file = scene.files(in: one)[2]
        let sha256 = SHA256()
        let foreign = try ShippedFile("\(two)/\(file)", ShippedBatch.secret(of: other.house.service.log.keys), sha256)
        guard case .batch(let batch) = try foreign.next() else {
            Issue.record("The other log has no such batch.")
            return
        }
        let origin = ShippedBatch.Origin(log: scene.house.service.log.id, epoch: 1)
        let forged = ShippedBatch(origin, before: batch.before, events: batch.events, sha256)
        let secret = ShippedBatch.secret(of: scene.house.service.log.keys)
        try write(forged.bytes(secret, sha256), to: "\(one)/\(file)")
        let sentence = scene.refusal(one)
        #expect(sentence.contains("is not the root over the events before it; restore"), "\(sentence)")
    }

    @Test func `repeated events are restored once if they are equal, and refused if they differ`() throws {
        let scene = try Scene()
        scene.report(2)
        let pieces = try scene.shipInPieces(to: "pieces")
        let (secret, sha256) = (ShippedBatch.secret(of: scene.house.service.log.keys), SHA256())
        let events = try scene.events()
        let origin = ShippedBatch.Origin(log: scene.house.service.log.id, epoch: 1)
        let path = "\(pieces)/\(ShippedName(first: 1, last: 2).text)"
        func repeated(_ events: [LogReader.StoredEvent]) throws {
            let batch = ShippedBatch(origin, before: CompactRange(), events: events, sha256)
            try write(batch.bytes(secret, sha256), to: path)
        }
        try repeated(Array(events.prefix(2)))
        #expect(try scene.restore(pieces, to: "equal").outcome.manifest.events == Int64(events.count))
        let other = LogReader.StoredEvent(
            header: events[1].header, body: events[1].body, leaf: events[0].leaf)
        try repeated([events[0], other])
        let sentence = scene.refusal(pieces)
        #expect(sentence.contains("has another event 2 than the files before it"), "\(sentence)")
    }

    @Test func `a changed event with right hashes around it does not pass the verification of the log`() throws {
        let scene = try Scene()
        scene.report(2)
        try scene.settle()
        scene.house.stop()
        try scene.house.start()
        try scene.settle()
        let keys = scene.house.service.log.keys
        let (secret, sha256) = (ShippedBatch.secret(of: keys), SHA256())
        let shipped = scene.shipped()
        let path = shipped + "/" + scene.files(in: shipped)[0]
        let file = try ShippedFile(path, secret, sha256)
        guard case .batch(let batch) = try file.next(), let first = batch.events.first else {
            Issue.record("There is no batch.")
            return
        }
        var body = first.body
        body[body.count - 1] ^= 1
        let changed = LogReader.StoredEvent(header: first.header, body: body, leaf: first.leaf)
        let forged = ShippedBatch(
            batch.origin, before: batch.before, events: [changed] + batch.events.dropFirst(), sha256)
        let rest = try contents(ofFile: path).dropFirst(Int(file.offset))
        try write(forged.bytes(secret, sha256) + rest, to: path)
        #expect(scene.refusal(shipped).contains("event 1 is damaged, it does not match its leaf"))
    }

    @Test func `only one process ships into a folder, and another course of events is not mixed into it`() throws {
        let scene = try Scene()
        scene.report(2)
        try scene.settle()
        let log = scene.house.service.log
        func open(_ log: EventLog) -> String {
            let second = ShippedDirectory(
                scene.target, scene.house.service.directory, log, fileBytes: 1 << 20, clock: { Timestamp.now })
            do {
                _ = try second.open()
                return "opened"
            } catch { return "\(error)" }
        }
        #expect(open(log).contains("Another process ships into"))
        // A copy of the data directory goes on by itself.
        let copy = scene.folder + "/copy"
        scene.house.stop()
        #expect(system("cp -r '\(scene.house.directory)' '\(copy)'") == 0)
        try scene.house.start()
        scene.report(3)
        try scene.settle()
        scene.house.stop()
        var configuration = ServiceConfiguration()
        configuration.shipping = .directory(scene.target)
        let service = try Service(
            directory: try DataDirectory(path: copy), configuration: configuration, gazetteerPath: nil)
        defer { service.stop() }
        try eventually("the copy to be refused") { service.shipper?.status.isFailing == true }
        #expect(service.shipper?.status.shipped != service.log.head)
        try scene.house.start()
        try scene.settle()
    }

    /// Both have the same id, epoch and length.
    @Test func `of two restores of one folder, only the first ships into the folder of the next epoch`() throws {
        let scene = try Scene()
        scene.report(2)
        try scene.settle()
        scene.house.stop()
        let shipped = "\(scene.target)/\(try #require(names(in: scene.target).first))"
        var configuration = ServiceConfiguration()
        configuration.shipping = .directory(scene.target)
        var bytes: [[UInt8]] = []
        for name in ["one", "two"] {
            let (path, _) = try scene.restore(shipped, to: name)
            let service = try Service(
                directory: try DataDirectory(path: path), configuration: configuration, gazetteerPath: nil)
            defer { service.stop() }
            try eventually("the first look at the target") {
                service.shipper.map { $0.status.isFailing || $0.status.shipped == service.log.head } ?? false
            }
            #expect(service.shipper?.status.isFailing == (name == "two"))
            let folder = "\(scene.target)/\(service.log.id)-2"
            bytes.append(try contents(ofFile: "\(folder)/\(scene.files(in: folder)[0])"))
        }
        #expect(bytes[0] == bytes[1])
    }

    // MARK: Commands

    /// A script that stores its input under the target, and fails in ways that a file in the target asks for.
    private static func script(_ folder: String) throws -> ServiceConfiguration.Shipping {
        let path = folder + "/store"
        try write(
            Array(
                """
                #!/bin/sh
                set -e
                mkdir -p "$(dirname "$1/$2")"
                test ! -e "$1/refuse" || exit 3
                cat > "$1/$2.part" && mv "$1/$2.part" "$1/$2"
                test ! -e "$1/forget" || exit 4
                test ! -e "$1/hang" || sleep 1000
                """.utf8), to: path)
        chmod(path, 0o700)
        return .command([path, folder + "/target", "{name}"])
    }

    @Test func `a command gets each batch, and one whose outcome is unknown is shipped again and restored once`() throws
    {
        let scene = try Scene(Self.script)
        scene.report(3)
        try scene.settle()
        try write([], to: scene.target + "/forget")
        scene.report(2)
        try eventually("the outcome to be unknown") { scene.house.service.shipper?.status.isFailing == true }
        // The next process makes one batch of these and of the others.
        scene.report(2)
        scene.house.stop()
        unlink(scene.target + "/forget")
        try scene.house.start()
        scene.report(2)
        try scene.settle()
        try write([], to: scene.target + "/refuse")
        scene.report(1)
        try eventually("the command to fail") { scene.house.service.shipper?.status.isFailing == true }
        unlink(scene.target + "/refuse")
        try scene.settle()
        let shipped = scene.shipped()
        let spans = scene.files(in: shipped).compactMap { ShippedName($0) }
        #expect(zip(spans, spans.dropFirst()).contains { one, next in next.first <= one.last ?? 0 })
        #expect(names(in: shipped).contains("keys.sqlite"))
        let (path, outcome) = try scene.restore(to: "again")
        #expect(outcome.manifest.events == scene.house.service.log.head)
        #expect(try LogVerifier.verify(try DataDirectory(path: path)) { _, _ in }.problem == nil)

        // A command that was cut off leaves a part of an object.
        let whole = try contents(ofFile: "\(shipped)/\(spans[0].text)")
        let (first, second) = (spans[0].first, spans[0].last ?? 0)
        try write(
            whole.prefix(150), to: "\(shipped)/\(ShippedName(first: first, last: second - 1).text)")
        #expect(try scene.restore(to: "despite").outcome.manifest.events == scene.house.service.log.head)
        let newest = ShippedName(first: outcome.manifest.events + 1, last: outcome.manifest.events + 3)
        try write(whole.prefix(150), to: "\(shipped)/\(newest.text)")
        #expect(try scene.restore(to: "before").outcome.rest?.incompleteBytes == 150)
        for name in [newest, ShippedName(first: first, last: second - 1)] { unlink("\(shipped)/\(name.text)") }
        try write(whole.prefix(150), to: "\(shipped)/\(spans[0].text)")
        #expect(scene.refusal(shipped).contains("A batch is damaged at byte 0 of \(shipped)/\(spans[0].text)"))
        try write(whole, to: "\(shipped)/\(spans[0].text)")

        // The keys come again after an erasure.
        scene.house.manage("DELETE", "/v1/people/walker")
        let destroyed = try KeyRing.destroyedKeys(in: scene.house.directory + "/keys.sqlite")
        #expect(!destroyed.isEmpty)
        // The command may be writing the file.
        try eventually("the keys to be shipped again") {
            (try? KeyRing.destroyedKeys(in: shipped + "/keys.sqlite")) == destroyed
        }
    }

    @Test func `another command gets all events, and the same one goes on`() throws {
        let scene = try Scene(Self.script)
        scene.report(2)
        try scene.settle()
        let (house, head) = (scene.house.service, scene.house.service.log.head)
        func shipped(_ words: [String]) throws -> Int64 {
            let command = ShippingCommand(
                words: words, milliseconds: 1000, scratch: scene.folder + "/scratch", stopping: Monitor(false))
            return try ShippedObjects(command, house.directory, house.log).open().range.size
        }
        #expect(try shipped([scene.folder + "/store", scene.target, "{name}"]) == head)
        #expect(try shipped([scene.folder + "/store", scene.folder + "/elsewhere", "{name}"]) == 0)
        #expect(try shipped([scene.folder + "/store", scene.target + "{name}"]) == 0)
        try write([], to: scene.house.directory + "/shipping.json")
        #expect(try shipped([scene.folder + "/store", scene.target, "{name}"]) == 0)
    }

    @Test func `a command gets its exact input, and is killed with its children if it does not end`() throws {
        let folder = TemporaryFolder()
        mkdir(folder.path + "/target", 0o700)
        guard case .command(let words) = try Self.script(folder.path) else { return }
        let outcome = Monitor<[String]>([])
        let bytes = randomBytes(1 << 20)
        // On a thread that blocks signals, as the shipper's does.
        WorkerThread {
            func run(_ words: [String], _ milliseconds: Int) -> String {
                let command = ShippingCommand(
                    words: words, milliseconds: milliseconds, scratch: folder.path + "/scratch",
                    stopping: Monitor(false))
                do throws(ShippingFault) {
                    try command.run("a/b", bytes)
                    return "shipped"
                } catch { return "\(error)" }
            }
            var said = [run(words, 60_000)]
            try? write([], to: folder.path + "/target/hang")
            said.append(run(words, 300))
            said.append(run(["/bin/false", "{name}"], 60_000))
            said.append(run(["/bin/true", "{name}"], 60_000))
            said.append(run([folder.path + "/none", "{name}"], 60_000))
            outcome.change { [said] in $0 = said }
        }.join()
        let said = outcome.read { $0 }
        #expect(said[0] == "shipped" && said[1].contains("was killed") && said[2].contains("exited with 1"))
        #expect(said[3] == "shipped" && said[4].contains("cannot be started"))
        #expect(try contents(ofFile: folder.path + "/target/a/b") == bytes)
    }
}
