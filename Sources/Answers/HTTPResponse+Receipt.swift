package import HTTPServer
package import JSON
package import Log

extension HTTPResponse {
    /// The answer 201 with the members that `members` writes, and the number of the event.
    package static func created(
        _ receipt: Receipt, _ references: References, _ members: (inout JSONWriter) -> Void
    ) -> HTTPResponse {
        var writer = JSONWriter()
        writer.beginObject()
        members(&writer)
        writer.field("number", references.receipt(receipt))
        writer.endObject()
        return .json(writer.bytes, status: 201)
    }

    /// The answer 200 with the number of the event.
    package static func done(_ receipt: Receipt, _ references: References) -> HTTPResponse {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("number", references.receipt(receipt))
        writer.endObject()
        return .json(writer.bytes)
    }
}
