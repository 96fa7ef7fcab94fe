/// `version`, `help` and `completion`: the commands that describe the tool.
enum HelpCommands {
    private static let manual = Option.flag("manual", help: "print the manual page in roff, for \"man -l -\"")

    static let all = [
        Command(words: ["version"], summary: "Show the version.", reach: .nothing) { (invocation) throws(ToolError) in
            invocation.console.line("whereabouts \(Version.text)")
        },
        Command(
            words: ["help"], summary: "Explain a command and its options.", operands: .words("COMMAND"),
            accepts: [manual],
            details: """
                For example "whereabouts help grant add". Without COMMAND, lists all commands.
                """, reach: .nothing, run: help),
        Command(
            words: ["completion"], summary: "Print a script with which a shell completes commands and options.",
            operands: .one("bash|zsh|fish"),
            details: """
                For bash: whereabouts completion bash > /etc/bash_completion.d/whereabouts
                For zsh:  whereabouts completion zsh > "${fpath[1]}/_whereabouts"
                For fish: whereabouts completion fish > ~/.config/fish/completions/whereabouts.fish
                """, reach: .nothing, run: complete),
    ]

    private static func help(_ invocation: Invocation) throws(ToolError) {
        if invocation.has(manual) {
            return invocation.console.result(ManualPage.text(of: CommandTable.all).utf8)
        }
        let parser = ArgumentParser(commands: CommandTable.all)
        guard case .help(let help) = try parser.parse(invocation.operands + ["--help"], console: invocation.console)
        else { return }
        invocation.console.result(help.text.utf8)
    }

    private static func complete(_ invocation: Invocation) throws(ToolError) {
        guard let shell = Completion(rawValue: invocation.operands[0]) else {
            throw .usage("\"completion\" takes bash, zsh or fish.")
        }
        invocation.console.result(shell.script(of: CommandTable.all).utf8)
    }
}
