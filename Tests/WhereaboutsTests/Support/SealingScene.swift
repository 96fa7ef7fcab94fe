import Whereabouts

/// The walker shares exactly and with history with the friend; both have keys, and the walker accepts the friend's. In the pure
/// half a signature is only the name of the key that it was checked with.
struct SealingScene {
    var scene = Scene()
    /// The identity keys of the walker and the friend.
    static let walkersIdentity = name(1)
    static let friendsIdentity = name(2)
    /// The recipient keys of the friend and the walker.
    static let friendsKey = name(11)
    static let walkersKey = name(12)
    let grant: GrantID

    var house: House {
        get { scene.house }
        _modify { yield &scene.house }
    }

    static func name(_ number: UInt64) -> KeyID { KeyID(Identifier128(high: 5, low: number)) }

    static func identity(_ id: KeyID, previous: Bool = false) -> IdentityKey {
        IdentityKey(
            id: id, key: bytes(32, id), signature: bytes(64, id), previousSignature: previous ? bytes(64, id) : nil)
    }

    static func recipient(_ id: KeyID, by identity: KeyID = friendsIdentity) -> RecipientKey {
        RecipientKey(id: id, key: bytes(32, id), madeAt: House.start, signature: bytes(64, identity))
    }

    private static func bytes(_ count: Int, _ id: KeyID) -> [UInt8] {
        [UInt8](repeating: UInt8(truncatingIfNeeded: id.value.low), count: count)
    }

    /// The wish of the walker to accept a key of the friend.
    static func pin(
        _ key: KeyID = friendsKey, owner: String = "friend", identity: KeyID = friendsIdentity,
        signer: KeyID = walkersIdentity
    ) -> PinRequest {
        PinRequest(
            owner: House.handle(owner), key: key, ownerIdentity: identity, signature: bytes(64, signer), signer: signer)
    }

    init() {
        let (walker, friend) = (House.handle("walker"), House.handle("friend"))
        grant = scene.house.grant("walker", to: "friend", by: scene.walker)
        for command in [
            Command.publishIdentityKey(Self.identity(Self.walkersIdentity), of: walker, after: nil),
            .publishRecipientKey(
                Self.recipient(Self.walkersKey, by: Self.walkersIdentity), of: walker, signedBy: Self.walkersIdentity),
        ] { scene.house.submit(command, by: scene.walker) }
        for command in [
            Command.publishIdentityKey(Self.identity(Self.friendsIdentity), of: friend, after: nil),
            .publishRecipientKey(Self.recipient(Self.friendsKey), of: friend, signedBy: Self.friendsIdentity),
        ] { scene.house.submit(command, by: scene.friend) }
        scene.house.submit(.pinRecipientKey(Self.pin(), by: walker), by: scene.walker)
    }

    /// An envelope of the walker's phone.
    func envelope(
        _ use: SealedReport.Use, as name: UInt64 = 1, for recipients: [KeyID] = [friendsKey], device: Int64 = 1,
        precision: Precision = .exact, signer: KeyID? = walkersIdentity
    ) -> SealedReport {
        SealedReport(
            use: use, device: device, precision: precision, recipients: recipients, signer: signer,
            sealed: SealedFix(
                identity: Identifier128(high: 3, low: name), envelope: [UInt8(truncatingIfNeeded: name), 1]),
            hash: Hash256(words: (8, 0, 0, name)))
    }

    /// The outcomes of envelopes that the walker's phone sends.
    mutating func send(_ envelopes: SealedReport...) -> [FixOutcome] {
        let reports = envelopes.map { EnvelopeReport.sealed($0) }
        guard case .success(.fixes(let outcomes)) = house.submit(.reportEnvelopes(reports), by: scene.phone) else {
            return []
        }
        return outcomes
    }

    /// The friend asks where the walker is.
    mutating func ask(_ id: UInt64 = 1) -> QueryID {
        let question = house.question(id, about: "walker", maxAge: 0)
        house.submit(.queryLocation(question), by: scene.friend)
        return question.id
    }
}
