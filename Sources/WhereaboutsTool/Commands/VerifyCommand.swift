import Glibc
import JSON
import Log
import Maintenance
import Projections
import Replies
import Service
import Whereabouts
import WhereaboutsClient

/// `verify`: checks that the log is whole, and that its projections equal a refold.
enum VerifyCommand {
    static let command = Command(
        words: ["verify"], summary: "Check the log's hashes and refold every projection.", accepts: [Options.json],
        details: """
            Reads the whole log, so it takes long for a long one. The exit code is 1 if something is wrong. Works on
            read-only media too, and if damage keeps the service from starting.
            """,
        reach: .files, run: run)

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
                invocation.has(Options.json) ? nil : "The log, its keys or a projection is damaged; see the table.")
        }
    }

    /// The answer of the service, or the verification of the files alone if damage or a read-only directory prevents a
    /// service.
    private static func answer(_ invocation: Invocation) throws(ToolError) -> JSONValue {
        let path = try House.path(of: invocation)
        let console = invocation.console
        guard DataDirectory.running(in: path) == nil, access(path + "/log.sqlite", F_OK) == 0 else {
            return try House.withClient(invocation) { client throws(ToolError) in
                // A service in another process gives no progress.
                try showing(VerificationProgress(), on: console) { () throws(ToolError) in
                    try client.get(APIPath.verify.parts())
                }
            }
        }
        if !FilesVerification.isReadOnly(path) {
            do {
                let service = try House.service(path)
                let client = House.client(of: service)
                defer { client.service.transport.close() }
                return try showing(service.verificationProgress, on: console) { () throws(ToolError) in
                    try client.get(APIPath.verify.parts())
                }
            } catch let error as ToolError {
                throw error
            } catch let error as LogError {
                guard error.isOfLog else { throw .data("\(error)") }
            } catch { throw .data("\(error)") }
        }
        do throws(LogError) {
            let progress = VerificationProgress()
            let json = try showing(progress, on: console) { () throws(LogError) in
                try FilesVerification.run(path, progress: progress)
            }
            guard let document = try? JSONDocument.parse(json) else { throw .stopped }
            return document.root
        } catch { throw .data("\(error)") }
    }

    /// Runs `body` and shows its progress, for example `Verifying: log, 40 %, 12 s …`.
    private static func showing<Value, Failure: Error>(
        _ progress: VerificationProgress, on console: Console, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let start = ContinuousClock.now
        return try console.showingProgress(
            {
                let part = progress.text
                let seconds = (ContinuousClock.now - start).components.seconds
                return "Verifying\(part.isEmpty ? "" : ": \(part)"), \(seconds) s …"
            }, body)
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
        if let fixes = answer["fixes"] {
            table.add(
                "index of fixes", fixes["ok"]?.bool == true ? "good" : "WRONG",
                fixes["problem"]?.string.map { "\($0); the service makes it again" } ?? details(ofFixes: fixes))
        }
        for projection in answer["projections"]?.array.map(Array.init) ?? [] {
            let isGood = projection.text("rows") == "ok" && projection.text("refold") == "equal"
            table.add(
                "projection \(projection.text("name"))", isGood ? "good" : "WRONG",
                "at event \(ProjectionCommands.number(projection["place"])), rows \(projection.text("rows")), "
                    + "refold \(projection.text("refold"))")
        }
        return table
    }

    /// The index has no file before its first 65,536 events.
    private static func details(ofFixes fixes: JSONValue) -> String {
        guard fixes["events"]?.int != 0 else { return "no file yet, all events are indexed in memory" }
        let (found, events) = (ProjectionCommands.number(fixes["fixes"]), ProjectionCommands.number(fixes["events"]))
        return "\(found) fixes of \(events) events"
    }
}
