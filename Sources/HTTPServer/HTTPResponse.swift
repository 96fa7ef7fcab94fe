internal import JSON

/// An answer to a request. `Date`, `Content-Length` and the closing of the connection are the server's to add.
package struct HTTPResponse: Sendable {
    /// 200 … 599.
    package var status: Int
    /// Header fields in the order sent. Names are tokens; values hold no line breaks. One that breaks this turns the
    /// whole answer into a bare 500, so that nothing can be smuggled into it.
    package var headers: [(name: String, value: String)]
    /// The content; empty for 204 and 304.
    package var body: [UInt8]
    /// Content that follows while it is written, instead of ``body``; only with 200. The handler makes it, and writes on.
    package var stream: HTTPStream?

    /// An answer of any kind.
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

    /// An error in the form of RFC 9457.
    ///
    /// - Parameters:
    ///   - title: what kind of problem it is, the same every time it occurs.
    ///   - detail: what was wrong this time and what to do, in a sentence for people.
    package static func problem(_ status: Int, title: String, detail: String) -> HTTPResponse {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("title", title)
        writer.field("status", status)
        writer.field("detail", detail)
        writer.endObject()
        return HTTPResponse(
            status: status, headers: [("Content-Type", "application/problem+json")], body: writer.bytes)
    }
}
