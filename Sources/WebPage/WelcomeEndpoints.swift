import Answers
import HTTPInterface
import HTTPServer
import HouseEndpoints
import JSON
import Replies

/// An invitation to an account, opened in a browser: a form for the name, then the new account, signed in.
///
/// The form works without scripts. Opening the address alone uses nothing up, so a program that previews it does no
/// harm.
struct WelcomeEndpoints: Sendable {
    let page: PageEndpoints
    let accounts: AccountEndpoints
    let sessions: SessionEndpoints
    let shell: PageShell
    /// The address under which browsers reach the service; `nil` for the one that each request names.
    let publicURL: String?

    /// `GET /welcome`: with the code of an invitation, the form; signed in, a view like the others.
    func read(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let request = exchange.request
        guard let code = request.parameter("invitation") ?? request.parameter("code"),
            page.reader(exchange.caller) == nil
        else { return try page.view(exchange, context) }
        return form(request, code: code, name: "")
    }

    /// `POST /welcome`: makes the account, signs the browser in, and shows the token once.
    ///
    /// Recorded as by `POST /v1/accounts`, and the session as `TokenIssued`. A wrong name or code shows the form
    /// again with the reason and the status of the refusal.
    func open(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let request = exchange.request
        guard !SessionCookie.isForeign(request, publicURL: publicURL) else {
            return shell.signIn(request, next: "/", problem: SessionEndpoints.foreign)
        }
        func field(_ name: String) -> String { request.form.first { $0.name == name }?.value ?? "" }
        let (code, name) = (field("code"), field("name").lowercased())
        // The API's own route decides, and records.
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("code", code)
        writer.field("name", name)
        writer.endObject()
        let inner = Exchange(
            request: HTTPRequest(method: "POST", path: "/v1/accounts", body: writer.bytes), parameters: [],
            id: exchange.id, caller: exchange.caller)
        let account: OpenedAccount
        do throws(Problem) { account = try accounts.opened(inner).made } catch {
            return form(request, code: code, name: name, problem: error)
        }
        let (cookie, seconds) = try sessions.open(Secret.hash(of: account.token), exchange)
        let text = PageText(request)
        let html = shell.page(text, title: text["welcome.done"], reader: nil, isPlain: true) { html in
            html.element("h1", text["welcome.done"])
            html.element("p") { html in
                html.text(text["welcome.handle"] + " ")
                html.element("b", account.handle)
            }
            html.element("p", text["welcome.token"])
            html.element("p") { $0.element("code", ["class": "secret"], account.token) }
            html.element("p") { $0.element("a", ["href": "/welcome", "class": "button"], text["welcome.next"]) }
        }
        var shown = shell.answer(html)
        shown.headers.append(SessionCookie.header(cookie.text, seconds: seconds, publicURL: publicURL))
        return shown
    }

    /// The form, with the reason if the last try failed; its fields keep their values.
    private func form(
        _ request: HTTPRequest, code: String, name: String, problem: Problem? = nil
    ) -> HTTPResponse {
        let text = PageText(request)
        let html = shell.page(text, title: text["welcome.title"], reader: nil, isPlain: true) { html in
            html.element("h1", text["welcome.title"])
            if let problem {
                let name =
                    switch problem.status {
                    case 400, 422: "welcome.badName"
                    case 404: "welcome.wrong"
                    default: "problem.503"
                    }
                html.element("p", ["role": "alert", "class": "problem"], text[name])
            }
            html.element("form", ["method": "post", "action": "/welcome", "id": "welcome", "class": "card"]) { html in
                for (name, value, label) in [("name", name, "welcome.name"), ("code", code, "welcome.code")] {
                    html.element("label", ["class": "field"]) { html in
                        html.element("span", text[label])
                        html.element(
                            "input",
                            [
                                "id": name, "name": name, "required": "", "autocapitalize": "off",
                                "autocomplete": "off",
                                "spellcheck": "false", "value": value.isEmpty ? nil : value,
                            ])
                    }
                }
                html.element("button", ["type": "submit", "class": "primary"], text["welcome.button"])
            }
        }
        return shell.answer(html, status: problem?.status ?? 200)
    }
}
