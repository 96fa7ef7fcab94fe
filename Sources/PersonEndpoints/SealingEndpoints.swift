import Answers
import Cryptography
import Envelopes
import HTTPInterface
import HTTPServer
import JSON
import Log
import Replies
import Whereabouts
import WireFormats

/// The keys with which fixes are sealed end to end: published, listed, accepted and withdrawn.
///
/// Keys and signatures are hexadecimal digits. A signature is checked here, over the statement of `KeyStatement`, with the
/// identity key that the standing has; the decision refuses it if that key has changed meanwhile.
///
/// For the person with the scope `manage`, and for the person's phones with their reporting keys. The operator cannot publish
/// or accept a key in a person's name.
struct SealingEndpoints: Sendable {
    let decisions: Decisions
    let views: Views

    /// `POST /v1/people/*/keys`: publishes an identity key or a recipient key. The body has `kind`, `key` and `signature`;
    /// of an identity key that replaces another one `previousSignature`, of a recipient key `madeAt`.
    ///
    /// Recorded as `IdentityKeyPublished` or `RecipientKeyPublished`. The same key again makes no event.
    ///
    /// - Throws: 400 for a malformed member, 409 for a recipient key that another person has published, 422 for a member of the
    ///   other kind, for a signature that does not fit, for a new identity key without that of the one before it, and past
    ///   ``Limits/recipientKeysInUse`` keys.
    func publish(_ exchange: Exchange) throws(Problem) -> Command {
        let body = try exchange.object("kind", "key", "signature", "previousSignature", "madeAt")
        let handle = try exchange.handle(0)
        let key = try Self.bytes(body, "key", Limits.publicKeyBytes)
        let signature = try Self.bytes(body, "signature", Limits.signatureBytes)
        let held = try identity(of: handle, exchange)
        switch try body.requiredText("kind") {
        case "identity":
            guard body["madeAt"]?.isNull ?? true else { throw .refused("\"madeAt\" is for recipient keys.") }
            let previous =
                body["previousSignature"]?.isNull ?? true
                ? nil : try Self.bytes(body, "previousSignature", Limits.signatureBytes)
            let statement = KeyStatement.identity(of: handle, key: key, previous: previous == nil ? nil : held?.key)
            guard statement.isSigned(signature, by: key) else { throw Self.unsigned("signature", "the new key itself") }
            if let previous, let held {
                guard statement.isSigned(previous, by: held.key) else {
                    throw Self.unsigned("previousSignature", "your present identity key")
                }
            }
            let made = IdentityKey(
                id: KeyID(ofPublicKey: key), key: key, signature: signature, previousSignature: previous)
            return .publishIdentityKey(made, of: handle, after: previous == nil ? nil : held?.id)
        case "recipient":
            guard body["previousSignature"]?.isNull ?? true else {
                throw .refused("\"previousSignature\" is for identity keys.")
            }
            guard let madeAt = try body.optionalTime("madeAt") else { throw .refused("\"madeAt\" is missing.") }
            let statement = KeyStatement.recipient(of: handle, key: key, madeAt: madeAt)
            guard let held, statement.isSigned(signature, by: held.key) else {
                throw Self.unsigned("signature", "your identity key, which must be published first")
            }
            let made = RecipientKey(id: KeyID(ofPublicKey: key), key: key, madeAt: madeAt, signature: signature)
            return .publishRecipientKey(made, of: handle, signedBy: held.id)
        default: throw .invalid("\"kind\" must be identity or recipient.")
        }
    }

    /// `GET /v1/people/*/keys`: the person's public keys, for the person, the operator, and those who share with the person or
    /// with whom the person shares. Not recorded: everyone who may ask needs them to check what they get.
    ///
    /// - Throws: 404 for everyone else, as for an unknown person.
    func keys(_ exchange: Exchange, _ context: AnswerContext) throws(Problem) -> HTTPResponse {
        let handle = try exchange.handle(0)
        let now = decisions.clock()
        let found = decisions.log.withStanding { standing in
            standing.personWithKeys(handle, seenBy: exchange.caller, at: now).map { standing.sealingKeys[$0] }
        }
        guard let found else { throw .noSuchPerson }
        return .reply(KeysAnswer(of: handle, found))
    }

    /// `DELETE /v1/people/*/keys/*`: withdraws one of the person's own keys, by its name. `reason` is `lost` or `replaced`
    /// (the default).
    ///
    /// Recorded as `SealingKeyWithdrawn`. Nothing new is sealed for the key, or signed with it; envelopes that exist stay.
    ///
    /// - Throws: 404 for a key that the person never had.
    func withdraw(_ exchange: Exchange) throws(Problem) -> Command {
        let word = exchange.request.parameter("reason") ?? KeyWithdrawal.replaced.word
        guard let reason = KeyWithdrawal.allCases.first(where: { $0.word == word }) else {
            throw .invalid("\"reason\" must be replaced or lost.")
        }
        return .withdrawKey(try Self.name(exchange.parameters[1]), reason, of: try exchange.handle(0))
    }

    /// `GET /v1/people/*/pins`: the keys of others that the person accepts, a recorded read of settings.
    func pins(_ exchange: Exchange, _ context: AnswerContext) throws(Problem) -> Disclosed {
        try views.settings(exchange, context) { standing, person, references, page in
            for (index, pin) in standing.sealingKeys[person].pins.enumerated() {
                page.add(
                    Int64(index) + 1,
                    PinItem(
                        key: pin.key.description, person: standing.persons[pin.owner]?.handle?.text,
                        signature: Hex.encode(pin.signature),
                        inUse: standing.sealable(by: person, for: pin.owner).contains(pin.key)))
            }
        }
    }

    /// `POST /v1/people/*/pins`: the person accepts a recipient key of another person. The body has `person`, the key's name
    /// `key`, and `signature` by the person's identity key.
    ///
    /// Recorded as `RecipientKeyPinned`.
    ///
    /// - Throws: 404 for a person whose keys the person may not see; 422 for a signature that does not fit the owner's
    ///   present identity key, and for a key that is not in use.
    func pin(_ exchange: Exchange) throws(Problem) -> Command {
        let body = try exchange.object("person", "key", "signature")
        let handle = try exchange.handle(0)
        let owner = try body.handle("person")
        let key = try Self.name(try body.requiredText("key"))
        let signature = try Self.bytes(body, "signature", Limits.signatureBytes)
        let held = try identity(of: handle, exchange)
        let now = decisions.clock()
        let keys = decisions.log.withStanding { standing in
            standing.personWithKeys(owner, pinnedBy: exchange.caller, at: now).map { standing.sealingKeys[$0] }
        }
        guard let keys else { throw .noSuchPerson }
        guard let ownerIdentity = keys.identity?.key else { throw .refused("This person has no identity key.") }
        let statement = KeyStatement.pin(owner: owner, identity: ownerIdentity.key, key: key)
        guard let held, statement.isSigned(signature, by: held.key) else {
            throw Self.unsigned("signature", "your identity key, over the owner's present identity key")
        }
        let request = PinRequest(
            owner: owner, key: key, ownerIdentity: ownerIdentity.id, signature: signature, signer: held.id)
        return .pinRecipientKey(request, by: handle)
    }

    /// `DELETE /v1/people/*/pins/*`: the person no longer accepts a key, by its name.
    ///
    /// Recorded as `RecipientKeyUnpinned`.
    func unpin(_ exchange: Exchange) throws(Problem) -> Command {
        .unpinRecipientKey(try Self.name(exchange.parameters[1]), by: try exchange.handle(0))
    }

    /// `PUT /v1/devices/*/sealing`: with `{"sealed": true}`, the service takes only envelopes of the device from now on. Its open
    /// fixes, sightings, waypoints and messages are refused, in every dialect, and nothing of them is kept.
    ///
    /// Recorded as `DeviceSealed`.
    ///
    /// - Throws: 404 for a device of another person; 422 if the person has no identity key.
    func seal(_ exchange: Exchange) throws(Problem) -> Command {
        let body = try exchange.object("sealed")
        guard let isSealed = body["sealed"]?.bool else { throw .invalid("\"sealed\" must be true or false.") }
        return .sealDevice(try exchange.handle(0), isSealed: isSealed)
    }

    // MARK: Parts

    /// The caller's own identity key; `nil` without one.
    ///
    /// - Throws: 404 unless the caller is the person or one of the person's phones: otherwise the reasons of other refusals would
    ///   tell strangers about the person. The decision checks it again.
    private func identity(of handle: Handle, _ exchange: Exchange) throws(Problem) -> IdentityKey? {
        let now = decisions.clock()
        let found = decisions.log.withStanding { standing -> IdentityKey?? in
            guard case .success(let permit) = standing.authorize(exchange.caller, to: .consent, about: handle, at: now)
            else { return nil }
            let key: IdentityKey? = standing.sealingKeys[permit.subject].identity?.key
            return .some(key)
        }
        guard let found else { throw .noSuchPerson }
        return found
    }

    private static func bytes(_ body: JSONValue, _ name: String, _ count: Int) throws(Problem) -> [UInt8] {
        guard let bytes = Hex.decode(try body.requiredText(name)), bytes.count == count else {
            throw .invalid("\"\(name)\" must be \(2 * count) hexadecimal digits.")
        }
        return bytes
    }

    /// The name of a key.
    ///
    /// - Throws: 404 for a text that names none.
    private static func name(_ text: String) throws(Problem) -> KeyID {
        guard let name = KeyID(text) else { throw .notFound }
        return name
    }

    private static func unsigned(_ name: String, _ signer: String) -> Problem {
        .refused("\"\(name)\" is not a signature of this statement by \(signer).")
    }
}

extension KeysAnswer {
    init(of person: Handle, _ keys: Standing.SealingKeys.Keys) {
        self.init(
            person: person.text,
            identity: keys.identity.map {
                IdentityKeyItem(
                    id: $0.key.id.description, key: Hex.encode($0.key.key), signature: Hex.encode($0.key.signature),
                    at: Moment($0.at))
            },
            recipients: keys.recipients.map {
                RecipientKeyItem(
                    id: $0.key.id.description, key: Hex.encode($0.key.key), madeAt: Moment($0.key.madeAt),
                    signature: Hex.encode($0.key.signature), at: Moment($0.at), withdrawn: $0.withdrawn?.word)
            })
    }
}
