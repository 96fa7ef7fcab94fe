import Answers
import HTTPInterface
import HTTPServer
import JSON
import Log
import Replies
import Synchronization
import Transparency
import Whereabouts
import WireFormats

/// Signing in to the web page, and out. A session is a token of its holder that is valid only as the page's cookie.
///
/// The cookie is `HttpOnly` and `SameSite`, so scripts and other pages cannot use it; `SessionCookie` says when it
/// counts. Each session is an event, and the list of tokens shows it.
struct SessionEndpoints: Sendable {
    let decisions: Decisions
    /// Finds the session of a cookie.
    let callers: Callers
    let shell: PageShell
    /// Names the log of a person, by which the page keeps checkpoints apart.
    let seal: HouseSeal
    /// The address under which browsers reach the service; `nil` for the one that each request names.
    let publicURL: String?
    /// Whether the page shows that the data is made up.
    let isDemo: Bool
    /// Slows down guessing.
    let wrongSignIns: WrongSignIns

    /// `GET /session`: the signed-in person or operator, and the end of the session.
    ///
    /// Answers 204 without a session and 404 to a device. Otherwise 200 with `person` (null for the operator),
    /// `handle`, `operator`, `log` (null for the operator), `scopes`, `expires`, `language`, `assets` and `demo`.
    ///
    /// Not recorded: it shows the caller's own name and rights.
    func read(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let caller = exchange.caller
        guard caller.token != nil else {
            // Browsers report a 401 as an error of the page, and a page may ask who it is.
            guard exchange.request.header("authorization") == nil else { throw .notAuthenticated }
            return .empty(204)
        }
        let isDevice = decisions.log.withStanding {
            $0.devices[DeviceID(rawValue: caller.principal.rawValue)] != nil
        }
        guard !isDevice else { throw .notFound }
        return .json(description(of: caller, PageText(exchange.request)))
    }

    /// The answer of `GET /session` to a person or the operator. Each page has it too.
    func description(of caller: Caller, _ text: PageText) -> [UInt8] {
        let (person, expires) = decisions.log.withStanding { standing in
            (
                standing.persons[PersonID(rawValue: caller.principal.rawValue)]?.handle,
                caller.token.flatMap { standing.tokens[$0]?.issued.until }
            )
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("person")
        if let person { writer.value(person.text) } else { writer.null() }
        writer.field("handle", person?.text ?? (caller.principal == .operator ? "operator" : "link"))
        writer.field("operator", caller.principal == .operator)
        if let viewed = viewed(by: caller) {
            writer.object("link") {
                $0.field("person", viewed.person.text)
                $0.field("history", viewed.grant.includesHistory)
                $0.field("live", viewed.isLive)
            }
        }
        // With the origin, the page finds the checkpoint that it remembers before it requests a new one.
        let key = person == nil ? nil : try? decisions.log.proofKey(of: PersonID(rawValue: caller.principal.rawValue))
        writer.key("log")
        if let key { writer.value(seal.origin(under: key).text) } else { writer.null() }
        writer.array("scopes") { writer in for word in caller.scopes.words { writer.value(word) } }
        writer.key("expires")
        if let expires { writer.unixSeconds(milliseconds: expires.milliseconds) } else { writer.null() }
        writer.field("language", text.language)
        writer.field("assets", shell.assets.hash)
        writer.field("demo", isDemo)
        writer.endObject()
        return writer.bytes
    }

    /// The person and the rights of a viewer who opened a share link.
    struct Viewed {
        /// The person of the link.
        let person: Handle
        /// The rights of the link.
        let grant: Grant
        /// Whether the view follows the person until the link ends.
        let isLive: Bool
    }

    /// The caller's view; `nil` unless the caller opened a share link that still shows something.
    func viewed(by caller: Caller) -> Viewed? {
        decisions.log.withStanding { standing in
            guard let link = standing.links[LinkID(rawValue: caller.principal.rawValue)],
                let person = standing.persons[link.subject]?.handle, let grant = standing.grants[link.grant]
            else { return nil }
            return Viewed(person: person, grant: grant, isLive: link.isLive)
        }
    }

    /// `POST /v1/link-openings`: opens a share link, and gives a token with which its person can be read.
    ///
    /// The body has `link`, the secret or the whole address, and `passphrase` if the link has one. Answers 201 with
    /// `token`, `until`, `person`, `precision`, `history` and `live`.
    ///
    /// Needs no token. Recorded as `LinkOpened` and `TokenIssued` in the audit of the link's person.
    ///
    /// - Throws: 404 for every link that shows nothing, whatever the reason; 429 if the link was opened too often in
    ///   a short time, or after many wrong secrets.
    func openLink(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let body = try exchange.object("link", "passphrase")
        let hash = Secret.hash(ofLink: try body.requiredText("link"), passphrase: try Secret.passphrase(body))
        let now = decisions.clock()
        let secret = Secret(prefix: "wv_", exchange.secretBytes)
        let (id, receipt): (TokenID, Receipt)
        do throws(Problem) {
            (id, receipt) = try decisions.append(exchange, .openLink(hash, token: secret.hash, isSession: false))
        } catch {
            if error.status == 401 { throw wrongSignIns.note(WrongSignIns.wrongLink, at: now) }
            throw error
        }
        guard let token = decisions.log.withStanding({ $0.tokens[id]?.issued }), let until = token.until,
            let viewed = viewed(by: Caller(principal: token.principal, scopes: token.scopes, token: id))
        else { throw .overSince }
        return HTTPResponse.created(
            receipt, decisions.references(of: PersonID(rawValue: token.principal.rawValue)),
            OpenedLink(
                token: secret.text, until: Moment(until), person: viewed.person.text,
                precision: viewed.grant.precision.word, history: viewed.grant.includesHistory, isLive: viewed.isLive))
    }

    /// `POST /session`: signs in with a token, a one-time code or a share link, by a form or by JSON.
    ///
    /// Needs no token. Recorded as `TokenIssued` with the scope `session`. A form is answered with a redirection,
    /// JSON with the path.
    ///
    /// - Throws: 401 for a wrong token or code, 404 for a wrong link, 403 for a form of another page, 429 after many
    ///   wrong secrets.
    func open(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let request = exchange.request
        guard !SessionCookie.isForeign(request, publicURL: publicURL) else {
            throw Self.foreign
        }
        let isForm = !request.form.isEmpty
        let shown =
            try isForm
            ? Shown(form: request.form) : Shown(try exchange.object("token", "code", "link", "passphrase", "next"))
        do throws(Problem) {
            let (cookie, seconds) = try open(shown.hash, isLink: shown.isLink, exchange)
            let header = SessionCookie.header(cookie.text, seconds: seconds, publicURL: publicURL)
            guard isForm else {
                var writer = JSONWriter()
                writer.beginObject()
                writer.field("next", shown.next)
                writer.endObject()
                var response = HTTPResponse.json(writer.bytes)
                response.headers.append(header)
                return response
            }
            return HTTPResponse(status: 303, headers: [("Location", shown.next), header])
        } catch {
            guard isForm else { throw error }
            var page =
                shown.isLink
                ? shell.link(request, problem: error) : shell.signIn(request, next: shown.next, problem: error)
            if let seconds = error.retryAfterSeconds { page.headers.append(("Retry-After", "\(seconds)")) }
            return page
        }
    }

    /// The answer to a form of another page.
    static let foreign = Problem(
        403, "Not allowed", "Another page sent this; open the service's own page and sign in there.")

    /// Opens a session for the holder of a secret with this hash: a token, a one-time code, or that of a share link.
    ///
    /// Returns the secret of the cookie, and the seconds until the session ends.
    func open(
        _ hash: Hash256, isLink: Bool = false, _ exchange: Exchange
    ) throws(Problem) -> (cookie: Secret, seconds: Int64) {
        let now = decisions.clock()
        let (isRight, token) = decisions.log.withStanding {
            (isLink ? $0.opensLink(hash, at: now) : $0.opensSession(hash, at: now), $0.caller(tokenHash: hash, at: now))
        }
        let wrong = isLink ? WrongSignIns.wrongLink : WrongSignIns.wrong
        guard isRight else { throw wrongSignIns.note(wrong, at: now) }
        let secret = Secret(prefix: "ws_", exchange.secretBytes)
        let order: Order<TokenID> =
            isLink
            ? .openLink(hash, token: secret.hash, isSession: true) : .openSession(from: hash, hash: secret.hash)
        let receipt: Receipt
        do throws(AppendFailure) {
            receipt = try decisions.log.appendAndWait(
                order.command, by: token ?? .house, correlation: exchange.id)
        } catch {
            // The code was used, the token revoked, or the link ended, by another request at the same moment.
            if case .refused(.notAuthenticated) = error { throw wrongSignIns.note(wrong, at: now) }
            throw Problem(error)
        }
        guard let id = order.read(receipt.reply),
            let until = decisions.log.withStanding({ $0.tokens[id]?.issued.until })
        else { throw .broken }
        endBefore(exchange)
        return (secret, max(0, (until.milliseconds - now.milliseconds) / 1000))
    }

    /// Ends the session that the browser had before: the new cookie replaces it.
    private func endBefore(_ exchange: Exchange) {
        guard let secret = SessionCookie.secret(of: exchange.request, publicURL: publicURL),
            let caller = callers.session(of: secret)
        else { return }
        // The new session is on record, so a failure to end the old one is no failure of this request.
        _ = try? decisions.log.appendAndWait(.endSession(isEverywhere: false), by: caller, correlation: exchange.id)
    }

    /// `DELETE /session`: signs out.
    ///
    /// Recorded as `TokenRevoked`, one for each session that ends. With `everywhere=true`, all sessions of the holder
    /// end. The tokens of the person's apps stay.
    func close(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        try end(exchange, isEverywhere: try exchange.flag("everywhere"))
        return HTTPResponse(
            status: 204, headers: [SessionCookie.header(nil, seconds: 0, publicURL: publicURL)])
    }

    /// `POST /session/end`: signs out, by a form too.
    func end(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let inForm = exchange.request.form.contains { $0 == ("everywhere", "true") }
        try end(exchange, isEverywhere: try exchange.flag("everywhere") || inForm)
        guard exchange.request.header("accept")?.contains("text/html") == true else {
            return HTTPResponse(
                status: 204, headers: [SessionCookie.header(nil, seconds: 0, publicURL: publicURL)])
        }
        return HTTPResponse(
            status: 303,
            headers: [("Location", "/"), SessionCookie.header(nil, seconds: 0, publicURL: publicURL)])
    }

    /// Ends this session, or all of the holder's.
    private func end(
        _ exchange: Exchange, isEverywhere: Bool
    ) throws(Problem) {
        try decisions.append(exchange, .endSession(isEverywhere: isEverywhere))
    }

    /// `POST /v1/sign-in-codes`: makes a one-time code for a session, and shows it once.
    ///
    /// Without `person`, the code is for the caller. Answers 201 with `code`, `path` and
    /// `expires`.
    ///
    /// May call: a person for themselves, and the operator for anyone, with the scope `manage`. Recorded with the
    /// hash of the code, as a token that only opens a session. It works once, within ``Limits/signInCodeSeconds``.
    func makeCode(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let body = try exchange.object("person")
        let person = try body.optionalText("person") == nil ? nil : try body.handle("person")
        let own = decisions.log.withStanding {
            $0.persons[PersonID(rawValue: exchange.caller.principal.rawValue)]?.handle
        }
        let code = InvitationCode(exchange.secretBytes)
        let holder = (person ?? own).map { TokenHolder.person($0) } ?? .operator
        let receipt = try decisions.append(exchange, .makeSignInCode(for: holder, hash: code.hash))
        let expires = receipt.recordedAt.adding(seconds: Limits.signInCodeSeconds)
        return HTTPResponse.created(
            receipt, decisions.references(for: exchange.caller),
            MadeSignInCode(code: code.text, path: "/?code=\(code.text)", expires: Moment(expires)))
    }

    /// The content of a sign-in request.
    private struct Shown {
        /// The hash of the token or of the code, or of the link with its passphrase.
        let hash: Hash256
        /// Whether the hash is that of a link.
        let isLink: Bool
        /// The path to open after the sign-in; `/` if the given one is not a path of this service.
        let next: String

        /// The fields of the form; of its two ways, the filled one counts.
        init(form: [(name: String, value: String)]) throws(Problem) {
            func field(_ name: String) -> String? { form.first { $0.name == name && !$0.value.isEmpty }?.value }
            self.init(
                token: field("token"), code: field("code"), link: form.first { $0.name == "link" }?.value,
                passphrase: field("passphrase"), next: field("next"))
        }

        /// The members `token`, `code` or `link`, and `next`. Throws 400 unless exactly one of the first three is given.
        init(_ body: JSONValue) throws(Problem) {
            let token = try body.optionalText("token")
            let code = try body.optionalText("code")
            let link = try body.optionalText("link")
            guard [token, code, link].count(where: { $0 != nil }) == 1 else {
                throw .invalid("Send either \"token\", \"code\" or \"link\", for example {\"token\": \"wp_…\"}.")
            }
            self.init(
                token: token, code: code, link: link, passphrase: try Secret.passphrase(body),
                next: try body.optionalText("next"))
        }

        private init(token: String?, code: String?, link: String?, passphrase: String?, next: String?) {
            isLink = token == nil && code == nil && link != nil
            if isLink {
                (hash, self.next) = (Secret.hash(ofLink: link ?? "", passphrase: passphrase), "/now")
                return
            }
            self.next = next.flatMap { Self.isLocal($0) ? $0 : nil } ?? "/"
            guard let token else {
                hash = InvitationCode.hash(ofGiven: code ?? "")
                return
            }
            // A code that was typed into the field for the token is still a code.
            let text = token.drop { $0.isWhitespace }.prefix { !$0.isWhitespace }
            hash = InvitationCode(token)?.hash ?? Secret.hash(of: String(text))
        }

        /// Whether a text is a path of this service: browsers read `//host` and `/\host` as another one's address.
        private static func isLocal(_ text: String) -> Bool {
            text.hasPrefix("/") && !text.hasPrefix("//") && text.utf8.count <= 2048
                && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }
        }
    }
}

/// The wrong tokens and codes shown by anyone. Tokens have 256 random bits and codes 100, so guessing is hopeless at
/// any rate; the limit makes a client that tries anyway wait, and right secrets are never refused by it.
final class WrongSignIns: Sendable {
    /// One allowance for all callers, because wrong secrets have no owner.
    private let allowance = Mutex(Allowance())

    /// The same answer for every wrong secret.
    static let wrong = Problem(
        401, "Not signed in", "This token or code is wrong, used, revoked or too old; ask for a new one.")

    /// The same answer for every link that shows nothing.
    static let wrongLink = Problem(
        404, "No such link",
        "This link is wrong, has ended, was opened as often as it may be, or needs another passphrase.")

    /// Counts a wrong secret, and gives its answer, which is 429 after many.
    ///
    /// The allowance is for all callers together, so 429 may answer a first wrong secret while another caller is
    /// guessing.
    func note(_ wrong: Problem, at now: Timestamp) -> Problem {
        let next = allowance.withLock { allowance in
            let next = allowance.earliest(at: Limits.wrongSignIns, now: now)
            if next <= now { allowance.take(at: Limits.wrongSignIns, now: now) }
            return next
        }
        guard next > now else { return wrong }
        return Problem(
            429, "Too often", "Too many wrong tokens and codes were shown; try again later.",
            retryAfterSeconds: Int((next.milliseconds - now.milliseconds + 999) / 1000))
    }
}
