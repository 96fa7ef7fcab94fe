import Glibc

/// The tool `whereabouts`: parses the command line, runs one command and says by its exit code how that went.
@main enum Program {
    static func main() {
        exit(run(Array(CommandLine.arguments.dropFirst()), console: .standard))
    }

    /// - Returns: 0 good, 1 a check failed, 2 usage, 3 data error, 75 a service that is to be started again.
    static func run(_ arguments: [String], console: Console) -> Int32 {
        defer { console.flush() }
        do throws(ToolError) {
            switch try ArgumentParser(commands: CommandTable.all).parse(arguments, console: console) {
            case .help(let help): console.result(help.text.utf8)
            case .invocation(let invocation): try invocation.command.run(invocation)
            case .passedOn(let run, let arguments): return run(arguments)
            }
            return 0
        } catch {
            console.progress("")
            if !error.description.isEmpty { console.note("whereabouts: \(error)") }
            return error.exitCode
        }
    }
}
