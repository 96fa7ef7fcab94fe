import JSON
import Whereabouts

/// Collects the members of a message that have no field, as one JSON object of at most `Limits.remainderBytes`.
///
/// Members are kept as written, in their order. A member that does not fit, is nested too deeply or may be a secret is
/// left out; later ones are still considered.
struct Remainder {
    /// The deepest nesting of objects and arrays. Answers and exports nest the remainder again, and must stay within
    /// the depth that readers accept.
    static let depthMax = 16

    /// Parts of names that suggest a secret of the client.
    private static let secretNames = [
        "password", "passwd", "secret", "token", "apikey", "api_key", "authorization",
    ].map { Array($0.utf8) }

    private var members: [JSONMember] = []

    mutating func append(_ member: JSONMember) {
        members.append(member)
    }

    /// The object's text; `nil` if nothing is left over.
    ///
    /// - Parameter nestedKey: The member that has a whole remainder, if the form has one. If it is the only one left
    ///   over, it is the remainder, byte for byte; beside others it is a member like them.
    func text(nestedKey: String? = nil) -> String? {
        if let nestedKey, members.count == 1, let only = members.first, only.key == nestedKey,
            only.value.kind == .object,
            let whole = only.value.withText({ text in
                text.count <= Limits.remainderBytes && depth(of: text) <= Self.depthMax
                    ? String(decoding: text, as: UTF8.self) : nil
            })
        {
            return whole
        }
        var text: [UInt8] = []
        for member in members where !isSecret(member.key) {
            member.value.withText(withKey: true) { member in
                guard text.count + 1 + member.count < Limits.remainderBytes, depth(of: member) < Self.depthMax else {
                    return
                }
                text.append(UInt8(ascii: text.isEmpty ? "{" : ","))
                text.append(contentsOf: member)
            }
        }
        if text.isEmpty { return nil }
        text.append(UInt8(ascii: "}"))
        return String(decoding: text, as: UTF8.self)
    }

    private func isSecret(_ key: String) -> Bool {
        // By bytes: `String.contains` made an OwnTracks message take 50 µs instead of 4.
        let key = key.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        return Self.secretNames.contains { name in
            key.count >= name.count && (0...key.count - name.count).contains { key[$0...].starts(with: name) }
        }
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
