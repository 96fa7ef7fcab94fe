// Decisions about the log as a whole: restores, losses, acts of the operator.

extension Standing {
    /// Records a fact about the log itself: a restore, an accepted loss, a new place, or the heads of the persons' logs up to an event
    /// that the log has. Only for the house.
    func recordLog(_ command: Command, by caller: Caller) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        switch command {
        case .recordRestore(let epoch, let mark):
            decision.append(.logRestored(epoch: epoch, mark: mark), to: .house)
        case .recordLoss(let from, let to, let epoch, let mark):
            decision.append(.lossAccepted(from: from, to: to, epoch: epoch, mark: mark), to: .house)
        case .moveLog(let place): decision.append(.logMoved(place), to: .house)
        case .commitHeads(let heads):
            guard heads.upTo <= place, heads.commits.count.isMultiple(of: HeadsCommitment.commitmentBytes) else {
                throw .invalid("The commitments belong to another log.")
            }
            decision.append(.headsCommitted(heads), to: .house)
        default: preconditionFailure("The command is none about the log.")
        }
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
