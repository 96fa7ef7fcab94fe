internal import CMicroHTTP
internal import CSupport

extension Exchange {
    /// The reason to refuse a request's head that RFC 9112 forbids and libmicrohttpd accepts.
    enum HeadRefusal: Error {
        case badTarget
        /// A field's name is not a token, for example if a space precedes its colon.
        case badFieldName
        case badHost
        /// The length of the body is missing, or given in two ways (RFC 9112, section 6.3).
        case badFraming
        case bodyTooLong
        /// The head has more bytes or fields than ``HTTPServerConfiguration/headBytesMax`` or `headerFieldsMax` allows.
        case headTooLong

        var response: HTTPResponse {
            switch self {
            case .badTarget:
                .problem(
                    400, title: "Bad request", detail: "The address is malformed; write it in percent-encoded UTF-8.")
            case .badFieldName:
                .problem(
                    400, title: "Bad request", detail: "The name of a header field is malformed; leave the field out.")
            case .badHost:
                .problem(400, title: "Bad request", detail: "The request must name one host; send one field \"Host\".")
            case .badFraming:
                .problem(
                    400, title: "Bad request",
                    detail: "The length of the body is not clear; send one \"Content-Length\", or the body in chunks.")
            case .bodyTooLong:
                .problem(413, title: "Too long", detail: "The request's body is too long; send it in parts.")
            case .headTooLong:
                .problem(
                    431, title: "Too long",
                    detail: "The address and the header fields are too long or too many; send a shorter head.")
            }
        }
    }

    /// Reads the head once it has arrived.
    func readHead(
        method: String, version: String, _ configuration: HTTPServerConfiguration
    ) throws(HeadRefusal) {
        guard http_connection_head_bytes(connection.handle) <= configuration.headBytesMax else { throw .headTooLong }
        guard let rawTarget, let target = RequestTarget(rawTarget, method: method) else { throw .badTarget }
        var headers = receivedHeaders()
        guard headers.count <= configuration.headerFieldsMax else { throw .headTooLong }
        guard headers.allSatisfy({ Self.isToken($0.name) }) else { throw .badFieldName }
        if version != "HTTP/1.0" {
            guard headers.count(where: { isSameFieldName($0.name, "host") }) == 1 else { throw .badHost }
        }
        let length = try Self.bodyLength(headers, version: version)
        let limit = configuration.bodyLimit(method, target.path)
        guard length ?? 0 <= limit.receivedBytes else { throw .bodyTooLong }
        if let length { body.reserveCapacity(min(length, limit.bytes)) }
        // Only now: the framing was judged by the same bytes that libmicrohttpd judges it by.
        for index in headers.indices { headers[index].value.removeTrailingSpace() }
        head = Head(method: method, target: target, headers: headers, bodyLimit: limit)
    }

    /// The length of the body by the head; `nil` for a body in chunks.
    private static func bodyLength(
        _ headers: [(name: String, value: String)], version: String
    ) throws(HeadRefusal) -> Int? {
        var length: String?
        var isChunked = false
        for header in headers {
            // libmicrohttpd joins a folded line to the field's name: "Content-Length:" and " 5" on the next line become
            // "Content-Length5". The meaning of such a field is unknown.
            guard !Self.isJoined(header.name, to: "content-length"),
                !Self.isJoined(header.name, to: "transfer-encoding")
            else { throw .badFraming }
            if isSameFieldName(header.name, "content-length") {
                guard length == nil else { throw .badFraming }
                length = header.value
            } else if isSameFieldName(header.name, "transfer-encoding") {
                guard !isChunked, isSameFieldName(header.value, "chunked"), version == "HTTP/1.1" else {
                    throw .badFraming
                }
                isChunked = true
            }
        }
        guard let length else { return isChunked ? nil : 0 }
        let isDecimal = length.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        guard !isChunked, !length.isEmpty, isDecimal else { throw .badFraming }
        guard let value = Int(length) else { throw .bodyTooLong }
        return value
    }

    private static func isJoined(_ name: String, to field: String) -> Bool {
        name.utf8.count > field.utf8.count && hasFieldName(name, field)
    }

    /// Whether a text is a token: one or more `tchar` of RFC 9110, section 5.6.2.
    private static func isToken(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "^")...UInt8(ascii: "z"), UInt8(ascii: "|"), UInt8(ascii: "~"), UInt8(ascii: "!"),
                    UInt8(ascii: "#")...UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"),
                    UInt8(ascii: "."):
                    true
                default:
                    false
                }
            }
    }

    private func receivedHeaders() -> [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        headers.reserveCapacity(12)
        withUnsafeMutablePointer(to: &headers) { headers in
            _ = MHD_get_connection_values(
                connection.handle, .HEADER_KIND,
                { headers, _, name, value in
                    if let headers, let name {
                        headers.assumingMemoryBound(to: [(name: String, value: String)].self).pointee
                            .append((String(cString: name), value.map { String(cString: $0) } ?? ""))
                    }
                    return .YES
                }, headers)
        }
        return headers
    }
}

extension String {
    /// Removes the spaces and tabs after a field's value, which are not part of it (RFC 9110, section 5.5).
    fileprivate mutating func removeTrailingSpace() {
        while let last = utf8.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") { removeLast() }
    }
}
