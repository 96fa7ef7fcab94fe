/// Work that waits, of many callers who take turns.
///
/// The callers with something waiting stand in a ring. ``next()`` gives the first piece of work of the first caller, who then
/// goes to the end of the ring. So a caller whose queue was empty is served after at most one piece of work of each other
/// caller, however much they have waiting. Each call costs a constant, save that callers who have as much under way as
/// they may are passed over.
struct TurnQueue<Caller: Hashable & Sendable, Work> {
    private struct Line {
        var work: [Work] = []
        /// Of ``work``: what came before is taken.
        var first = 0
        var underWay = 0

        var count: Int { work.count - first }
    }

    private var lines: [Caller: Line] = [:]
    /// Each caller with something waiting, once.
    private var ring: [Caller] = []
    /// Pieces of work that one caller may have under way at once.
    let mostAtOnce: Int
    /// Pieces of work that one caller may have waiting.
    let mostWaiting: Int
    /// Pieces of work that wait.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    init(mostAtOnce: Int, mostWaiting: Int) { (self.mostAtOnce, self.mostWaiting) = (mostAtOnce, mostWaiting) }

    /// Adds a piece of work; `false` if the caller has as many waiting as may be.
    mutating func append(_ work: Work, of caller: Caller) -> Bool {
        var line = lines[caller] ?? Line()
        guard line.count < mostWaiting else { return false }
        if line.count == 0 { ring.append(caller) }
        line.work.append(work)
        lines[caller] = line
        count += 1
        return true
    }

    /// The next piece of work, which is under way until ``end(of:)``; `nil` if nothing may begin.
    mutating func next() -> (caller: Caller, work: Work)? {
        guard let index = ring.firstIndex(where: { (lines[$0]?.underWay ?? 0) < mostAtOnce }),
            var line = lines[ring[index]]
        else { return nil }
        let caller = ring.remove(at: index)
        let work = line.work[line.first]
        line.first += 1
        line.underWay += 1
        count -= 1
        if line.count == 0 { (line.work, line.first) = ([], 0) } else { ring.append(caller) }
        lines[caller] = line
        return (caller, work)
    }

    /// A piece of the caller's work is done.
    mutating func end(of caller: Caller) {
        guard var line = lines[caller] else { return }
        line.underWay -= 1
        lines[caller] = line.underWay == 0 && line.count == 0 ? nil : line
    }
}
