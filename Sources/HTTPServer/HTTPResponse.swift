internal import JSON

/// An answer to a request. The server adds `Date`, `Content-Length` and `Connection: close`.
package struct HTTPResponse: Sendable {
    /// 200 … 599.
    package var status: Int
    /// The header fields in the order sent. Names are tokens; values have no line breaks. Any other field turns the
    /// whole answer into a bare 500, so that no header can be smuggled into it.
    package var headers: [(name: String, value: String)]
    /// The content; empty for 204 and 304.
    package var body: [UInt8]
    /// Content that is written while it is sent, instead of ``body``; only with 200. The handler makes the stream and
    /// continues to write to it.
    package var stream: HTTPStream?

    /// An answer of any type.
    package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// An answer without content.
    package static func empty(_ status: Int) -> HTTPResponse {
        HTTPResponse(status: status)
    }

    /// An answer whose content is JSON.
    package static func json(_ body: [UInt8], status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, headers: [("Content-Type", "application/json")], body: body)
    }

    /// An answer whose content is plain text.
    package static func text(_ text: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, headers: [("Content-Type", "text/plain; charset=utf-8")], body: Array(text.utf8))
    }

    /// The beginning of a problem's `type`. Its title follows in lower case, with hyphens.
    package static let problemTypes = "urn:problem-type:"

    /// An error in the form of RFC 9457.
    ///
    /// - Parameters:
    ///   - title: The kind of problem, in ASCII, always the same for the same kind. It also gives the `type`: "Too
    ///     long" is `urn:problem-type:too-long`.
    ///   - detail: One sentence with the cause in this case and the remedy.
    package static func problem(_ status: Int, title: String, detail: String) -> HTTPResponse {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("type", problemTypes + title.lowercased().split(separator: " ").joined(separator: "-"))
        writer.field("title", title)
        writer.field("status", status)
        writer.field("detail", detail)
        writer.endObject()
        return HTTPResponse(
            status: status, headers: [("Content-Type", "application/problem+json")], body: writer.bytes)
    }
}
