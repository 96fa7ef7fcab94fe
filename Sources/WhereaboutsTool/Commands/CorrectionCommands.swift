import Geodesy
import JSON
import Replies
import Whereabouts

/// `correction add|list|remove`: a person's corrections of their derived visits.
enum CorrectionCommands {
    private static let merge = Option.flag("merge", help: "the visits from --from to --to were one visit")
    private static let notVisit = Option.flag("not-visit", help: "there was no visit from --from to --to")
    private static let split = Options.time(
        "split", help: "the visit at this time was two visits; the second begins then")
    private static let name = Options.text("name", "TEXT", help: "the name of the place at --at")
    private static let coordinateForm = "latitude and longitude in degrees, for example 48.2083,16.3725"
    private static let at = Option<Coordinate>(
        name: "at", placeholder: "LAT,LON", help: "the coordinate of the place for --name or --same-place",
        form: coordinateForm, read: { try? Options.coordinate($0[...]) })
    private static let samePlace = Option<Coordinate>(
        name: "same-place", placeholder: "LAT,LON",
        help: "the place there is the same as the one at --at, which gives the name", form: coordinateForm,
        read: { try? Options.coordinate($0[...]) })

    static let all = [
        Command(
            words: ["correction", "add"],
            summary: "Correct a person's visits and places: merge, split, remove, name, join.",
            requires: [Options.person],
            accepts: [merge, split, notVisit, name, samePlace, at, Options.from, Options.to, Options.json],
            details: """
                A correction refers to times and places, so it still applies when visits are derived again. It applies to a
                visit if more than half of the visit is in its time range. If two corrections contradict each other, the
                later one counts.

                \(Options.timesHelp)
                """, run: add),
        Command(
            words: ["correction", "list"], summary: "List a person's corrections (recorded as a read).",
            requires: [Options.person], accepts: [Options.purpose, Options.json], run: list),
        Command(
            words: ["correction", "remove"], summary: "Withdraw a correction.", operands: .one("NUMBER"),
            requires: [Options.person], accepts: [Options.json],
            run: { (invocation) throws(ToolError) in
                let number = try invocation.number()
                try invocation.remove(
                    "the correction \(number)",
                    APIPath.peopleCorrection.parts(invocation.required(Options.person).text, number))
            }),
    ]

    private static func add(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        let chosen = [
            invocation.has(merge), invocation[split] != nil, invocation.has(notVisit), invocation[name] != nil,
            invocation[samePlace] != nil,
        ]
        guard chosen.filter({ $0 }).count == 1 else {
            throw .usage("Give one of --merge, --split TIME, --not-visit, --name TEXT and --same-place LAT,LON.")
        }
        if invocation[at] == nil, invocation[name] != nil || invocation[samePlace] != nil {
            let option = invocation[name] == nil ? "--same-place" : "--name"
            throw .usage("\(option) needs the coordinate of the place: give --at LAT,LON too.")
        }
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.post(APIPath.peopleCorrections.parts(person.text)) { body in
                if let moment = invocation[split] {
                    body.field("type", "split")
                    body.field("at", milliseconds: moment.milliseconds)
                } else if let text = invocation[name] {
                    body.field("type", "rename")
                    body.field("name", text)
                    body.field("latitude", invocation[at]?.latitude)
                    body.field("longitude", invocation[at]?.longitude)
                } else if let other = invocation[samePlace] {
                    body.field("type", "samePlace")
                    body.field("latitude", invocation[at]?.latitude)
                    body.field("longitude", invocation[at]?.longitude)
                    body.field("otherLatitude", other.latitude)
                    body.field("otherLongitude", other.longitude)
                } else {
                    body.field("type", invocation.has(merge) ? "merge" : "notVisit")
                    body.field("from", milliseconds: invocation[Options.from]?.milliseconds)
                    body.field("to", milliseconds: invocation[Options.to]?.milliseconds)
                }
            }
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        invocation.console.line("Added the correction \(try answer.read(MadeItem.self).id.text) of \(person.text).")
    }

    private static func list(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        let corrections = try House.withClient(invocation) { client throws(ToolError) in
            try client.items(APIPath.peopleCorrections.parts(person.text))
        }
        let table = Table(">NUMBER", "CORRECTION", "FROM", "TO", "NAME")
        let sentence = "\(person.text) has corrected nothing."
        try invocation.show(corrections, as: "corrections", in: table, orElse: sentence) { (item: CorrectionItem) in
            let content = item.content
            return [
                item.id.text, content.type, (content.from ?? content.moment).map { ReadCommands.time($0) } ?? "",
                content.to.map { ReadCommands.time($0) } ?? "", content.name ?? "",
            ]
        }
    }
}
