/// A binary heap of regions, by how far the track must have run before they are examined again.
struct LookHeap {
    private var keys: [Double]
    private var indices: [Int32]

    /// All regions are to be examined first.
    init(count: Int) {
        keys = Array(repeating: 0, count: count)
        indices = (0..<count).map { Int32($0) }
    }

    var least: Double { keys.first ?? .infinity }
    var leastIndex: Int { Int(indices[0]) }

    /// Gives the first region another key, which must not be lower than its own.
    mutating func postpone(until key: Double) {
        let index = indices[0]
        var hole = 0
        while true {
            var child = 2 * hole + 1
            guard child < keys.count else { break }
            if child + 1 < keys.count, keys[child + 1] < keys[child] { child += 1 }
            guard keys[child] < key else { break }
            (keys[hole], indices[hole]) = (keys[child], indices[child])
            hole = child
        }
        (keys[hole], indices[hole]) = (key, index)
    }
}
