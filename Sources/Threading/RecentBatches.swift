import Synchronization

/// The newest numbered elements that one thread has finished, for another thread that goes through all of them and would
/// otherwise read them from a file.
///
/// The file still has every element, because this keeps only some: none before ``follow()``, and none beyond the bound. A
/// batch that does not begin after the last one replaces all older ones.
package final class RecentBatches<Element: Sendable, Mark: Sendable>: Sendable {
    /// Elements with consecutive numbers, and the mark of the last one.
    private struct Batch {
        let elements: [Element]
        let last: Int64
        let mark: Mark

        var first: Int64 { last - Int64(elements.count) + 1 }
    }

    private struct State {
        var batches: [Batch] = []
        var count = 0

        mutating func removeFirst() { count -= batches.removeFirst().elements.count }
    }

    private let state = Mutex(State())
    private let followed = Atomic<Bool>(false)
    private let bound: Int

    /// - Parameter bound: The most elements that are kept.
    package init(atMost bound: Int) { self.bound = bound }

    /// Whether batches are kept.
    package var isFollowed: Bool { followed.load(ordering: .relaxed) }

    /// Keeps batches from now on.
    package func follow() { followed.store(true, ordering: .relaxed) }

    /// Adds a batch; a larger one than the bound is not kept.
    ///
    /// - Parameters:
    ///   - last: The number of the last element.
    ///   - mark: What a follower must know of the last element.
    package func append(_ elements: [Element], through last: Int64, _ mark: Mark) {
        guard isFollowed, !elements.isEmpty else { return }
        state.withLock { state in
            let batch = Batch(elements: elements, last: last, mark: mark)
            if let newest = state.batches.last, newest.last + 1 != batch.first {
                (state.batches, state.count) = ([], 0)
            }
            state.batches.append(batch)
            state.count += elements.count
            while state.count > bound { state.removeFirst() }
        }
    }

    /// The elements after a number, as whole batches of at most `limit` together, with the mark of the last one; `nil` if
    /// the next element is not kept, or its batch is larger.
    package func batch(after number: Int64, limit: Int) -> (elements: [Element], mark: Mark)? {
        state.withLock { state in
            guard var index = state.batches.firstIndex(where: { $0.last > number }),
                state.batches[index].first <= number + 1
            else { return nil }
            let known = Int(number + 1 - state.batches[index].first)
            var elements = Array(state.batches[index].elements.dropFirst(known))
            guard elements.count <= limit else { return nil }
            while index + 1 < state.batches.count,
                elements.count + state.batches[index + 1].elements.count <= limit
            {
                index += 1
                elements += state.batches[index].elements
            }
            return (elements, state.batches[index].mark)
        }
    }

    /// Forgets the batches whose elements all have numbers up to this one.
    package func forget(through number: Int64) {
        state.withLock { state in
            while let oldest = state.batches.first, oldest.last <= number { state.removeFirst() }
        }
    }

    /// Forgets everything.
    package func removeAll() { state.withLock { ($0.batches, $0.count) = ([], 0) } }
}
