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
        var table = Table("PROJECTION", ">VERSION", ">GENERATION", "ROLE", ">PLACE", ">HEAD", "STATE", "FINGERPRINT")
        for item in items {
            table.add(
                item.text("name"), number(item["version"]), number(item["generation"]), item.text("role"),
                number(item["place"]), number(item["head"]), item.text("state"),
                String(fingerprint(item["fingerprint"]).prefix(16)))
        }
        invocation.show(items, as: "projections", table, orElse: "There are no projections.")
    }

    private static func rebuild(_ invocation: Invocation) throws(ToolError) {
        let console = invocation.console
        let ready = try House.withClient(invocation) { client throws(ToolError) in
            let names: [String]
            if let name = invocation.operands.first {
                names = [name]
            } else {
                names = try client.items(APIPath.projections.parts()).filter { $0.text("role") == "active" }
                    .map { $0.text("name") }
            }
            var building: [(name: String, generation: Int64?)] = []
            for name in names {
                let made = try client.post(APIPath.projectionsRebuild.parts(name)) {
                    $0.field("version", invocation[version])
                }
                building.append((name, made["generation"]?.int))
            }
            while true {
                let items = try client.items(APIPath.projections.parts())
                let wanted = building.compactMap { one in
                    items.last { $0.text("name") == one.name && $0["generation"]?.int == one.generation }
                }
                guard wanted.count == building.count else {
                    throw .data("A projection was deleted while it was rebuilt.")
                }
                if wanted.allSatisfy({ $0.text("state") == "ready" }) {
                    console.progress("")
                    return wanted
                }
                let parts = wanted.map { "\($0.text("name")) \(number($0["place"])) of \(number($0["head"]))" }
                console.progress("Folding: " + parts.joined(separator: ", "))
                usleep(pollMilliseconds * 1000)
            }
        }
        if invocation.has(Options.json) { return invocation.show(ready, as: "projections", Table(), orElse: "") }
        for item in ready {
            console.line(
                "\(item.text("name")) version \(number(item["version"])), generation \(number(item["generation"])), "
                    + "is ready at event \(number(item["place"])).")
        }
        console.line(
            "\"projections diff NAME\" compares it with the active one; \"projections activate NAME\" uses it.")
    }

    private static func diff(_ invocation: Invocation) throws(ToolError) {
        let name = invocation.operands[0]
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.get(APIPath.projectionsDiff.parts(name))
        }
        let isEqual = answer["equal"]?.bool == true
        if invocation.has(Options.json) {
            invocation.console.result(answer.jsonLine)
        } else if isEqual {
            invocation.console.line("The rebuilt \(name) equals the active one.")
        } else {
            var table = Table("TABLE", "KEY", "CHANGE")
            for row in answer["rows"]?.array.map(Array.init) ?? [] {
                table.add(row.text("table"), compact(row["key"]), row.text("change"))
            }
            invocation.console.result(table.text.utf8)
            invocation.console.line(
                "\(name): \(number(answer["added"])) rows added, \(number(answer["removed"])) removed, "
                    + "\(number(answer["changed"])) changed.")
        }
        if !isEqual { throw .checkFailed(nil) }
    }

    private static func flip(_ invocation: Invocation, _ path: APIPath) throws(ToolError) {
        let name = invocation.operands[0]
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.post(path.parts(name))
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        let generation = answer["generation"].map { ", generation \(number($0))," } ?? ""
        invocation.console.line("\(name)\(generation) is in use.")
    }

    private static func prune(_ invocation: Invocation) throws(ToolError) {
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.post(APIPath.projectionsPrune.parts()) { $0.field("name", invocation.operands.first) }
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        let gone = answer["items"]?.array.map(Array.init) ?? []
        if gone.isEmpty { invocation.console.line("There was nothing to delete.") }
        for item in gone {
            invocation.console.line(
                "Deleted \(item.text("name")) version \(number(item["version"])), generation \(number(item["generation"]))."
            )
        }
    }

    static func number(_ value: JSONValue?) -> String { value?.int.map { Text.count(Int($0)) } ?? "" }

    static func fingerprint(_ value: JSONValue?) -> String {
        value?.string ?? value?.int.map { "\($0)" } ?? ""
    }

    private static func compact(_ value: JSONValue?) -> String {
        value.map { $0.string ?? String(decoding: $0.jsonLine.dropLast(), as: UTF8.self) } ?? ""
    }
}
