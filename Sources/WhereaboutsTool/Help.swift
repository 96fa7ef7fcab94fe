/// The help texts, generated from the declarations that the parser reads.
enum Help {
    case tool([Command])
    case group([Command])
    case command(Command)

    var text: String {
        switch self {
        case .tool(let commands):
            """
            Whereabouts, an auditable location history service.

            whereabouts [--data DIR | --url URL | --profile NAME] COMMAND …

            \(Self.summaries(commands))

            "whereabouts help COMMAND" explains a command. If a service runs on the data directory, commands go through it;
            otherwise they open the directory themselves. --url and --profile name a remote service.

            """
        case .group(let commands): Self.summaries(commands) + "\n"
        case .command(let command): Self.text(of: command)
        }
    }

    private static func summaries(_ commands: [Command]) -> String {
        let width = commands.map(\.name.count).max() ?? 0
        return commands.map { "  \(padded($0.name, width))  \($0.summary)" }.joined(separator: "\n")
    }

    private static func text(of command: Command) -> String {
        var text = usage(of: command) + "\n\n" + command.summary + "\n"
        if let details = command.details { text += "\n" + details + "\n" }
        let options = command.usefulOptions
        let names = options.map(form)
        let width = names.map(\.count).max() ?? 0
        text += "\n"
        for (name, option) in zip(names, options) {
            text += "  \(padded(name, width))  \(option.help)\n"
        }
        return text
    }

    static func usage(of command: Command) -> String {
        let parts =
            command.requires.map(form) + command.accepts.map { "[\(form($0))]\($0.mayRepeat ? "…" : "")" }
            + (command.operands.usage.map { [$0] } ?? [])
        // Further lines are aligned with the first argument.
        let start = "whereabouts \(command.name)"
        var lines = [start]
        for part in parts {
            if lines[lines.count - 1].count + 1 + part.count > 100 {
                lines.append(String(repeating: " ", count: start.count))
            }
            lines[lines.count - 1] += " " + part
        }
        return lines.joined(separator: "\n")
    }

    static func form(_ option: any OptionDeclaration) -> String {
        "--\(option.name)\(option.placeholder.map { " " + $0 } ?? "")"
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
