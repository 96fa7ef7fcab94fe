import HTTPServer
import JSON
import Log
import Whereabouts

extension HTTPResponse {
    /// The answer 201 with the members that `members` writes, and the number of the event.
    static func created(
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
    static func done(_ receipt: Receipt, _ references: References) -> HTTPResponse {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("number", references.receipt(receipt))
        writer.endObject()
        return .json(writer.bytes)
    }
}
