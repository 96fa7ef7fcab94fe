// Decisions about the log as a whole: restores, losses, acts of the operator.

extension Standing {
    /// Records that the log was restored from a backup, and the new epoch.
    func recordRestore(epoch: Int64, mark: Int64, by caller: Caller) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        decision.append(.logRestored(epoch: epoch, mark: mark), to: .house)
        return decision
    }

    /// Records that the operator accepts the loss of durable events.
    func recordLoss(
        from: Int64, to: Int64, epoch: Int64, mark: Int64, by caller: Caller
    ) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        decision.append(.lossAccepted(from: from, to: to, epoch: epoch, mark: mark), to: .house)
        return decision
    }

    /// Records what the persons' own logs are, up to an event that the log has.
    func commitHeads(_ heads: HeadsCommitment, by caller: Caller) throws(Refusal) -> Decision {
        try requireHouse(caller)
        guard heads.upTo <= place, heads.commits.count.isMultiple(of: HeadsCommitment.commitmentBytes) else {
            throw .invalid("The commitments are not those of this log.")
        }
        var decision = Decision()
        decision.append(.headsCommitted(heads), to: .house)
        return decision
    }

    /// - Throws: ``Refusal`` unless the caller may operate the service.
    func recordAct(_ act: OperatorAct, by caller: Caller) throws(Refusal) -> Decision {
        guard caller.scopes.contains(.operate) else { throw .notFound }
        var decision = Decision()
        if case .failed(let number) = act {
            decision.append(.operatorActed(act), to: .house, cause: number)
        } else {
            decision.append(.operatorActed(act), to: .house)
        }
        return decision
    }
}
