import HTTPServer
import JSON
import Whereabouts

/// How somebody becomes a person by a code that the operator or another person has made.
enum AccountEndpoints {
    static func invite(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let wanted = try exchange.object("expires").time("expires")
        let code = InvitationCode(exchange.secretBytes)
        let receipt = try Gate.append(
            service, exchange,
            .inviteToAccount(
                by: inviter(service, exchange.caller), hash: code.hash,
                expires: wanted ?? service.clock().adding(seconds: Limits.defaultInvitationSeconds)))
        guard case .accountInvitation(let id) = receipt.reply else { throw .broken }
        let expires = service.log.withStanding { $0.accountInvitations[id]?.expires }
        let references = service.references(for: exchange.caller)
        return GrantEndpoints.invited(
            receipt, references.name(id.rawValue, .accountInvitation), code, expires ?? wanted, references)
    }

    /// The person whose token it is; `nil` for the operator, and for who is neither, whom the writer refuses.
    private static func inviter(_ service: Service, _ caller: Caller) -> Handle? {
        service.log.withStanding { $0.persons[PersonID(rawValue: caller.principal.rawValue)]?.handle }
    }

    static func list(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        guard exchange.caller.scopes.contains(.manage) else { throw .notFound }
        let now = service.clock()
        let references = service.references(for: exchange.caller)
        let body = service.log.withStanding { standing in
            ManageEndpoints.list(standing, references) { writer in
                for (id, invitation) in standing.accountInvitations.sorted(by: { $0.key < $1.key })
                where invitation.inviter == exchange.caller.principal && now < invitation.expires {
                    writer.beginObject()
                    writer.field("id", references.name(id.rawValue, .accountInvitation))
                    writer.field("expires", milliseconds: invitation.expires.milliseconds)
                    writer.endObject()
                }
            }
        }
        return .json(body)
    }

    static func withdraw(_ service: Service, _ exchange: Exchange) throws(Problem) -> Command {
        .withdrawAccountInvitation(AccountInvitationID(rawValue: try exchange.number(0, .accountInvitation, service)))
    }

    /// Makes the account, for whoever shows a code: there are no credentials yet.
    static func open(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let body = try exchange.object("code", "name")
        let name = try body.handle("name")
        guard name.text.utf8.count <= Limits.accountNameCharacters else {
            throw .invalid("\"name\" must have at most \(Limits.accountNameCharacters) characters.")
        }
        let secret = Secret(prefix: "wp_", exchange.secretBytes)
        // From the hash, as good as by chance: the handle is for everybody's eyes.
        let ending = InvitationCode(secret.hash.bytes).text.prefix(4).lowercased()
        guard let handle = Handle("\(name.text)-\(ending)") else { throw .broken }
        let receipt = try Gate.append(
            service, exchange,
            .openAccount(try InvitationCode.hash(ofGiven: body.text("code")), as: handle, key: secret.hash))
        guard case .token(let id) = receipt.reply,
            let holder = service.log.withStanding({ $0.tokens[id]?.issued.principal })
        else { throw .broken }
        // Whoever opened the account came without credentials, and is the new person from here on.
        let references = service.references(of: PersonID(rawValue: holder.rawValue))
        return ManageEndpoints.created(receipt, references) { writer in
            writer.field("handle", handle.text)
            ManageEndpoints.write(id, secret, .ofAccount, references, into: &writer)
        }
    }
}
