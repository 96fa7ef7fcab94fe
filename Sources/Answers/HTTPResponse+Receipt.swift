package import HTTPServer
import JSON
package import Log
package import Replies

extension HTTPResponse {
    /// The answer 201 with the members that `members` writes, and the number of the event.
    package static func created(
        _ receipt: Receipt, _ references: References, _ made: some Reply
    ) -> HTTPResponse {
        var writer = JSONWriter()
        writer.beginObject()
        writer.members(of: made)
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
