import HTTPServer

/// How a request of a client is written again for another process of the house.
enum PassedRequest {
    /// The fields that are about one connection (RFC 9110, section 7.6.1), or that are made anew.
    private static let ownFields: Set<String> = [
        "connection", "content-length", "date", "expect", "keep-alive", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade", WriterLink.passedHeader.lowercased(),
    ]

    static func isPassedOn(_ name: String) -> Bool { !ownFields.contains(name.lowercased()) }

    static func headers(of request: HTTPRequest) -> [String] {
        request.headers.filter { isPassedOn($0.name) }.map { name, value in
            // libcurl takes a name with a semicolon for an empty value.
            value.isEmpty ? "\(name);" : "\(name): \(value)"
        } + ["\(WriterLink.passedHeader): 1"]
    }

    /// The path as sent, and the query.
    static func target(of request: HTTPRequest) -> String {
        if request.query.isEmpty { return request.rawPath }
        let query = request.query.map { name, value in "\(escaped(name))=\(escaped(value))" }
        return request.rawPath + "?" + query.joined(separator: "&")
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                escaped += byte < 16 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return escaped
    }
}
