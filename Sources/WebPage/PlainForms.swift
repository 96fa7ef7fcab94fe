import Answers
import HTTPServer
import JSON
import Whereabouts

/// The forms of the plain views: without scripts, a person answers questions, pauses sharing and ends a right here.
///
/// A form makes one request of the API with the rights of the session, so it is authorized and recorded like the request
/// of any other client. The session's cookie counts only if the service's own page sent the form
/// (`SessionCookie.counts`).
struct PlainForms: Sendable {
    let page: PageEndpoints
    let shell: PageShell
    let plain: PlainViews

    /// The task of a form.
    ///
    /// Its raw value is the value of the hidden field `task`.
    enum Task: String, Sendable {
        case consent, refuse, end, pause, resume
    }

    /// A button as a form: for one row of a table, or below the table.
    struct Button: Sendable {
        /// The effect of the button.
        let task: Task
        /// The member of the row with the id that the task needs; `nil` below the table.
        var id: String?
        /// The member of the row that names the thing to readers of the screen.
        var name: String?
    }

    /// How long the button pauses sharing. The page with scripts offers other times.
    private static let pauseSeconds: Int64 = 3600

    /// `POST /sharing`: does the field `task` for the item in the field `id`, and redirects to the view.
    ///
    /// May call: a person who is signed in, for themselves; the operator and viewers of a link get 404. Without a
    /// session the answer is the form to sign in.
    ///
    /// - Throws: 404 for an unknown task, or an id that is more than one part of a path. A refusal of the API is a
    ///   page with its status.
    func answer(_ exchange: Exchange, _ context: AnswerContext) throws(Problem) -> HTTPResponse {
        let request = exchange.request
        guard let reader = page.reader(exchange.caller) else {
            return shell.signIn(request, next: "/sharing?plain=true")
        }
        func field(_ name: String) -> String { request.form.first { $0.name == name }?.value ?? "" }
        guard let person = reader.person?.text, let task = Task(rawValue: field("task")) else { throw .notFound }
        let id = field("id")
        // An id is one part of a path.
        guard !id.contains("/") else { throw .notFound }
        let made = Self.call(task, of: "/v1/people/\(person)", id)
        switch plain.answer(to: made, exchange, context) {
        case .success: return HTTPResponse(status: 303, headers: [("Location", "/sharing?plain=true")])
        case .failure(let problem):
            let text = PageText(request)
            let name = "problem.\(problem.status)"
            let html = shell.page(
                text, title: text["view.sharing"], reader: reader, path: "/sharing", isPlain: true
            ) { html in
                html.element("h1", text["view.sharing"])
                html.element(
                    "p", ["role": "alert", "class": "problem"], text[text.has(name) ? name : "problem.503"])
                html.element("p") { $0.element("a", ["href": "/sharing?plain=true"], text["view.sharing"]) }
            }
            return shell.answer(html, status: problem.status)
        }
    }

    /// The request of the API that a task is.
    ///
    /// - Parameters:
    ///   - person: The path of the reader, `/v1/people/HANDLE`.
    ///   - id: The reference of a grant, or the id of a query.
    private static func call(_ task: Task, of person: String, _ id: String) -> HTTPRequest {
        func request(_ method: String, _ path: String, _ write: ((inout JSONWriter) -> Void)? = nil) -> HTTPRequest {
            var writer = JSONWriter()
            if let write {
                writer.beginObject()
                write(&writer)
                writer.endObject()
            }
            return HTTPRequest(
                method: method, path: path, query: [], headers: [("Content-Type", "application/json")],
                body: writer.bytes)
        }
        return switch task {
        case .consent: request("POST", "\(person)/consent-requests/\(id)") { $0.field("consent", "given") }
        case .refuse: request("POST", "\(person)/consent-requests/\(id)") { $0.field("consent", "refused") }
        case .end: request("DELETE", "/v1/grants/\(id)")
        case .pause: request("POST", "\(person)/pauses") { $0.field("forSeconds", pauseSeconds) }
        case .resume: request("DELETE", "\(person)/pauses")
        }
    }

    /// Writes the form that filters the audit by who and by outcome. Its address is that of the page with scripts.
    static func writeFilter(_ request: HTTPRequest, _ text: PageText, _ html: inout HTML) {
        let filter = AuditFilter(request)
        html.element("form", ["method": "get", "action": "/audit", "class": "filters"]) { html in
            for name in ["plain", "person", "from", "to"] {
                guard let value = request.parameter(name) else { continue }
                html.element("input", ["type": "hidden", "name": name, "value": value])
            }
            html.element("label", ["class": "field"]) { html in
                html.element("span", text.word("audit", "who"))
                html.element("input", ["name": "who", "value": filter.who, "autocomplete": "off"])
            }
            html.element("label", ["class": "field"]) { html in
                html.element("span", text.word("audit", "outcomeHead"))
                html.element("select", ["name": "outcome"]) { html in
                    for outcome in [""] + AuditFilter.outcomes {
                        html.element(
                            "option",
                            ["value": outcome, "selected": outcome == filter.outcome ? "" : nil],
                            outcome.isEmpty ? text.word("audit", "byOthers") : text.word("audit.filters", outcome))
                    }
                }
            }
            html.element("button", ["type": "submit"], text.word("audit", "filter"))
        }
    }

    /// Writes the form of a button.
    ///
    /// - Parameter item: The row that the button is in; `nil` below the table.
    static func write(_ button: Button, for item: JSONValue?, _ text: PageText, _ html: inout HTML) {
        let label = text["form.\(button.task.rawValue)"]
        let name = button.name.flatMap { item?[$0]?.string }
        html.element("form", ["method": "post", "action": "/sharing"]) { html in
            html.element("input", ["type": "hidden", "name": "task", "value": button.task.rawValue])
            if let id = button.id.flatMap({ item?[$0]?.string }) {
                html.element("input", ["type": "hidden", "name": "id", "value": id])
            }
            html.element("button", ["type": "submit", "aria-label": name.map { "\(label): \($0)" }], label)
        }
    }
}
