extension Standing {
    /// The keys with which fixes are sealed end to end, by person.
    package struct SealingKeys: Sendable, Equatable {
        /// The keys of one person.
        package struct Keys: Hashable, Sendable {
            /// The key that signs; `nil` before the first one, and once it is withdrawn.
            package internal(set) var identity: Published<IdentityKey>?
            /// The recipient keys, also withdrawn ones, in the order published.
            package internal(set) var recipients: [Published<RecipientKey>] = []
            /// The keys of others for which the person's phones may seal, in the order pinned.
            package internal(set) var pins: [KeyPin] = []
        }

        /// A published key.
        package struct Published<Key: Hashable & Sendable>: Hashable, Sendable {
            /// The key as it was published.
            package let key: Key
            /// When its publication was recorded.
            package let at: Timestamp
            /// Why it is good for nothing new; `nil` while it is in use.
            package internal(set) var withdrawn: KeyWithdrawal?
        }

        /// By person; those who never published a key are absent.
        package private(set) var all: [PersonID: Keys] = [:]

        /// The keys of a person, which may be none.
        package subscript(person: PersonID) -> Keys { all[person] ?? Keys() }

        mutating func change(_ person: PersonID, _ body: (inout Keys) -> Void) { body(&all[person, default: Keys()]) }

        /// Removes the keys of an erased person, and what others accepted of them.
        mutating func forget(_ person: PersonID) {
            all[person] = nil
            for other in Array(all.keys) { all[other]?.pins.removeAll { $0.owner == person } }
        }
    }
}

extension Standing.SealingKeys.Keys {
    /// A recipient key that is not withdrawn.
    package func recipient(_ id: KeyID) -> RecipientKey? {
        recipients.first { $0.key.id == id && $0.withdrawn == nil }?.key
    }

    /// Whether the person has, or had, a recipient key of this name.
    package func hasHad(_ id: KeyID) -> Bool { recipients.contains { $0.key.id == id } }

    /// The number of recipient keys that are not withdrawn.
    var inUse: Int { recipients.count { $0.withdrawn == nil } }

    mutating func publish(_ key: IdentityKey, at now: Timestamp) { identity = .init(key: key, at: now) }

    /// Past ``Limits/recipientKeysPerPerson`` keys, the oldest withdrawn one is forgotten.
    mutating func publish(_ key: RecipientKey, at now: Timestamp) {
        // An owner with another identity key publishes the same key again, with another signature.
        recipients.removeAll { $0.key.id == key.id }
        recipients.append(.init(key: key, at: now))
        guard recipients.count > Limits.recipientKeysPerPerson,
            let oldest = recipients.firstIndex(where: { $0.withdrawn != nil })
        else { return }
        recipients.remove(at: oldest)
    }

    mutating func withdraw(_ id: KeyID, _ reason: KeyWithdrawal) {
        if identity?.key.id == id { identity = nil }
        for index in recipients.indices where recipients[index].key.id == id { recipients[index].withdrawn = reason }
    }

    mutating func pin(_ pin: KeyPin) {
        pins.removeAll { $0.key == pin.key }
        pins.append(pin)
    }

    mutating func unpin(_ key: KeyID) { pins.removeAll { $0.key == key } }
}

extension Standing {
    /// The recipient keys of `owner` for which the phones of `person` may seal now: those that are pinned and not withdrawn.
    /// A person's own keys need no pin.
    package func sealable(by person: PersonID, for owner: PersonID) -> [KeyID] {
        let keys = sealingKeys[owner].recipients.filter { $0.withdrawn == nil }.map(\.key.id)
        guard owner != person else { return keys }
        let pinned = Set(sealingKeys[person].pins.filter { $0.owner == owner }.map(\.key))
        return keys.filter { pinned.contains($0) }
    }

    /// Whether the phones of `person` may seal for this key now.
    func maySeal(for key: KeyID, by person: PersonID) -> Bool {
        if sealingKeys[person].recipient(key) != nil { return true }
        guard let pin = sealingKeys[person].pins.first(where: { $0.key == key }) else { return false }
        return sealingKeys[pin.owner].recipient(key) != nil
    }

    /// The number by which an envelope names a device: 1 for the first device that its person ever had. It says nothing
    /// about other people's devices, as the device's number in the house would.
    package func envelopeNumber(of device: DeviceID) -> Int64? {
        guard let person = devices[device]?.person, let place = persons[person]?.devices.firstIndex(of: device) else {
            return nil
        }
        return Int64(place) + 1
    }

    /// The open queries about a person that the person's phone may answer with an envelope, in the order asked.
    package func answerable(about person: PersonID, at now: Timestamp) -> [Answerable] {
        queries.open(about: person).compactMap { id in
            guard let query = queries[id], !query.awaitsConsent else { return nil }
            switch query.verdict {
            case .own: return Answerable(id: id, asker: person, precision: .exact)
            case .granted(let grant):
                let asker = PersonID(rawValue: query.requester.rawValue)
                guard let precision = grants[grant]?.precision, persons[asker] != nil,
                    !(persons[person]?.sharing.pauses.last?.contains(now) ?? false)
                else { return nil }
                return Answerable(id: id, asker: asker, precision: precision)
            // The operator and the service have no keys.
            case .operatorOnRecord, .refused: return nil
            }
        }
    }

    /// The people who may open the history that a person's phones seal: the person, and those whose newest valid grant shows the
    /// exact history.
    package func historyReaders(of person: PersonID, at now: Timestamp) -> [PersonID] {
        var readers = [person]
        for id in persons[person]?.sharing.grants ?? [] {
            guard let reader = grants[id]?.requester, !readers.contains(reader), persons[reader] != nil,
                let newest = grants(of: person, for: reader).last(where: { $0.isInForce(at: now) }),
                newest.precision == .exact, newest.includesHistory, !newest.asksEachTime
            else { continue }
            readers.append(reader)
        }
        return readers
    }

    /// An open query that an envelope may answer.
    package struct Answerable: Hashable, Sendable {
        /// The query.
        package let id: QueryID
        /// Who asks.
        package let asker: PersonID
        /// What the asker may see.
        package let precision: Precision
    }
}

// MARK: - Rows

// Of one person: 1 identity · 2 when it was published · 3 recipients · 4 pins. An identity is the parts that its event has,
// and so are the others:
//   1 id ‖ key ‖ signature, and the previous signature if there is one
//   3 for each key 130 bytes: id ‖ key ‖ signature ‖ time made (8) ‖ time published (8) ‖ 1 byte each for 0 and the reason
//   4 for each pin 88 bytes: owner (8) ‖ id ‖ signature
extension Standing.SealingKeys {
    var rows: [StandingEntry] {
        all.map { person, keys in
            StandingEntry(.sealingKeys, person.rawValue) { fields in
                if let identity = keys.identity {
                    let key = identity.key
                    fields.bytes(1, key.id.bytes + key.key + key.signature + (key.previousSignature ?? []))
                    fields.timestamp(2, identity.at)
                }
                var recipients: [UInt8] = []
                for published in keys.recipients {
                    recipients += published.key.id.bytes
                    recipients += published.key.key
                    recipients += published.key.signature
                    recipients += Self.eight(published.key.madeAt.milliseconds)
                    recipients += Self.eight(published.at.milliseconds)
                    recipients += [0, UInt8(published.withdrawn?.rawValue ?? 0)]
                }
                if !recipients.isEmpty { fields.bytes(3, recipients) }
                var pins: [UInt8] = []
                for pin in keys.pins {
                    pins += Self.eight(pin.owner.rawValue)
                    pins += pin.key.bytes
                    pins += pin.signature
                }
                if !pins.isEmpty { fields.bytes(4, pins) }
            }
        }
    }

    mutating func load(_ person: PersonID, _ fields: inout FieldReader) throws(CBORError) {
        var keys = Keys()
        if let bytes = try fields.bytes(1) {
            var rest = Slices(bytes)
            let id = KeyID(try rest.identifier())
            let key = IdentityKey(
                id: id, key: try rest.take(Limits.publicKeyBytes), signature: try rest.take(Limits.signatureBytes),
                previousSignature: rest.isAtEnd ? nil : try rest.take(Limits.signatureBytes))
            keys.identity = .init(key: key, at: try require(try fields.timestamp(2)))
        }
        var recipients = Slices(try fields.bytes(3) ?? [])
        while !recipients.isAtEnd {
            let id = KeyID(try recipients.identifier())
            let (key, signature) = (
                try recipients.take(Limits.publicKeyBytes), try recipients.take(Limits.signatureBytes)
            )
            let madeAt = Timestamp(milliseconds: try recipients.integer())
            let at = Timestamp(milliseconds: try recipients.integer())
            let reason = try recipients.take(2)[1]
            keys.recipients.append(
                .init(
                    key: RecipientKey(id: id, key: key, madeAt: madeAt, signature: signature), at: at,
                    withdrawn: reason == 0 ? nil : try require(KeyWithdrawal(rawValue: Int64(reason)))))
        }
        var pins = Slices(try fields.bytes(4) ?? [])
        while !pins.isAtEnd {
            let owner = PersonID(rawValue: try pins.integer())
            keys.pins.append(
                KeyPin(owner: owner, key: KeyID(try pins.identifier()), signature: try pins.take(Limits.signatureBytes))
            )
        }
        all[person] = keys
    }

    private static func eight(_ value: Int64) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
}

/// Takes bytes of known lengths from a list.
private struct Slices {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ count: Int) throws(CBORError) -> [UInt8] {
        guard rest.count >= count else { throw .unexpected }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func integer() throws(CBORError) -> Int64 {
        var value: Int64 = 0
        for byte in try take(8) { value = value << 8 | Int64(byte) }
        return value
    }

    mutating func identifier() throws(CBORError) -> Identifier128 {
        let bytes = try take(16)
        return try require(bytes.withUnsafeBytes { Identifier128(bytes: $0) })
    }
}
