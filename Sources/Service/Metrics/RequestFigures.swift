import Log
import Synchronization

/// The outcomes and durations of each route's requests.
final class RequestFigures: Sendable {
    /// The requests that are counted together.
    struct Key: Hashable, Comparable, Sendable {
        let method: String
        /// The path in the route table; empty for an unknown address.
        let path: String
        let status: Int

        static func < (one: Key, other: Key) -> Bool {
            (one.path, one.method, one.status) < (other.path, other.method, other.status)
        }
    }

    private let table = Mutex<[Key: Histogram]>([:])

    /// Counts a request; any thread may call it.
    func add(_ key: Key, seconds: Double) {
        table.withLock { $0[key, default: Histogram()].add(seconds: seconds) }
    }

    /// The histograms by path, method and status.
    var histograms: [(key: Key, value: Histogram)] { table.withLock { $0.sorted { $0.key < $1.key } } }
}
