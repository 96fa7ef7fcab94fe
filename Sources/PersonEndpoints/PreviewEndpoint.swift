import Answers
import HTTPInterface
import HTTPServer
import Log
import Projections
import Replies
import SQLite
import Tables
import Whereabouts

/// A preview for a person who shares: the answer that another person would get now.
struct PreviewEndpoint: Sendable {
    let decisions: Decisions
    let views: Views

    /// `GET /v1/people/*/previews/*`: the person's newest location as the other person would read it, `history`, and
    /// the `reason` if the location is hidden. It is recorded as a read by the caller; the other person has asked
    /// nothing.
    ///
    /// May call: the person with the scope `manage` and `query`, and the operator. The other person's limits are not
    /// touched.
    ///
    /// - Throws: 404 for another caller, whose attempt is recorded, and for a name that no person can have. A name that no
    ///   person has is answered like a person without a grant.
    func read(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        let subject = try exchange.handle(0)
        // A caller who may not manage the sharing is refused with a record, even with a grant for the location.
        let settings = ReadQuestion(subject: subject, question: .settings, from: nil, to: nil, purpose: nil)
        let now = decisions.clock()
        let mayManage = decisions.log.withStanding { standing in
            if case .success = standing.authorize(exchange.caller, toRead: settings, at: now) { true } else { false }
        }
        guard mayManage else {
            return try views.gate.read(exchange, settings) { (_) throws(Problem) in throw .noSuchPerson }
        }
        let requester = try exchange.handle(1)
        return try views.read(exchange, context, .location, from: CurrentTable.name) {
            (reading) throws(Problem) in
            let (permit, history, reason) = decisions.log.withStanding { standing -> (Permit?, Bool, RefusalCode?) in
                // A person who does not exist has no grant either.
                let asker = standing.person(requester)
                let caller = Caller(principal: asker?.principal ?? .house, scopes: .query, token: nil)
                let history = standing.authorize(caller, to: .readHistory, about: subject, at: now)
                switch standing.authorize(caller, to: .readLocation, about: subject, at: now) {
                case .success(let permit): return (permit, (try? history.get()) != nil, nil)
                case .failure(let refused): return (nil, false, refused.code)
                }
            }
            let (found, asOf) = try context.newestFix(of: reading.permit.subject)
            var shown: ShownLocation?
            if let found, let permit, let fix = try ReadEndpoints.newestShown(found, permit, context) {
                shown = ShownLocation(fix, under: permit, decisions, context, languages: exchange.languages(context))
            }
            let answer = PreviewAnswer(
                location: shown?.item, history: history, reason: reason?.word, asOf: reading.references.place(asOf))
            return Gate.Computed(body: answer.bytes, count: shown == nil ? 0 : 1, asOf: asOf)
        }
    }
}
