/// Writes the header fields of the pushes of one connection.
///
/// APNs keeps a small HPACK table. A field that differs in every push (`:path`) or should not be in a table
/// (`authorization`) is never indexed; the fields whose value changes but whose name is worth an entry are indexed the
/// first time on a connection and not after that; everything else is indexed (Apple: "Sending notification requests to
/// APNs").
struct PushHeaders {
    private let authority: String
    /// Of the fields that are indexed once: those that were.
    private var sent: Set<String> = []
    private static let indexedOnce: Set<String> = ["apns-expiration", "apns-id", "apns-collapse-id"]

    init(authority: String) {
        self.authority = authority
    }

    mutating func fields(for push: LocationPushRequest, providerToken: String) -> [HTTP2Header] {
        var fields = [
            HTTP2Header(":method", "POST"),
            HTTP2Header(":scheme", "https"),
            HTTP2Header(":authority", authority),
            HTTP2Header(":path", push.path, neverIndexed: true),
            HTTP2Header("authorization", "bearer " + providerToken, neverIndexed: true),
        ]
        for (name, value) in push.fields {
            let isIndexed = !Self.indexedOnce.contains(name) || sent.insert(name).inserted
            fields.append(HTTP2Header(name, value, neverIndexed: !isIndexed))
        }
        return fields
    }
}

/// Lower-case hexadecimal digits, two a byte.
package func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
        for (index, byte) in bytes.enumerated() {
            buffer[index * 2] = digits[Int(byte >> 4)]
            buffer[index * 2 + 1] = digits[Int(byte & 15)]
        }
        return bytes.count * 2
    }
}
