import Glibc
import JSON
import Replies
import Whereabouts

/// `projections status|rebuild|diff|activate|rollback|prune`.
enum ProjectionCommands {
    private static let version = Options.number(
        "version", "N", in: 1...Int64.max, help: "the version of the fold (default: the newest)")

    static let all = [
        Command(
            words: ["projections"], summary: "Show the projections, as \"projections status\".",
            accepts: [Options.json], run: status),
        Command(
            words: ["projections", "status"], summary: "Show every projection and how far it has read the log.",
            accepts: [Options.json], run: status),
        Command(
            words: ["projections", "rebuild"], summary: "Rebuild a projection, or all of them, beside the active one.",
            operands: .optional("NAME"), accepts: [version, Options.json],
            details:
                "NAME stands for one projection; without it, all are rebuilt by one scan of the log. An interrupted\nrebuild goes on where it stopped.",
            run: rebuild),
        Command(
            words: ["projections", "diff"], summary: "Compare the rebuilt projection with the active one.",
            operands: .one("NAME"), accepts: [Options.json],
            details:
                "One line for each column that differs, by person; with --json one line for each row. The exit code is 1 if they differ.",
            run: diff),
        Command(
            words: ["projections", "activate"], summary: "Use the rebuilt projection from now on.",
            operands: .one("NAME"),
            accepts: [Options.json],
            run: { (invocation) throws(ToolError) in try flip(invocation, .projectionsActivate) }),
        Command(
            words: ["projections", "rollback"], summary: "Return to the projection used before.",
            operands: .one("NAME"), accepts: [Options.json],
            run: { (invocation) throws(ToolError) in try flip(invocation, .projectionsRollback) }),
        Command(
            words: ["projections", "prune"], summary: "Delete projections that are no longer used.",
            operands: .optional("NAME"), accepts: [Options.json], run: prune),
    ]

    private static let pollMilliseconds: UInt32 = 200

    private static func status(_ invocation: Invocation) throws(ToolError) {
        let items = try House.withClient(invocation) { client throws(ToolError) in
            try client.items(APIPath.projections.parts())
        }
        let table = Table(
            "PROJECTION", ">VERSION", ">GENERATION", "ROLE", ">PLACE", ">HEAD", "STATE", "FINGERPRINT", "CHECKED")
        let sentence = "There are no projections."
        try invocation.show(items, as: "projections", in: table, orElse: sentence) { (item: ProjectionItem) in
            let generation = item.generation
            return [
                generation.name, number(generation.version), number(generation.generation), generation.role,
                number(item.place), number(item.head), state(item), String(item.fingerprint.prefix(16)),
                item.checkedAt.map { LocalTime.text(Timestamp(milliseconds: $0.milliseconds)) } ?? "",
            ]
        }
    }

    /// The state, while it is loading with the rate and the time left.
    private static func state(_ item: ProjectionItem) -> String {
        guard item.state == ProjectionItem.loading, let rate = item.eventsPerSecond else { return item.state }
        let left = item.secondsLeft.map { ", \(duration($0)) left" } ?? ""
        return "\(item.state), \(Text.count(Int(rate.rounded()))) events/s\(left)"
    }

    private static func rebuild(_ invocation: Invocation) throws(ToolError) {
        let console = invocation.console
        let ready = try House.withClient(invocation) { client throws(ToolError) in
            let building: [GenerationItem]
            if let name = invocation.operands.first {
                let made = try client.post(APIPath.projectionsRebuild.parts(name)) {
                    $0.field("version", invocation[version])
                }
                building = [try made.read()]
            } else {
                if invocation[version] != nil { throw .usage("--version needs the NAME of a projection.") }
                let made = try client.post(APIPath.projectionsRebuildAll.parts()) { _ in }
                building = try made.read(RebuildingGenerations.self).items
            }
            while true {
                let items = try client.projections()
                let wanted = building.compactMap { one in
                    items.last { $0.generation.name == one.name && $0.generation.generation == one.generation }
                }
                guard wanted.count == building.count else {
                    throw .data("A projection was deleted while it was rebuilt.")
                }
                if wanted.allSatisfy({ $0.state == ProjectionItem.ready }) {
                    console.progress("")
                    return wanted
                }
                console.progress(progress(of: wanted))
                usleep(pollMilliseconds * 1000)
            }
        }
        if invocation.has(Options.json) {
            var writer = JSONWriter()
            writer.beginObject()
            writer.array("projections") { array in for item in ready { array.value(item) } }
            writer.endObject()
            return console.result(writer.bytes + [UInt8(ascii: "\n")])
        }
        for item in ready {
            let generation = item.generation
            console.line(
                "\(generation.name) version \(number(generation.version)), "
                    + "generation \(number(generation.generation)), is ready at event \(number(item.place)).")
        }
        console.line(
            "\"projections diff NAME\" compares it with the active one; \"projections activate NAME\" uses it.")
    }

    /// The line of progress of a rebuild, for example `Folding current, timeline: 45 %, 120,000 events/s, 12 s left`.
    ///
    /// Shows the figures of the projection that is furthest behind.
    static func progress(of items: [ProjectionItem]) -> String {
        let left = items.filter { $0.state != ProjectionItem.ready }
        guard let last = left.min(by: { $0.place < $1.place }) else { return "" }
        let share = last.head > 0 ? last.place * 100 / last.head : 100
        var line = "Folding \(left.map(\.generation.name).joined(separator: ", ")): \(min(share, 100)) %"
        if let rate = last.eventsPerSecond { line += ", \(Text.count(Int(rate.rounded()))) events/s" }
        if let seconds = last.secondsLeft { line += ", \(duration(seconds)) left" }
        return line
    }

    /// For example `12 s`, `3 min` or `2 h 5 min`.
    private static func duration(_ seconds: Double) -> String {
        let whole = Int(min(seconds, 1e9).rounded(.up))
        if whole < 120 { return "\(whole) s" }
        let minutes = (whole + 59) / 60
        return minutes < 120 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min"
    }

    private static func diff(_ invocation: Invocation) throws(ToolError) {
        let name = invocation.operands[0]
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.get(APIPath.projectionsDiff.parts(name))
        }
        let found = try answer.read(ProjectionDifference.self)
        if invocation.has(Options.json) {
            for row in found.rows {
                var writer = JSONWriter()
                writer.value(row)
                invocation.console.result(writer.bytes + [UInt8(ascii: "\n")])
            }
            // The last line has the counts and generations.
            var counts = found
            counts.rows = []
            var writer = JSONWriter()
            writer.value(counts)
            invocation.console.result(writer.bytes + [UInt8(ascii: "\n")])
        } else if found.isEqual {
            invocation.console.line("The rebuilt \(name) equals the active one.")
        } else {
            invocation.console.result(table(of: found).text.utf8)
            if Int64(found.rows.count) < found.added + found.removed + found.changed {
                invocation.console.line("These are the first \(number(Int64(found.rows.count))) rows.")
            }
            invocation.console.line(
                "\(name): \(number(found.added)) rows added, \(number(found.removed)) removed, "
                    + "\(number(found.changed)) changed.")
        }
        if !found.isEqual { throw .checkFailed(nil) }
    }

    /// One line for each column that differs, by person, table and row.
    private static func table(of found: ProjectionDifference) -> Table {
        var table = Table("PERSON", "TABLE", "ROW", "CHANGE", "COLUMN", "NOW", "THEN")
        let rows = found.rows.enumerated().sorted {
            ($0.element.person ?? "", $0.offset) < ($1.element.person ?? "", $1.offset)
        }
        for (_, row) in rows {
            let person = row.person ?? "-"
            if row.columns.isEmpty { table.add(person, row.table, row.key, row.change, "", "", "") }
            for column in row.columns {
                table.add(person, row.table, row.key, row.change, column.name, column.old ?? "", column.new ?? "")
            }
        }
        return table
    }

    private static func flip(_ invocation: Invocation, _ path: APIPath) throws(ToolError) {
        let name = invocation.operands[0]
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.post(path.parts(name))
        }
        try invocation.show(answer) { (active: GenerationItem) in
            invocation.console.line("\(name), generation \(number(active.generation)), is in use.")
        }
    }

    private static func prune(_ invocation: Invocation) throws(ToolError) {
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.post(APIPath.projectionsPrune.parts()) { $0.field("name", invocation.operands.first) }
        }
        try invocation.show(answer) { (gone: PrunedGenerations) in
            if gone.items.isEmpty { invocation.console.line("There was nothing to delete.") }
            for item in gone.items {
                invocation.console.line(
                    "Deleted \(item.name) version \(number(item.version)), generation \(number(item.generation)).")
            }
        }
    }

    private static func number(_ value: Int64) -> String { Text.count(Int(value)) }
}
