import Glibc

/// The tool `whereabouts`: parses the command line, runs one command and exits with its code.
@main enum Program {
    static func main() {
        exit(run(Array(CommandLine.arguments.dropFirst()), console: .standard))
    }

    /// - Returns: The exit code, as ``ToolError/exitCode`` lists them; 0 for success.
    static func run(_ arguments: [String], console: Console) -> Int32 {
        defer { console.flush() }
        do throws(ToolError) {
            // The customary form, which people and package checks try first.
            let words = arguments == ["--version"] ? ["version"] : arguments
            switch try ArgumentParser(commands: CommandTable.all).parse(words, console: console) {
            case .help(let help): console.result(help.text.utf8)
            case .invocation(let invocation): try invocation.command.run(invocation)
            case .passedOn(let execute, let arguments): try execute(arguments)
            }
            return 0
        } catch {
            console.progress("")
            if !error.description.isEmpty { console.note("whereabouts: \(error)") }
            return error.exitCode
        }
    }
}
