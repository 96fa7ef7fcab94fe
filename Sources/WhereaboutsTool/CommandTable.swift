import DeviceAgent

/// Every command, in the order of the help.
enum CommandTable {
    static let all: [Command] =
        [ServeCommand.command, AboutCommand.command, DoctorCommand.command]
        + PersonCommands.all + AccountCommands.all + [ScheduleCommands.command] + DeviceCommands.all
        + GrantCommands.all + SharingCommands.all + TokenCommands.all
        + RegionCommands.all + CorrectionCommands.all + WebhookCommands.all
        + [AskCommand.command, PushTestCommand.command, ImportCommand.command]
        + ReadCommands.all + [SummaryCommand.command] + AuditCommand.all + [EventsCommand.command] + GeocodeCommand.all
        + GazetteerCommands.all
        + ProjectionCommands.all + [VerifyCommand.command] + BackupCommands.all
        + [ExportCommand.command, EraseCommand.command]
        + [
            SimulateCommand.command,
            Command(
                "push-stand-in", summary: "Stand in for Apple's push service.",
                requires: [
                    Options.text("directory", "DIR", help: "where it writes its certificate, key and stand-in.json")
                ],
                accepts: [
                    Options.text(
                        "listen", "HOST:PORT", help: "where senders connect (default: a free port of 127.0.0.1)"),
                    Options.text("courier", "HOST:PORT", help: "where simulated phones connect (default: a free port)"),
                    Options.choice("environment", ["development", "production"], help: "which of Apple's services"),
                    Options.text("bundle-ids", "ID[,ID…]", help: "the apps that may be pushed to (default: all)"),
                    Options.number("streams", "N", in: 1...1_000_000, help: "pushes under way on one connection"),
                    Options.text("script", "FILE", help: "JSON list of rules for what it does to which push"),
                ],
                details: """
                    Checks each push as Apple documents it and prints one JSON line for each. PushStandIn in the
                    documentation describes the rules of a script.
                    """, passesOn: runPushStandIn(arguments:)),
        ]
        + ProfileCommands.all + HelpCommands.all
}
