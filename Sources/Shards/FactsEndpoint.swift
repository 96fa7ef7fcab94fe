package import Answers
package import HTTPInterface
import HTTPServer
import Log
package import Readers
import Whereabouts

/// Gives the shards of the house the facts of the directory.
///
/// `POST /shards/facts` is between two processes of one house and one version, so it is no part of the API. Its form is at
/// the head of `FactsMessage.swift`; its credentials are those of `ReaderSeal.swift`, under the secret that the house's
/// processes share.
package struct FactsEndpoint: Sendable {
    static let path = "/shards/facts"
    /// The secret's purpose: a reader's message is none of a shard.
    package static let purpose = "whereabouts shards v1"

    private let decisions: Decisions
    private let loop: DirectoryLoop
    private let seal: ReaderSeal
    private let taken = TakenNonces()

    package init(decisions: Decisions, loop: DirectoryLoop, seal: ReaderSeal) {
        (self.decisions, self.loop, self.seal) = (decisions, loop, seal)
    }

    /// The route. It has credentials of its own, and answers everyone else like an address that does not exist.
    package var route: Route {
        Route(
            "POST", Self.path, .report(give), .none,
            discloses: .noPerson("For shards of the house: people's handles, devices and hashes of tokens."),
            bodyBytes: FactsRequest.bytesMax)
    }

    private func give(_ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void) {
        let body = exchange.request.body
        guard
            let nonce = seal.nonce(of: exchange.request.header(ReaderSeal.requestHeader), body, at: decisions.clock()),
            taken.take(nonce)
        else { return respond(Problem(404, "Not found", "There is nothing at this address.").response) }
        @Sendable func answer(_ response: HTTPResponse) {
            var response = response
            response.headers.append(
                (ReaderSeal.answerHeader, seal.answer(response.body, status: response.status, to: nonce)))
            respond(response)
        }
        guard let request = FactsRequest(body) else {
            return answer(Problem.invalid("The message has another form; use the same version everywhere.").response)
        }
        if decisions.log.failure != nil { return answer(Problem.broken.response) }
        loop.take(request, respond: answer)
    }
}
