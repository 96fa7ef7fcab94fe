import Glibc
import JSON
import Service
import Whereabouts
import WhereaboutsClient

/// `verify`: is the log whole, and is everything folded from it what it would be folded to again?
enum VerifyCommand {
    static let command = Command(
        words: ["verify"], summary: "Check the log's hashes and refold every projection.", accepts: [Options.json],
        details: """
            Reads everything, so it takes its time with a long log. The exit code is 1 when something is wrong. Works on
            read-only media, and where the damage keeps a service from starting.
            """,
        run: run)

    private static func run(_ invocation: Invocation) throws(ToolError) {
        let answer = try answer(invocation)
        let isGood = answer["ok"]?.bool == true
        if invocation.has(Options.json) {
            invocation.console.result(answer.jsonLine)
        } else {
            invocation.console.result(table(of: answer).text.utf8)
        }
        guard isGood else {
            throw .checkFailed(
                invocation.has(Options.json) ? nil : "The log or what is folded from it is not as it should be.")
        }
    }

    /// What the service says; where none can run, because of the damage or because nothing can be written, what the
    /// files say.
    private static func answer(_ invocation: Invocation) throws(ToolError) -> JSONValue {
        let path = try House.path(of: invocation)
        guard DataDirectory.running(in: path) == nil, access(path + "/log.sqlite", F_OK) == 0 else {
            return try House.withClient(invocation) { client throws(ToolError) in try client.get("v1", "verify") }
        }
        if !FilesVerification.isReadOnly(path) {
            do {
                let client = House.client(of: try House.service(path))
                defer { client.service.transport.close() }
                return try client.get("v1", "verify")
            } catch let error as ToolError {
                throw error
            } catch let error as LogError {
                guard error.isOfLog else { throw .data("\(error)") }
            } catch { throw .data("\(error)") }
        }
        do throws(LogError) {
            let json = try FilesVerification.run(path)
            guard let document = try? JSONDocument.parse(json) else { throw .stopped }
            return document.root
        } catch { throw .data("\(error)") }
    }

    static func table(of answer: JSONValue) -> Table {
        var table = Table("CHECK", "RESULT", "DETAILS")
        let log = answer["log"]
        let root = log?.text("root") ?? ""
        table.add(
            "log", log?["ok"]?.bool == true ? "good" : "WRONG",
            log?["problem"]?.string ?? "\(ProjectionCommands.number(log?["events"])) events, root \(root.prefix(16))…")
        let keys = answer["keys"]
        let lost = keys?["lost"]?.int ?? 0
        table.add(
            "keys", lost == 0 ? "good" : "LOST",
            "\(ProjectionCommands.number(keys?["erased"])) sealed parts erased, \(Text.count(Int(lost))) with a lost key"
        )
        for projection in answer["projections"]?.array.map(Array.init) ?? [] {
            let isGood = projection.text("rows") == "ok" && projection.text("refold") == "equal"
            table.add(
                "projection \(projection.text("name"))", isGood ? "good" : "WRONG",
                "at event \(ProjectionCommands.number(projection["place"])), rows \(projection.text("rows")), "
                    + "refold \(projection.text("refold"))")
        }
        return table
    }
}
