/// The manual page in the language of `man` (roff with the `man` macros), made from the same declarations as the help.
enum ManualPage {
    static func text(of commands: [Command]) -> String {
        var page = """
            .TH WHEREABOUTS 1 "" "Whereabouts \(Version.text)" "User Commands"
            .SH NAME
            whereabouts \\- a location history service that one can audit
            .SH SYNOPSIS
            .B whereabouts
            [\\-\\-data DIR | \\-\\-url URL | \\-\\-profile NAME] COMMAND ...
            .SH DESCRIPTION
            While a service runs on the data directory, the commands go through it; otherwise they open the directory
            themselves.
            .SH OPTIONS OF EVERY COMMAND

            """
        for option in GlobalOptions.all { page += item(option) }
        page += ".SH COMMANDS\n"
        for command in commands {
            page += ".SS \(escaped(command.name))\n.nf\n"
            for line in Help.usage(of: command).split(separator: "\n") { page += escaped(String(line)) + "\n" }
            page += ".fi\n.PP\n\(escaped(command.summary))\n"
            if let details = command.details {
                page += ".PP\n"
                for line in details.split(separator: "\n", omittingEmptySubsequences: false) {
                    // An indented line is an example and keeps its own line.
                    page +=
                        line.isEmpty
                        ? ".PP\n"
                        : line.hasPrefix("  ")
                            ? ".br\n" + escaped(String(line)) + "\n"
                            : escaped(String(line)) + "\n"
                }
            }
            for option in command.requires + command.accepts { page += item(option) }
        }
        return page + """
            .SH FILES
            .TP
            ~/.local/state/whereabouts
            The data directory, unless \\-\\-data names another; /var/lib/whereabouts for the packaged service.
            .TP
            ~/.config/whereabouts/profiles.json
            The servers that "profile add" keeps, with their tokens.
            .TP
            /etc/whereabouts/config.json
            The settings of the packaged service.
            .SH ENVIRONMENT
            .TP
            WHEREABOUTS_URL, WHEREABOUTS_TOKEN, WHEREABOUTS_CA_FILE
            A service elsewhere, the token for it, and a PEM file of your own CA.
            .TP
            WHEREABOUTS_PROFILE
            A service that "profile add" keeps.
            .SH EXIT STATUS
            0 good, 1 a check failed, 2 usage, 3 data error.

            """
    }

    private static func item(_ option: any OptionDeclaration) -> String {
        ".TP\n.B \(escaped(Help.form(option)))\n\(escaped(option.help))\n"
    }

    /// A backslash and a minus sign mean something else in roff, and so does a dot or apostrophe that begins a line.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\e"
            case "-": escaped += "\\-"
            default: escaped.append(character)
            }
        }
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }
}
