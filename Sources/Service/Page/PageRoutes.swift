import HTTPServer
import Whereabouts

// The web page, its views and its files. The API description does not have them.

extension PageEndpoints {
    /// The views.
    var routes: [Route] {
        [Route.page("/", home)]
            + [
                "/now", "/day", "/day/*", "/audit", "/requests", "/requests/*", "/sharing", "/regions", "/places",
                "/year", "/year/*", "/devices", "/operate", "/operate/*",
            ].map { Route.page($0, view) }
    }
}

extension WelcomeEndpoints {
    /// The form of an invitation to an account.
    var routes: [Route] {
        [.page("/welcome", read), Route("POST", "/welcome", .answer(open), .none, discloses: .command)]
    }
}

extension PlainForms {
    /// The forms of the plain views.
    var routes: [Route] { [Route("POST", "/sharing", .answer(answer), .page, discloses: .command)] }
}

extension PageAssets {
    /// The files of the page.
    var routes: [Route] {
        [
            .asset("/assets/*", read), .asset("/assets/*/*", read), .asset("/assets/*/images/*", image),
            .asset("/favicon.ico", icon), .asset("/offline.js", top), .asset("/manifest.webmanifest", top),
        ]
    }
}

extension MapEndpoints {
    /// The files of the basemap and of the operator's own map.
    var routes: [Route] {
        [
            .asset("/basemap/index.json", basemapIndex), .asset("/basemap/*/*", basemapCell),
            .asset("/tiles/*/*/*", tile),
        ]
    }
}

extension Route {
    /// A view of the page.
    fileprivate static func page(_ path: String, _ work: @escaping Handler) -> Route {
        Route("GET", path, .answer(work), .page, discloses: .otherRoutes, bodyBytes: 0, mixesTexts: true)
    }

    /// A file that is the same for everyone. It has its own compression.
    fileprivate static func asset(_ path: String, _ work: @escaping Handler) -> Route {
        Route(
            "GET", path, .answer(work), .none, discloses: .noPerson("A file of the page."), bodyBytes: 0,
            mixesTexts: true)
    }
}
