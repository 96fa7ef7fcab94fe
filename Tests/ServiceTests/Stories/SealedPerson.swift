import Cryptography
import DeviceAgent
import Envelopes
import Geodesy
import OpenedEnvelopes
import Whereabouts

/// The keys of a person's own clients and phone, and what they publish. Nothing here asks the service for anything.
struct SealedPerson {
    let handle: String
    let identity: Ed25519PrivateKey
    let recipient: Curve25519.KeyAgreement.PrivateKey
    /// When the recipient key was made.
    let madeAt: Timestamp

    /// The subject and a friend of the village.
    static let walker = SealedPerson("walker", seed: 1)
    static let oldFriend = SealedPerson("oldfriend", seed: 2)

    /// - Parameter seed: the same seed makes the same keys.
    init(_ handle: String, seed: UInt8) {
        self.handle = handle
        let bytes = [UInt8](repeating: seed, count: 32)
        guard let identity = try? Ed25519PrivateKey(seed: bytes),
            let recipient = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: bytes)
        else { preconditionFailure("Any 32 bytes are a key.") }
        (self.identity, self.recipient) = (identity, recipient)
        madeAt = Timestamp(milliseconds: 1_777_881_600_000)
    }

    /// The person with the keys of a file.
    init(_ file: KeyFile) {
        guard let recipient = file.recipients.last else { preconditionFailure("A file has a recipient key.") }
        (handle, identity, self.recipient) = (file.person.text, file.identity, recipient.key)
        madeAt = recipient.madeAt
    }

    /// The name of the recipient key.
    var keyID: String { KeyID(of: recipient.publicKey).description }

    private var name: Handle { Handle(handle) ?? { preconditionFailure("\(handle) is no handle.") }() }

    /// The body that publishes the identity key, as that of a person.
    func identityBody(of person: String? = nil) -> String {
        guard let name = Handle(person ?? handle) else { preconditionFailure("It is no handle.") }
        let statement = KeyStatement.identity(of: name, key: identity.publicKey, previous: nil)
        let signature = Hex.encode(statement.signature(by: identity))
        return #"{"kind":"identity","key":"\#(Hex.encode(identity.publicKey))","signature":"\#(signature)"}"#
    }

    /// The body that publishes the recipient key.
    ///
    /// - Parameter signer: who signs it; the person, unless an attacker tries.
    func recipientBody(signedBy signer: Ed25519PrivateKey? = nil) -> String {
        let key = recipient.publicKey.rawRepresentation
        let statement = KeyStatement.recipient(of: name, key: key, madeAt: madeAt)
        let signature = Hex.encode(statement.signature(by: signer ?? identity))
        return
            #"{"kind":"recipient","key":"\#(Hex.encode(key))","signature":"\#(signature)","madeAt":\#(Double(madeAt.milliseconds) / 1000)}"#
    }

    /// The body by which the person accepts the key of another one.
    func pinBody(_ other: SealedPerson, identity seen: [UInt8]? = nil) -> String {
        let statement = KeyStatement.pin(
            owner: other.name, identity: seen ?? other.identity.publicKey, key: KeyID(of: other.recipient.publicKey))
        let signature = Hex.encode(statement.signature(by: identity))
        return #"{"person":"\#(other.handle)","key":"\#(other.keyID)","signature":"\#(signature)"}"#
    }

    /// Publishes both keys.
    func publish(_ house: ServiceUnderTest, as token: String?) {
        _ = house.send("POST", "/v1/people/\(handle)/keys", as: token, identityBody())
        _ = house.send("POST", "/v1/people/\(handle)/keys", as: token, recipientBody())
    }

    /// Accepts the key of another person.
    func pin(_ other: SealedPerson, _ house: ServiceUnderTest, as token: String?) {
        _ = house.send("POST", "/v1/people/\(handle)/pins", as: token, pinBody(other))
    }

    // MARK: Envelopes

    /// A stretch of the history with one key, known to the phone.
    struct Period {
        let id = Identifier128(high: 0x7777, low: 0x7777)
        let key = SymmetricKey(bytes: [UInt8](repeating: 0x77, count: 32))
        let bytes: [UInt8]
    }

    private static func fix(_ time: Timestamp, _ latitude: Double, _ longitude: Double) -> Fix {
        guard let coordinate = try? Coordinate(latitude: latitude, longitude: longitude) else {
            preconditionFailure("The place is none.")
        }
        var fix = Fix(timestamp: time, coordinate: coordinate, horizontalAccuracy: 8)
        fix.altitude = 171.25
        fix.speed = 1.5
        return fix
    }

    private static func name() -> Identifier128 {
        randomBytes(16).withUnsafeBytes { Identifier128(bytes: $0) } ?? Identifier128(high: 0, low: 0)
    }

    /// The key of a period, for the clients of these people.
    func period(for people: [SealedPerson], from: Timestamp? = nil, device: Int64 = 1) -> Period {
        let draft = Period(bytes: [])
        let envelope = try? PeriodEnvelope(
            sealing: draft.key, of: EnvelopeDevice(rawValue: device), period: draft.id, from: from ?? madeAt,
            tier: .exact,
            for: people.map(\.recipient.publicKey), signedBy: identity)
        return Period(bytes: envelope?.bytes ?? [])
    }

    /// A fix of the history.
    func track(
        at time: Timestamp, _ latitude: Double, _ longitude: Double, in period: Period, device: Int64 = 1
    ) -> TrackEnvelope {
        let made = try? TrackEnvelope(
            sealing: TieredFix(exact: Self.fix(time, latitude, longitude)), from: EnvelopeDevice(rawValue: device),
            in: period.id, key: period.key, as: Self.name(), signedBy: identity)
        guard let made else { preconditionFailure("The fix is sealed.") }
        return made
    }

    /// An answer to a query.
    func answer(
        at time: Timestamp, _ latitude: Double, _ longitude: Double, to query: String, for people: [SealedPerson],
        device: Int64 = 1, tier: EnvelopeTier = .exact, signedBy signer: Ed25519PrivateKey? = nil
    ) -> AnswerEnvelope {
        let fix = Self.fix(time, latitude, longitude)
        let tiered =
            switch tier {
            case .exact: TieredFix(exact: fix)
            case .kilometer: TieredFix(kilometer: fix, in: HeldCell(around: fix.coordinate))
            case .city: TieredFix(city: fix)
            }
        guard let query = QueryID(query),
            let made = try? AnswerEnvelope(
                sealing: tiered, from: EnvelopeDevice(rawValue: device), answering: query, as: Self.name(),
                for: people.map(\.recipient.publicKey), signedBy: signer ?? identity)
        else { preconditionFailure("The fix is sealed.") }
        return made
    }

    /// A body of `POST /v1/envelopes`.
    static func body(_ envelopes: [[UInt8]]) -> String {
        #"{"envelopes":[\#(envelopes.map { "\"\(Base64.encode($0))\"" }.joined(separator: ","))]}"#
    }
}
