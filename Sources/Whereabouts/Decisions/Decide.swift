/// Looks up fixes in the log. The writer provides it, because the pure half cannot read the log or its index.
package protocol FixLookup {
    /// How a fix of this device relates to the fixes in the log.
    mutating func known(_ fix: Fix, device: DeviceID) -> KnownFix
}

/// The result of looking a fix up in the log.
package enum KnownFix: Hashable, Sendable {
    case none
    /// A fix of the same device, time and place that differs in another member, for example in the speed.
    case twin
    /// A fix with equal ``Fix/content``, and the number of its event.
    case same(Int64)

    /// Adds the result for another event. The same fix outranks a twin.
    package mutating func add(_ other: KnownFix) {
        if self == .none || other != .none && self == .twin { self = other }
    }
}

extension Standing {
    /// Throws unless the caller's credentials are valid and the command is one of this log's.
    func admit(_ command: Command, by caller: Caller, at now: Timestamp) throws(Refusal) {
        guard isValid(caller, at: now) else { throw .notAuthenticated }
        try requireOwn(command, by: caller)
    }

    /// Throws unless the caller may manage the person. Strangers do not learn whether the person exists.
    func manage(_ handle: Handle, by caller: Caller, at now: Timestamp) throws(Refusal) -> PersonID {
        switch authorize(caller, to: .manage, about: handle, at: now) {
        case .success(let permit): return permit.subject
        case .failure: throw .noSuchPerson
        }
    }

    func requireOperator(_ caller: Caller) throws(Refusal) {
        guard caller.principal == .operator, caller.scopes.contains(.manage) else { throw .notFound }
    }

    func requireHouse(_ caller: Caller) throws(Refusal) {
        guard caller == .house else { throw .notFound }
    }
}
