import Synchronization

/// How the requests of each route ended, and how long they took.
final class RequestFigures: Sendable {
    struct Key: Hashable, Comparable, Sendable {
        let method: String
        /// As the list of routes has it; empty for addresses that are none.
        let path: String
        let status: Int

        static func < (one: Key, other: Key) -> Bool {
            (one.path, one.method, one.status) < (other.path, other.method, other.status)
        }
    }

    private let table = Mutex<[Key: Histogram]>([:])

    func add(_ key: Key, seconds: Double) {
        table.withLock { $0[key, default: Histogram()].add(seconds: seconds) }
    }

    var histograms: [(key: Key, value: Histogram)] { table.withLock { $0.sorted { $0.key < $1.key } } }
}
