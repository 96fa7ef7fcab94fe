import Synchronization
package import Whereabouts

extension EventLog {
    /// Decides and appends each of several commands, in their order, so that they share commits. The queue takes all of
    /// them, or none because the log is stopping, short of room or busy. `completion` is called once with the outcome
    /// of each, when all are durable or refused; like that of ``submit(_:by:correlation:_:)``, it must be quick.
    ///
    /// - Parameter correlation: The same for all of them, so not that of a keyed request.
    package func submit(
        _ commands: [Command], by caller: Caller, correlation: RequestID,
        _ completion: @escaping @Sendable ([Result<Receipt, AppendFailure>]) -> Void
    ) {
        guard !commands.isEmpty else { return completion([]) }
        let results = Mutex([Result<Receipt, AppendFailure>]())
        let count = commands.count
        let collected: Completion = { result in
            // Commands are answered in the order in which they wait.
            let all = results.withLock { results -> [Result<Receipt, AppendFailure>]? in
                results.append(result)
                return results.count == count ? results : nil
            }
            if let all { completion(all) }
        }
        let refusal = queue.enqueue(count, unless: refusal(of: commands.allSatisfy(\.isTakenWithoutRoom))) { waiting in
            for command in commands {
                waiting.append(
                    Waiting(command: command, caller: caller, correlation: correlation, completion: collected))
            }
        }
        if let refusal { completion(commands.map { _ in .failure(refusal) }) }
    }
}
