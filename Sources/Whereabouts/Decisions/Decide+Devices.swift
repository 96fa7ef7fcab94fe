// Devices: added, removed, and their location push tokens.

extension Standing {
    /// Adds a device to a person, with a reporting key if `key` has its hash. The reply is then the token, otherwise
    /// the device.
    ///
    /// Except for the operator, the handle must be `OWNER.NAME`, so that no other person's device can have it.
    func addDevice(
        _ handle: Handle, of owner: Handle, key: Hash256?, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try manage(owner, by: caller, at: now)
        // Only the operator may learn from a refusal which names other people's devices have.
        guard caller.principal == .operator || handle.isDevice(of: owner) else {
            throw .invalid("Name your device \(owner.text).NAME, with no \".\" in NAME.")
        }
        guard device(handle) == nil else {
            throw .alreadyExists("A device of this name exists; choose another handle.")
        }
        let device = DeviceID(rawValue: persons.next)
        var decision = Decision()
        decision.append(.deviceAdded(device, of: person, handle: .open(handle)), to: .audit(person))
        decision.reply = .device(device)
        if let key {
            let token = TokenID(rawValue: tokens.next)
            decision.append(
                .tokenIssued(
                    AccessToken(id: token, principal: device.principal, scopes: .report, hash: key, until: nil)),
                to: .audit(person))
            decision.reply = .token(token)
        }
        return decision
    }

    /// Removes a device. Its tokens no longer count; its fixes stay.
    func removeDevice(_ handle: Handle, by caller: Caller, at now: Timestamp) throws(Refusal) -> Decision {
        let (device, person) = try managedDevice(handle, by: caller, at: now)
        var decision = Decision()
        decision.append(.deviceRemoved(device), to: .audit(person))
        return decision
    }

    /// A device whose owner the caller may manage. Another person's device is refused like one that does not exist.
    func managedDevice(
        _ handle: Handle, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> (DeviceID, PersonID) {
        guard let device = device(handle), let person = devices[device]?.person,
            let owner = persons[person]?.handle,
            case .success = authorize(caller, to: .manage, about: owner, at: now)
        else { throw .notFound }
        return (device, person)
    }

    /// Records a device's token for location pushes, which only the device may upload.
    ///
    /// The same token makes an event only after ``Limits/pushTokenRenewalSeconds``.
    func registerPushToken(
        _ token: LocationPushToken, _ environment: PushEnvironment, of handle: Handle, by caller: Caller,
        at now: Timestamp
    ) throws(Refusal) -> Decision {
        let id = DeviceID(rawValue: caller.principal.rawValue)
        guard caller.scopes.contains(.report), let device = devices[id], !device.isRemoved, device.handle == handle
        else {
            throw .notFound
        }
        guard Limits.pushTokenBytes.contains(token.bytes.count) else {
            throw .invalid("A location push token must have 4 to 100 bytes; send the system's token in hexadecimal.")
        }
        var decision = Decision()
        let held = device.push.token
        // A repeated registration shows that the token is still valid: Apple's earlier refusals no longer count.
        let isFresh =
            held.map { now < $0.registeredAt.adding(seconds: Limits.pushTokenRenewalSeconds) } ?? false
        if held?.token != token || held?.environment != environment || !isFresh {
            decision.append(
                .locationPushTokenRegistered(device: id, environment: environment, .open(token)),
                to: .audit(device.person))
        }
        return decision
    }

    /// Records that APNs no longer accepts a token. Makes no event if the device has another token, or registered it
    /// again after `asOf`.
    func retirePushToken(
        _ token: LocationPushToken, of id: DeviceID, reason: String, asOf: Timestamp?, by caller: Caller
    ) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        guard let device = devices[id], let held = device.push.token, held.token == token else { return decision }
        // APNs' answer is about the token as of `asOf`; one registered since then is valid again.
        if let asOf, held.registeredAt > asOf { return decision }
        decision.append(.locationPushTokenRetired(device: id, reason: reason), to: .audit(device.person))
        return decision
    }
}

extension Handle {
    /// Whether it has the form of the person's own devices, which no other person's can have.
    fileprivate func isDevice(of owner: Handle) -> Bool {
        guard let dot = text.lastIndex(of: "."), text.index(after: dot) < text.endIndex else { return false }
        return text[..<dot] == owner.text
    }
}
