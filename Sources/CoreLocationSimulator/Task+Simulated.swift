// An app's own `Task { … }` means these two, because they need fewer default values than those of the standard library:
// so an app's file that follows a sequence runs on the clock without a change. Elsewhere they behave like those. Code
// of another actor than the default kind, as the main actor's, runs where that actor runs.

extension Task where Failure == Never {
    /// A task on the simulated clock when a simulated app makes it, else on the shared pool.
    @discardableResult
    public init(
        @_inheritActorContext @_implicitSelfCapture operation: sending @escaping @isolated(any) () async -> Success
    ) {
        self.init(
            executorPreference: SimulatedApplication.current?.device.clock.executor, priority: nil,
            operation: operation)
    }
}

extension Task where Failure == any Error {
    /// A task on the simulated clock when a simulated app makes it, else on the shared pool.
    @discardableResult
    public init(
        @_inheritActorContext @_implicitSelfCapture
        operation: sending @escaping @isolated(any) () async throws -> Success
    ) {
        self.init(
            executorPreference: SimulatedApplication.current?.device.clock.executor, priority: nil,
            operation: operation)
    }
}
