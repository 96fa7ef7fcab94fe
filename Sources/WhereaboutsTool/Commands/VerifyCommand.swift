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
        let found = try answer(invocation)
        if invocation.has(Options.json) {
            invocation.console.result(found.bytes + [UInt8(ascii: "\n")])
        } else {
            invocation.console.result(table(of: found).text.utf8)
        }
        guard found.isGood else {
            throw .checkFailed(
                invocation.has(Options.json) ? nil : "The log, its keys or a projection is damaged; see the table.")
        }
    }

    /// The answer of the service, or the verification of the files alone if damage or a read-only directory prevents a
    /// service.
    private static func answer(_ invocation: Invocation) throws(ToolError) -> Verification {
        let path = try House.path(of: invocation)
        let console = invocation.console
        guard DataDirectory.running(in: path) == nil, access(path + "/log.sqlite", F_OK) == 0 else {
            return try House.withClient(invocation) { client throws(ToolError) in
                // A service in another process gives no progress.
                try showing(VerificationProgress(), on: console) { () throws(ToolError) in
                    try client.get(APIPath.verify.parts()).read()
                }
            }
        }
        if !FilesVerification.isReadOnly(path) {
            do {
                let service = try House.service(path)
                let client = House.client(of: service)
                defer { client.service.transport.close() }
                return try showing(service.verificationProgress, on: console) { () throws(ToolError) in
                    try client.get(APIPath.verify.parts()).read()
                }
            } catch let error as ToolError {
                throw error
            } catch let error as LogError {
                guard error.isOfLog else { throw .data("\(error)") }
            } catch { throw .data("\(error)") }
        }
        do throws(LogError) {
            let progress = VerificationProgress()
            return try showing(progress, on: console) { () throws(LogError) in
                try FilesVerification.run(path, progress: progress)
            }
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

    private static func table(of found: Verification) -> Table {
        var table = Table("CHECK", "RESULT", "DETAILS")
        let log = found.log
        table.add(
            "log", log.isGood ? "good" : "WRONG",
            log.problem ?? "\(number(log.events)) events, root \(log.root.prefix(16))…")
        let keys = found.keys
        table.add(
            "keys", keys.lost == 0 ? "good" : "LOST",
            "\(number(keys.erased)) sealed parts erased, \(number(keys.lost)) with a lost key")
        if let fixes = found.fixes {
            table.add(
                "index of fixes", fixes.isGood ? "good" : "WRONG",
                fixes.problem.map { "\($0); the service makes it again" } ?? details(of: fixes))
        }
        for projection in found.projections {
            table.add(
                "projection \(projection.name)", projection.isGood ? "good" : "WRONG",
                "at event \(projection.place.map(number) ?? ""), rows \(projection.rows), refold \(projection.refold)")
        }
        return table
    }

    /// The index has no file before its first 65,536 events.
    private static func details(of fixes: VerifiedFixes) -> String {
        guard fixes.events != 0 else { return "no file yet, all events are indexed in memory" }
        return "\(number(fixes.fixes)) fixes of \(number(fixes.events)) events"
    }

    private static func number(_ value: Int64) -> String { Text.count(Int(value)) }
}
