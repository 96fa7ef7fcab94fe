package import Cryptography
import JSON
package import Log
package import Replies
import Synchronization
package import Whereabouts

/// How one caller sees events, things and pages: the operator sees the log's own numbers, everyone else opaque
/// references.
///
/// Numbers count the events of the whole house, so the difference of two discloses the activity of other people in
/// between: that a phone reported, or that a question was refused. A person and each of the person's devices get
/// references instead. Every route, feed and webhook writes and reads them through this type. For example:
///
///     r8Vu2n0mVpjCrr7a6lTqB5A     an event, a thing or a place in the log: 23 characters
///     c4nJ…                       where a page goes on: 105 characters
///
/// A reference is `r` and one block of AES-256 in base64url, under a key derived for the person. The block holds `kind
/// (1) ‖ 0 (1) ‖ salt (6) ‖ number (8)`:
///
/// - The salt of an event or a thing is 0, so that each answer has the same reference for it. The person may see these
///   things anyway, and can learn only whether two of them are the same.
/// - The salt of a place in the log (`asOf`, the `id` of the feed, the receipt of a command that changed nothing) is
///   random. Otherwise two equal references would disclose that no event was appended in between.
///
/// AES is a permutation that cannot be distinguished from a random one without the key, and the same block is encrypted
/// twice only to name the same event or thing. References are therefore as good as distinct random texts of one length.
///
/// The caller's own references are always accepted. Another person's reference is refused like any other text, so the
/// refusal does not disclose whether the person exists.
package struct References: Sendable {
    /// The kind of thing that a reference names. Its raw value is part of the block.
    package typealias Kind = HouseNumber.Kind

    /// A number as the caller sees it.
    package typealias Name = Reference

    /// The cipher under the person's key; `nil` for the operator, who sees numbers.
    private let block: AES256Block?
    /// The key of this principal, from which the keys of its cursors and digests are derived.
    private let secret: SymmetricKey

    /// - Parameters:
    ///   - principal: The reader; the operator and the house itself see numbers.
    ///   - secret: The house's ``secret(under:)``.
    package init(for principal: PrincipalID, under secret: SymmetricKey) {
        let own = Self.derived(from: secret, "of principal \(principal.rawValue)")
        self.secret = own
        block = principal < .first ? nil : AES256Block(key: Self.derived(from: own, "numbers"))
    }

    /// The secret from which the keys of all persons are derived. It is the same after a restart, and after a restore
    /// from a backup.
    package static func secret(under keyEncryptionKey: SymmetricKey) -> SymmetricKey {
        derived(from: keyEncryptionKey, "whereabouts references")
    }

    /// Whether the caller sees numbers.
    package var isPlain: Bool { block == nil }

    // MARK: Naming

    /// The name of an event that the caller may see; always the same.
    package func event(_ number: Int64) -> Name { name(number, .event) }

    /// The name of a place in the log, such as how far an answer read it. Each call gives another name.
    package func place(_ number: Int64) -> Name {
        reference(to: number, .place, salt: UInt64.random(in: 1...Self.largestSalt))
    }

    /// As `place(_:)`, for an answer that is repeated: always the same for the same place and event.
    package func place(_ number: Int64, toldWith event: Int64) -> Name {
        reference(to: number, .place, salt: UInt64(event) & Self.largestSalt)
    }

    /// The name of a thing by its number within its kind; always the same.
    package func name(_ number: Int64, _ kind: Kind) -> Name { reference(to: number, kind, salt: 0) }

    /// The name in a command's receipt, which the caller can wait for.
    package func receipt(_ receipt: Receipt) -> Name { receipt.isOfEvent ? event(receipt.last) : place(receipt.last) }

    /// A hash of numbers in 128 bits, from which they cannot be computed.
    package func digest(_ numbers: [Int64]) -> String {
        let message = numbers.flatMap { number in withUnsafeBytes(of: number.bigEndian) { Array($0) } }
        let digest = hmacSHA256(key: Self.derived(from: secret, "digests").withBytes { Array($0) }, message: message)
        return Base64.encode(digest.bytes.prefix(16), urlSafe: true, padded: false)
    }

    // MARK: Reading

    /// The number behind a reference of this kind, or `nil` if the text is not a reference of the caller.
    package func number(_ text: some StringProtocol, _ kind: Kind) -> Int64? {
        guard block != nil else { return Int64(text) }
        guard let (found, number) = open(text), found == kind else { return nil }
        return number
    }

    /// The number of a place in the log, or of an event, behind a reference.
    package func place(_ text: some StringProtocol) -> Int64? { number(text, .place) ?? number(text, .event) }

    /// The last row of a page of the audit: an event's number, or the negative number of an act of the operator.
    package func rowOrAct(_ text: some StringProtocol) -> Int64? {
        guard block != nil else { return Int64(text) }
        return number(text, .row) ?? number(text, .act).map { -$0 }
    }

    /// The name that ``rowOrAct(_:)`` reads.
    package func rowOrAct(_ row: Int64) -> Name {
        guard block != nil else { return .number(row) }
        return row < 0 ? name(-row, .act) : name(row, .row)
    }

    // MARK: Blocks

    private static let marker: Character = "r"
    private static let largestSalt: UInt64 = (1 << 48) - 1

    /// The reference to a number; the number itself for the operator.
    private func reference(to number: Int64, _ kind: Kind, salt: UInt64) -> Name {
        guard let block else { return .number(number) }
        let plain =
            withUnsafeBytes(of: (UInt64(kind.rawValue) << 56 | salt).bigEndian) { Array($0) }
            + withUnsafeBytes(of: number.bigEndian) { Array($0) }
        return .text("\(Self.marker)" + Base64.encode(block.encrypt(plain), urlSafe: true, padded: false))
    }

    /// The kind and number in a reference; `nil` for any text that is not a reference of this principal.
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

    /// The bytes of a cursor. Shorter ones are filled with zeros, so that the length discloses nothing.
    package static let cursorBytes = 49
    private static let cursorMarker: Character = "c"

    /// The name of the row at which the next page begins. It is encrypted, because it holds coordinates and times, and
    /// proxies keep URLs.
    package func cursor(_ plain: [UInt8]) -> String {
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

    /// The bytes of ``cursor(_:)``, or `nil` if the text is not a cursor of the caller.
    package func openCursor(_ text: some StringProtocol) -> [UInt8]? {
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

    /// The key under which cursors are sealed. Each cursor has a random nonce.
    private var cursorKey: SymmetricKey { Self.derived(from: secret, "cursors") }

    private static func derived(from key: SymmetricKey, _ label: String) -> SymmetricKey {
        SymmetricKey(bytes: hmacSHA256(key: key.withBytes { Array($0) }, message: Array(label.utf8)).bytes)
    }
}

extension JSONWriter {
    /// Writes a member that names something to the caller.
    package mutating func field(_ key: String, _ name: References.Name?) {
        switch name {
        case .number(let number)?: field(key, number)
        case .text(let text)?: field(key, text)
        case nil: break
        }
    }
}

/// The references of recent callers: to derive a key takes longer than to make a reference.
package final class KnownReferences: Sendable {
    private let secret: SymmetricKey
    private let known = Mutex<[PrincipalID: References]>([:])
    /// The number of callers at which all are forgotten. Each caller's next request then takes a few microseconds more.
    private static let bound = 4096

    package init(under keyEncryptionKey: SymmetricKey) { secret = References.secret(under: keyEncryptionKey) }

    /// The references of a principal. The first call costs two HMACs.
    package func references(for principal: PrincipalID) -> References {
        known.withLock { known in
            if let references = known[principal] { return references }
            if known.count >= Self.bound { known = [:] }
            let references = References(for: principal, under: secret)
            known[principal] = references
            return references
        }
    }
}
