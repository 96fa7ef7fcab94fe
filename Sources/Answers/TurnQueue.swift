/// A queue of work in which callers take turns.
///
/// The callers with waiting work form a ring. ``next()`` takes the first piece of work of the first caller and moves
/// the caller to the end of the ring. So a caller whose queue was empty waits for at most one piece of work of each
/// other caller, however much work they have. Each call costs time in proportion to the number of waiting callers or to
/// ``mostWaiting``.
struct TurnQueue<Caller: Hashable & Sendable, Work> {
    /// The work of one caller. It exists while a piece of it waits or is under way.
    private struct Line {
        var waiting: [Work] = []
        /// Pieces of work that have begun and not ended.
        var underWay = 0
    }

    /// By caller; a caller without waiting or running work has no entry.
    private var lines: [Caller: Line] = [:]
    /// Each caller with waiting work, once.
    private var ring: [Caller] = []
    /// The pieces of work of one caller that may be under way at the same time.
    let mostAtOnce: Int
    /// The pieces of work of one caller that may wait.
    let mostWaiting: Int
    /// The waiting pieces of work of all callers.
    private(set) var count = 0

    /// Whether no work waits; some may still be under way.
    var isEmpty: Bool { count == 0 }

    init(mostAtOnce: Int, mostWaiting: Int) { (self.mostAtOnce, self.mostWaiting) = (mostAtOnce, mostWaiting) }

    /// Adds a piece of work, or returns `false` if ``mostWaiting`` pieces of the caller are waiting.
    mutating func append(_ work: Work, of caller: Caller) -> Bool {
        let waiting = lines[caller]?.waiting.count ?? 0
        guard waiting < mostWaiting else { return false }
        if waiting == 0 { ring.append(caller) }
        lines[caller, default: Line()].waiting.append(work)
        count += 1
        return true
    }

    /// Takes the next piece of work, which is under way until ``end(of:)``; `nil` if no work may begin.
    mutating func next() -> (caller: Caller, work: Work)? {
        guard let index = ring.firstIndex(where: mayBegin),
            let work = lines[ring[index]]?.waiting.removeFirst()
        else { return nil }
        let caller = ring.remove(at: index)
        lines[caller]?.underWay += 1
        if lines[caller]?.waiting.isEmpty == false { ring.append(caller) }
        count -= 1
        return (caller, work)
    }

    /// Whether ``next()`` would give work.
    var hasNext: Bool { ring.contains(where: mayBegin) }

    private func mayBegin(_ caller: Caller) -> Bool { (lines[caller]?.underWay ?? 0) < mostAtOnce }

    /// Ends a piece of the caller's work that ``next()`` gave.
    mutating func end(of caller: Caller) {
        lines[caller]?.underWay -= 1
        if let line = lines[caller], line.underWay == 0, line.waiting.isEmpty { lines[caller] = nil }
    }
}
