import Cryptography
import Whereabouts

/// Answers whether the log holds a fix already. Belongs to the writer's thread.
///
/// The marks of the newest fixes are here, the earlier ones in the files of ``FixIdentities``. The event that a mark names is
/// opened and compared before it counts, so that a wrong mark can at worst keep a fix twice.
struct FixTail: FixLookup {
    private let index: FixIdentities
    private let reader: LogReader
    private var view: FixIdentities.View
    /// Of the events after the view's floor, by number.
    private var marks: [FixMark]
    /// So many of ``marks`` were handed to the index …
    private var handed: Int
    /// … and so many are in ``newest``: a log that is never asked about an older fix does not pay for it.
    private var indexed = 0
    /// Where the newest mark of each hash is in ``marks``.
    private var newest: [UInt64: Int] = [:]
    /// Where the newest mark of each identity is in ``marks``, by its part of the hash.
    private var newestOfIdentity: [UInt64: Int] = [:]
    /// Where the mark with the same hash before each indexed one is; −1 for none.
    private var previous: [Int] = []
    /// Fixes that cannot be read from the log yet, by number.
    private var recent: [(number: Int64, device: DeviceID, content: Fix)] = []
    private var block = FixRun.Block()
    /// Fixes of the events from ``aheadFrom`` on, read before they were asked for; `nil` for other events.
    private var ahead: [(device: DeviceID, content: Fix)?] = []
    private var aheadFrom: Int64 = 0
    /// The number after the last event that held the fix of a look-up. A repeated import names one event after the other.
    private var expected: Int64 = 0
    /// Events read in one go while look-ups name one event after the other.
    private static let eventsAhead = 256
    /// Set when a look-up could not be answered because the index does not cover the whole log.
    var isBehind = false

    init(index: FixIdentities, reader: LogReader) {
        (self.index, self.reader) = (index, reader)
        (view, marks) = index.start
        handed = marks.count
    }

    mutating func known(_ fix: Fix, device: DeviceID) -> KnownFix {
        let content = fix.content
        if isExpected(content, device) { return .same(expected - 1) }
        let known = search(fix, content, device)
        if case .same(let number) = known { expected = number + 1 }
        return known
    }

    /// Whether the event after the last one found holds the fix, and was read ahead: then the index need not be asked.
    private mutating func isExpected(_ content: Fix, _ device: DeviceID) -> Bool {
        let offset = Int(clamping: expected - aheadFrom)
        guard ahead.indices.contains(offset), let next = ahead[offset], next.device == device, next.content == content
        else { return false }
        expected += 1
        return true
    }

    private mutating func search(_ fix: Fix, _ content: Fix, _ device: DeviceID) -> KnownFix {
        let hash = index.hash(of: fix, device: device)
        if !view.isComplete { takeView() }
        indexMarks()
        var known = KnownFix.none
        var position = newest[hash] ?? -1
        while position >= 0 {
            known.add(compare(marks[position].number, content, device))
            if case .same = known { return known }
            position = previous[position]
        }
        if known == .none, let position = newestOfIdentity[hash & ~FixMark.contentBits] {
            known = compare(marks[position].number, content, device)
        }
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

    /// Whether the event of this number holds the fix, or a twin of it.
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
                // A damaged event confirms nothing. A file that cannot be read now may be readable later.
                if case .damaged = error { return .none }
                isBehind = true
                return .none
            }
        }
        guard known.identity(device: device) == content.identity(device: device) else { return .none }
        return known == content ? .same(number) : .twin
    }

    /// The fix of an event that can be read from the log; `nil` if the event is of another kind or does not open.
    private mutating func stored(_ number: Int64) throws(LogError) -> (device: DeviceID, content: Fix)? {
        let offset = number - aheadFrom
        if ahead.indices.contains(Int(clamping: offset)) { return ahead[Int(offset)] }
        // Between the fixes of two batches may be a few other events.
        let isNext = (0..<8).contains(number - expected)
        var events: [(event: RecordedEvent, leaf: Digest)] = []
        if isNext { events = (try? reader.events(after: number - 1, limit: Self.eventsAhead)) ?? [] }
        // A damaged event among them concerns only those who ask for it.
        if events.isEmpty { events = try reader.events(after: number - 1, limit: 1) }
        aheadFrom = number
        ahead = events.map { event, _ in
            guard case .fixReported(let device, _, .open(let fix)) = event.event else { return nil }
            return (device, fix.content)
        }
        return events.first?.event.number == number ? ahead[0] : nil
    }

    private func place(of number: Int64) -> Int? {
        var (low, high) = (0, recent.count)
        while low < high {
            let middle = (low + high) / 2
            if recent[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low < recent.count && recent[low].number == number ? low : nil
    }

    private mutating func indexMarks() {
        while indexed < marks.count {
            let hash = marks[indexed].hash
            previous.append(newest.updateValue(indexed, forKey: hash) ?? -1)
            newestOfIdentity[hash & ~FixMark.contentBits] = indexed
            indexed += 1
        }
    }

    /// Takes note of a fix that was given a number.
    mutating func append(_ fix: Fix, device: DeviceID, person: PersonID, number: Int64) {
        marks.append(FixMark(hash: index.hash(of: fix, device: device), number: number, person: person))
        recent.append((number, device, fix.content))
    }

    /// Gives the index what came since the last time, and drops what it has written.
    ///
    /// - Parameters:
    ///   - number: of the newest event that was given one.
    ///   - durable: events up to this number can be read from the log.
    mutating func handOver(upTo number: Int64, durable: Int64) {
        index.handOver(marks[handed...], upTo: number, durable: durable)
        handed = marks.count
        // What is kept of persons who were erased since must not be used.
        ahead.removeAll(keepingCapacity: true)
        if let last = recent.last, last.number <= durable {
            recent.removeAll(keepingCapacity: recent.count <= 4096)
        } else if recent.count > 4096 {
            recent.removeFirst(recent.firstIndex { $0.number > durable } ?? 0)
        }
        takeView()
    }

    /// Looks at the index as it is by now, and drops the marks that it has written.
    private mutating func takeView() {
        guard index.generation != view.generation else { return }
        view = index.view
        let written = marks.firstIndex { $0.number > view.floor } ?? marks.count
        guard written > 0 else { return }
        marks.removeFirst(written)
        handed -= written
        indexed = 0
        newest = [:]
        newestOfIdentity = [:]
        previous = []
    }
}
