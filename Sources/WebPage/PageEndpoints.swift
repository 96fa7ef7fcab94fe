import Answers
import HTTPServer
import Log
import Whereabouts

/// The pages that browsers open. Signed in, a page is the frame, and its script fills it through the API; without
/// scripts, the frame sends the browser on to the same address with `plain=true`, whose list the server writes
/// (``PlainViews``). Otherwise each view would be read, and recorded, twice.
struct PageEndpoints: Sendable {
    let decisions: Decisions
    let shell: PageShell
    let plain: PlainViews
    let sessions: SessionEndpoints

    /// `GET /`: signs in with a one-time code of the address, or opens the first view.
    func home(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        // Only a form uses the code up: programs that look at links before people open them would otherwise spend it.
        if let code = exchange.request.parameter("code") {
            return shell.signIn(exchange.request, next: "/", code: code)
        }
        return try view(exchange, context)
    }

    /// Every other view.
    func view(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let request = exchange.request
        let text = PageText(request)
        guard let reader = reader(exchange.caller) else {
            return shell.signIn(request, next: Self.address(request))
        }
        let path = request.path
        guard reader.link == nil || path == "/" || Self.isShown(path, to: reader) else {
            return HTTPResponse(status: 303, headers: [("Location", "/now")])
        }
        let title = Self.title(of: path, text)
        guard request.parameter("plain") == nil else {
            return try plain.answer(exchange, context, reader, text, title: title)
        }
        let html = shell.page(
            text, title: title, reader: reader, path: path, plainPath: Self.plain(request),
            session: sessions.description(of: exchange.caller, text)
        ) { html in
            html.element("h1", title)
            html.element("noscript") { html in
                html.element("p") { $0.element("a", ["href": Self.plain(request)], text["plain.link"]) }
            }
        }
        return shell.answer(html)
    }

    /// `GET /link`: the form that opens a share link, whose secret is in the fragment of the address.
    func link(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse { shell.link(exchange.request) }

    /// Whether a reader has the view of a path.
    private static func isShown(_ path: String, to reader: PageShell.Reader) -> Bool {
        PageShell.views.contains { (path == $0.path || path.hasPrefix($0.path + "/")) && reader.has($0) }
    }

    /// The person or operator who is signed in, or the viewer of a share link; `nil` without a session, and for
    /// a device.
    func reader(_ caller: Caller) -> PageShell.Reader? {
        guard caller.token != nil else { return nil }
        if caller.principal == .operator { return PageShell.Reader(person: nil) }
        if let viewed = sessions.viewed(by: caller) { return PageShell.Reader(person: viewed.person, link: viewed) }
        let person = decisions.log.withStanding { $0.persons[PersonID(rawValue: caller.principal.rawValue)]?.handle }
        return person.map { PageShell.Reader(person: $0) }
    }

    /// The name of the view of a path, in the page's language.
    static func title(of path: String, _ text: PageText) -> String {
        let view = PageShell.views.first { path == $0.path || path.hasPrefix($0.path + "/") }
        return text[view.map { "view.\($0.text)" } ?? (path == "/welcome" ? "view.welcome" : "view.home")]
    }

    /// The address of a request, as a link.
    private static func address(_ request: HTTPRequest) -> String {
        Self.link(request.rawPath, request.query.filter { $0.name != "plain" })
    }

    /// The same address with `plain=true`.
    private static func plain(_ request: HTTPRequest) -> String {
        Self.link(request.rawPath, request.query.filter { $0.name != "plain" } + [("plain", "true")])
    }

    /// An address with a query.
    static func link(_ path: String, _ query: [(name: String, value: String)]) -> String {
        guard !query.isEmpty else { return path }
        return path + "?" + query.map { "\(Self.escaped($0.name))=\(Self.escaped($0.value))" }.joined(separator: "&")
    }

    /// A text percent-encoded for a part of a path or a query.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"), UInt8(ascii: ":"), UInt8(ascii: "/"):
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                escaped += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return escaped
    }
}
