package import Answers
package import HTTPInterface
package import HTTPServer
import HouseEndpoints

/// The web page: its views, its files, and the operations that only the page needs.
package struct PageRoutes: Sendable {
    private let decisions: Decisions
    private let timeZones: TimeZoneDatabase
    private let publicURL: String?
    private let shell: PageShell
    private let sessions: SessionEndpoints
    private let map: MapEndpoints

    /// - Parameters:
    ///   - publicURL: The address that browsers use; `nil` if none is configured.
    ///   - isDemo: Whether the page says that its persons are invented.
    ///   - gazetteerPath: The gazetteer, which has the cells of the basemap beside it; `nil` if there is none.
    ///   - dataDirectory: The path of the data directory, which may have the operator's own map.
    ///   - onlineTiles: The server of map pictures that readers may choose; `nil` for none.
    package init(
        views: Views, callers: Callers, seal: HouseSeal, geocodingBudgets: GeocodingBudgets, publicURL: String?,
        isDemo: Bool, gazetteerPath: String?, dataDirectory: String,
        onlineTiles: OnlineTiles?
    ) {
        decisions = views.decisions
        timeZones = views.timeZones
        self.publicURL = publicURL
        let tilesPath = RasterTiles.path(in: dataDirectory)
        shell = PageShell(assets: PageAssets(), tilesPath: tilesPath, onlineTiles: onlineTiles)
        sessions = SessionEndpoints(
            decisions: decisions, callers: callers, shell: shell, seal: seal, publicURL: publicURL, isDemo: isDemo,
            wrongSignIns: WrongSignIns())
        map = MapEndpoints(
            geocoding: GeocodeEndpoints(decisions: decisions, geocodingBudgets: geocodingBudgets),
            basemap: gazetteerPath.flatMap { path in
                Basemap(path: path.prefix(through: path.lastIndex(of: "/") ?? path.startIndex) + "basemap.cells")
            }, tilesPath: tilesPath)
    }

    /// The operations that the API description has too: the map's names, and signing in.
    package var operations: [Operation] { map.operations + sessions.operations }

    /// The page for a browser at an address that no route has; `nil` for a program, which gets the problem as JSON.
    package func nothing(at request: HTTPRequest) -> HTTPResponse? {
        let types = request.header("accept").map { Preference.preferred($0.lowercased()) } ?? []
        return types.contains("text/html") ? shell.nothing(request) : nil
    }

    /// The views and files, which the API description does not have. The views show the answers of `operations`.
    package func routes(over operations: [Operation]) -> [Route] {
        let plain = PlainViews(
            routes: RouteTable(operations), shell: shell, timeZones: timeZones, clock: decisions.clock)
        let page = PageEndpoints(decisions: decisions, shell: shell, plain: plain, sessions: sessions)
        let welcome = WelcomeEndpoints(
            page: page, accounts: AccountEndpoints(decisions: decisions), sessions: sessions, shell: shell,
            publicURL: publicURL)
        let forms = PlainForms(page: page, shell: shell, plain: plain)
        return page.routes + welcome.routes + forms.routes + shell.assets.routes + map.routes
    }
}

extension PageEndpoints {
    /// The views.
    package var routes: [Route] {
        [
            Route.page("/", home),
            Route(
                "GET", PageShell.linkPath, .answer(link), .none, discloses: .noPerson("The form for every share link."),
                bodyBytes: 0),
        ]
            + [
                "/now", "/day", "/day/*", "/audit", "/requests", "/requests/*", "/sharing", "/regions", "/places",
                "/year", "/year/*", "/devices", "/operate", "/operate/*",
            ].map { Route.page($0, view) }
    }
}

extension WelcomeEndpoints {
    /// The form of an invitation to an account.
    package var routes: [Route] {
        [.page("/welcome", read), Route("POST", "/welcome", .answer(open), .none, discloses: .command)]
    }
}

extension PlainForms {
    /// The forms of the plain views.
    package var routes: [Route] { [Route("POST", "/sharing", .answer(answer), .page, discloses: .command)] }
}

extension PageAssets {
    /// The files of the page.
    package var routes: [Route] {
        [
            .asset("/assets/*", read), .asset("/assets/*/*", read), .asset("/assets/*/images/*", image),
            .asset("/favicon.ico", icon), .asset("/offline.js", top), .asset("/manifest.webmanifest", top),
        ]
    }
}

extension MapEndpoints {
    /// The files of the basemap and of the operator's own map.
    package var routes: [Route] {
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
