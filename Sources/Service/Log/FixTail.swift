import Whereabouts

/// Answers whether the log holds a fix already: in the rows of the timeline up to their place, in memory for the fixes
/// that came since. Belongs to the writer's thread.
struct FixTail: FixLookup {
    /// Looks into the folded rows; given by whoever opened the timeline.
    typealias Rows = (_ fix: Fix, _ device: DeviceID, _ person: PersonID) -> Row?

    /// What the timeline knows of a fix.
    enum Row: Hashable, Sendable {
        case none
        /// It has a row, from the event of this number.
        case from(Int64)
    }

    private struct Entry {
        let number: Int64
        let device: DeviceID
        let content: Fix
        /// Where the entry before this one with the same identity stands, counted from the first fix ever; −1 for none.
        let previous: Int
    }

    /// The fixes in the order of their numbers; the first `forgotten` of them are no longer needed.
    private var entries: [Entry] = []
    private var forgotten = 0
    /// Entries that are gone from the front of `entries`.
    private var dropped = 0
    /// The newest entry of each identity, counted from the first fix ever.
    private var newest: [Fix.Identity: Int] = [:]
    /// Fixes after this number are in memory.
    private let start: Int64
    private let rows: Rows
    private let timelinePlace: @Sendable () -> Int64
    /// Set when a look-up could not be answered because the timeline has not reached ``start`` yet.
    var isBehind = false

    init(start: Int64, rows: @escaping Rows, timelinePlace: @escaping @Sendable () -> Int64) {
        (self.start, self.rows, self.timelinePlace) = (start, rows, timelinePlace)
    }

    mutating func number(of fix: Fix, device: DeviceID, person: PersonID) -> Int64? {
        let content = fix.content
        var position = newest[fix.identity(device: device)] ?? -1
        while position >= dropped + forgotten {
            let entry = entries[position - dropped]
            if entry.content == content { return entry.number }
            position = entry.previous
        }
        guard timelinePlace() >= start, let row = rows(content, device, person) else {
            isBehind = true
            return nil
        }
        return if case .from(let number) = row { number } else { nil }
    }

    mutating func append(_ fix: Fix, device: DeviceID, number: Int64) {
        let position = dropped + entries.count
        let previous = newest.updateValue(position, forKey: fix.identity(device: device)) ?? -1
        entries.append(Entry(number: number, device: device, content: fix.content, previous: previous))
    }

    /// Drops what the timeline has rows for by now.
    mutating func trim() {
        let place = timelinePlace()
        while forgotten < entries.count, entries[forgotten].number <= place {
            let identity = entries[forgotten].content.identity(device: entries[forgotten].device)
            if newest[identity] == dropped + forgotten { newest[identity] = nil }
            forgotten += 1
        }
        if forgotten == entries.count {
            entries.removeAll(keepingCapacity: forgotten <= 4096)
        } else if forgotten > 4096, forgotten * 2 > entries.count {
            entries.removeFirst(forgotten)
        } else {
            return
        }
        dropped += forgotten
        forgotten = 0
    }
}
