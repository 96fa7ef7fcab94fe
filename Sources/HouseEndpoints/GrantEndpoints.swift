import Answers
import Cryptography
import HTTPInterface
import HTTPServer
import JSON
import Log
import Replies
import Whereabouts
import WireFormats

/// Rights to a person's location: grants, invitations, pauses, and questions that need the subject's consent.
///
/// May call: the person whose data it is, with the scope `manage`, and the operator. Another caller gets 404, as for a
/// person who does not exist. `redeem` and the answers to consent requests need other rights, which they document. Each
/// change is one event in the person's audit.
struct GrantEndpoints: Sendable {
    let decisions: Decisions
    let views: Views

    /// `POST /v1/people/*/grants`: lets a requester see the person's location.
    ///
    /// The body has `requester` and `precision`; `history`, `asksEachTime`, `from`, `until` or `forSeconds`, and
    /// `hours` are optional. Answers 201 with `id`, `until` and `number`. The answer is the same whether or not the
    /// requester exists.
    ///
    /// The grant of Anna to Ben, for example `{"requester":"ben","precision":"city","forSeconds":86400}`, makes Ben's
    /// next question about Anna succeed. Recorded as `GrantGiven`. A grant without an end lasts 30 days, the longest
    /// one 366.
    ///
    /// - Throws: 400 for a missing member or an unknown precision; 422 if the grant would end before it begins or
    ///   last too long, if it both shows history and asks each time, if the person grants to themselves, for an
    ///   unknown time zone, or past ``Limits/grantsPerPerson`` grants; 404 to the operator if the requester does not
    ///   exist.
    func give(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let body = try exchange.object(
            "requester", "precision", "history", "asksEachTime", "from", "until", "forSeconds", "hours")
        let (id, receipt) = try decisions.append(
            exchange,
            .giveGrant(
                subject: try exchange.handle(0), requester: try body.handle("requester"), try terms(body)))
        // A grant without a given end gets the default one.
        let until = decisions.log.withStanding { $0.grants[id]?.until }
        let references = decisions.references(for: exchange.caller)
        return HTTPResponse.created(
            receipt, references, MadeGrant(id: references.name(id.rawValue, .grant), until: until.map { Moment($0) }))
    }

    /// `GET /v1/people/*/grants`: the grants that are not revoked, a recorded read. A handle without a person is listed
    /// like one with a person.
    ///
    /// Grants that are over but not revoked are listed too, with their `until`.
    func list(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        try views.settings(exchange, context) { standing, person, references, page in
            for id in standing.persons[person]?.sharing.grants ?? [] {
                guard let grant = standing.grants[id] else { continue }
                let name = grant.requester.map { standing.name(of: $0.principal) } ?? grant.detail?.content?.name?.text
                page.add(
                    id.rawValue,
                    GrantItem(
                        id: references.name(id.rawValue, .grant), requester: name, terms: TermsItem(grant)))
            }
        }
    }

    /// `DELETE /v1/grants/*`: ends the grant and the queries under way by it.
    ///
    /// Recorded as `GrantRevoked`, and each query that it ends as `LocationQueryEnded` with the end `refused`. A push
    /// that waits for such a query is withdrawn.
    ///
    /// - Throws: 404 for a grant that this caller was not given a reference of, or that is revoked already.
    func revoke(_ exchange: Exchange) throws(Problem) -> Command {
        .revokeGrant(GrantID(rawValue: try exchange.number(0, .grant, decisions)))
    }

    // MARK: Pausing

    /// `POST /v1/people/*/pauses`: begins a pause, or changes the end of the present one. Without `until` and
    /// `forSeconds`, the pause lasts until it is ended.
    ///
    /// During a pause, others see a phone that is switched off. Data from the pause stays hidden from grants for ever.
    /// Recorded as `SharingPaused`; the same end again makes no event. Queries under way by grants end as `refused`.
    ///
    /// - Throws: 422 for an end in the past, or past ``Limits/pausesPerPerson`` pauses.
    func pause(_ exchange: Exchange) throws(Problem) -> Command {
        let body = try exchange.object("until", "forSeconds")
        let until = try decisions.end(body)
        return .pauseSharing(try exchange.handle(0), until: until)
    }

    /// `DELETE /v1/people/*/pauses`: ends the present pause.
    ///
    /// Recorded as `SharingResumed`. Without a present pause there is no event, and the answer is the same.
    func resume(_ exchange: Exchange) throws(Problem) -> Command {
        .resumeSharing(try exchange.handle(0))
    }

    /// `GET /v1/people/*/pauses`: all pauses, a recorded read. `now` says whether the pause is the present one.
    ///
    /// The times of pauses are settings of the person: only the person and the operator may read them.
    func pauses(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        let now = decisions.clock()
        return try views.settings(exchange, context) { standing, person, references, page in
            // Pauses are kept for ever, so their indexes do not change.
            for (index, pause) in (standing.persons[person]?.sharing.pauses ?? []).enumerated() {
                page.add(
                    Int64(index + 1),
                    PauseItem(
                        from: Moment(pause.from), until: pause.until.map { Moment($0) },
                        isPresent: pause.contains(now)))
            }
        }
    }

    // MARK: Invitations

    /// `POST /v1/people/*/invitations`: makes an invitation, and shows its code once.
    ///
    /// The body has the terms of the grant, as in ``give(_:_:)`` without a requester, and optionally `expires`. The
    /// first person to redeem the code gets the grant.
    ///
    /// Recorded as `InvitationMade`, with the hash of the code; the person's expired invitations are withdrawn with
    /// it. By default the code expires after a day.
    ///
    /// - Throws: 422 for terms that no grant can have, for `expires` more than a week away, and past
    ///   ``Limits/invitationsPerPerson`` open invitations.
    func invite(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let body = try exchange.object(
            "precision", "history", "asksEachTime", "from", "until", "hours", "expires")
        let code = InvitationCode(exchange.secretBytes)
        let wanted = try body.optionalTime("expires")
        let (id, receipt) = try decisions.append(
            exchange,
            .invite(
                subject: try exchange.handle(0), try terms(body), hash: code.hash,
                expires: wanted ?? decisions.clock().adding(seconds: Limits.defaultInvitationSeconds)))
        let expires = decisions.log.withStanding { $0.invitations[id]?.expires }
        let references = decisions.references(for: exchange.caller)
        return Self.invited(receipt, references.name(id.rawValue, .invitation), code, expires ?? wanted, references)
    }

    /// The answer 201 with a new invitation and its code.
    ///
    /// - Parameter expires: When the code ends. `nil` if the request is repeated and the invitation is no longer open;
    ///   the answer then has the default time again.
    static func invited(
        _ receipt: Receipt, _ id: References.Name, _ code: InvitationCode, _ expires: Timestamp?,
        _ references: References
    ) -> HTTPResponse {
        let end = expires ?? receipt.recordedAt.adding(seconds: Limits.defaultInvitationSeconds)
        return HTTPResponse.created(
            receipt, references, MadeInvitation(id: id, code: code.text, expires: Moment(end)))
    }

    /// `GET /v1/people/*/invitations`: the open invitations, without their codes.
    ///
    /// A recorded read. An expired invitation is left out, although its event may come later.
    func invitations(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        let now = decisions.clock()
        return try views.settings(exchange, context) { standing, person, references, page in
            for id in standing.persons[person]?.sharing.invitations ?? [] {
                guard let invitation = standing.invitations[id], now < invitation.expires else { continue }
                page.add(
                    id.rawValue,
                    InvitationItem(
                        id: references.name(id.rawValue, .invitation), expires: Moment(invitation.expires),
                        terms: TermsItem(invitation.terms, hours: invitation.detail?.content)))
            }
        }
    }

    /// `DELETE /v1/invitations/*`: ends an open invitation. A grant that was already redeemed stays.
    ///
    /// Recorded as `InvitationWithdrawn`.
    ///
    /// - Throws: 404 for an invitation that is redeemed, withdrawn or another person's.
    func withdraw(_ exchange: Exchange) throws(Problem) -> Command {
        .withdrawInvitation(InvitationID(rawValue: try exchange.number(0, .invitation, decisions)))
    }

    /// `POST /v1/redemptions`: gives the caller the grant of a code. Answers 201 with the grant and the `subject` who
    /// gave it.
    ///
    /// - Throws: 404 for a code that is wrong, used or expired; 409 if a repeated request's grant has ended since.
    ///
    /// May call: a person with the scope `query`. Recorded as `GrantGiven` in the audit of the person who invited,
    /// with the number of the invitation. A wrong code is recorded as `InvitationRefused`; after ten of them in a
    /// minute (``Limits/refusalsRecordedAMinute``) the rest of the minute is only counted, and no code works.
    ///
    /// The terms are checked again now, so an invitation whose grant would be over already is refused like a wrong
    /// code.
    func redeem(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let hash = InvitationCode.hash(ofGiven: try exchange.object("code").requiredText("code"))
        let (id, receipt) = try decisions.append(exchange, .redeemInvitation(hash))
        let redeemed = decisions.log.withStanding { standing in
            standing.grants[id].flatMap { grant in standing.persons[grant.subject]?.handle.map { (grant, $0) } }
        }
        guard let (grant, subject) = redeemed else { throw .overSince }
        let references = decisions.references(for: exchange.caller)
        return HTTPResponse.created(
            receipt, references,
            RedeemedItem(
                id: references.name(id.rawValue, .grant), subject: subject.text, terms: TermsItem(grant)))
    }

    // MARK: Being asked each time

    /// `GET /v1/people/*/consent-requests`: the queries that wait for the subject's consent, on one page.
    ///
    /// Queries whose event is not durable yet, or whose time is up, are left out.
    ///
    /// The purposes are sealed, so each is read from its event: one read of the log for each waiting query. The read
    /// is recorded with the question `consent`.
    func consentRequests(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        try views.read(exchange, context, .consent, from: nil) { (reading) throws(Problem) in
            let now = decisions.clock()
            let durable = decisions.log.head
            let waiting = decisions.log.withStanding { standing in
                standing.queries.open(about: reading.permit.subject).compactMap { id in
                    standing.queries[id].map { (id: id, query: $0) }
                }.filter { id, query in
                    query.awaitsConsent && query.number <= durable
                        && decisions.log.questions.left(of: id, query, at: now) > 0
                }
            }
            let names = PrincipalNames(decisions)
            var asked: [LocationQuery] = []
            for (_, query) in waiting {
                let found: (event: RecordedEvent, leaf: Digest)?
                do throws(LogError) { found = try context.reader.event(query.number) } catch { throw .broken }
                if case .locationQueried(let query)? = found?.event.event { asked.append(query) }
            }
            return PageWriter.page(asked, next: nil, asOf: durable, reading.references) { query in
                ConsentRequestItem(
                    query: query.id.description, requester: names.name(query.requester),
                    purpose: query.purposeForSubject.content, deadline: Moment(query.deadline))
            }
        }
    }

    /// `POST /v1/people/*/consent-requests/*`: gives or refuses consent, by `{"consent":"given"}` or `"refused"`.
    ///
    /// May call: the person with the scope `manage`, or one of their phones; the operator never. Recorded as
    /// `ConsentGiven` or `ConsentRefused`. A refusal ends the query; the requester sees it pending until its deadline.
    ///
    /// - Throws: 404 if no query with this id waits for the person's consent.
    func answerConsent(_ exchange: Exchange) throws(Problem) -> Command {
        guard let id = QueryID(exchange.parameters[1]) else { throw .notFound }
        let isGiven: Bool
        switch try exchange.object("consent").requiredText("consent") {
        case "given": isGiven = true
        case "refused": isGiven = false
        default: throw .invalid("\"consent\" must be given or refused.")
        }
        return .answerConsent(id, of: try exchange.handle(0), isGiven: isGiven)
    }

    // MARK: Terms

    /// The terms of a grant or an invitation, from the members of a body. `history` and `asksEachTime` are false by
    /// default.
    ///
    /// - Throws: 400 for a wrong member, 422 for hours that no week has.
    private func terms(_ body: JSONValue) throws(Problem) -> GrantTerms {
        guard let precision = Precision(word: try body.requiredText("precision")) else {
            throw .invalid("\"precision\" must be exact, kilometer, city, place or none.")
        }
        let history = try body.flag("history", default: false)
        return GrantTerms(
            precision: precision, includesHistory: history, asksEachTime: try body.flag("asksEachTime", default: false),
            from: try body.optionalTime("from"), until: try decisions.end(body),
            hours: try hours(body["hours"], includingPast: history))
    }

    /// The weekly hours of a grant, for example `Mo-Fr 08:00-18:00`. The rules of the time zone are looked up once,
    /// here: for the past that the grant shows and for the longest time it can last. They are stored with the grant, so
    /// a later change of the zone's rules does not change it.
    ///
    /// For example `{"timeZone":"Europe/Vienna","weekly":"Mo-Fr 08:00-18:00"}`. `nil` without the member.
    ///
    /// - Throws: 422 for an unknown zone or an unreadable week.
    private func hours(
        _ value: JSONValue?, includingPast: Bool
    ) throws(Problem) -> WeeklyHours? {
        guard let value, !value.isNull else { return nil }
        let now = decisions.clock()
        guard
            let zone = views.timeZones.rules(
                try value.requiredText("timeZone"), from: includingPast ? Limits.oldestFix : now,
                to: now.adding(seconds: 2 * Limits.longestGrantSeconds + Limits.longestInvitationSeconds))
        else { throw .refused("\"timeZone\" must be a name of the IANA database, for example Europe/Vienna.") }
        do throws(WeeklyHoursError) { return try WeeklyHours(value["weekly"]?.string ?? "", in: zone) } catch {
            throw .refused(error.description)
        }
    }
}

extension TermsItem {
    /// The terms of a grant as its list shows them.
    fileprivate init(_ grant: Grant) {
        self.init(
            GrantTerms(
                precision: grant.precision, includesHistory: grant.includesHistory, asksEachTime: grant.asksEachTime,
                from: grant.from, until: grant.until), hours: grant.hours)
    }

    /// The terms of an invitation, whose hours are sealed separately; without their key `hours` is `nil`.
    fileprivate init(_ terms: GrantTerms, hours: WeeklyHours?) {
        self.init(
            precision: terms.precision.word, history: terms.includesHistory, asksEachTime: terms.asksEachTime,
            from: terms.from.map { Moment($0) }, until: terms.until.map { Moment($0) },
            hours: hours.map { HoursItem(timeZone: $0.zone.name, weekly: $0.text) })
    }
}

extension Decisions {
    /// The end of a grant, a link or a pause, from `until` or from `forSeconds`, which counts from now. `nil` if neither is
    /// given; 422 if both are.
    func end(_ body: JSONValue) throws(Problem) -> Timestamp? {
        guard let seconds = try body.optionalInteger("forSeconds") else { return try body.optionalTime("until") }
        guard body["until"] == nil || body["until"]?.isNull == true else {
            throw .refused("Give \"until\" or \"forSeconds\", not both.")
        }
        guard (1...Limits.longestGrantSeconds).contains(seconds) else {
            throw .invalid("\"forSeconds\" must be a whole number from 1 to \(Limits.longestGrantSeconds).")
        }
        return clock().adding(seconds: seconds)
    }
}
