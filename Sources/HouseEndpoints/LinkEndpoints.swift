import Answers
import HTTPInterface
import HTTPServer
import JSON
import Log
import Replies
import Whereabouts
import WireFormats

/// Share links. Anyone who opens the address of a link sees where its person is, and needs no account.
///
/// The secret of a link is in the fragment of its address. Browsers do not send the fragment, so no proxy can log it.
///
/// Each link has a principal and a grant, so reads by those who have opened it are authorized and recorded
/// like those of any other requester. `SessionEndpoints` opens links, because the opening gives a session.
struct LinkEndpoints: Sendable {
    let decisions: Decisions
    let views: Views

    /// `POST /v1/people/*/links`: adds a link, and shows its secret once.
    ///
    /// All members are optional: `precision` (exact by default), `history`, `from`, `until` or `forSeconds`, `live`,
    /// `openings`, `passphrase` and `name`. Answers 201 with `id`, `name`, `secret`, `path` and `until`.
    ///
    /// May call: the person with the scope `manage`, and the operator. Recorded as `GrantGiven` and `LinkAdded` in
    /// one commit, with the hash of the secret and of the passphrase together. Without an end the link lasts a day.
    ///
    /// - Throws: 400 for a wrong member; 422 for the precision `none`, for history with less than exact precision,
    ///   for a name of more than ``Limits/linkNameCharacters`` characters, and past ``Limits/linksPerPerson`` links
    ///   that are open; 409 if a repeated request's link has ended since.
    func add(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let body = try exchange.object(
            "precision", "history", "from", "until", "forSeconds", "live", "openings", "passphrase", "name")
        let secret = Secret(prefix: "wl_", exchange.secretBytes)
        let passphrase = try Secret.passphrase(body)
        let terms = try terms(body)
        let openings = try body.optionalInteger("openings")
        guard openings.map({ (1...Limits.linkOpeningsMax).contains($0) }) ?? true else {
            throw .invalid("\"openings\" must be a whole number from 1 to \(Limits.linkOpeningsMax).")
        }
        let (id, receipt) = try decisions.append(
            exchange,
            .addLink(
                of: try exchange.handle(0), terms,
                LinkRequest(
                    hash: Secret.hash(ofLink: secret.text, passphrase: passphrase), hasPassphrase: passphrase != nil,
                    isLive: try body.flag("live", default: false), openingsMax: openings,
                    name: try body.optionalText("name"))))
        let made = decisions.log.withStanding { standing in
            standing.links[id].flatMap { link in standing.grants[link.grant]?.until.map { (link, $0) } }
        }
        guard let (link, until) = made else { throw .overSince }
        let references = decisions.references(for: exchange.caller)
        return HTTPResponse.created(
            receipt, references,
            MadeLink(
                id: references.name(id.rawValue, .link), name: link.requesterName, secret: secret.text,
                path: "/link#\(secret.text)", until: Moment(until)))
    }

    /// `GET /v1/people/*/links`: the person's links, also ended ones, without their secrets.
    ///
    /// A recorded read, for the person (scope `manage`) and the operator. An opened link has `lastOpened`, so the
    /// person sees whether it is in use.
    func list(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        let now = decisions.clock()
        return try views.settings(exchange, context) { standing, person, references, page in
            for id in standing.links.links(of: person) {
                guard let link = standing.links[id] else { continue }
                page.add(id.rawValue, item(id, link, standing, references, at: now))
            }
        }
    }

    /// The link with its state at a time. Its terms are those of its grant; they are absent if the grant is gone.
    private func item(
        _ id: LinkID, _ link: ShareLinks.Entry, _ standing: borrowing Standing, _ references: References,
        at now: Timestamp
    ) -> LinkItem {
        var item = LinkItem(
            id: references.name(id.rawValue, .link), name: link.requesterName,
            state: state(of: id, link, standing, at: now), isLive: link.isLive, hasPassphrase: link.hasPassphrase,
            opened: link.opened)
        if let grant = standing.grants[link.grant] {
            (item.precision, item.history) = (grant.precision.word, grant.includesHistory)
            (item.from, item.until) = (grant.from.map { Moment($0) }, grant.until.map { Moment($0) })
        }
        (item.openings, item.lastOpened) = (link.openingsMax, link.lastOpenedAt.map { Moment($0) })
        return item
    }

    /// The state of a link: `open`; `used` once it was opened as often as it may be, while earlier viewers can still look;
    /// or `ended`.
    private func state(
        of id: LinkID, _ link: ShareLinks.Entry, _ standing: borrowing Standing, at now: Timestamp
    ) -> String {
        guard standing.isInForce(id, at: now) else { return "ended" }
        return link.isOpen ? "open" : "used"
    }

    /// `DELETE /v1/links/*`: ends a link, also for those who have opened it.
    ///
    /// Recorded as `LinkEnded`, `GrantRevoked` and one `TokenRevoked` for each viewer, in one commit: no viewer sees
    /// another location after it.
    ///
    /// - Throws: 404 for a link that has ended or is another person's.
    func end(_ exchange: Exchange) throws(Problem) -> Command {
        .endLink(LinkID(rawValue: try exchange.number(0, .link, decisions)))
    }

    /// The terms of the link's grant: exact without history unless the body says otherwise. A link never asks for
    /// consent and has no weekly hours.
    private func terms(_ body: JSONValue) throws(Problem) -> GrantTerms {
        guard let precision = Precision(word: try body.optionalText("precision") ?? Precision.exact.word) else {
            throw .invalid("\"precision\" must be exact, kilometer, city or place.")
        }
        return GrantTerms(
            precision: precision, includesHistory: try body.flag("history", default: false),
            from: try body.optionalTime("from"), until: try decisions.end(body))
    }
}
