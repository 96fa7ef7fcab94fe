extension SHA256 {
    /// The digest of `bytes`.
    package func hash(_ bytes: UnsafeRawBufferPointer) -> Digest {
        begin()
        update(bytes)
        return finish()
    }

    /// The digest of `bytes`.
    package func hash(_ bytes: [UInt8]) -> Digest {
        bytes.withUnsafeBytes { hash($0) }
    }

    /// The digest of `prefix ‖ first ‖ second`, as RFC 9162 2.1.1 forms the leaves (0x00) and nodes (0x01) of a tree.
    package func hash(prefix: UInt8, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Digest {
        begin()
        update(prefix)
        update(first)
        update(second)
        return finish()
    }

    /// The digest of `prefix ‖ left ‖ right`: a node of a Merkle tree over two digests.
    package func hash(prefix: UInt8, _ left: Digest, _ right: Digest) -> Digest {
        left.withBytes { left in right.withBytes { right in hash(prefix: prefix, left, right) } }
    }

    /// Adds `bytes` to the message; ``begin()`` comes first.
    package func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// Adds one byte to the message; ``begin()`` comes first.
    package func update(_ byte: UInt8) {
        withUnsafeBytes(of: byte) { update($0) }
    }
}
