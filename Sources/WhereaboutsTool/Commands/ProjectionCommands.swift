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
            details: "NAME stands for one projection; without it, all are rebuilt.",
            run: rebuild),
        Command(
            words: ["projections", "diff"], summary: "Compare the rebuilt projection with the active one.",
            operands: .one("NAME"), accepts: [Options.json], details: "The exit code is 1 if they differ.", run: diff),
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
        let table = Table("PROJECTION", ">VERSION", ">GENERATION", "ROLE", ">PLACE", ">HEAD", "STATE", "FINGERPRINT")
        let sentence = "There are no projections."
        try invocation.show(items, as: "projections", in: table, orElse: sentence) { (item: ProjectionItem) in
            let generation = item.generation
            return [
                generation.name, number(generation.version), number(generation.generation), generation.role,
                number(item.place), number(item.head), item.state, String(item.fingerprint.prefix(16)),
            ]
        }
    }

    private static func rebuild(_ invocation: Invocation) throws(ToolError) {
        let console = invocation.console
        let ready = try House.withClient(invocation) { client throws(ToolError) in
            let names: [String]
            if let name = invocation.operands.first {
                names = [name]
            } else {
                names = try client.projections().map(\.generation).filter(\.isActive).map(\.name)
            }
            var building: [GenerationItem] = []
            for name in names {
                let made = try client.post(APIPath.projectionsRebuild.parts(name)) {
                    $0.field("version", invocation[version])
                }
                building.append(try made.read())
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
                let parts = wanted.map { "\($0.generation.name) \(number($0.place)) of \(number($0.head))" }
                console.progress("Folding: " + parts.joined(separator: ", "))
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

    private static func diff(_ invocation: Invocation) throws(ToolError) {
        let name = invocation.operands[0]
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.get(APIPath.projectionsDiff.parts(name))
        }
        let found = try answer.read(ProjectionDifference.self)
        if invocation.has(Options.json) {
            invocation.console.result(answer.jsonLine)
        } else if found.isEqual {
            invocation.console.line("The rebuilt \(name) equals the active one.")
        } else {
            var table = Table("TABLE", "KEY", "CHANGE")
            for row in found.rows { table.add(row.table, row.key, row.change) }
            invocation.console.result(table.text.utf8)
            invocation.console.line(
                "\(name): \(number(found.added)) rows added, \(number(found.removed)) removed, "
                    + "\(number(found.changed)) changed.")
        }
        if !found.isEqual { throw .checkFailed(nil) }
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
