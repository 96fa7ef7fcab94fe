import Synchronization
import Threading
package import Whereabouts

/// What the directory knows of its shards, and a shard of its directory; for `doctor`, the metrics and the door.
package final class ShardFigures: Sendable {
    /// What the directory knows of a shard.
    package struct State: Sendable {
        /// When the shard's last message came, on the monotonic clock; `nil` before the first.
        package var heardAt: Double?
        /// The event of the directory up to which the shard has all facts.
        package var followed: Int64 = 0
        /// The size of its log that was checked last.
        package var checked: ShardSize?
        /// Why the directory does not send requests to it; `nil` if it does.
        package var trouble: String?
        /// Requests that were passed on to it, and how many of them had no answer.
        package var passedOn: Int64 = 0, unanswered: Int64 = 0
    }

    private let states: Mutex<[ShardNumber: State]>
    /// When the directory last answered this shard, on the monotonic clock.
    private let directoryHeardAt = Mutex<Double?>(nil)

    package init(_ shards: [ShardNumber]) {
        states = Mutex(Dictionary(uniqueKeysWithValues: shards.map { ($0, State()) }))
    }

    /// The state of a shard.
    package subscript(shard: ShardNumber) -> State { states.withLock { $0[shard] ?? State() } }

    /// The states of all shards, in the order of their numbers.
    package var all: [(shard: ShardNumber, state: State)] {
        states.withLock { states in states.sorted { $0.key < $1.key }.map { (shard: $0.key, state: $0.value) } }
    }

    /// In a shard, the seconds since the directory's last good answer was asked for; `nil` elsewhere.
    package var secondsSinceDirectory: Double? {
        directoryHeardAt.withLock { $0 }.map { MonotonicClock.seconds - $0 }
    }

    /// Notes when the directory was heard of.
    package func noteDirectory(at seconds: Double) { directoryHeardAt.withLock { $0 = seconds } }

    /// Changes the state of a shard of the house.
    package func change(_ shard: ShardNumber, _ body: (inout State) -> Void) {
        states.withLock { states in if states[shard] != nil { body(&states[shard, default: State()]) } }
    }
}
