import Answers
import HTTPInterface
import HTTPServer
import JSON
import Log
import Threading
import Whereabouts

/// The views as plain HTML, for browsers without scripts.
///
/// A view is one or more sections, and a section is the table of one answer of the API. The answer comes from the API's
/// own route, called with the rights of the session: it records and hides the same data as for any other client. The
/// hash in the record is that of the API's answer, which the table shows.
struct PlainViews: Sendable {
    let routes: RouteTable
    let shell: PageShell
    let timeZones: TimeZoneDatabase
    let clock: @Sendable () -> Timestamp

    /// The rows of a section, and the cursor of those that follow.
    struct Rows {
        var items: [JSONValue] = []
        var next: String?
    }

    /// A section with its rows, or the problem if the reader may not see them or they are not available.
    struct Answered {
        let section: PlainSection
        let result: Result<Rows, Problem>
    }

    /// `GET` of a view with `plain=true`.
    ///
    /// - Parameters:
    ///   - reader: Who is signed in. Another person's view needs a grant, as in the API.
    ///   - title: The heading and the title of the page.
    func answer(
        _ exchange: Exchange, _ context: AnswerContext, _ reader: PageShell.Reader,
        _ text: PageText,
        title: String
    ) throws(Problem) -> HTTPResponse {
        let request = exchange.request
        // The operator, who has no data, names the person to look at; people may name a friend.
        let named = reader.link == nil ? request.parameter("person").map { Handle($0)?.text ?? "" } : nil
        let person = named ?? reader.person?.text
        let today = CalendarDay(utc: clock())
        let sections = PlainSection.sections(
            of: request.path, person: person, isOperators: reader.person == nil, isByLink: reader.link != nil,
            today: today, request)
        var answered = read(sections, exchange, context)
        var year: PlainYear?
        if PlainYear.isShown(at: request.path, answered) {
            let shown = PlainYear(answered, marks: { placemarks(of: $0, exchange, context) })
            (year, answered) = (shown, shown.tables)
        }
        var status = 200
        if let last = answered.last, case .failure(let problem) = last.result { status = problem.status }
        let html = shell.page(
            text, title: title, reader: reader, path: request.path, isPlain: true
        ) { html in
            html.element("h1", title)
            if let day = PlainSection.day(of: request.path, today: today) { Self.days(around: day, named, text, &html) }
            if let year = PlainSection.year(of: request.path, today: today) {
                Self.years(around: year, today, named, &html)
            }
            year?.writeCalendar(named, text, &html)
            if sections.isEmpty { html.element("p", text["plain.person"]) }
            if request.path == "/audit", person != nil { PlainForms.writeFilter(request, text, &html) }
            for part in answered { write(part, request, text, &html) }
            if request.path == "/audit", named == nil, let person = reader.person {
                Self.proof(of: person, text, &html)
            }
            html.element("p", ["class": "mut"], text["plain.scripts"])
        }
        return shell.answer(html, status: status)
    }

    /// The links to the days before and after.
    private static func days(around day: CalendarDay, _ person: String?, _ text: PageText, _ html: inout HTML) {
        html.element("p") { html in
            for (name, offset) in [("plain.before", Int64(-1)), ("plain.after", 1)] {
                let other = CalendarDay(number: day.number + offset)
                let query = [(name: "plain", value: "true")] + (person.map { [(name: "person", value: $0)] } ?? [])
                html.element(
                    "a", ["href": PageEndpoints.link("/day/\(other.text)", query)], "\(text[name]) \(other.text)")
                html.text(" ")
            }
        }
    }

    /// The links to the years before and after; no year is after that of `today`.
    private static func years(around year: Int64, _ today: CalendarDay, _ person: String?, _ html: inout HTML) {
        html.element("p") { html in
            for (other, name) in [(year - 1, "‹ \(year - 1)"), (year + 1, "\(year + 1) ›")]
            where other <= today.civil.year {
                let query = [(name: "plain", value: "true")] + (person.map { [(name: "person", value: $0)] } ?? [])
                html.element("a", ["href": PageEndpoints.link("/year/\(other)", query)], name)
                html.text(" ")
            }
        }
    }

    /// How a person checks without scripts, and without the service, that the list is complete.
    private static func proof(of person: Handle, _ text: PageText, _ html: inout HTML) {
        html.element("section") { html in
            html.element("h2", text["plain.proof"])
            html.element("p", text["proof.means"])
            html.element("p") {
                $0.element(
                    "a", ["href": "/v1/people/\(person.text)/proof", "class": "button", "download": ""],
                    text["proof.save"])
            }
            html.element("p", text["proof.script"])
            html.element(
                "pre", ["tabindex": "0"],
                "python3 verify_proof.py \(person.text).person-proof --key \(text["proof.key"])")
        }
    }

    /// The sections with their rows, up to the first problem: one reason is enough, and a person who does not exist is
    /// not asked for again. Of a single question, the first section that has it is enough.
    private func read(
        _ sections: [PlainSection], _ exchange: Exchange, _ context: AnswerContext
    ) -> [Answered] {
        let isOne = PlainSection.isOne(exchange.request.path)
        var answered: [Answered] = []
        var absent: Answered?
        for var section in sections {
            if section.isNewestOfLog, let head = (try? answered.first?.result.get())?.items.first?["head"]?.int {
                section.query.append(("after", "\(max(0, head - PlainSection.eventsAtOnce))"))
            }
            let found = Answered(section: section, result: read(section, exchange, context))
            switch found.result {
            case .failure(let problem) where section.mayBeAbsent && [403, 404].contains(problem.status): absent = found
            case .failure: return answered + [found]
            case .success(let rows) where isOne && rows.items.isEmpty:
                absent = Answered(section: section, result: .failure(.notFound))
            case .success:
                answered.append(found)
                if isOne { return answered }
            }
        }
        return answered.isEmpty ? absent.map { [$0] } ?? [] : answered
    }

    /// The API's answer to a section's question, with the following pages while there are few rows to show.
    private func read(
        _ section: PlainSection, _ exchange: Exchange, _ context: AnswerContext
    ) -> Result<Rows, Problem> {
        let languages = exchange.request.headers.filter { $0.name.lowercased() == "accept-language" }
        var query = section.query
        var rows = Rows()
        for _ in 0..<section.pages {
            let request = HTTPRequest(method: "GET", path: section.path, query: query, headers: languages)
            switch answer(to: request, exchange, context) {
            case .failure(let problem): return .failure(problem)
            case .success(let root):
                rows.items += section.items(of: root).filter(section.keeps)
                rows.next = root["next"]?.string
            }
            guard let next = rows.next, rows.items.count < section.rowsWanted else { break }
            query = query.filter { $0.name != "after" } + [("after", next)]
        }
        return .success(rows)
    }

    /// The placemarks of places, by their ids; none without a gazetteer.
    private func placemarks(
        of places: [JSONValue], _ exchange: Exchange, _ context: AnswerContext
    ) -> [String: JSONValue] {
        var marks: [String: JSONValue] = [:]
        let languages = exchange.request.headers.filter { $0.name.lowercased() == "accept-language" }
        for start in stride(from: 0, to: places.count, by: Self.coordinatesAtOnce) {
            let part = places[start..<min(start + Self.coordinatesAtOnce, places.count)]
            var writer = JSONWriter()
            writer.beginObject()
            writer.key("coordinates")
            writer.beginArray()
            for place in part {
                writer.beginArray()
                writer.value(place["latitude"]?.double ?? 0)
                writer.value(place["longitude"]?.double ?? 0)
                writer.endArray()
            }
            writer.endArray()
            writer.endObject()
            let request = HTTPRequest(
                method: "POST", path: "/v1/geocode/reverse", query: [],
                headers: languages + [("Content-Type", "application/json")], body: writer.bytes)
            guard case .success(let root) = answer(to: request, exchange, context), let found = root["items"]?.array
            else { return [:] }
            for (place, mark) in zip(part, found) {
                if let id = place["id"]?.string { marks[id] = mark }
            }
        }
        return marks
    }

    /// How many places are named at a time.
    private static let coordinatesAtOnce = 1000

    /// The API's answer to a request that the page makes for the caller of `exchange`.
    ///
    /// A request to an unknown route, or with a parameter that the route does not take, is refused like a request from
    /// outside.
    func answer(
        to request: HTTPRequest, _ exchange: Exchange, _ context: AnswerContext
    ) -> Result<JSONValue, Problem> {
        guard let (index, parameters) = routes.find(request.method, request.path) else { return .failure(.notFound) }
        let route = routes.routes[index]
        if let problem = route.refusal(ofQuery: request.query) { return .failure(problem) }
        let inner = Exchange(request: request, parameters: parameters, id: .random(), caller: exchange.caller)
        do throws(Problem) {
            let response = try respond(route, inner, context)
            guard (200...299).contains(response.status), let root = (try? JSONDocument.parse(response.body))?.root
            else { return .failure(Problem(response.status < 300 ? 503 : response.status, "Not available", "")) }
            return .success(root)
        } catch { return .failure(error) }
    }

    /// How long an answer waits for its record.
    private static let recordMilliseconds = 10_000

    /// The answer of a route's handler. One that waits gets ``recordMilliseconds``, then 503; reports are not routed.
    private func respond(
        _ route: Route, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        switch route.work {
        case .answer(let work): return try work(exchange, context)
        case .recorded(let work): return try work(exchange, context).leave()
        case .wait(let work):
            let given = Monitor<HTTPResponse?>(nil)
            try work(exchange, context) { response in given.change { $0 = response } }
            guard let response = given.wait(milliseconds: Self.recordMilliseconds, for: { $0 }) else { throw .busy(1) }
            return response
        case .report: throw .notFound
        }
    }

    // MARK: Writing

    /// A section with its heading: the table, an empty list's text, or the problem's. With `next`, a link to the next
    /// page.
    private func write(
        _ part: Answered, _ request: HTTPRequest, _ text: PageText, _ html: inout HTML
    ) {
        let section = part.section
        html.element("section") { html in
            html.element("h2", text["plain.\(section.title)"])
            switch part.result {
            case .failure(let problem):
                let name = "problem.\(problem.status)"
                html.element("p", ["class": "problem"], text[text.has(name) ? name : "problem.503"])
            case .success(let rows):
                let items = rows.items
                if let below = section.below(items) { PlainForms.write(below, for: nil, text, &html) }
                if items.isEmpty {
                    html.element("p", ["class": "empty"], text["plain.none"])
                } else {
                    // A table may be wider than a phone, and the keyboard can scroll it.
                    html.element(
                        "div",
                        [
                            "class": "scroll", "tabindex": "0", "role": "group",
                            "aria-label": text["plain.\(section.title)"],
                        ]
                    ) { table(section, items, text, &$0) }
                }
                guard let next = rows.next else { return }
                let query = request.query.filter { $0.name != "after" } + [("after", next)]
                html.element("p") {
                    $0.element("a", ["href": PageEndpoints.link(request.rawPath, query)], text["plain.more"])
                }
            }
        }
    }

    /// The table of the items.
    private func table(
        _ section: PlainSection, _ items: [JSONValue], _ text: PageText, _ html: inout HTML
    ) {
        // A column that no row fills is left out.
        let columns = section.columns.filter { column in items.contains { column.value(in: $0) != nil } }
        // On a phone each row becomes a card, with the column's name before its value; the roles survive that change of
        // layout.
        html.element("table", ["class": "table stack", "role": "table"]) { html in
            html.element("thead", ["role": "rowgroup"]) { html in
                html.element("tr", ["role": "row"]) { html in
                    for column in columns {
                        html.element("th", ["role": "columnheader", "scope": "col"], text["column.\(column.title)"])
                    }
                    if !section.buttons.isEmpty { html.element("td", ["role": "cell"]) }
                }
            }
            html.element("tbody", ["role": "rowgroup"]) { html in
                for item in items {
                    html.element("tr", ["role": "row"]) { html in
                        for column in columns {
                            html.element("td", ["role": "cell", "data-label": text["column.\(column.title)"]]) { html in
                                html.element("div") { column.write(item, section.link, timeZones, text, &$0) }
                            }
                        }
                        guard !section.buttons.isEmpty else { return }
                        html.element("td", ["role": "cell", "class": "row"]) { html in
                            for button in section.buttons { PlainForms.write(button, for: item, text, &html) }
                        }
                    }
                }
            }
        }
    }
}
