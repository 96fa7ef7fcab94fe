/// The name of a public key: the first 16 bytes of the key's SHA-256.
package struct KeyID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The 16 bytes as a number.
    package let value: Identifier128

    package init(_ value: Identifier128) { self.value = value }

    /// Reads 32 hexadecimal digits; `nil` for any other text.
    package init?(_ text: String) {
        guard text.utf8.count == 32, text.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        value = Identifier128(high: high, low: low)
    }

    /// The 16 bytes.
    package var bytes: [UInt8] { value.bytes }

    /// 32 lower-case hexadecimal digits.
    package var description: String { value.description.filter { $0 != "-" } }

    package static func < (a: KeyID, b: KeyID) -> Bool {
        (a.value.high, a.value.low) < (b.value.high, b.value.low)
    }
}

/// The key with which a person signs: the envelopes of the person's phones, the recipient keys of the person's clients, and
/// the keys of others that the person accepts. The service checks the signatures before it takes a key.
package struct IdentityKey: Hashable, Sendable {
    /// The name of ``key``.
    package let id: KeyID
    /// An Ed25519 public key, ``Limits/publicKeyBytes`` bytes.
    package let key: [UInt8]
    /// A signature by the key itself, which shows that the publisher has the private key.
    package let signature: [UInt8]
    /// A signature by the person's identity key before this one. `nil` if there was none, or it is lost or replaced.
    package let previousSignature: [UInt8]?

    package init(id: KeyID, key: [UInt8], signature: [UInt8], previousSignature: [UInt8]? = nil) {
        (self.id, self.key, self.signature, self.previousSignature) = (id, key, signature, previousSignature)
    }
}

/// The key for which others seal what a client of a person may open.
package struct RecipientKey: Hashable, Sendable {
    /// The name of ``key``.
    package let id: KeyID
    /// An X25519 public key, ``Limits/publicKeyBytes`` bytes.
    package let key: [UInt8]
    /// When the client made the key, by its clock. It is part of what is signed.
    package let madeAt: Timestamp
    /// A signature by the person's identity key.
    package let signature: [UInt8]

    package init(id: KeyID, key: [UInt8], madeAt: Timestamp, signature: [UInt8]) {
        (self.id, self.key, self.madeAt, self.signature) = (id, key, madeAt, signature)
    }
}

/// A person accepts a recipient key of another person: their phones may seal for it.
package struct KeyPin: Hashable, Sendable {
    /// The person whose key it is.
    package let owner: PersonID
    /// The recipient key.
    package let key: KeyID
    /// A signature by the identity key of the person who accepts. It covers the owner's identity key too.
    package let signature: [UInt8]

    package init(owner: PersonID, key: KeyID, signature: [UInt8]) {
        (self.owner, self.key, self.signature) = (owner, key, signature)
    }
}

/// Why a key is no longer good for anything new.
package enum KeyWithdrawal: Int64, Sendable, CaseIterable {
    /// Another key takes its place.
    case replaced = 1
    /// The private key is lost, or someone else may have it.
    case lost = 2
    /// The word in requests and answers.
    package var word: String { String(describing: self) }
}

/// Why a phone did not seal an answer to a query.
package enum SealingRefusal: Int64, Sendable, CaseIterable {
    /// No key of the person who asks is accepted on the phone.
    case recipientNotApproved = 1
    /// The phone cannot use its own keys, for example before it was unlocked for the first time.
    case keyUnavailable = 2
    /// The phone has no fix.
    case noFix = 3
    /// The word in requests and answers.
    package var word: String { String(describing: self) }
}
