/// The shells that can complete commands and options, each by a script generated from the declarations that the parser
/// reads.
enum Completion: String {
    case bash, zsh, fish

    func script(of commands: [Command]) -> String {
        switch self {
        case .bash: Self.bash(commands)
        case .zsh: "#compdef whereabouts\nautoload -U +X bashcompinit && bashcompinit\n" + Self.bash(commands)
        case .fish: Self.fish(commands)
        }
    }

    /// The words before the cursor choose the command. Options are skipped, with their value if they take one.
    private static func bash(_ commands: [Command]) -> String {
        let globals = GlobalOptions.all.map { "--\($0.name)" }.joined(separator: " ")
        let withValue = Set(
            (GlobalOptions.all + commands.flatMap(\.options)).filter { $0.placeholder != nil }.map(\.name))
        let valued = withValue.sorted().map { "--\($0)" }.joined(separator: "|")
        var choices = ""
        let groups = Dictionary(grouping: commands, by: \.words[0])
        for (word, group) in groups.sorted(by: { $0.key < $1.key }) {
            let verbs = group.compactMap { $0.words.count > 1 ? $0.words[1] : nil }
            let alone = group.first { $0.words.count == 1 }.map(options)
            choices +=
                "        \"\(word)\") words=\"\((verbs + [alone].compactMap(\.self)).joined(separator: " "))\" ;;\n"
            for command in group where command.words.count > 1 {
                choices += "        \"\(command.name)\") words=\"\(options(of: command))\" ;;\n"
            }
        }
        let withVerbs = groups.filter { $0.value.contains { $0.words.count > 1 } }.keys.sorted().joined(separator: "|")
        let firsts = groups.keys.sorted().joined(separator: " ")
        return """
            _whereabouts() {
                local current=${COMP_WORDS[COMP_CWORD]} chosen="" words="" skip="" index
                for ((index = 1; index < COMP_CWORD; index++)); do
                    if [ -n "$skip" ]; then skip=""; continue; fi
                    case ${COMP_WORDS[index]} in
                        \(valued)) skip=1 ;;
                        -*) ;;
                        *) case $chosen in
                            "") chosen=${COMP_WORDS[index]} ;;
                            \(withVerbs)) chosen="$chosen ${COMP_WORDS[index]}" ;;
                        esac ;;
                    esac
                done
                if [ -n "$skip" ]; then COMPREPLY=($(compgen -f -- "$current")); return; fi
                case $chosen in
                    "") words="\(firsts) \(globals)" ;;
            \(choices)    esac
                COMPREPLY=($(compgen -W "$words" -- "$current"))
                [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
            }
            complete -o filenames -F _whereabouts whereabouts

            """
    }

    private static func options(of command: Command) -> String {
        command.usefulOptions.map { "--\($0.name)" }.joined(separator: " ")
    }

    private static func fish(_ commands: [Command]) -> String {
        func quoted(_ text: String) -> String {
            "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
        }
        func line(_ condition: String, _ option: any OptionDeclaration) -> String {
            "complete -c whereabouts -n \(quoted(condition)) -l \(option.name)\(option.placeholder == nil ? "" : " -r")"
                + " -d \(quoted(option.help))\n"
        }
        var script = "complete -c whereabouts -f\n"
        for (word, group) in Dictionary(grouping: commands, by: \.words[0]).sorted(by: { $0.key < $1.key }) {
            let summary = group.count == 1 ? group[0].summary : group.compactMap(\.words.last).joined(separator: ", ")
            script += "complete -c whereabouts -n __fish_use_subcommand -a \(word) -d \(quoted(summary))\n"
            for command in group {
                var condition = "__fish_seen_subcommand_from \(word)"
                if command.words.count > 1 {
                    let verbs = group.compactMap { $0.words.count > 1 ? $0.words[1] : nil }.joined(separator: " ")
                    script +=
                        "complete -c whereabouts -n \(quoted("\(condition); and not __fish_seen_subcommand_from \(verbs)"))"
                        + " -a \(command.words[1]) -d \(quoted(command.summary))\n"
                    condition += "; and __fish_seen_subcommand_from \(command.words[1])"
                }
                for option in command.usefulOptions { script += line(condition, option) }
            }
        }
        return script
    }
}
