/// Writes the header fields of the pushes of one connection.
///
/// APNs keeps a small HPACK table. What differs in every push (`:path`) or should not lie in a table (`authorization`)
/// is never indexed; the fields whose value changes but whose name is worth an entry are indexed the first time on a
/// connection and not after that; everything else is indexed (Apple: "Sending notification requests to APNs").
struct PushHeaders {
    private let authority: String
    private var hasSentID = false
    private var hasSentExpiration = false
    private var hasSentCollapseID = false

    init(authority: String) {
        self.authority = authority
    }

    mutating func fields(for push: LocationPushRequest, providerToken: String) -> [HTTP2Header] {
        var fields = [
            HTTP2Header(":method", "POST"),
            HTTP2Header(":scheme", "https"),
            HTTP2Header(":authority", authority),
            HTTP2Header(":path", "/3/device/" + hex(push.deviceToken), neverIndexed: true),
            HTTP2Header("authorization", "bearer " + providerToken, neverIndexed: true),
            HTTP2Header("apns-push-type", "location"),
            HTTP2Header("apns-topic", push.topic),
            HTTP2Header("apns-priority", String(push.priority.rawValue)),
            HTTP2Header("apns-expiration", String(push.expirationSeconds), neverIndexed: hasSentExpiration),
            HTTP2Header("apns-id", push.apnsID, neverIndexed: hasSentID),
        ]
        hasSentExpiration = true
        hasSentID = true
        if let collapseID = push.collapseID {
            fields.append(HTTP2Header("apns-collapse-id", collapseID, neverIndexed: hasSentCollapseID))
            hasSentCollapseID = true
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
