import Synchronization
import Whereabouts

/// Answers whether the log holds a fix already: in the rows of the timeline up to their place, in memory for the fixes
/// that came since. Belongs to the writer's thread.
struct FixTail: FixLookup {
    /// Looks into the folded rows; given by whoever opened the timeline.
    typealias Rows = (_ fix: Fix, _ device: DeviceID, _ person: PersonID) -> Bool?

    private var recent: [Fix.Identity: [(number: Int64, content: Fix)]] = [:]
    /// The same fixes in the order of their numbers.
    private var order: [(number: Int64, identity: Fix.Identity)] = []
    private var forgotten = 0
    /// Fixes after this number are in memory.
    private let start: Int64
    private let rows: Rows
    private let timelinePlace: @Sendable () -> Int64
    /// Set when a look-up could not be answered because the timeline has not reached ``start`` yet.
    var isBehind = false

    init(start: Int64, rows: @escaping Rows, timelinePlace: @escaping @Sendable () -> Int64) {
        (self.start, self.rows, self.timelinePlace) = (start, rows, timelinePlace)
    }

    mutating func contains(_ fix: Fix, device: DeviceID, person: PersonID) -> Bool {
        let content = fix.content
        if recent[fix.identity(device: device)]?.contains(where: { $0.content == content }) == true { return true }
        guard timelinePlace() >= start, let known = rows(content, device, person) else {
            isBehind = true
            return false
        }
        return known
    }

    mutating func append(_ fix: Fix, device: DeviceID, number: Int64) {
        let identity = fix.identity(device: device)
        recent[identity, default: []].append((number, fix.content))
        order.append((number, identity))
    }

    /// Drops what the timeline has rows for by now.
    mutating func trim() {
        let place = timelinePlace()
        while forgotten < order.count, order[forgotten].number <= place {
            let identity = order[forgotten].identity
            recent[identity]?.removeAll { $0.number <= place }
            if recent[identity]?.isEmpty == true { recent[identity] = nil }
            forgotten += 1
        }
        if forgotten > 4096, forgotten * 2 > order.count {
            order.removeFirst(forgotten)
            forgotten = 0
        }
    }
}
