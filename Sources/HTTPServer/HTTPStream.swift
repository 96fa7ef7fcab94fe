internal import Synchronization

/// The content of an answer that is written while it is sent: in pieces, from any thread, until it is finished or the
/// client has gone.
///
/// Bytes that the client has not read yet wait here, up to a bound. A client that falls further behind is cut off.
/// Content that is complete at the start, such as a file, is read as the client takes it (``Source``), instead of
/// written.
package final class HTTPStream: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        /// How many bytes of the source have been read.
        var read = 0
        /// No more pieces will be written; those that wait are still sent.
        var isFinished = false
        /// The client has gone, or was cut off.
        var isOver = false
        /// Wakes the server's thread with the next piece; set if it found none.
        var wake: (@Sendable () -> Void)?
    }

    /// Content that is whole from the beginning.
    package struct Source: Sendable {
        /// The bytes of the whole content.
        package let length: Int
        /// The bytes from a place on, at least one and at most as many as wanted; `nil` cuts the client off. Called by the
        /// server's thread, so it must be quick.
        let read: @Sendable (_ place: Int, _ count: Int) -> [UInt8]?

        package init(length: Int, read: @escaping @Sendable (_ place: Int, _ count: Int) -> [UInt8]?) {
            (self.length, self.read) = (length, read)
        }
    }

    private let state = Mutex(State())
    /// The most bytes that wait.
    private let bytesMax: Int
    private let source: Source?

    /// - Parameter bytesMax: The most bytes that wait for the client.
    package init(bytesMax: Int) { (self.bytesMax, source) = (bytesMax, nil) }

    /// Content that is whole from the beginning. Nothing can be written to it.
    package init(_ source: Source) { (bytesMax, self.source) = (0, source) }

    /// The bytes of content that is whole from the beginning; `nil` for content that is written.
    package var length: Int? { source?.length }

    /// Whether the client has gone, or was cut off.
    package var isOver: Bool { state.withLock { $0.isOver } }

    /// The bytes that the client has not taken yet.
    package var waitingBytes: Int { state.withLock { $0.waiting.count } }

    /// Adds a piece.
    ///
    /// - Returns: `false` if the client has gone, or is cut off because too much waits.
    @discardableResult
    package func write(_ bytes: [UInt8]) -> Bool {
        change { state in
            guard !state.isOver, !state.isFinished, source == nil else { return false }
            if state.waiting.count + bytes.count > bytesMax {
                state.waiting = []
                state.isOver = true
                return false
            }
            state.waiting += bytes
            return true
        }
    }

    /// Ends the answer once the waiting bytes are sent.
    package func finish() { change { $0.isFinished = true } }

    private func change<R>(_ body: (inout State) -> R) -> R {
        let (result, wake) = state.withLock { state in (body(&state), state.wake.take()) }
        wake?()
        return result
    }

    // MARK: For the sender

    /// The result of asking for bytes.
    package enum Next: Equatable {
        case bytes([UInt8])
        case nothingYet
        case end
        /// The client was cut off: the answer has no proper end.
        case cut
    }

    /// The next bytes, at most `count`. If there are none yet, `wake` is called once, on any thread, when that changes.
    package func next(_ count: Int, wake: @escaping @Sendable () -> Void) -> Next {
        state.withLock { state in
            if state.isOver { return .cut }
            if let source { return Self.next(count, of: source, &state) }
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

    private static func next(_ count: Int, of source: Source, _ state: inout State) -> Next {
        let left = source.length - state.read
        if left == 0 { return .end }
        guard let bytes = source.read(state.read, min(count, left)), (1...left).contains(bytes.count) else {
            state.isOver = true
            return .cut
        }
        state.read += bytes.count
        return .bytes(bytes)
    }

    /// Notes that the client has gone.
    package func abandon() { change { $0.isOver = true } }
}
