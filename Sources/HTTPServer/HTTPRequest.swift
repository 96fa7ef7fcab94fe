/// A complete request.
package struct HTTPRequest: Sendable {
    /// The method as sent (methods are case-sensitive): `GET`, `POST` …
    package var method: String
    /// The path with percent escapes decoded; it begins with `/` (or is `*` for `OPTIONS *`).
    ///
    /// Splitting it at `/` is safe: the server has refused, with 400, segments that hide a `/`, a control character,
    /// `.` or `..` behind escapes, or that are not UTF-8.
    package var path: String
    /// The path as sent, with its escapes and without the query.
    package var rawPath: String
    /// The parameters of the query in the order sent, with escapes and `+` decoded. One without `=` has an empty value.
    package var query: [(name: String, value: String)]
    /// The header fields in the order sent. Bytes that are not UTF-8 are replaced by U+FFFD.
    package var headers: [(name: String, value: String)]
    /// The content, at most as long as ``HTTPServerConfiguration/bodyLimit`` allows.
    package var body: [UInt8]
    /// The number of bytes that followed ``body`` and were dropped.
    package var droppedBytes = 0

    /// Makes a request for a test or another transport.
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

    /// Whether the answer is sent without its body. Answer as for `GET`: the header then has the body's length.
    package var isHead: Bool { method == "HEAD" }

    /// The first header field of this name, in any case, or `nil`.
    ///
    /// - Parameter name: The name in lower case.
    package func header(_ name: String) -> String? {
        headers.first { isSameFieldName($0.name, name) }?.value
    }

    /// The fields of a body of the type `application/x-www-form-urlencoded`, in the order sent, with escapes and `+`
    /// decoded. Empty for any other type, and for a body that has broken escapes, has NUL, or is not UTF-8.
    package var form: [(name: String, value: String)] {
        let type = header("content-type")?.prefix { $0 != ";" && $0 != " " }
        guard type.map({ isSameFieldName(String($0), "application/x-www-form-urlencoded") }) == true else { return [] }
        return formFields
    }

    /// The fields of a body in the form `application/x-www-form-urlencoded`, whatever its type; otherwise as ``form``.
    package var formFields: [(name: String, value: String)] {
        guard let text = String(validating: body, as: UTF8.self) else { return [] }
        return (RequestTarget.decodeQuery(Substring(text).utf8) ?? []).map { ($0.name, $0.value) }
    }

    /// The first parameter of this name in the query, or `nil`.
    package func parameter(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }
}

/// Compares the names of fields: ASCII case is ignored (RFC 9110, section 5.1).
func isSameFieldName(_ one: String, _ other: String) -> Bool {
    one.utf8.count == other.utf8.count && hasFieldName(one, other)
}

/// Whether a text begins with the name of a field, compared as by ``isSameFieldName(_:_:)``. Each request asks this for each
/// of its fields, so the bytes are compared where they are.
func hasFieldName(_ text: String, _ name: String) -> Bool {
    var (text, name) = (text, name)
    return text.withUTF8 { text in
        name.withUTF8 { name in
            text.count >= name.count && name.indices.allSatisfy { lowercased(text[$0]) == lowercased(name[$0]) }
        }
    }
}

private func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
}
