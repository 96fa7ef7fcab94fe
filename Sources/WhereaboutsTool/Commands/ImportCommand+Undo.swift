import JSON
import Replies
import Service
import Whereabouts

/// `import list`, and `import undo|redo ID`: withdraws the fixes and visits of an import, or makes them count again.
extension ImportCommand {
    private static let reason = Options.text("reason", "TEXT", help: "why; the audit of each person shows it")

    static let undoing = [
        Command(
            words: ["import", "list"], summary: "List the imports, with the ids by which they can be undone.",
            accepts: [Options.person, Options.purpose, Options.json],
            details: """
                Without --person, lists the newest imports of the house with their people, newest first; only for the
                operator. With --person, lists the imports into that history, with the names of the files. An import that
                is running may also have been interrupted: the same "import" command continues it.
                """, run: list),
        Command(
            words: ["import", "undo"], summary: "Withdraw everything that an import brought.", operands: .one("ID"),
            accepts: [reason, Options.json],
            details: """
                ID is what "import" printed and "import list" shows, also of an import that was interrupted. Fixes and
                visits that were in the log before the import stay, and so do the people, devices, regions and corrections
                that it added. Everything is then folded as if the import had not brought its fixes and visits. After an
                interruption, run it again. "import redo" makes them count again; importing the same file again does not.
                """,
            run: { (invocation) throws(ToolError) in
                try revise(invocation, .importsWithdrawals, "Withdrew", invocation[reason] ?? "import undone")
            }),
        Command(
            words: ["import", "redo"], summary: "Make what an undone import brought count again.",
            operands: .one("ID"), accepts: [reason, Options.json],
            run: { (invocation) throws(ToolError) in
                try revise(invocation, .importsRestorations, "Restored", invocation[reason] ?? "import redone")
            }),
    ]

    private static func list(_ invocation: Invocation) throws(ToolError) {
        guard let person = invocation[Options.person] else {
            let imports = try House.withClient(invocation) { client throws(ToolError) in
                try client.items(APIPath.imports.parts())
            }
            let table = Table("ID", "STATE", "BEGUN", ">PEOPLE", "PERSON", ">NEW", ">DUPLICATE", ">VISITS", ">REJECTED")
            return try invocation.show(imports, as: "imports", in: table, orElse: "Nothing was imported.") {
                (item: HouseImportItem) in
                let people = item.people.prefix(3).joined(separator: ", ") + (item.personCount > 3 ? ", …" : "")
                return [
                    item.id, item.state, ReadCommands.time(item.begun), Text.count(Int(item.personCount)), people,
                ] + cells(item.counts)
            }
        }
        let imports = try House.withClient(invocation) { client throws(ToolError) in
            try client.items(APIPath.peopleImports.parts(person.text))
        }
        let table = Table(
            "ID", "STATE", "BEGUN", "ENDED", "FILE", "FORMAT", ">BYTES", ">NEW", ">DUPLICATE", ">VISITS", ">REJECTED")
        let sentence = "Nothing was imported for \(person.text)."
        try invocation.show(imports, as: "imports", in: table, orElse: sentence) { (item: ImportItem) in
            [
                item.id, item.isFaulty == true ? "\(item.state), damaged" : item.state, ReadCommands.time(item.begun),
                item.ended.map { ReadCommands.time($0) } ?? "", item.file ?? "", item.format ?? "",
                item.bytes.map { Text.count(Int($0)) } ?? "",
            ] + (item.counts.map(cells) ?? ["", "", "", ""])
        }
    }

    private static func cells(_ counts: ImportCountsItem) -> [String] {
        [counts.new, counts.duplicate, counts.visits, counts.rejected].map { Text.count(Int($0)) }
    }

    private static func revise(
        _ invocation: Invocation, _ path: APIPath, _ done: String, _ reason: String
    ) throws(ToolError) {
        let (id, console) = (invocation.operands[0], invocation.console)
        guard Identifier128(id) != nil else {
            throw .usage("\"\(invocation.command.name)\" takes the id that \"import\" printed.")
        }
        let (fixes, visits) = try House.withClient(invocation) { client throws(ToolError) -> (Int64, Int64) in
            var (fixes, visits): (Int64, Int64) = (0, 0)
            var after: String?
            repeat {
                let answer = try client.post(path.parts(id)) { body in
                    body.field("reason", reason)
                    body.field("after", after)
                }
                let revised = try answer.read(RevisedImport.self)
                fixes += revised.fixes
                visits += revised.visits
                after = revised.next?.text
                console.progress("\(done) \(Text.count(Int(fixes), "fix"))")
            } while after != nil
            console.progress("")
            return (fixes, visits)
        }
        ImportState.remove(id: id)
        if invocation.has(Options.json) {
            return console.result("{\"fixes\":\(fixes),\"visits\":\(visits)}\n".utf8)
        }
        if fixes + visits == 0 { return console.line("Nothing in the log is from the import \(id).") }
        let also = visits > 0 ? " and \(Text.count(Int(visits), "visit"))" : ""
        console.line("\(done) \(Text.count(Int(fixes), "fix"))\(also) of the import \(id).")
    }
}
