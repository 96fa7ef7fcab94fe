package import Threading

extension Monitor {
    /// Waits until `body` returns a value.
    ///
    /// - Parameter what: the expected change, for the error; the place in the source is added.
    /// - Throws: ``WaitedInVain`` after ``patienceSeconds``.
    package func expected<R>(
        _ what: String = "a change by another thread", file: StaticString = #fileID, line: Int = #line,
        for body: (inout State) -> R?
    ) throws -> R {
        if let value = wait(milliseconds: patienceMilliseconds, for: body) { return value }
        throw WaitedInVain(what: what, seconds: patienceSeconds, place: "\(file):\(line)")
    }
}
