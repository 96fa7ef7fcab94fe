package import Answers
package import HTTPServer
package import Whereabouts

/// The receiving side of messages between the processes of a house: a message counts once, and its answer is sealed too.
package struct SealedDoor: Sendable {
    private let seal: ReaderSeal
    private let taken = TakenNonces()

    package init(_ seal: ReaderSeal) { self.seal = seal }

    /// The way to answer a message; `nil` if its seal is wrong or too old, or it has come before. Such a message has got the answer of an
    /// address that does not exist.
    package func accept(
        _ exchange: Exchange, at now: Timestamp, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) -> (@Sendable (HTTPResponse) -> Void)? {
        let request = exchange.request
        guard let nonce = seal.nonce(of: request.header(ReaderSeal.requestHeader), request.body, at: now),
            taken.take(nonce)
        else {
            respond(Problem(404, "Not found", "There is nothing at this address.").response)
            return nil
        }
        return { [seal] response in
            var response = response
            response.headers.append(
                (ReaderSeal.answerHeader, seal.answer(response.body, status: response.status, to: nonce)))
            respond(response)
        }
    }

    /// The answer to a message that cannot be read.
    package static let otherVersion = Problem.invalid("The message has another form; use the same version everywhere.")
}
