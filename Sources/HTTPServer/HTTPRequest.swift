/// A request that was received completely.
package struct HTTPRequest: Sendable {
    /// The method as sent (methods are case-sensitive): `GET`, `POST` …
    package var method: String
    /// The path, each segment with its percent escapes resolved, always beginning with `/` (or `*` for `OPTIONS *`).
    ///
    /// Splitting it at `/` is safe: a segment that hides a `/`, a control character, `.` or `..` behind escapes, or
    /// that is not UTF-8, was refused with 400 before.
    package var path: String
    /// The path as sent, escapes and all, without the query.
    package var rawPath: String
    /// The parameters of the query in the order sent, escapes and `+` resolved; one without `=` has an empty value.
    package var query: [(name: String, value: String)]
    /// The header fields in the order sent. Bytes that are not UTF-8 are replaced by U+FFFD.
    package var headers: [(name: String, value: String)]
    /// The content, at most as long as ``HTTPServerConfiguration/bodyLimit`` allows.
    package var body: [UInt8]
    /// Bytes of the body that came after ``body`` and were not kept.
    package var droppedBytes = 0

    /// A request as a test or another transport makes it.
    package init(
        method: String, path: String, rawPath: String? = nil, query: [(name: String, value: String)] = [],
        headers: [(name: String, value: String)] = [], body: [UInt8] = []
    ) {
        self.method = method
        self.path = path
        self.rawPath = rawPath ?? path
        self.query = query
        self.headers = headers
        self.body = body
    }

    /// Whether only the header of the answer will be sent. Answer as for `GET`: the body's length is sent, the body is
    /// not.
    package var isHead: Bool { method == "HEAD" }

    /// The first header field of that name, in whatever case, or `nil`.
    ///
    /// - Parameter name: in lower case.
    package func header(_ name: String) -> String? {
        headers.first { isSameFieldName($0.name, name) }?.value
    }

    /// The fields of a body of the type `application/x-www-form-urlencoded`, in the order sent, escapes and `+` resolved;
    /// empty for any other type, and for a body with broken escapes, with NUL, or that is not UTF-8.
    package var form: [(name: String, value: String)] {
        let type = header("content-type")?.prefix { $0 != ";" && $0 != " " }
        guard type.map({ isSameFieldName(String($0), "application/x-www-form-urlencoded") }) == true else { return [] }
        return formFields
    }

    /// The fields of a body that may be of the type `application/x-www-form-urlencoded` but need not say so; as ``form``.
    package var formFields: [(name: String, value: String)] {
        guard let text = String(validating: body, as: UTF8.self) else { return [] }
        return (RequestTarget.decodeQuery(Substring(text).utf8) ?? []).map { ($0.name, $0.value) }
    }

    /// The first parameter of that name, or `nil`.
    package func parameter(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }
}

/// Compares as field names are, without regard to ASCII case (RFC 9110 section 5.1).
func isSameFieldName(_ one: String, _ other: String) -> Bool {
    one.utf8.count == other.utf8.count && zip(one.utf8, other.utf8).allSatisfy { lowercased($0) == lowercased($1) }
}

private func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
}
