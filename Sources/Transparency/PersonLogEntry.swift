package import Cryptography

// An entry of a person's log, in deterministic CBOR (RFC 8949, section 4.2.1):
//
//     [1, version, recorded at (ms since 1970 UTC), commit]
//
//     84              an array of four
//     01              the form of the entry
//     18 2a           version 42: the entries count 1, 2, 3 …
//     1b 0000019…     the time of the house
//     58 20 …         commit = SHA-256(salt ‖ content), 32 bytes
//
// The leaf in the log is SHA-256(0x00 ‖ entry). An entry says nothing about its content to those who lack the salt.

/// The salt that hides the content of an entry: 16 bytes.
package struct EntrySalt: Hashable, Sendable {
    package static let byteCount = 16
    package let bytes: [UInt8]

    /// The salt with these bytes; `nil` unless there are 16.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// The salt of an entry, derived from a secret key, so that it need not be stored and is gone with the key:
    /// the first 16 bytes of HMAC-SHA-256(key, `"whereabouts entry salt v1\n"` ‖ origin ‖ 0x0A ‖ version in 8 bytes).
    package init(of version: Int64, in origin: LogOrigin, key: SymmetricKey) {
        let message =
            Array("whereabouts entry salt v1\n".utf8) + Array(origin.text.utf8) + [NoteText.lineFeed]
            + bigEndianBytes(version)
        bytes = Array(hmacSHA256(key: key.withBytes { [UInt8]($0) }, message: message).bytes.prefix(Self.byteCount))
    }
}

/// One entry in the log of a person, without its content.
package struct PersonLogEntry: Hashable, Sendable {
    /// 1, 2, 3 … within the log.
    package let version: Int64
    /// The time of the house, in milliseconds since 1970 UTC.
    package let recordedAtMs: Int64
    /// SHA-256(salt ‖ content).
    package let commit: Digest

    /// An entry whose content is known by its commitment only.
    package init(version: Int64, recordedAtMs: Int64, commit: Digest) {
        precondition(version > 0 && recordedAtMs >= 0, "The first entry has version 1, and time begins in 1970.")
        self.version = version
        self.recordedAtMs = recordedAtMs
        self.commit = commit
    }

    /// An entry that commits to its content.
    package init(version: Int64, recordedAtMs: Int64, salt: EntrySalt, content: [UInt8], _ sha256: SHA256) {
        self.init(
            version: version, recordedAtMs: recordedAtMs, commit: Self.commit(salt: salt, content: content, sha256))
    }

    /// How an entry has its content.
    package static func commit(salt: EntrySalt, content: [UInt8], _ sha256: SHA256) -> Digest {
        sha256.begin()
        sha256.update(salt.bytes)
        sha256.update(content)
        return sha256.finish()
    }

    /// The entry in CBOR, at most 54 bytes.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = [0x84, 0x01]
        Self.append(version, to: &bytes)
        Self.append(recordedAtMs, to: &bytes)
        bytes += [0x58, 0x20]
        commit.withBytes { bytes.append(contentsOf: $0) }
        return bytes
    }

    /// The hash of the entry in the tree.
    package func leaf(_ sha256: SHA256) -> Digest { sha256.leaf(bytes) }

    /// An unsigned integer in the shortest form of CBOR.
    static func append(_ value: Int64, to bytes: inout [UInt8]) {
        switch value {
        case 0..<24: bytes.append(UInt8(value))
        case 24...0xFF: bytes += [24, UInt8(value)]
        case 0x100...0xFFFF: bytes += [25] + bigEndianBytes(UInt16(value))
        case 0x1_0000...0xFFFF_FFFF: bytes += [26] + bigEndianBytes(UInt32(value))
        default: bytes += [27] + bigEndianBytes(value)
        }
    }
}
