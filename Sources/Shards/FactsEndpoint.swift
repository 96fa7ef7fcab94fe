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
    /// The secret's purpose, so that a message of a reader is not taken for one of a shard.
    package static let purpose = "whereabouts shards v1"

    private let decisions: Decisions
    private let loop: DirectoryLoop
    private let door: SealedDoor

    package init(decisions: Decisions, loop: DirectoryLoop, seal: ReaderSeal) {
        (self.decisions, self.loop, door) = (decisions, loop, SealedDoor(seal))
    }

    /// The route. Without the seal of the house, it answers like an address that does not exist.
    package var route: Route {
        Route(
            "POST", Self.path, .report(give), .none,
            discloses: .noPerson("For shards of the house: people's handles, devices and hashes of tokens."),
            bodyBytes: FactsRequest.bytesMax)
    }

    private func give(_ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void) {
        guard let answer = door.accept(exchange, at: decisions.clock(), respond) else { return }
        guard let request = FactsRequest(exchange.request.body) else {
            return answer(SealedDoor.otherVersion.response)
        }
        if decisions.log.failure != nil { return answer(Problem.broken.response) }
        loop.take(request, respond: answer)
    }
}
