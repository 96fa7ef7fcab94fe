package import JSON
package import Posting
package import Transparency

// In `config.json`:
//
//     "witnesses": [
//       {"url": "https://witness.example/", "key": "anna.example/w+05cb1c14+BO1JKMYo0cLG6ukDOJBZlWEpWSc6XGP5NjbBRhSshzfR"}
//     ]

extension ServiceConfiguration {
    /// A machine that cosigns the checkpoints of persons' logs (C2SP tlog-witness).
    package struct Witness: Sendable {
        /// The address that takes checkpoints. It ends with `/add-checkpoint`.
        package var url: PostURL
        /// The public key, of kind `NoteKeyKind.cosignature`.
        package var key: NoteVerifier
        /// Whether the host may resolve to an address of a private network.
        package var allowsPrivateAddresses = false
        /// A PEM file of certificates to trust instead of the system's.
        package var caFile: String?

        /// - Parameter url: The address that takes checkpoints, with `/add-checkpoint`.
        package init(url: PostURL, key: NoteVerifier) { (self.url, self.key) = (url, key) }
    }

    /// The most witnesses. A policy that counts on several needs two or three.
    static let witnessesMax = 16

    /// The witnesses of the list. Each must have a different key.
    package static func witnesses(_ value: JSONValue) throws(ReadError) -> [Witness] {
        guard let items = value.array.map(Array.init), items.count <= witnessesMax else {
            throw .badValue("witnesses", "a list of at most \(witnessesMax) objects")
        }
        var witnesses: [Witness] = []
        for item in items {
            let witness = try witness(item)
            guard !witnesses.contains(where: { $0.key == witness.key }) else {
                throw .badValue("key", "a different one for each of \"witnesses\"")
            }
            witnesses.append(witness)
        }
        return witnesses
    }

    /// One object of `witnesses`. Address and key are required.
    private static func witness(_ value: JSONValue) throws(ReadError) -> Witness {
        guard let members = value.members else { throw .badValue("witnesses", "a list of objects") }
        var url: PostURL?
        var verifier: NoteVerifier?
        var allowsPrivateAddresses = false
        var caFile: String?
        for (key, value) in members {
            switch key {
            case "url": url = try witnessURL(try text(value, key))
            case "key": verifier = try witnessKey(try text(value, key))
            case "privateAddresses":
                guard let flag = value.bool else { throw .badValue(key, "true or false") }
                allowsPrivateAddresses = flag
            case "caFile": caFile = value.isNull ? nil : try text(value, key)
            default: throw .unknownKey(key, in: "\"witnesses\"")
            }
        }
        guard let url else { throw .badValue("url", "given for each of \"witnesses\"") }
        guard let verifier else { throw .badValue("key", "given for each of \"witnesses\"") }
        var witness = Witness(url: url, key: verifier)
        (witness.allowsPrivateAddresses, witness.caFile) = (allowsPrivateAddresses, caFile)
        return witness
    }

    /// The address below the one of the text that takes checkpoints; with https, or with http on this machine.
    private static func witnessURL(_ text: String) throws(ReadError) -> PostURL {
        let prefix = text.last == "/" ? String(text.dropLast()) : text
        guard !text.contains("?"), let url = PostURL(prefix + "/add-checkpoint") else {
            throw .badValue("url", "the address of a witness, for example \"https://witness.example/\"")
        }
        guard url.origin.isEncrypted || url.origin.isLoopback else {
            throw .badValue("url", "an address with https; http is allowed only for \"http://localhost:PORT\"")
        }
        return url
    }

    /// The key of a witness whose cosignatures can be verified here.
    private static func witnessKey(_ text: String) throws(ReadError) -> NoteVerifier {
        guard let key = try? NoteVerifier(text: text), key.kind == .cosignature else {
            throw .badValue(
                "key", "the key of a witness (Ed25519), NAME+HASH+BASE64 as \"whereabouts witness --key\" prints it")
        }
        return key
    }
}
