internal import Synchronization

/// The content of an answer that is written while it is being sent: in pieces, from any thread, until it is finished or the
/// client has gone.
///
/// What the client does not take waits here, up to a bound; a client that falls further behind is cut off.
package final class HTTPStream: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        /// Nothing more will be written; what waits is still sent.
        var isFinished = false
        /// The client has gone, or was cut off.
        var isOver = false
        /// The server's thread has found nothing, and wants to be told of the next piece.
        var wake: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    /// Bytes that may wait.
    private let bytesMax: Int

    package init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// Whether nobody takes what is written any more.
    package var isOver: Bool { state.withLock { $0.isOver } }

    /// Adds a piece.
    ///
    /// - Returns: `false` when the client has gone, or is cut off because too much waits.
    @discardableResult
    package func write(_ bytes: [UInt8]) -> Bool {
        change { state in
            guard !state.isOver, !state.isFinished else { return false }
            if state.waiting.count + bytes.count > bytesMax {
                state.waiting = []
                state.isOver = true
                return false
            }
            state.waiting += bytes
            return true
        }
    }

    /// Ends the answer once what waits is sent.
    package func finish() { change { $0.isFinished = true } }

    private func change<R>(_ body: (inout State) -> R) -> R {
        let (result, wake) = state.withLock { state in (body(&state), state.wake.take()) }
        wake?()
        return result
    }

    // MARK: For whoever sends it

    package enum Next: Equatable {
        case bytes([UInt8])
        case nothingYet
        case end
        /// It was cut off: the answer has no proper end.
        case cut
    }

    /// The next bytes, at most `count`. When there are none yet, `wake` is called once, from whatever thread, when that
    /// changes.
    package func next(_ count: Int, wake: @escaping @Sendable () -> Void) -> Next {
        state.withLock { state in
            if state.isOver { return .cut }
            guard state.waiting.isEmpty else {
                let bytes = Array(state.waiting.prefix(count))
                state.waiting.removeFirst(bytes.count)
                return .bytes(bytes)
            }
            if state.isFinished { return .end }
            state.wake = wake
            return .nothingYet
        }
    }

    /// The client has gone.
    package func abandon() { change { $0.isOver = true } }
}
