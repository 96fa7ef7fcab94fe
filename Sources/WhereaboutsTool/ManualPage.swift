/// The manual page, in roff with the `man` macros, generated from the same declarations as the help.
enum ManualPage {
    static func text(of commands: [Command]) -> String {
        var page = """
            .TH WHEREABOUTS 1 "" "Whereabouts \(Version.text)" "User Commands"
            .SH NAME
            whereabouts \\- an auditable location history service
            .SH SYNOPSIS
            .B whereabouts
            [\\-\\-data DIR | \\-\\-url URL | \\-\\-profile NAME] COMMAND ...
            .SH DESCRIPTION
            If a service runs on the data directory, commands go through it; otherwise they open the directory themselves.
            \\-\\-url and \\-\\-profile name a remote service.
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
            The services that "profile add" stores, with their tokens.
            .TP
            /etc/whereabouts/config.json
            The settings of the packaged service.
            .SH ENVIRONMENT
            .TP
            WHEREABOUTS_URL, WHEREABOUTS_TOKEN, WHEREABOUTS_CA_FILE
            A remote service, the token for it, and a PEM file with your own CA.
            .TP
            WHEREABOUTS_PROFILE
            A service stored by "profile add".
            .SH EXIT STATUS
            0 success; 1 a check failed; 2 wrong usage; 3 missing, unreadable or refused data; 75 the service stopped
            because of a fault and can be restarted.

            """
    }

    private static func item(_ option: any OptionDeclaration) -> String {
        ".TP\n.B \(escaped(Help.form(option)))\n\(escaped(option.help))\n"
    }

    /// Escapes the characters that roff would interpret: backslashes, minus signs, and a dot or apostrophe at the
    /// beginning of a line.
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
