/// Due times of pushes, soonest first: a binary heap. Entries of pushes that have ended stay until due or swept.
struct TimerHeap {
    private var heap: [(dueMs: Int64, number: UInt64)] = []

    var nextDueMs: Int64? { heap.first?.dueMs }
    var count: Int { heap.count }

    mutating func insert(_ number: UInt64, dueMs: Int64) {
        heap.append((dueMs, number))
        var child = heap.count - 1
        while child > 0, heap[child].dueMs < heap[(child - 1) / 2].dueMs {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes one entry that is due, or nil.
    mutating func popDue(atMs now: Int64) -> UInt64? {
        guard let first = heap.first, first.dueMs <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        siftDown()
        return first.number
    }

    /// Drops the entries of numbers that no longer matter.
    mutating func sweep(keeping isKept: (UInt64) -> Bool) {
        // A sorted array is a heap.
        heap = heap.filter { isKept($0.number) }.sorted { $0.dueMs < $1.dueMs }
    }

    private mutating func siftDown() {
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].dueMs < heap[least].dueMs { least = child }
            }
            if least == parent { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
