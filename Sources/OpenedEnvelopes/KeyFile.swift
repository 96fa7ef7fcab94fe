package import Cryptography
import Envelopes
import Glibc
import JSON
package import Whereabouts

/// The keys of a person on one computer or simulated phone, in a file that only its owner can read. A real phone has the same
/// in its Keychain.
///
/// The file is JSON. Keys are hexadecimal digits, `madeAt` is in milliseconds since 1970:
///
///     {"person": "anna", "identity": "SECRET", "recipients": [{"key": "SECRET", "madeAt": 1777881600000}],
///      "people": [{"person": "ben", "identity": "PUBLIC", "keys": ["PUBLIC"]}]}
///
/// `people` are those whose keys the person has accepted here. Fixes are sealed for these keys and no others, whatever the
/// service says.
package struct KeyFile: Sendable {
    /// A recipient key with its private half.
    package struct Recipient: Sendable {
        package let key: Curve25519.KeyAgreement.PrivateKey
        /// When it was made.
        package let madeAt: Timestamp
        /// The name of the key.
        package var id: KeyID { KeyID(of: key.publicKey) }

        package init(key: Curve25519.KeyAgreement.PrivateKey, madeAt: Timestamp) {
            (self.key, self.madeAt) = (key, madeAt)
        }
    }

    /// Another person, as the owner of the file has accepted them.
    package struct Known: Sendable {
        package let person: Handle
        /// The identity key (Ed25519), whose safety number the owner can compare.
        package let identity: [UInt8]
        /// The recipient keys that the owner accepted.
        package var keys: [Curve25519.KeyAgreement.PublicKey]

        package init(person: Handle, identity: [UInt8], keys: [Curve25519.KeyAgreement.PublicKey]) {
            (self.person, self.identity, self.keys) = (person, identity, keys)
        }
    }

    /// Why a file cannot be used. The message has no key.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The owner.
    package let person: Handle
    private let seed: [UInt8]
    /// The key with which the owner signs.
    package let identity: Ed25519PrivateKey
    /// The recipient keys, oldest first.
    package var recipients: [Recipient]
    /// The people whose keys the owner has accepted.
    package var people: [Known] = []

    /// New keys: an identity and a recipient key.
    package init(of person: Handle, at now: Timestamp) throws(Failure) {
        try self.init(
            of: person, seed: randomBytes(32), recipients: [Recipient(key: .init(), madeAt: now)], people: [])
    }

    private init(
        of person: Handle, seed: [UInt8], recipients: [Recipient], people: [Known]
    ) throws(Failure) {
        do throws(CryptographyError) { identity = try Ed25519PrivateKey(seed: seed) } catch {
            throw Failure(description: "The identity is not a key.")
        }
        (self.person, self.seed, self.recipients, self.people) = (person, seed, recipients, people)
    }

    /// What the owner has accepted of another person; `nil` if nothing.
    package func known(_ person: Handle) -> Known? { people.first { $0.person == person } }

    /// Accepts another person's keys, and forgets those accepted before.
    package mutating func accept(_ known: Known) {
        people.removeAll { $0.person == known.person }
        people.append(known)
    }

    // MARK: The file

    /// The most bytes of a file: a few hundred people.
    private static let bytesMax = 1 << 20

    /// Reads a file.
    ///
    /// - Throws: ``Failure``, also if others than its owner can read the file.
    package init(path: String) throws(Failure) {
        let bytes = try Self.bytes(of: path)
        guard let root = (try? JSONDocument.parse(bytes))?.root, let file = try Self.read(root) else {
            throw Failure(description: "\(path) is not a file of keys; \"key add\" makes one.")
        }
        self = file
    }

    private static func bytes(of path: String) throws(Failure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(description: "\(path) cannot be read: \(reason()).") }
        defer { close(descriptor) }
        var about = stat()
        guard fstat(descriptor, &about) == 0 else {
            throw Failure(description: "\(path) cannot be read: \(reason()).")
        }
        guard about.st_mode & 0o077 == 0 else {
            throw Failure(
                description: "Others can read \(path), and a file of secret keys must be private: chmod 600 \(path)")
        }
        guard about.st_mode & S_IFMT == S_IFREG, about.st_size <= Self.bytesMax else {
            throw Failure(description: "\(path) is not a file of keys.")
        }
        var bytes = [UInt8](repeating: 0, count: Int(about.st_size))
        // A regular file of this size comes at once.
        guard Glibc.read(descriptor, &bytes, bytes.count) == bytes.count else {
            throw Failure(description: "\(path) cannot be read: \(reason()).")
        }
        return bytes
    }

    private static func reason() -> String { String(cString: strerror(errno)) }

    private static func read(_ root: JSONValue) throws(Failure) -> KeyFile? {
        guard let person = root["person"]?.string.flatMap({ Handle($0) }), let seed = bytes(root["identity"]) else {
            return nil
        }
        var recipients: [Recipient] = []
        for item in root["recipients"]?.array.map({ Array($0) }) ?? [] {
            guard let raw = bytes(item["key"]), let madeAt = item["madeAt"]?.int,
                let key = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: raw)
            else { return nil }
            recipients.append(Recipient(key: key, madeAt: Timestamp(milliseconds: madeAt)))
        }
        var people: [Known] = []
        for item in root["people"]?.array.map({ Array($0) }) ?? [] {
            guard let known = item["person"]?.string.flatMap({ Handle($0) }), let identity = bytes(item["identity"])
            else { return nil }
            var keys: [Curve25519.KeyAgreement.PublicKey] = []
            for text in item["keys"]?.array.map({ Array($0) }) ?? [] {
                guard let raw = bytes(text), let key = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: raw)
                else { return nil }
                keys.append(key)
            }
            people.append(Known(person: known, identity: identity, keys: keys))
        }
        return try KeyFile(of: person, seed: seed, recipients: recipients, people: people)
    }

    /// 32 bytes in hexadecimal digits; `nil` for anything else.
    private static func bytes(_ value: JSONValue?) -> [UInt8]? {
        guard let text = value?.string, let bytes = Hex.decode(text), bytes.count == 32 else { return nil }
        return bytes
    }

    /// Replaces the file as a whole, and returns when it is on the disk. Only its owner can read it.
    package func write(to path: String) throws(Failure) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("person", person.text)
        writer.field("identity", Hex.encode(seed))
        writer.array("recipients") { array in
            for recipient in recipients {
                array.beginObject()
                array.field("key", Hex.encode(recipient.key.rawRepresentation))
                array.field("madeAt", recipient.madeAt.milliseconds)
                array.endObject()
            }
        }
        writer.array("people") { array in
            for known in people {
                array.beginObject()
                array.field("person", known.person.text)
                array.field("identity", Hex.encode(known.identity))
                array.array("keys") { keys in
                    for key in known.keys { keys.value(Hex.encode(key.rawRepresentation)) }
                }
                array.endObject()
            }
        }
        writer.endObject()
        try Self.replace(path, with: writer.bytes + [UInt8(ascii: "\n")])
    }

    private static func replace(_ path: String, with bytes: [UInt8]) throws(Failure) {
        let draft = path + ".new"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(description: "\(path) cannot be written: \(reason()).") }
        let isWritten = Glibc.write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
        guard close(descriptor) == 0, isWritten, rename(draft, path) == 0 else {
            throw Failure(description: "\(path) cannot be written: \(reason()).")
        }
    }
}
