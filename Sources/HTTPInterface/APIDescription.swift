import Synchronization

/// The API description of a service, made when it is asked for the first time.
package final class APIDescription: Sendable {
    private struct State {
        var described: [Operation] = []
        var bytes: [UInt8]?
    }

    private let state = Mutex(State())

    package init() {}

    /// Sets the operations to describe. They come after the initializer, because `GET /openapi.json` is one of them. Their
    /// handlers are not kept: that would be a retain cycle, since one handler holds this object.
    package func describe(_ operations: [Operation]) {
        let described = operations.map(\.withoutHandler)
        state.withLock { $0.described = described }
    }

    /// The description in JSON.
    package var bytes: [UInt8] {
        state.withLock { state in
            if let bytes = state.bytes { return bytes }
            let bytes = OpenAPIDocument(state.described).bytes
            state.bytes = bytes
            return bytes
        }
    }
}
