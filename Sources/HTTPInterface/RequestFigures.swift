import Synchronization
package import Whereabouts

/// The outcomes and durations of each route's requests.
package final class RequestFigures: Sendable {
    /// The requests that are counted together.
    package struct Key: Hashable, Comparable, Sendable {
        /// The method of the request.
        package let method: String
        /// The path in the route table; empty for an unknown address.
        package let path: String
        /// The status of the answer.
        package let status: Int

        package static func < (one: Key, other: Key) -> Bool {
            (one.path, one.method, one.status) < (other.path, other.method, other.status)
        }
    }

    /// What the process does for readers, or as one.
    package let readers = ReaderFigures()
    /// What the process knows of the other processes of a house with shards.
    package let shards: ShardFigures
    private let table = Mutex<[Key: Histogram]>([:])

    /// - Parameter shards: The shards of a directory.
    package init(shards: [ShardNumber] = []) { self.shards = ShardFigures(shards) }

    /// Counts a request; any thread may call it.
    package func add(_ key: Key, seconds: Double) {
        table.withLock { $0[key, default: Histogram()].add(seconds: seconds) }
    }

    /// The histograms by path, method and status.
    package var histograms: [(key: Key, value: Histogram)] { table.withLock { $0.sorted { $0.key < $1.key } } }
}
