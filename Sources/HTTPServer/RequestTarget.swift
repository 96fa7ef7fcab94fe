/// The target of a request: the path and query of its first line, split and with their escapes decoded.
struct RequestTarget: Equatable {
    var path: String
    var rawPath: String
    var query: [Parameter]

    struct Parameter: Equatable {
        var name: String
        var value: String
    }

    /// Splits the origin form (`/path?query`), the absolute form (`http://host/path?query`) and, for `OPTIONS`, the
    /// asterisk form of RFC 9112, section 3.2.
    ///
    /// - Returns: `nil` for any other form, for broken escapes, for text that is not UTF-8, for control characters
    ///   (escaped or not), and for path segments that are, or hide, `.`, `..`, `/` or `\`.
    init?(_ target: String, method: String) {
        if Self.isPlain(target) {
            (path, rawPath, query) = (target, target, [])
            return
        }
        var rest = Substring(target)
        if rest == "*" {
            guard method == "OPTIONS" else { return nil }
            (path, rawPath, query) = ("*", "*", [])
            return
        }
        if rest.utf8.first != UInt8(ascii: "/"),
            let scheme = ["http://", "https://"].first(where: { rest.lowercased().hasPrefix($0) })
        {
            rest = rest.dropFirst(scheme.count).drop { $0 != "/" && $0 != "?" }
            if !rest.hasPrefix("/") { rest = "/" + rest }
        }
        guard rest.utf8.first == UInt8(ascii: "/"), !rest.utf8.contains(UInt8(ascii: "#")) else { return nil }
        let parts = rest.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = Self.decodePath(parts[0]), let rawPath = String(parts[0]) else { return nil }
        guard let query = parts.count == 2 ? Self.decodeQuery(parts[1]) : [] else { return nil }
        (self.path, self.rawPath, self.query) = (path, rawPath, query)
    }

    /// Whether a target is a path of letters, digits, `-`, `_` and `/`, as that of most requests: it stands for itself.
    private static func isPlain(_ target: String) -> Bool {
        var target = target
        return target.withUTF8 { bytes in
            bytes.first == UInt8(ascii: "/")
                && bytes.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "/"):
                        true
                    default: false
                    }
                }
        }
    }

    private static func decodePath(_ raw: Substring.UTF8View) -> String? {
        var path: [UInt8] = []
        path.reserveCapacity(raw.count)
        for segment in raw.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            path.append(UInt8(ascii: "/"))
            let start = path.count
            guard decode(segment, plusIsSpace: false, into: &path) else { return nil }
            let decoded = path[start...]
            let hidesBoundary = decoded.contains {
                $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\")
            }
            if hidesBoundary || decoded.elementsEqual(".".utf8) || decoded.elementsEqual("..".utf8) {
                return nil
            }
        }
        return String(validating: path, as: UTF8.self)
    }

    static func decodeQuery(_ raw: Substring.UTF8View) -> [Parameter]? {
        var query: [Parameter] = []
        for pair in raw.split(separator: UInt8(ascii: "&")) {
            let sides = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decodeParameter(sides[0]),
                let value = sides.count == 2 ? decodeParameter(sides[1]) : ""
            else { return nil }
            query.append(Parameter(name: name, value: value))
        }
        return query
    }

    private static func decodeParameter(_ raw: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(raw.count)
        guard decode(raw, plusIsSpace: true, into: &bytes), !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Appends `raw` with its escapes decoded; returns `false` for an escape without two hexadecimal digits.
    private static func decode(_ raw: Substring.UTF8View, plusIsSpace: Bool, into bytes: inout [UInt8]) -> Bool {
        var rest = raw
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(hexadecimal), let low = rest.popFirst().flatMap(hexadecimal)
                else { return false }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace:
                bytes.append(UInt8(ascii: " "))
            default:
                bytes.append(byte)
            }
        }
        return true
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
