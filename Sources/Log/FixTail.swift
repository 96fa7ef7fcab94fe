import Cryptography
import FixRuns
import Whereabouts

/// Answers whether the log already has a fix. Belongs to the writer's thread.
///
/// The marks of the newest fixes are here, the earlier ones in the files of ``FixIdentities``. The event that a mark
/// names is opened and compared before it counts, so that a wrong mark can at worst keep a fix twice.
struct FixTail: FixLookup {
    private let index: FixIdentities
    private let reader: LogReader
    private var view: FixIdentities.View
    private var marks: Marks
    /// The fixes that cannot be read from the log yet, by number.
    private var recent: [(number: Int64, device: DeviceID, content: Fix)] = []
    private var block = FixRun.Block()
    private var ahead = Ahead()
    /// Set if a look-up could not be answered because the index does not cover the whole log.
    var isBehind = false

    /// The marks of the events after the view's floor, by number.
    private struct Marks {
        var all: [FixMark]
        /// The number of ``all`` that were handed to the index.
        var handed: Int
        /// The number of marks in ``newest``. A log that is never asked about an older fix does not pay for this index.
        private var indexed = 0
        /// The index in ``all`` of the newest mark of each hash.
        private var newest: [UInt64: Int] = [:]
        /// The index in ``all`` of the newest mark of each identity, by the identity's part of the hash.
        private var newestOfIdentity: [UInt64: Int] = [:]
        /// For each indexed mark, the index of the mark before it with the same hash; −1 without one.
        private var previous: [Int] = []

        init(_ all: [FixMark]) { (self.all, handed) = (all, all.count) }

        /// Indexes the marks that were added since the last look-up.
        mutating func index() {
            while indexed < all.count {
                let hash = all[indexed].hash
                previous.append(newest.updateValue(indexed, forKey: hash) ?? -1)
                newestOfIdentity[hash & ~FixMark.contentBits] = indexed
                indexed += 1
            }
        }

        /// The numbers of the events whose marks have this hash, newest first, among the indexed ones.
        func numbers(of hash: UInt64) -> some Sequence<Int64> {
            sequence(first: newest[hash] ?? -1) { previous[$0] }.lazy.prefix { $0 >= 0 }.map { all[$0].number }
        }

        /// The number of the newest event whose mark has the identity's part of this hash, among the indexed ones.
        func number(ofIdentityIn hash: UInt64) -> Int64? {
            newestOfIdentity[hash & ~FixMark.contentBits].map { all[$0].number }
        }

        /// Drops the marks of the events up to this number.
        mutating func drop(upTo floor: Int64) {
            let written = all.firstIndex { $0.number > floor } ?? all.count
            guard written > 0 else { return }
            all.removeFirst(written)
            handed -= written
            (indexed, newest, newestOfIdentity, previous) = (0, [:], [:], [])
        }
    }

    /// Fixes read ahead. A repeated import matches one event after the other.
    private struct Ahead {
        /// The fixes of the events from ``from`` on; `nil` for other events.
        var fixes: [(device: DeviceID, content: Fix)?] = []
        var from: Int64 = 0
        /// The number after the last event that matched a look-up.
        var expected: Int64 = 0

        /// The events read at once while look-ups match one event after the other.
        static let events = 256
    }

    init(index: FixIdentities, reader: LogReader) {
        (self.index, self.reader) = (index, reader)
        let start = index.start
        (view, marks) = (start.0, Marks(start.1))
    }

    /// Whether the log has this fix of the device, or a twin of it.
    ///
    /// If a file cannot be read, or the index does not cover the log, ``isBehind`` is set and the answer may be wrong.
    ///
    /// Cost: a few reads of 512 bytes for each run, and the opening of an event for each match; less for a repeated
    /// import.
    mutating func known(_ fix: Fix, device: DeviceID) -> KnownFix {
        let content = fix.content
        if isExpected(content, device) { return .same(ahead.expected - 1) }
        let known = search(fix, content, device)
        if case .same(let number) = known { ahead.expected = number + 1 }
        return known
    }

    /// Whether the event after the last match has the fix and was read ahead. The index is then not needed.
    private mutating func isExpected(_ content: Fix, _ device: DeviceID) -> Bool {
        let offset = Int(clamping: ahead.expected - ahead.from)
        guard ahead.fixes.indices.contains(offset), let next = ahead.fixes[offset], next.device == device,
            next.content == content
        else { return false }
        ahead.expected += 1
        return true
    }

    /// Looks the fix up, first among the newest marks, then in the runs, the newest first.
    private mutating func search(_ fix: Fix, _ content: Fix, _ device: DeviceID) -> KnownFix {
        let hash = index.hash(of: fix, device: device)
        if !view.isComplete { takeView() }
        marks.index()
        var known = KnownFix.none
        for number in marks.numbers(of: hash) {
            known.add(compare(number, content, device))
            if case .same = known { return known }
        }
        if known == .none, let number = marks.number(ofIdentityIn: hash) { known = compare(number, content, device) }
        guard view.isComplete else {
            isBehind = true
            return known
        }
        for run in view.runs.reversed() {
            do throws(FixRunFailure) {
                let candidates = try run.candidates(of: hash, reading: &block)
                for number in candidates.same {
                    known.add(compare(number, content, device))
                    if case .same = known { return known }
                }
                for number in candidates.twins where known == .none { known = compare(number, content, device) }
            } catch {
                index.discard(run, error)
                isBehind = true
                return known
            }
        }
        return known
    }

    /// Whether the event with this number has the fix, or a twin of it.
    private mutating func compare(_ number: Int64, _ content: Fix, _ device: DeviceID) -> KnownFix {
        let known: Fix
        if let first = recent.first, number >= first.number {
            guard let place = place(of: number), recent[place].device == device else { return .none }
            known = recent[place].content
        } else {
            do throws(LogError) {
                guard let stored = try stored(number), stored.device == device else { return .none }
                known = stored.content
            } catch {
                // A damaged event matches nothing. A file that cannot be read now may be readable later.
                if case .damaged = error { return .none }
                isBehind = true
                return .none
            }
        }
        guard known.identity(device: device) == content.identity(device: device) else { return .none }
        return known == content ? .same(number) : .twin
    }

    /// The fix of an event that can be read from the log; `nil` if the event has another kind or does not open.
    private mutating func stored(_ number: Int64) throws(LogError) -> (device: DeviceID, content: Fix)? {
        let offset = number - ahead.from
        if ahead.fixes.indices.contains(Int(clamping: offset)) { return ahead.fixes[Int(offset)] }
        // A few other events may be between the fixes of two batches.
        let isNext = (0..<8).contains(number - ahead.expected)
        var events: [(event: RecordedEvent, leaf: Digest)] = []
        if isNext { events = (try? reader.events(after: number - 1, limit: Ahead.events)) ?? [] }
        // A damaged event among them affects only look-ups of that event.
        if events.isEmpty { events = try reader.events(after: number - 1, limit: 1) }
        ahead.from = number
        ahead.fixes = events.map { event, _ in
            guard let (device, fix) = event.event.identified, let fix else { return nil }
            return (device, fix.content)
        }
        return events.first?.event.number == number ? ahead.fixes[0] : nil
    }

    /// The index in ``recent`` of an event; `nil` if it is not there.
    private func place(of number: Int64) -> Int? {
        var (low, high) = (0, recent.count)
        while low < high {
            let middle = (low + high) / 2
            if recent[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low < recent.count && recent[low].number == number ? low : nil
    }

    /// Notes a fix that has been numbered.
    mutating func append(_ fix: Fix, device: DeviceID, person: PersonID, number: Int64) {
        marks.all.append(FixMark(hash: index.hash(of: fix, device: device), number: number, person: person))
        recent.append((number, device, fix.content))
    }

    /// Gives the index the marks since the last time, and drops those that the index has written.
    ///
    /// - Parameters:
    ///   - number: The number of the newest event.
    ///   - durable: Events up to this number can be read from the log.
    mutating func handOver(upTo number: Int64, durable: Int64) {
        index.handOver(marks.all[marks.handed...], upTo: number, durable: durable)
        marks.handed = marks.all.count
        // The fixes of persons erased since then must not be used.
        ahead.fixes.removeAll(keepingCapacity: true)
        if let last = recent.last, last.number <= durable {
            recent.removeAll(keepingCapacity: recent.count <= 4096)
        } else if recent.count > 4096 {
            recent.removeFirst(recent.firstIndex { $0.number > durable } ?? 0)
        }
        takeView()
    }

    /// Takes the index's newest view, and drops the marks that its files have.
    private mutating func takeView() {
        guard index.generation != view.generation else { return }
        view = index.view
        marks.drop(upTo: view.floor)
    }
}
