// Tests of the way to a phone: a real push without a query.

extension Standing {
    /// Decides whether to wake a device for a test now. If so, the event precedes the push. The push counts against the
    /// device's budget like any other, and the operator cannot use the last third of it.
    func testPush(
        _ id: QueryID, to handle: Handle, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        guard caller.principal == .operator, caller.scopes.contains(.operate) else { throw .notFound }
        guard let wanted = device(handle), let device = devices[wanted] else { throw .notFound }
        guard device.push.token != nil else {
            throw .invalid("The device has no location push token; its app has to upload one.")
        }
        var decision = Decision()
        let pause = device.push.lastAt.map { $0.adding(seconds: Limits.secondsBetweenPushes) } ?? now
        let budget = device.push.allowance.earliest(
            leaving: Limits.pushesKeptForPersons, at: Limits.pushBudget, now: now)
        let next = max(pause, budget)
        if now < next {
            decision.reply = .pushes([PushOrder(device: wanted, what: .wait(until: next))])
            return decision
        }
        let leaving = LocationPushAttempt(
            query: id, device: wanted, attempt: 0, apnsID: LocationPushAttempt.apnsID(id, wanted), status: nil,
            reason: nil, durationMilliseconds: 0)
        decision.append(.locationPushTested(leaving), to: .audit(device.person))
        decision.reply = .pushes([PushOrder(device: wanted, what: .send)])
        return decision
    }

    /// Records the outcome of a test. If the person was erased meanwhile, it does so like ``recordPushAttempt(_:by:)``.
    func recordPushTest(_ attempt: LocationPushAttempt, by caller: Caller) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        guard let person = devices[attempt.device]?.person else { return decision }
        if persons[person]?.isErased ?? true {
            decision.append(.locationPushTested(attempt.withoutPersonalData), to: .house)
        } else {
            decision.append(.locationPushTested(attempt), to: .audit(person))
        }
        return decision
    }
}

extension Order where Reply == [PushOrder] {
    /// ``Command/testPush(_:to:)``, with one order.
    package static func testPush(_ id: QueryID, to device: Handle) -> Order {
        Order(.testPush(id, to: device)) { $0.pushes }
    }
}
