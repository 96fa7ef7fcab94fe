import Glibc
import JSON
import Log
import Maintenance
import PostgreSQL
import PostgreSQLLog
import Reactors
import Service

/// `log move`.
enum LogCommands {
    private static let target = Option<String>(
        name: "to", placeholder: "PLACE", help: "\"sqlite\", or a connection string of PostgreSQL",
        form: "\"sqlite\", \"postgresql://…\" or \"host=… dbname=…\"", read: { $0.isEmpty ? nil : $0 })

    private static let quorum = Option.flag(
        "quorum", help: "refuse a database that does not wait for a standby")

    static let all = [
        Command(
            words: ["log", "move"], summary: "Move the log into a PostgreSQL database, or back into its file.",
            accepts: [target, quorum, Options.json],
            details: """
                While a service runs on the data directory, the events are copied, and the service stays in charge. Stop it, and
                move again: the rest is copied, everything is read back and verified, and the new place is in charge. The
                events, their numbers and the root over them are the same. An interrupted move goes on when it is begun again.
                Give the connection string without a password; name a file with passfile=, or use service=.
                """, reach: .files, run: move)
    ]

    private static func move(_ invocation: Invocation) throws(ToolError) {
        guard let text = invocation[target] else {
            throw .usage("Give the new place with --to: \"sqlite\", or a connection string of PostgreSQL.")
        }
        let path = try House.path(of: invocation)
        guard text == "sqlite" || access(path + "/log.sqlite", F_OK) == 0 else {
            throw .data(
                "There is no log in \(path); check --data. A new log begins in a database if config.json names one.")
        }
        let outcome =
            text == "sqlite"
            ? try moveOut(path, invocation) : try moveIn(path, connection(text), invocation)
        invocation.console.progress("")
        if invocation.has(Options.json) {
            var writer = JSONWriter()
            writer.beginObject()
            writer.field("events", outcome.events)
            writer.field("root", outcome.root)
            writer.field("isOver", outcome.isOver)
            writer.endObject()
            return invocation.console.result(writer.bytes + [UInt8(ascii: "\n")])
        }
        show(outcome, text, invocation)
    }

    private static func show(_ outcome: LogMove.Outcome, _ target: String, _ invocation: Invocation) {
        let (console, events) = (invocation.console, Text.count(Int(outcome.events)))
        guard outcome.isOver else {
            console.line("\(events) events are copied. A service runs on this directory: stop it, and move again.")
            return
        }
        console.line("\(events) events moved, with root \(outcome.root).")
        if target == "sqlite" {
            console.line("Remove \"log\" from config.json, then start the service.")
            return
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("postgresql", target)
        if invocation.has(quorum) { writer.field("quorum", true) }
        writer.endObject()
        console.line(
            "Put this into config.json, then start the service:\n\n  \"log\": \(String(decoding: writer.bytes, as: UTF8.self))\n"
        )
        console.line("log.sqlite is a copy from now on.")
    }

    private static func moveIn(
        _ path: String, _ connection: ConnectionString, _ invocation: Invocation
    ) throws(ToolError) -> LogMove.Outcome {
        let settings = LogServerSettings(connection, needsQuorum: invocation.has(quorum))
        do throws(LogError) {
            if DataDirectory.running(in: path) != nil {
                return try LogMove(try LogServer(settings), progress: progress(invocation.console))
                    .copyIntoDatabase(reading: DataDirectory(beside: path))
            }
            return try MovedLog.intoDatabase(
                settings, try DataDirectory(path: path), progress: progress(invocation.console))
        } catch { throw .data("\(error)") }
    }

    private static func moveOut(_ path: String, _ invocation: Invocation) throws(ToolError) -> LogMove.Outcome {
        do {
            let directory = try DataDirectory(path: path)
            guard let database = try ServiceConfiguration.read(directory.configuration).database else {
                throw ToolError.data("config.json names no database, so the log is in \(path) already.")
            }
            return try MovedLog.outOfDatabase(
                LogServerSettings(database), directory, progress: progress(invocation.console))
        } catch let error as ToolError { throw error } catch { throw .data("\(error)") }
    }

    private static func connection(_ text: String) throws(ToolError) -> ConnectionString {
        do throws(ConnectionString.Fault) { return try ConnectionString(text) } catch {
            switch error {
            case .hasPassword:
                throw .usage(
                    "The command line is no place for a password: name a file with passfile=, or use service=.")
            case .malformed(let why): throw .usage("--to is no connection string: \(why).")
            }
        }
    }

    private static func progress(_ console: Console) -> (LogMove.Step, Int64, Int64) -> Void {
        { step, done, all in
            let word = step == .copying ? "Copying" : "Verifying"
            console.progress("\(word): \(Text.count(Int(done))) of \(Text.count(Int(all))) events")
        }
    }
}
