import Cryptography
import JSON
import Synchronization
import Whereabouts

/// How events, things and pages are named to one caller: to the operator by the log's own numbers, to everyone else by
/// opaque references.
///
/// Numbers count what the whole house does, so two of them tell how much others did in between: that a phone has just
/// reported, or that a question was refused. A person, and each of the person's devices, gets references instead. Every
/// route, feed and webhook writes and reads them through this type.
///
///     r8Vu2n0mVpjCrr7a6lTqB5A     an event, a thing or a place in the log: 23 characters
///     c4nJ…                       where a page goes on: 105 characters
///
/// A reference is one block of AES-256 under a key of the person's own, in base64url after the letter `r`. The block
/// holds `kind (1) ‖ 0 (1) ‖ salt (6) ‖ number (8)`:
///
/// - The salt of an event or a thing is 0, so that it is called the same each time. These are the person's own or such
///   as the person may see, and one learns only whether two are the same.
/// - The salt of a place in the log (`asOf`, the `id` of the feed, the receipt of a command that changed nothing) is random.
///   Otherwise a place that has not moved would be called the same, and would tell that nobody did anything.
///
/// AES is a permutation that nobody without the key can tell from a random one, and no block is encrypted twice save to
/// name the same event or thing. References are therefore as good as distinct random texts of one length.
///
/// A reference of the caller's own is always accepted. One of another person is refused as is any other text: it says
/// nothing about who else there is.
struct References: Sendable {
    /// What a reference is for. The raw value is part of the block.
    enum Kind: UInt8 {
        case event = 1
        case place = 2
        case grant = 3
        case invitation = 4
        case accountInvitation = 5
        case token = 6
        case webhook = 7
        case deadLetter = 8
        case correction = 9
        case schedule = 10
        /// The last row of a page.
        case row = 11
        /// The last row of a page that is an act of the operator's, which has no number for people.
        case act = 12
        /// A thing that has a name of its own and is counted too, such as a region or a device.
        case thing = 13
    }

    /// A number as the caller sees it.
    enum Name: Equatable, Sendable {
        case number(Int64)
        case text(String)

        /// As it stands in a URL or a header.
        var text: String {
            switch self {
            case .number(let number): "\(number)"
            case .text(let text): text
            }
        }
    }

    /// `nil` for the operator, who sees numbers.
    private let block: AES256Block?
    private let secret: SymmetricKey

    /// - Parameters:
    ///   - principal: the person who is told; the operator and the house itself see numbers.
    ///   - secret: the house's, of ``secret(under:)``.
    init(for principal: PrincipalID, under secret: SymmetricKey) {
        let own = Self.derived(from: secret, "of principal \(principal.rawValue)")
        self.secret = own
        block = principal < .first ? nil : AES256Block(key: Self.derived(from: own, "numbers"))
    }

    /// What the keys of all persons are derived from: it outlives restarts, and comes back with a backup.
    static func secret(under keyEncryptionKey: SymmetricKey) -> SymmetricKey {
        derived(from: keyEncryptionKey, "whereabouts references")
    }

    /// Whether numbers are seen as they are.
    var isPlain: Bool { block == nil }

    // MARK: Naming

    /// An event that the caller may see, called the same each time.
    func event(_ number: Int64) -> Name { name(number, .event) }

    /// How far the log was read, or when something changed. Called differently each time.
    func place(_ number: Int64) -> Name {
        reference(to: number, .place, salt: UInt64.random(in: 1...Self.largestSalt))
    }

    /// As ``place(_:)``, in an answer that is given again: called the same for the same event that it is told with.
    func place(_ number: Int64, toldWith event: Int64) -> Name {
        reference(to: number, .place, salt: UInt64(event) & Self.largestSalt)
    }

    /// A thing by its number among its kind, called the same each time.
    func name(_ number: Int64, _ kind: Kind) -> Name { reference(to: number, kind, salt: 0) }

    /// What tells a command's caller what to wait for.
    func receipt(_ receipt: Receipt) -> Name { receipt.isOfEvent ? event(receipt.last) : place(receipt.last) }

    /// 128 bits that stand for numbers and cannot be turned back into them.
    func digest(_ numbers: [Int64]) -> String {
        let message = numbers.flatMap { number in withUnsafeBytes(of: number.bigEndian) { Array($0) } }
        let digest = hmacSHA256(key: Self.derived(from: secret, "digests").withBytes { Array($0) }, message: message)
        return Base64.encode(digest.bytes.prefix(16), urlSafe: true, padded: false)
    }

    // MARK: Reading

    /// The number of a thing that the caller names; `nil` for a text that is no such reference of the caller's.
    func number(_ text: some StringProtocol, _ kind: Kind) -> Int64? {
        guard block != nil else { return Int64(text) }
        guard let (found, number) = open(text), found == kind else { return nil }
        return number
    }

    /// The number of a place in the log or of an event.
    func place(_ text: some StringProtocol) -> Int64? { number(text, .place) ?? number(text, .event) }

    /// Where a page of the audit goes on: after an event, or as a negative number after an act.
    func rowOrAct(_ text: some StringProtocol) -> Int64? {
        guard block != nil else { return Int64(text) }
        return number(text, .row) ?? number(text, .act).map { -$0 }
    }

    /// The name of ``rowOrAct(_:)``.
    func rowOrAct(_ row: Int64) -> Name {
        guard block != nil else { return .number(row) }
        return row < 0 ? name(-row, .act) : name(row, .row)
    }

    // MARK: Blocks

    private static let marker: Character = "r"
    private static let largestSalt: UInt64 = (1 << 48) - 1

    private func reference(to number: Int64, _ kind: Kind, salt: UInt64) -> Name {
        guard let block else { return .number(number) }
        let plain =
            withUnsafeBytes(of: (UInt64(kind.rawValue) << 56 | salt).bigEndian) { Array($0) }
            + withUnsafeBytes(of: number.bigEndian) { Array($0) }
        return .text("\(Self.marker)" + Base64.encode(block.encrypt(plain), urlSafe: true, padded: false))
    }

    private func open(_ text: some StringProtocol) -> (Kind, Int64)? {
        guard let block, text.first == Self.marker, text.utf8.count == 23, let sealed = Base64.decode(text.dropFirst()),
            sealed.count == AES256Block.byteCount
        else { return nil }
        let words = block.decrypt(sealed).withUnsafeBytes { bytes in
            (
                UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: Int64.self))
            )
        }
        let salt = words.0 & 0x00FF_FFFF_FFFF_FFFF
        guard let kind = Kind(rawValue: UInt8(words.0 >> 56)), words.1 >= 0,
            kind == .place ? salt <= Self.largestSalt : salt == 0
        else { return nil }
        return (kind, words.1)
    }

    // MARK: Cursors

    /// Bytes that a cursor holds, shorter ones filled with zeros, so that its length tells nothing.
    static let cursorBytes = 49
    private static let cursorMarker: Character = "c"

    /// Where a page goes on, sealed: coordinates and times stand in it, and addresses are kept by proxies.
    func cursor(_ plain: [UInt8]) -> String {
        precondition(plain.count <= Self.cursorBytes, "A cursor holds \(Self.cursorBytes) bytes.")
        let padded = plain + [UInt8](repeating: 0, count: Self.cursorBytes - plain.count)
        let nonce = randomBytes(AES256GCM.nonceByteCount)
        var sealed = nonce
        padded.withUnsafeBytes { padded in
            nonce.withUnsafeBytes { nonce in
                AES256GCM().seal(
                    padded, key: cursorKey, nonce: nonce, associated: UnsafeRawBufferPointer(start: nil, count: 0),
                    into: &sealed)
            }
        }
        return "\(Self.cursorMarker)" + Base64.encode(sealed, urlSafe: true, padded: false)
    }

    /// The bytes of ``cursor(_:)``; `nil` for a text that is no cursor of the caller's.
    func openCursor(_ text: some StringProtocol) -> [UInt8]? {
        guard text.first == Self.cursorMarker, let sealed = Base64.decode(text.dropFirst()),
            sealed.count == AES256GCM.nonceByteCount + Self.cursorBytes + AES256GCM.tagByteCount
        else { return nil }
        var plain: [UInt8] = []
        let isOpen = sealed.withUnsafeBytes { sealed in
            do throws(CryptographyError) {
                try AES256GCM().open(
                    UnsafeRawBufferPointer(rebasing: sealed[AES256GCM.nonceByteCount...]), key: cursorKey,
                    nonce: UnsafeRawBufferPointer(rebasing: sealed[..<AES256GCM.nonceByteCount]),
                    associated: UnsafeRawBufferPointer(start: nil, count: 0), into: &plain)
                return true
            } catch { return false }
        }
        return isOpen ? plain : nil
    }

    private var cursorKey: SymmetricKey { Self.derived(from: secret, "cursors") }

    private static func derived(from key: SymmetricKey, _ label: String) -> SymmetricKey {
        SymmetricKey(bytes: hmacSHA256(key: key.withBytes { Array($0) }, message: Array(label.utf8)).bytes)
    }
}

extension JSONWriter {
    /// A member that names something to the caller.
    mutating func field(_ key: String, _ name: References.Name?) {
        switch name {
        case .number(let number)?: field(key, number)
        case .text(let text)?: field(key, text)
        case nil: break
        }
    }
}

extension Service {
    /// How things are named to a caller: to a device as to its person.
    func references(for caller: Caller) -> References {
        guard caller.scopes.contains(.report), let owner = log.withStanding({ $0.owner(of: caller) }) else {
            return knownReferences.references(for: caller.principal)
        }
        return references(of: owner)
    }

    /// How things are named to a person, whoever asks.
    func references(of person: PersonID) -> References { knownReferences.references(for: person.principal) }
}

/// The references of those who called last: to derive their keys takes longer than to name something.
final class KnownReferences: Sendable {
    private let secret: SymmetricKey
    private let known = Mutex<[PrincipalID: References]>([:])
    /// Beyond it all are forgotten, which costs each caller a few microseconds once.
    private static let bound = 4096

    init(under keyEncryptionKey: SymmetricKey) { secret = References.secret(under: keyEncryptionKey) }

    func references(for principal: PrincipalID) -> References {
        known.withLock { known in
            if let references = known[principal] { return references }
            if known.count >= Self.bound { known = [:] }
            let references = References(for: principal, under: secret)
            known[principal] = references
            return references
        }
    }
}
