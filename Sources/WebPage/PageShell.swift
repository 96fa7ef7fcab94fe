import Answers
import HTTPServer
import Whereabouts

/// The frame of every page: head, navigation, and the form with which someone signs in.
///
/// The frame is the same with and without scripts. All texts come from `PageText`, and all markup from ``HTML``.
struct PageShell: Sendable {
    /// The files of the page.
    let assets: PageAssets
    /// The file of the operator's own map, whether or not there is one.
    let tilesPath: String
    /// The server of map pictures; `nil` if the operator has chosen none.
    let onlineTiles: OnlineTiles?

    /// The page's Content Security Policy: nothing from other origins but pictures of ``onlineTiles``, no inline script or
    /// style, no frame around it. Leaflet's zoom control writes `innerHTML`, so Trusted Types cannot be required.
    var policy: String {
        let pictures = onlineTiles.map { " \($0.origin)" } ?? ""
        return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:\(pictures); "
            + "connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; "
            + "frame-ancestors 'none'"
    }

    /// The views in the order of the navigation: address, name of the text, and whether it is the operator's.
    static let views: [(path: String, text: String, isOperators: Bool)] = [
        ("/now", "now", false), ("/day", "day", false), ("/audit", "audit", false), ("/requests", "requests", false),
        ("/sharing", "sharing", false), ("/places", "places", false), ("/regions", "regions", false),
        ("/year", "year", false), ("/devices", "devices", false), ("/operate", "operate", true),
    ]

    /// The path of the form that opens a share link.
    static let linkPath = "/link"

    /// An answer with a page.
    ///
    /// - Parameter status: 200, or the status of the problem that the page shows.
    func answer(_ html: HTML, status: Int = 200) -> HTTPResponse {
        HTTPResponse(
            status: status,
            headers: [
                ("Content-Type", "text/html; charset=utf-8"), ("Content-Security-Policy", policy),
                ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Opener-Policy", "same-origin"),
                ("Cross-Origin-Resource-Policy", "same-origin"), ("X-Content-Type-Options", "nosniff"),
            ], body: Array(html.source.utf8))
    }

    /// The signed-in person or operator, as the frame shows them.
    struct Reader {
        /// The handle of the person whose data the views show; `nil` for the operator.
        let person: Handle?
        /// The view of a viewer who opened a share link; `nil` for people with an account and the operator.
        var link: SessionEndpoints.Viewed?

        /// The name in the head of the page.
        var name: String { person?.text ?? "operator" }

        /// Whether the reader has the view of this path in the navigation.
        ///
        /// A viewer of a link has the present location, and the days if the link shows history.
        func has(_ view: (path: String, text: String, isOperators: Bool)) -> Bool {
            guard let link else { return !view.isOperators || person == nil }
            return view.path == "/now" || (view.path == "/day" && link.grant.includesHistory)
        }
    }

    /// A page with `title` in its head.
    ///
    /// - Parameters:
    ///   - reader: The signed-in person or operator; `nil` without a session.
    ///   - plainPath: Where a browser without scripts goes instead.
    ///   - path: The path of the view that is open.
    ///   - session: The answer of `GET /session`, so that the page's script need not ask for it.
    func page(
        _ text: PageText, title: String, reader: Reader?, path: String = "",
        plainPath: String? = nil, isPlain: Bool = false, session: [UInt8]? = nil, _ main: (inout HTML) -> Void
    ) -> HTML {
        var html = HTML()
        html.doctype()
        html.element(
            "html",
            [
                "lang": text.language, "data-person": reader?.name, "data-assets": assets.hash,
                "data-session": session.map { String(decoding: $0, as: UTF8.self) },
                "data-tiles": session.flatMap { _ in
                    RasterTiles.about(in: tilesPath).map {
                        String(decoding: $0.json, as: UTF8.self)
                    }
                },
                "data-online-tiles": session.flatMap { _ in
                    onlineTiles.map { String(decoding: $0.json, as: UTF8.self) }
                },
            ]
        ) { html in
            html.element("head") { html in
                html.element("meta", ["charset": "utf-8"])
                html.element(
                    "meta", ["name": "viewport", "content": "width=device-width, initial-scale=1, viewport-fit=cover"])
                html.element("meta", ["name": "color-scheme", "content": "light dark"])
                html.element("title", "\(title) · Whereabouts")
                // Leaflet's style is loaded with the first map, because the browser paints nothing until a style is loaded.
                if let style = assets.address(of: "page.css") {
                    html.element("link", ["rel": "stylesheet", "href": style])
                }
                if !isPlain { Self.scripts(&html, assets, text, reader, path) }
                if let icon = assets.address(of: "icon.svg") {
                    html.element("link", ["rel": "icon", "type": "image/svg+xml", "href": icon])
                }
                if let icon = assets.address(of: "apple-touch-icon.png") {
                    html.element("link", ["rel": "apple-touch-icon", "href": icon])
                }
                if let manifest = assets.address(of: "manifest.webmanifest") {
                    html.element("link", ["rel": "manifest", "href": manifest])
                }
                if let plainPath {
                    html.element("noscript") { html in
                        html.element("meta", ["http-equiv": "refresh", "content": "0; url=\(plainPath)"])
                    }
                }
            }
            html.element("body") { html in
                html.element("a", ["class": "skip", "href": "#main"], text["skip"])
                if let reader {
                    Self.header(&html, text, reader, path, isPlain: isPlain)
                } else {
                    html.element("header", ["class": "top"]) { html in
                        html.element("a", ["class": "brand", "href": "/"], "Whereabouts")
                    }
                }
                html.element("main", ["id": "main", "tabindex": "-1"]) { html in
                    html.element("div", ["class": reader == nil ? "page narrow" : "page"]) { main(&$0) }
                }
            }
        }
        return html
    }

    /// The script, and the modules and texts that it needs to show the view.
    private static func scripts(
        _ html: inout HTML, _ assets: PageAssets, _ text: PageText, _ reader: Reader?, _ path: String
    ) {
        guard let main = assets.address(of: "main.js") else { return }
        html.element("script", ["type": "module", "src": main])
        let first = path.split(separator: "/").first.map(String.init)
        let home = reader?.person == nil ? "welcome" : "now"
        let view = path == linkPath ? "link" : reader == nil ? "signin" : first ?? home
        for address in assets.addresses(ofScripts: ["main.js", "view-\(view).js"]).dropFirst() {
            html.element("link", ["rel": "modulepreload", "href": address])
        }
        if let texts = assets.address(of: "strings.\(text.language).json") {
            html.element("link", ["rel": "preload", "as": "fetch", "crossorigin": "anonymous", "href": texts])
        }
    }

    /// The navigation, the reader's name and the form that signs out. Views of the operator are hidden from others.
    private static func header(
        _ html: inout HTML, _ text: PageText, _ reader: Reader, _ path: String, isPlain: Bool
    ) {
        func address(_ path: String) -> String { isPlain ? path + "?plain=true" : path }
        html.element("header", ["class": "top"]) { html in
            html.element("a", ["class": "brand", "href": address("/now")], "Whereabouts")
            html.element("nav", ["aria-label": text["navigation"]]) { html in
                for view in views where reader.has(view) {
                    let isOpen = path == view.path || path.hasPrefix(view.path + "/")
                    html.element(
                        "a", ["href": address(view.path), "aria-current": isOpen ? "page" : nil],
                        text["view.\(view.text)"])
                    html.text(" ")
                }
            }
            html.element("span", ["class": "who"], reader.name)
            html.element("form", ["method": "post", "action": "/session/end"]) { html in
                html.element("button", ["type": "submit"], text["signOut"])
            }
        }
    }

    /// The form that opens a share link. It is the same for every link: a program that previews the address learns nothing
    /// and opens nothing.
    func link(_ request: HTTPRequest, problem: Problem? = nil) -> HTTPResponse {
        let text = PageText(request)
        let html = page(text, title: text["link.title"], reader: nil, path: Self.linkPath) { html in
            html.element("h1", text["link.title"])
            html.element("p", ["class": "lead"], text["link.lead"])
            if let problem {
                html.element(
                    "p", ["role": "alert", "class": "problem"],
                    text[problem.status == 404 ? "link.wrong" : "problem.\(problem.status)"])
            }
            html.element("form", ["method": "post", "action": "/session", "id": "open-link", "class": "card"]) { html in
                for (name, label, hint) in [
                    ("link", "link.address", "link.where"), ("passphrase", "link.passphrase", "link.ifAny"),
                ] {
                    html.element("label", ["class": "field"]) { html in
                        html.element("span", text[label])
                        html.element(
                            "input",
                            [
                                "id": name, "name": name, "required": name == "link" ? "" : nil, "autocomplete": "off",
                                "autocapitalize": "off", "spellcheck": "false",
                            ])
                        html.element("span", ["class": "hint"], text[hint])
                    }
                }
                html.element("button", ["type": "submit", "class": "primary"], text["link.button"])
                html.element("p", ["class": "mut small"], text["link.recorded"])
            }
        }
        var answer = self.answer(html, status: problem?.status ?? 200)
        answer.headers.append(("X-Robots-Tag", "noindex, nofollow"))
        return answer
    }

    /// The page at an address that no route has. It is the same for everyone, says no more than the problem that programs
    /// get, and needs no script.
    func nothing(_ request: HTTPRequest) -> HTTPResponse {
        let text = PageText(request)
        let html = page(text, title: text["nothing.title"], reader: nil, isPlain: true) { html in
            html.element("h1", text["nothing.title"])
            html.element("p") { $0.element("a", ["href": "/"], text["nothing.home"]) }
        }
        return answer(html, status: 404)
    }

    /// The form with which someone signs in, with the reason if a try failed.
    func signIn(
        _ request: HTTPRequest, next: String, code: String? = nil, problem: Problem? = nil
    ) -> HTTPResponse {
        let text = PageText(request)
        let html = page(text, title: text["signIn.title"], reader: nil) { html in
            html.element("h1", text[code == nil ? "signIn.title" : "signIn.confirm"])
            html.element("p", ["class": "lead"], text["signIn.lead"])
            if let problem {
                html.element("p", ["role": "alert", "class": "problem"], text["problem.\(problem.status)"])
            }
            html.element("form", ["method": "post", "action": "/session", "id": "sign-in", "class": "card"]) { html in
                html.element("input", ["type": "hidden", "name": "next", "value": next])
                if let code {
                    html.element("p", text["signIn.once"])
                    html.element("input", ["type": "hidden", "name": "code", "value": code])
                } else {
                    html.element("label", ["class": "field"]) { html in
                        html.element("span", text["signIn.token"])
                        html.element(
                            "input",
                            [
                                "id": "token", "name": "token", "type": "password", "required": "",
                                "autocomplete": "current-password", "autocapitalize": "off", "spellcheck": "false",
                            ])
                        html.element("span", ["class": "hint"], text["signIn.where"])
                    }
                }
                html.element("button", ["type": "submit", "class": "primary"], text["signIn.button"])
            }
        }
        return answer(html, status: problem?.status ?? 200)
    }
}
