// Keys for fixes that are sealed end to end: published, accepted, withdrawn; and the devices that seal.

extension Standing {
    /// Decides a command about keys. The door has checked every signature, and names the key that it checked it with: a key
    /// that is no longer the person's is refused here.
    ///
    /// The person decides, with the scope `manage`, or one of the person's phones. The operator cannot act in their name.
    func decideKeys(_ command: Command, by caller: Caller, at now: Timestamp) throws(Refusal) -> Decision {
        switch command {
        case .publishIdentityKey(let key, let who, let previous):
            return try publish(key, of: try ownKeys(who, by: caller, at: now), after: previous)
        case .publishRecipientKey(let key, let who, let signer):
            return try publish(key, of: try ownKeys(who, by: caller, at: now), signedBy: signer)
        case .pinRecipientKey(let request, let who):
            return try pin(request, by: try ownKeys(who, by: caller, at: now), caller, at: now)
        case .unpinRecipientKey(let key, let who): return try unpin(key, by: try ownKeys(who, by: caller, at: now))
        case .withdrawKey(let key, let reason, let who):
            return try withdraw(key, reason, of: try ownKeys(who, by: caller, at: now))
        case .sealDevice(let handle, let isSealed): return try seal(handle, isSealed, by: caller, at: now)
        default: preconditionFailure("The command is not about keys.")
        }
    }

    /// The person, if the caller is the person or one of the person's phones.
    private func ownKeys(_ handle: Handle, by caller: Caller, at now: Timestamp) throws(Refusal) -> PersonID {
        guard case .success(let permit) = authorize(caller, to: .consent, about: handle, at: now) else {
            throw .noSuchPerson
        }
        return permit.subject
    }

    /// The person whose public keys a caller may see: the caller's own, those of a person whom the caller may ask, or
    /// of one who may ask the caller. Everyone else gets the answer for strangers.
    package func personWithKeys(_ handle: Handle, seenBy caller: Caller, at now: Timestamp) -> PersonID? {
        guard let subject = person(handle) else { return nil }
        let owner = owner(of: caller)
        guard owner != nil || caller.scopes.contains(.query) else { return nil }
        let reader = owner ?? PersonID(rawValue: caller.principal.rawValue)
        if caller.principal == .operator || reader == subject { return subject }
        // A link has no key.
        guard persons[reader] != nil else { return nil }
        let shared = grants(of: subject, for: reader) + grants(of: reader, for: subject)
        return shared.contains { $0.isInForce(at: now) && $0.precision > .none } ? subject : nil
    }

    /// As above, for a caller who accepts one of the keys: that needs no right to ask.
    package func personWithKeys(_ handle: Handle, pinnedBy caller: Caller, at now: Timestamp) -> PersonID? {
        let reader = Caller(principal: caller.principal, scopes: caller.scopes.union(.query), token: caller.token)
        return personWithKeys(handle, seenBy: reader, at: now)
    }

    private func publish(
        _ key: IdentityKey, of person: PersonID, after previous: KeyID?
    ) throws(Refusal) -> Decision {
        var decision = Decision()
        let held = sealingKeys[person].identity?.key
        if held?.id == key.id { return decision }
        guard held?.id == previous else {
            throw .invalid(
                held == nil
                    ? "You have no identity key; leave out \"previousSignature\"."
                    : "You have an identity key: sign the new key with it as \"previousSignature\", or withdraw it first."
            )
        }
        decision.append(.identityKeyPublished(key), to: .audit(person))
        return decision
    }

    private func publish(
        _ key: RecipientKey, of person: PersonID, signedBy signer: KeyID
    ) throws(Refusal) -> Decision {
        let keys = sealingKeys[person]
        guard keys.identity?.key.id == signer else { throw .wrongSigner }
        var decision = Decision()
        if let known = keys.recipients.first(where: { $0.key.id == key.id }) {
            guard known.withdrawn == nil else { throw .invalid("This key was withdrawn; make another one.") }
            if known.key == key { return decision }
        } else {
            guard !sealingKeys.all.values.contains(where: { $0.hasHad(key.id) }) else {
                throw .alreadyExists("This key is published already; make another one.")
            }
            guard keys.inUse < Limits.recipientKeysInUse else {
                throw .invalid("You have \(Limits.recipientKeysInUse) keys in use; withdraw one first.")
            }
        }
        decision.append(.recipientKeyPublished(key), to: .audit(person))
        return decision
    }

    private func pin(
        _ request: PinRequest, by person: PersonID, _ caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        guard let owner = personWithKeys(request.owner, pinnedBy: caller, at: now), owner != person else {
            throw .noSuchPerson
        }
        guard sealingKeys[person].identity?.key.id == request.signer else { throw .wrongSigner }
        guard sealingKeys[owner].identity?.key.id == request.ownerIdentity,
            sealingKeys[owner].recipient(request.key) != nil
        else {
            throw .invalid("This key is not in use; read the keys again, and compare the safety number.")
        }
        let pin = KeyPin(owner: owner, key: request.key, signature: request.signature)
        let pins = sealingKeys[person].pins
        var decision = Decision()
        if pins.contains(pin) { return decision }
        guard pins.count < Limits.pinsPerPerson || pins.contains(where: { $0.key == pin.key }) else {
            throw .invalid("You accept \(Limits.pinsPerPerson) keys; remove one first.")
        }
        decision.append(.recipientKeyPinned(pin), to: .audit(person))
        return decision
    }

    private func unpin(_ key: KeyID, by person: PersonID) throws(Refusal) -> Decision {
        guard sealingKeys[person].pins.contains(where: { $0.key == key }) else { throw .notFound }
        var decision = Decision()
        decision.append(.recipientKeyUnpinned(key), to: .audit(person))
        return decision
    }

    private func withdraw(
        _ key: KeyID, _ reason: KeyWithdrawal, of person: PersonID
    ) throws(Refusal) -> Decision {
        let keys = sealingKeys[person]
        var decision = Decision()
        guard keys.identity?.key.id == key || keys.recipient(key) != nil else {
            guard keys.hasHad(key) else { throw .notFound }
            return decision
        }
        decision.append(.sealingKeyWithdrawn(key, reason), to: .audit(person))
        return decision
    }

    private func seal(
        _ handle: Handle, _ isSealed: Bool, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        guard let device = device(handle), let known = devices[device], let owner = persons[known.person]?.handle,
            case .success = authorize(caller, to: .consent, about: owner, at: now)
        else { throw .notFound }
        guard !isSealed || sealingKeys[known.person].identity != nil else {
            throw .invalid("Publish an identity key first: the device signs its envelopes with it.")
        }
        var decision = Decision()
        if known.isSealed != isSealed {
            decision.append(.deviceSealed(device, isSealed: isSealed), to: .audit(known.person))
        }
        return decision
    }
}

extension Refusal {
    /// The signature was checked with a key that is not the person's identity key.
    fileprivate static let wrongSigner = Refusal.invalid(
        "\"signature\" is not by your identity key; publish that key first.")
}

/// A wish to accept a key of another person.
package struct PinRequest: Hashable, Sendable {
    /// The person whose key it is, who may not exist.
    package let owner: Handle
    /// The recipient key.
    package let key: KeyID
    /// The identity key of the owner that the signature covers.
    package let ownerIdentity: KeyID
    /// The signature by the person who accepts.
    package let signature: [UInt8]
    /// The identity key with which the door has checked the signature.
    package let signer: KeyID

    package init(owner: Handle, key: KeyID, ownerIdentity: KeyID, signature: [UInt8], signer: KeyID) {
        (self.owner, self.key, self.ownerIdentity) = (owner, key, ownerIdentity)
        (self.signature, self.signer) = (signature, signer)
    }
}
