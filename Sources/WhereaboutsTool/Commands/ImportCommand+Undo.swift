import JSON
import Replies
import Service
import Whereabouts

/// `import undo|redo ID`: withdraws the fixes that an import brought, or makes them count again.
extension ImportCommand {
    private static let reason = Options.text("reason", "TEXT", help: "why; the audit of each person shows it")

    static let undoing = [
        Command(
            words: ["import", "undo"], summary: "Withdraw every fix that an import brought.", operands: .one("ID"),
            accepts: [reason, Options.json],
            details: """
                ID is what "import" printed. Fixes that were in the log before the import stay, and so do the people and
                devices that it added, and visits that other systems reported. Everything is then folded as if the import
                had not brought its fixes. After an interruption, run it again. "import redo" makes the fixes count again;
                importing the same file again does not.
                """,
            run: { (invocation) throws(ToolError) in
                try revise(invocation, .importsWithdrawals, "Withdrew", invocation[reason] ?? "import undone")
            }),
        Command(
            words: ["import", "redo"], summary: "Make the fixes of an undone import count again.",
            operands: .one("ID"), accepts: [reason, Options.json],
            run: { (invocation) throws(ToolError) in
                try revise(invocation, .importsRestorations, "Restored", invocation[reason] ?? "import redone")
            }),
    ]

    private static func revise(
        _ invocation: Invocation, _ path: APIPath, _ done: String, _ reason: String
    ) throws(ToolError) {
        let (id, console) = (invocation.operands[0], invocation.console)
        guard Identifier128(id) != nil else {
            throw .usage("\"\(invocation.command.name)\" takes the id that \"import\" printed.")
        }
        let count = try House.withClient(invocation) { client throws(ToolError) -> Int64 in
            var (count, after): (Int64, Int64?) = (0, nil)
            repeat {
                let answer = try client.post(path.parts(id)) { body in
                    body.field("reason", reason)
                    body.field("after", after)
                }
                let revised = try answer.read(RevisedImport.self)
                count += revised.fixes
                after = revised.next
                console.progress("\(done) \(Text.count(Int(count), "fix"))")
            } while after != nil
            console.progress("")
            return count
        }
        if invocation.has(Options.json) { return console.result("{\"fixes\":\(count)}\n".utf8) }
        console.line(
            count == 0
                ? "No fix in the log is from the import \(id)."
                : "\(done) \(Text.count(Int(count), "fix")) of the import \(id).")
    }
}
