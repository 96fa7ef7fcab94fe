package import Cryptography
package import Transparency
package import Whereabouts

/// The name and the signature of the service on its promises: the checkpoints of persons' logs, and receipts.
///
/// The key is derived from the key-encryption key. It needs no separate file, and stays the same after a restart or a
/// restore.
///
/// The name is `<host>/whereabouts/<id of the log>`, followed by `/<epoch>-<mark>` after a restore from a backup or an
/// accepted loss, for example `where.example/whereabouts/7f3c/2-0c01d5e2aa37b4`: events that were promised may be
/// missing then, and a log that lacks them is another one. The mark is random, so that two restores of one backup have
/// different names. Restores by earlier versions have no mark.
package struct HouseSeal: Sendable {
    /// The name of the house, which signs receipts.
    package let name: KeyName
    /// The signer of receipts.
    package let signer: NoteSigner
    private let key: Ed25519PrivateKey

    /// - Parameters:
    ///   - publicURL: The address of the service, whose host begins all names; `localhost` without it.
    ///   - log: The id of the log.
    ///   - epoch: The epoch of the log, from 1 on.
    ///   - mark: The mark of the newest restore or accepted loss.
    package init(
        publicURL: String?, log: Identifier128, epoch: Int64, mark: Int64?, under keyEncryptionKey: SymmetricKey
    ) {
        let seed = hmacSHA256(
            key: keyEncryptionKey.withBytes { [UInt8]($0) }, message: Array("whereabouts signing key v1".utf8))
        let host = publicURL.flatMap { url in
            url.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first.map(String.init)
        }
        let place = "/whereabouts/\(log)" + (epoch > 1 ? "/\(epoch)\(mark.map { "-\(Self.hex($0))" } ?? "")" : "")
        do {
            key = try Ed25519PrivateKey(seed: seed.bytes)
            // A host with other characters than a name may have is left out.
            name = try (try? KeyName((host ?? "localhost") + place)) ?? KeyName("localhost" + place)
            signer = try NoteSigner(name: name, kind: .ed25519, key: key)
        } catch { preconditionFailure("32 bytes are a seed, and a name without spaces is a name.") }
    }

    /// The 14 hexadecimal digits of a mark.
    private static func hex(_ mark: Int64) -> String {
        String(Hex.encode(withUnsafeBytes(of: mark.bigEndian) { Array($0) }).suffix(14))
    }

    /// The name of a person's log, from the key of that log. It says nothing about the person.
    package func origin(under proofKey: SymmetricKey) -> LogOrigin {
        let digest = hmacSHA256(
            key: proofKey.withBytes { [UInt8]($0) }, message: Array("whereabouts log name v1".utf8))
        let id = Base64.encode(digest.bytes.prefix(12), urlSafe: true, padded: false)
        do { return try LogOrigin("\(name)/p/\(id)") } catch { preconditionFailure("A name is an origin.") }
    }

    /// The signer of the checkpoints of a log.
    package func signer(of origin: LogOrigin) -> NoteSigner {
        do { return try NoteSigner(name: KeyName(origin.text), kind: .ed25519, key: key) } catch {
            preconditionFailure("An origin is a name, and an Ed25519 key signs notes.")
        }
    }
}
