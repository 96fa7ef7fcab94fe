internal import CMicroHTTP

extension Exchange {
    /// Why a request's header is refused; what libmicrohttpd's strict mode lets pass and RFC 9112 does not.
    enum HeadRefusal: Error {
        case badTarget
        case badHost
        /// How long the body is cannot be told, or can be told in two ways (RFC 9112 section 6.3).
        case badFraming
        case bodyTooLong

        var response: HTTPResponse {
            switch self {
            case .badTarget: .problem(400, title: "The request's target is malformed.")
            case .badHost: .problem(400, title: "The request names not exactly one host.")
            case .badFraming: .problem(400, title: "The length of the request's body is not clear.")
            case .bodyTooLong: .problem(413, title: "The request's body is too long.")
            }
        }
    }

    /// Reads the header once it has arrived.
    func readHead(
        method: String, version: String, bodyLimit: (String, String) -> Int
    ) throws(HeadRefusal) {
        guard let rawTarget, let target = RequestTarget(rawTarget, method: method) else { throw .badTarget }
        let headers = receivedHeaders()
        if version != "HTTP/1.0" {
            guard headers.count(where: { isSameFieldName($0.name, "host") }) == 1 else { throw .badHost }
        }
        let length = try Self.bodyLength(headers, version: version)
        let bodyBytesMax = bodyLimit(method, target.path)
        guard length ?? 0 <= bodyBytesMax else { throw .bodyTooLong }
        if let length { body.reserveCapacity(length) }
        head = Head(method: method, target: target, headers: headers, bodyBytesMax: bodyBytesMax)
    }

    /// The length the header gives the body; `nil` if it comes in chunks.
    private static func bodyLength(
        _ headers: [(name: String, value: String)], version: String
    ) throws(HeadRefusal) -> Int? {
        var length: String?
        var isChunked = false
        for header in headers {
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
