import JSON
import Whereabouts

/// Collects the members of a message that have no field, as one JSON object of at most `Limits.remainderBytes`.
///
/// Members are kept as written, in their order. A member that does not fit, is nested too deeply or may be a secret is
/// left out; later ones are still considered. The messages of a batch share one, so that its room is made once.
struct Remainder {
    /// The deepest nesting of objects and arrays. Answers and exports nest the remainder again, and must stay within
    /// the depth that readers accept.
    static let depthMax = 16

    /// Parts of names that suggest a secret of the client, in lower case.
    private static let secretNames: [StaticString] = [
        "password", "passwd", "secret", "token", "apikey", "api_key", "authorization",
    ]

    /// The object without its last brace; empty without a member.
    private var text: [UInt8] = []
    private var members = 0
    /// The first member, which is the only one if there is one.
    private var first: JSONMember?

    mutating func append(_ member: JSONMember) {
        members += 1
        if members == 1 { first = member }
        if isSecret(member.key) { return }
        member.value.withText(withKey: true) { member in
            guard text.count + 1 + member.count < Limits.remainderBytes, depth(of: member) < Self.depthMax else {
                return
            }
            // Most remainders fit into this; a longer one grows.
            if text.isEmpty { text.reserveCapacity(128) }
            text.append(UInt8(ascii: text.isEmpty ? "{" : ","))
            text.append(contentsOf: member)
        }
    }

    /// The object's text; `nil` if nothing is left over. Empties the remainder for the next message.
    ///
    /// - Parameter nestedKey: The member that has a whole remainder, if the form has one. If it is the only one left
    ///   over, it is the remainder, byte for byte; beside others it is a member like them.
    mutating func take(nestedKey: StaticString? = nil) -> String? {
        defer {
            text.removeAll(keepingCapacity: true)
            (members, first) = (0, nil)
        }
        if let nestedKey, members == 1, let first, first.key == nestedKey, first.value.kind == .object,
            let whole = first.value.withText({ text in
                text.count <= Limits.remainderBytes && depth(of: text) <= Self.depthMax
                    ? String(decoding: text, as: UTF8.self) : nil
            })
        {
            return whole
        }
        if text.isEmpty { return nil }
        text.append(UInt8(ascii: "}"))
        return String(decoding: text, as: UTF8.self)
    }

    private func isSecret(_ key: JSONKey) -> Bool {
        key.withUTF8 { key in
            Self.secretNames.contains { name in
                let name = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
                var start = 0
                while start + name.count <= key.count {
                    var length = 0
                    while length < name.count, Self.lowercased(key[start + length]) == name[length] { length += 1 }
                    if length == name.count { return true }
                    start += 1
                }
                return false
            }
        }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// Brackets inside strings do not count: members that fit one by one must fit together.
    private func depth(of text: UnsafeBufferPointer<UInt8>) -> Int {
        var depth = 0
        var deepest = 0
        var isInString = false
        var isEscaped = false
        for byte in text {
            if isEscaped {
                isEscaped = false
                continue
            }
            switch byte {
            case UInt8(ascii: "\\"): isEscaped = true
            case UInt8(ascii: "\""): isInString.toggle()
            case _ where isInString: break
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                deepest = max(deepest, depth)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
        }
        return deepest
    }
}
