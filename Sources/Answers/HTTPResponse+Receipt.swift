package import HTTPServer
package import Log
package import Replies

extension HTTPResponse {
    /// The answer with a reply.
    package static func reply(_ reply: some Reply, status: Int = 200) -> HTTPResponse {
        .json(reply.bytes, status: status)
    }

    /// The answer 201 with what a request has made, and the number of the event.
    package static func created(
        _ receipt: Receipt, _ references: References, _ made: some Reply
    ) -> HTTPResponse {
        .reply(Recorded(made, number: references.receipt(receipt)), status: 201)
    }

    /// The answer 200 with the number of the event.
    package static func done(_ receipt: Receipt, _ references: References) -> HTTPResponse {
        .reply(Changed(number: references.receipt(receipt)))
    }
}
