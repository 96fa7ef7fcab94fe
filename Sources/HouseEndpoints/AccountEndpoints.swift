package import Answers
import HTTPInterface
package import HTTPServer
import JSON
import Log
package import Replies
package import Whereabouts
import WireFormats

/// Accounts made with an invitation code from the operator or another person.
///
/// A new account has no grants, in either direction. It only joins the invitation tree of its inviter, which shares
/// limits (`Limits.accountInvitationsPerTree`, `Limits.geocodingPerTree`).
///
/// The events are in the audit of the inviting person, or in the stream of the house if the operator invites. Only
/// the hash of a code is stored, so a code that is lost cannot be shown again.
package struct AccountEndpoints: Sendable {
    /// Appends the commands, and names the invitations for the caller.
    let decisions: Decisions

    package init(decisions: Decisions) {
        self.decisions = decisions
    }

    /// `POST /v1/account-invitations`: makes an invitation, and shows its code once.
    ///
    /// The body may have `expires`; by default the code expires after ``Limits/defaultInvitationSeconds``. Answers 201
    /// with `id`, `code`, `expires` and `number`. A repetition with the same `Idempotency-Key` shows the same code.
    ///
    /// May call: a person with the scope `manage`, for themselves, and the operator. Recorded as
    /// `AccountInvitationMade`, with the hash of the code.
    ///
    /// - Throws: 422 if `expires` is past or more than a week away, or if the inviter has as many open invitations as
    ///   they may; 429 if the inviter or their tree has made as many invitations today as it may.
    package func invite(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let wanted = try exchange.object("expires").optionalTime("expires")
        let code = InvitationCode(exchange.secretBytes)
        let (id, receipt) = try decisions.append(
            exchange,
            .inviteToAccount(
                by: inviter(exchange.caller), hash: code.hash,
                expires: wanted ?? decisions.clock().adding(seconds: Limits.defaultInvitationSeconds)))
        let expires = decisions.log.withStanding { $0.invitations[id]?.expires }
        let references = decisions.references(for: exchange.caller)
        return GrantEndpoints.invited(
            receipt, references.name(id.rawValue, .accountInvitation), code, expires ?? wanted, references)
    }

    /// The person whose token it is; `nil` for the operator. Other callers get `nil` too, and the writer refuses them.
    ///
    /// Cost: one dictionary access under the lock of the standing.
    private func inviter(_ caller: Caller) -> Handle? {
        decisions.log.withStanding { $0.persons[PersonID(rawValue: caller.principal.rawValue)]?.handle }
    }

    /// `GET /v1/account-invitations`: the caller's open invitations, without their codes.
    ///
    /// The list has one page: a person has at most ``Limits/accountInvitationsPerPerson`` open invitations, the
    /// operator ``Limits/accountInvitationsOfOperator``. It shows data of no person, so the read is not recorded.
    ///
    /// May call: any token with the scope `manage`; a person sees their own invitations, the operator the operator's.
    /// A caller without the scope gets 404.
    package func list(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        guard exchange.caller.scopes.contains(.manage) else { throw .notFound }
        let now = decisions.clock()
        let references = decisions.references(for: exchange.caller)
        let body = decisions.log.withStanding { standing in
            let open = standing.invitations.toAccounts.sorted { $0.key < $1.key }.filter { _, invitation in
                invitation.inviter == exchange.caller.principal && now < invitation.expires
            }
            let items = open.map { id, invitation in
                AccountInvitationItem(
                    id: references.name(id.rawValue, .accountInvitation), expires: Moment(invitation.expires))
            }
            return ManageEndpoints.list(items, standing, references)
        }
        return .json(body)
    }

    /// `DELETE /v1/account-invitations/*`: withdraws one of the caller's invitations.
    ///
    /// - Throws: 404 if the path has no reference of an account invitation that this caller was given.
    ///
    /// May call: the person who made it, and the operator. Recorded as `AccountInvitationClosed`. The
    /// code then gets the same answer as a wrong one.
    package func withdraw(_ exchange: Exchange) throws(Problem) -> Command {
        .withdrawAccountInvitation(AccountInvitationID(rawValue: try exchange.number(0, .accountInvitation, decisions)))
    }

    /// `POST /v1/accounts`: makes the account. The caller has no credentials yet, only the code.
    ///
    /// The body has `code` and `name`. The new handle is the name, a hyphen and four characters, for example
    /// `anna-7f3k`: the answer does not disclose whether a handle of that name exists. Answers 201 with `handle`, the
    /// new token (`id`, `token`, `scopes`) and `number`.
    ///
    /// May call: anyone who has the code. Recorded as `PersonAdded`, `TokenIssued` and `AccountInvitationClosed` in
    /// one commit, so that a code opens one account even if two requests race.
    ///
    /// - Throws: 400 if the name is not a handle or has more than ``Limits/accountNameCharacters`` characters; 404 if
    ///   the code is wrong, used or expired; 422 if the random handle is taken, which a new `Idempotency-Key` solves.
    func open(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        .reply(try opened(exchange), status: 201)
    }

    /// Makes the account of `POST /v1/accounts`, for the answer and for the page.
    package func opened(_ exchange: Exchange) throws(Problem) -> Recorded<OpenedAccount> {
        let body = try exchange.object("code", "name")
        let name = try body.handle("name")
        guard name.text.utf8.count <= Limits.accountNameCharacters else {
            throw .invalid("\"name\" must have at most \(Limits.accountNameCharacters) characters.")
        }
        let secret = Secret(prefix: "wp_", exchange.secretBytes)
        // Derived from the hash, so as good as random: the handle is public.
        let ending = InvitationCode(secret.hash.bytes).text.prefix(4).lowercased()
        guard let handle = Handle("\(name.text)-\(ending)") else { throw .broken }
        let (id, receipt) = try decisions.append(
            exchange,
            .openAccount(
                try InvitationCode.hash(ofGiven: body.requiredText("code")), as: handle, key: secret.hash,
                among: decisions.shards))
        guard let holder = decisions.log.withStanding({ $0.tokens[id]?.issued.principal }) else { throw .broken }
        // The request came without credentials; from here on the caller is the new person.
        let references = decisions.references(of: PersonID(rawValue: holder.rawValue))
        return Recorded(
            OpenedAccount(
                handle: handle.text, id: references.name(id.rawValue, .token), token: secret.text,
                scopes: Scopes.ofAccount.words), number: references.receipt(receipt))
    }
}
