import Answers
import HTTPInterface
import HTTPServer
import Log
import Reactors
import Whereabouts

extension LiveEndpoint {
    /// Opens the stream of a live share link for a viewer (``LinkStream``). It begins with the newest location.
    ///
    /// The opening is recorded as a read of the location; each later item is recorded by the deliverer.
    ///
    /// - Throws: 404 for a caller who is no viewer of a live link, 429 or 503 if the link, the person's tree or the service
    ///   has too many streams, or the link was read too often.
    func openLink(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        let caller = exchange.caller
        let found = decisions.log.withStanding { standing -> (subject: Handle, tree: PersonID)? in
            guard let link = standing.links[LinkID(rawValue: caller.principal.rawValue)], link.isLive,
                let handle = standing.persons[link.subject]?.handle
            else { return nil }
            return (handle, standing.tree(of: link.subject))
        }
        guard let found else { throw .notFound }
        let question = ReadQuestion(
            subject: found.subject, question: .location, from: nil, to: nil, purpose: try exchange.purpose())
        let languages = exchange.languages(context)
        let viewer = PersonID(rawValue: caller.principal.rawValue)
        var first: LinkStream.Look?
        let opened: Disclosed
        do throws(Problem) {
            opened = try views.gate.read(exchange, question) { (reading) throws(Problem) in
                let asOf = decisions.log.head
                let look = LinkStream.look(
                    under: reading.permit, at: reading.now, decisions, context, languages: languages)
                guard let look else { throw .busy(1) }
                if !exchange.request.isHead {
                    try deliverer.reserve(for: viewer, of: found.tree)
                    first = look
                }
                return Gate.Computed(
                    body: Array(Self.opening.utf8) + look.event, count: look.item == nil ? 0 : 1, asOf: asOf)
            }
        } catch {
            if first != nil { deliverer.release(viewer) }
            throw error
        }
        let answer = opened.with(headers: [("Content-Type", "text/event-stream")])
        guard let first else { return answer }
        let stream = DisclosingStream(bytesMax: Limits.liveBytesWaiting)
        let live = LinkStream(
            caller: caller, question: question, correlation: exchange.id, stream: stream, languages: languages,
            first: first)
        let response = answer.opening(stream)
        deliverer.add(live)
        return response
    }
}
