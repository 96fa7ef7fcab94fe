import Cryptography
import FixRuns
import Geodesy
import Glibc
import Synchronization
import Threading
import Whereabouts

/// The log's own index of fix identities: from (device, timestamp, latitude, longitude) to the numbers of the events
/// that reported such a fix.
///
/// The index is derived from the events alone and decides nothing: the writer opens the event that a mark names and
/// compares. Files (`FixRun`) hold the marks up to ``View/floor``; the later ones are in memory. A worker thread
/// writes a run for each ``Settings/eventsPerRun`` events, merges runs of like size, and folds missing runs again from
/// the log, for example after a file was lost or damaged. Until then fixes older than the newest of their device wait;
/// newer ones do not.
///
/// A mark contains no coordinate and no time: its hash is keyed with a secret derived from the key-encryption key. The
/// marks of an erased person are removed from every file before the erasure is reported as done.
///
/// Disk: 24.8 bytes a fix. Memory: twice 24 bytes for each fix that is in no run yet, and 0.4 bytes for each that is.
/// `scripts/bench identities` measures the rest.
package final class FixIdentities: Sendable {
    /// The runs that the writer searches.
    struct View: Sendable {
        /// Raised with each change of the runs or the floor.
        var generation = 0
        /// By the events they cover, which do not overlap.
        var runs: [FixRun] = []
        /// Marks of events after this number are in memory.
        var floor: Int64 = 0
        /// Whether the runs cover every event up to ``floor``.
        var isComplete = true
    }

    /// The state that the writer's thread and the index's thread share.
    struct State {
        var view = View()
        /// Marks of the events after the floor, by number.
        var inbox: [FixMark] = []
        /// The marks of all events up to this number were handed over.
        var handed: Int64
        /// Events up to this number are on disk.
        var durable: Int64
        /// The persons whose marks must not be in any file.
        var erased: Set<PersonID>
        /// The number of erased persons left out by the files that the thread is writing.
        var erasedAtWork: Int?
        var isStopping = false
        /// Why the files cannot be written or the log cannot be read.
        var trouble: String?
        /// The time of the next try, in seconds of the monotonic clock.
        var pausedUntil = 0.0

        /// The events up to the floor that no run covers, in order.
        var holes: [ClosedRange<Int64>] {
            var holes: [ClosedRange<Int64>] = []
            var place: Int64 = 0
            for run in view.runs {
                if run.header.from > place { holes.append(place + 1...run.header.from) }
                place = run.header.to
            }
            if place < view.floor { holes.append(place + 1...view.floor) }
            return holes
        }

        /// Sets the runs of the view.
        mutating func change(_ runs: [FixRun]) {
            view.runs = runs.sorted { $0.header.from < $1.header.from }
            view.isComplete = holes.isEmpty
            view.generation += 1
        }
    }

    /// The directory of the files, and their sizes.
    package struct Settings: Sendable {
        /// The folder of the runs.
        let folder: String
        /// Events kept in memory before they are written as a run. A start after a crash reads up to this many again.
        package var eventsPerRun: Int64 = 65_536
        /// Marks kept in memory while the files cannot be written. Beyond this the older half is dropped, and folded
        /// from the log once files can be written.
        var marksInMemory = 1_000_000
        /// Missing events that a start reads before it takes commands. If more are missing, they are folded while
        /// commands are taken.
        package var eventsReadAtStart: Int64 = 1_000_000
        /// The events folded from the log at once, for one file.
        var eventsPerFold: Int64 = 262_144
        /// An orderly stop leaves fewer events than this for the next start to read.
        var fewEvents: Int64 = 1024
        /// The pause after a failure.
        var pauseSeconds = 10.0

        /// The settings of a service, with the files in `folder`.
        package init(folder: String) { self.folder = folder }
    }

    let settings: Settings
    /// The disk space; `nil` takes it as unlimited.
    let room: Room?
    /// The log's path.
    let path: String
    let keys: KeyRing
    let log: Identifier128
    let epoch: Int64
    /// The keys of the marks' hashes and of the blocks' tags.
    let identityKey, tagKey: SipHash
    let state: Monitor<State>
    let generationHint = Atomic<Int>(0)
    private let thread = Mutex<WorkerThread?>(nil)

    /// Opens the files, removes those that do not belong to the log, and starts the thread.
    ///
    /// - Parameters:
    ///   - path: The log's path.
    ///   - identity: The log's identity, with the number of its events.
    ///   - erased: The persons erased from the log.
    ///   - reader: A reader of the log, for the events that are in no file.
    ///   - room: The disk space; the index takes none that the log needs.
    init(
        _ settings: Settings, path: String, keys: KeyRing, identity: LogIdentity, erased: Set<PersonID>,
        reader: LogReader, room: Room?
    ) {
        (self.settings, self.path, self.keys, self.room) = (settings, path, keys, room)
        (log, epoch) = (identity.id, identity.epoch)
        let secret = keys.secret(for: "whereabouts fix identities \(identity.id)")
        (identityKey, tagKey) = (SipHash(key: secret[..<16]), SipHash(key: secret[16...]))
        let head = identity.size
        var state = State(handed: head, durable: head, erased: erased)
        let runs = Self.runs(in: settings.folder, identity, erased.count, tagKey, reader)
        state.view.floor = runs.last?.header.to ?? 0
        self.state = Monitor(state)
        var marks: [FixMark]?
        if head - state.view.floor <= settings.eventsReadAtStart {
            marks = try? self.marks(after: state.view.floor, to: head, reader)
        }
        let inbox = marks
        self.state.change { state in
            if let inbox { state.inbox = inbox } else { state.view.floor = head }
            state.change(runs)
        }
        thread.withLock { $0 = WorkerThread { [self] in run() } }
    }

    /// Ends the thread. The marks in memory are written unless there are few.
    func stop() {
        state.change { $0.isStopping = true }
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    /// The hash of a fix's mark: equal for fixes with equal ``Fix/content``, and above `FixMark.contentBits` for
    /// equal identities.
    func hash(of fix: Fix, device: DeviceID) -> UInt64 {
        // Adding zero turns −0 into 0: the two are equal.
        let identity = identityKey.hash(
            (
                UInt64(bitPattern: device.rawValue), UInt64(bitPattern: fix.timestamp.milliseconds),
                (fix.coordinate.latitude + 0).bitPattern, (fix.coordinate.longitude + 0).bitPattern
            ))
        return identity & ~FixMark.contentBits | contentHash(of: fix) & FixMark.contentBits
    }

    /// A member left out here would cost time if many twins differ in it, and nothing else.
    private func contentHash(of fix: Fix) -> UInt64 {
        let doubles = (
            fix.horizontalAccuracy, fix.altitude, fix.ellipsoidalAltitude, fix.verticalAccuracy, fix.speed,
            fix.speedAccuracy, fix.course, fix.courseAccuracy, fix.batteryLevel
        )
        func word(_ double: Double?) -> UInt64 { double.map { ($0 + 0).bitPattern } ?? .max }
        func bits(_ bool: Bool?) -> UInt64 { bool.map { $0 ? 1 : 0 } ?? 2 }
        let words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (
            word(doubles.0), word(doubles.1), word(doubles.2), word(doubles.3), word(doubles.4), word(doubles.5),
            word(doubles.6), word(doubles.7), word(doubles.8)
        )
        let rest = bits(fix.isSimulatedBySoftware) << 2 | bits(fix.isProducedByAccessory)
        let floor = fix.floor.map { UInt64(bitPattern: $0) } ?? .max
        return withUnsafeBytes(of: words) { identityKey.hash(prefix: (floor, rest), $0) }
    }

    // MARK: For the writer's thread

    /// Changes whenever ``view`` does.
    var generation: Int { generationHint.load(ordering: .acquiring) }

    /// The runs and floor for the writer's next look-ups.
    var view: View { state.read { $0.view } }

    /// The writer's first state: the view, and the marks of the events after its floor.
    var start: (view: View, marks: [FixMark]) { state.read { ($0.view, $0.inbox) } }

    /// Takes the marks of all new events up to `number`; events up to `durable` are on disk.
    func handOver(_ marks: ArraySlice<FixMark>, upTo number: Int64, durable: Int64) {
        let isWaking = state.read { state in
            state.inbox.append(contentsOf: marks)
            (state.handed, state.durable) = (number, durable)
            if state.inbox.count > settings.marksInMemory { leaveToLog(&state) }
            return isDue(state)
        }
        if isWaking { state.change { _ in } }
    }

    /// Drops the older half of the marks in memory, as far as their events are on disk; the log has them.
    private func leaveToLog(_ state: inout State) {
        let floor = min(state.inbox[settings.marksInMemory / 2].number, state.durable)
        state.inbox.removeFirst(state.inbox.firstIndex { $0.number > floor } ?? state.inbox.count)
        state.view.floor = max(state.view.floor, floor)
        state.change(state.view.runs)
        generationHint.store(state.view.generation, ordering: .releasing)
    }

    /// Removes a run that could not be read; its events are folded again.
    func discard(_ run: FixRun, _ why: FixRunFailure) {
        let isThere = state.change { state in
            guard state.view.runs.contains(where: { $0 === run }) else { return false }
            unlink(run.path)
            state.change(state.view.runs.filter { $0 !== run })
            generationHint.store(state.view.generation, ordering: .releasing)
            return true
        }
        guard isThere else { return }
        Diagnostics.note(
            "identities.refold",
            "A file of the index of fixes, of events \(run.header.from + 1) to \(run.header.to), cannot be used (\(why)); "
                + "it is folded again from the log.")
    }

    /// Leaves out the marks of persons from now on; ``waitUntilErased(milliseconds:)`` waits until no file has them.
    func erase(_ persons: [PersonID]) { state.change { $0.erased.formUnion(persons) } }

    /// For a failed look-up that would succeed now.
    static let sentenceOfAMoment = "The index that finds duplicates was being made again. Send these fixes again."

    /// The reason why older fixes cannot be looked up, with advice; `nil` if they can.
    package var sentenceWhileIncomplete: String? {
        state.read { state in
            if state.view.isComplete { return nil }
            let missing = state.holes.reduce(0) { $0 + Int64($1.count) }
            let percent = state.view.floor > 0 ? 100 * (state.view.floor - missing) / state.view.floor : 0
            let why = state.trouble.map { "This has stopped for now: \($0)" } ?? ""
            return """
                Fixes older than the newest one of their device wait: the index that finds duplicates is being made again \
                from the log and covers \(percent) % of it. Newer fixes are accepted. Send these fixes again. \(why)
                """
        }
    }

    // MARK: For other threads

    /// The number of events that are neither in a run nor in memory; 0 if every fix can be looked up.
    package var missing: Int64 { state.read { $0.holes.reduce(0) { $0 + Int64($1.count) } } }

    /// Why the files cannot be written or the log cannot be read; `nil` if there is no fault.
    package var trouble: String? { state.read { $0.trouble } }

    /// Waits until every fix can be looked up, or until a fault prevents it.
    package func waitUntilComplete(milliseconds: Int) -> Bool {
        let isComplete = state.wait(milliseconds: milliseconds) {
            $0.view.isComplete ? true : $0.trouble != nil ? false : nil
        }
        return isComplete ?? false
    }

    /// Waits until no file has a mark of an erased person.
    package func waitUntilErased(milliseconds: Int) -> Bool {
        state.wait(milliseconds: milliseconds) { state in
            let count = state.erased.count
            return (state.erasedAtWork ?? count) >= count && state.view.runs.allSatisfy { $0.header.erased >= count }
                ? true : nil
        } ?? false
    }

    /// The result of comparing the files with the log.
    package struct Check: Sendable {
        /// The events compared.
        /// The events that the compared runs cover.
        package internal(set) var events: Int64 = 0
        /// The fixes among them.
        /// The marks in them.
        package internal(set) var fixes: Int64 = 0
        /// `nil` if each file has a mark for each fix among its events, and no other marks.
        package internal(set) var problem: String?

        /// Nothing compared, or not possible for this reason.
        package init(problem: String? = nil) { self.problem = problem }
    }

    /// Folds the log and compares each run with it. A run that differs is discarded and folded again.
    ///
    /// A mark whose event does not open, because its key is lost, is ignored. Cost: a refold, on the caller's thread; 1
    /// bit of memory for each event of a run.
    ///
    /// - Parameter progress: Called with the number of events compared and the number of all.
    package func check(
        _ reader: LogReader, progress: (_ done: Int64, _ all: Int64) -> Void = { _, _ in }
    ) throws(LogError) -> Check {
        let (runs, erased) = state.read { ($0.view.runs, $0.erased) }
        var check = Check()
        for run in runs {
            progress(run.header.from, runs.last?.header.to ?? 0)
            let events = "\(run.header.from + 1) to \(run.header.to)"
            var (due, held) = (Sum(), Sum())
            var closed = BitSet(run.header.to - run.header.from)
            _ = try scan(after: run.header.from, to: run.header.to, reader, isStopping: { false }) { number, mark in
                if let mark { due.add(mark, tagKey) } else { closed.insert(number - run.header.from - 1) }
            }
            var holdsErased = false
            do throws(FixRunFailure) {
                var cursor = try FixRun.Cursor(run)
                while let mark = cursor.mark {
                    if erased.contains(mark.person), run.header.erased >= erased.count { holdsErased = true }
                    if !closed.contains(mark.number - run.header.from - 1) { held.add(mark, tagKey) }
                    try cursor.advance()
                }
            } catch {
                discard(run, error)
                check.problem = "the file of events \(events): \(error)"
                continue
            }
            guard held == due, !holdsErased else {
                discard(run, .damaged)
                check.problem = "the file of events \(events) differs from the log"
                continue
            }
            check.events += run.header.to - run.header.from
            check.fixes += held.count
        }
        return check
    }

    /// A hash of a set of marks, independent of their order.
    private struct Sum: Equatable {
        var count: Int64 = 0
        var sum: UInt64 = 0

        mutating func add(_ mark: FixMark, _ key: SipHash) {
            count += 1
            sum &+= key.hash(
                (mark.hash, UInt64(bitPattern: mark.number), UInt64(bitPattern: mark.person.rawValue), 0))
        }
    }

    /// A set of numbers from 0 up to a bound.
    private struct BitSet {
        private var words: [UInt64]

        init(_ bound: Int64) { words = Array(repeating: 0, count: Int((bound + 63) / 64)) }

        mutating func insert(_ member: Int64) { words[Int(member / 64)] |= 1 << UInt64(member % 64) }

        /// `false` for a number out of bounds.
        func contains(_ member: Int64) -> Bool {
            member >= 0 && member / 64 < words.count && words[Int(member / 64)] >> UInt64(member % 64) & 1 == 1
        }
    }
}
