import Answers
import HTTPServer
import Log
import Replies
import Whereabouts

/// The people who share with the caller.
struct SharedEndpoint: Sendable {
    let decisions: Decisions

    /// `GET /v1/shared-with-me`: the people that the caller may ask or see now, and the shared data. It discloses no more than
    /// a question would: no hours, no end of a grant, no pause. As a directory of names it is not recorded. 404 for a
    /// caller who is neither a person nor a share link, or lacks the scope `query`.
    ///
    /// Someone who has opened a share link sees one person, with `ask` false.
    ///
    /// Cost: one look at each grant of the caller.
    func list(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let caller = exchange.caller
        let now = decisions.clock()
        let person = PersonID(rawValue: caller.principal.rawValue)
        let found = decisions.log.withStanding { standing -> [SharedItem]? in
            guard caller.scopes.contains(.query), standing.name(of: caller.principal) != nil else { return nil }
            let subjects = Set(standing.grants.held(by: person).compactMap { standing.grants[$0]?.subject })
            let handles = subjects.compactMap { standing.persons[$0]?.handle }.sorted()
            return handles.compactMap { handle in
                func may(_ act: Act) -> Bool {
                    if case .success = standing.authorize(caller, to: act, about: handle, at: now) {
                        true
                    } else {
                        false
                    }
                }
                let (asks, hasLocation) = (may(.ask), may(.readLocation))
                guard asks || hasLocation else { return nil }
                return SharedItem(
                    handle: handle.text, asks: asks, hasLocation: hasLocation, hasHistory: may(.readHistory))
            }
        }
        guard let found else { throw .notFound }
        return .reply(SharedPeople(items: found))
    }
}
