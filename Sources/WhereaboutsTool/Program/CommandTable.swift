import DeviceAgent

/// Every command, in the order of the help.
enum CommandTable {
    static let all: [Command] =
        [ServeCommand.command, AboutCommand.command, DoctorCommand.command]
        + PersonCommands.all + AccountCommands.all + [ScheduleCommands.command] + DeviceCommands.all
        + KeyCommands.all + GrantCommands.all + LinkCommands.all + SharingCommands.all + TokenCommands.all
        + SessionCommands.all
        + RegionCommands.all + CorrectionCommands.all + FixCommands.all + WebhookCommands.all
        + [AskCommand.command, PushTestCommand.command, ImportCommand.command] + ImportCommand.undoing
        + ReadCommands.all + [SummaryCommand.command] + AuditCommand.all + ProofCommands.all + [EventsCommand.command]
        + GeocodeCommand.all
        + GazetteerCommands.all + BasemapCommands.all
        + ProjectionCommands.all + [VerifyCommand.command] + BackupCommands.all + LogCommands.all
        + [ExportCommand.command, RetentionCommand.command, EraseCommand.command]
        + [
            WitnessCommand.command,
            SimulateCommand.command,
            Command(
                "push-stand-in", summary: "Run a local stand-in for Apple's push service.",
                requires: [
                    Options.text("directory", "DIR", help: "where to write the certificate, the key and stand-in.json")
                ],
                accepts: [
                    Options.text(
                        "listen", "HOST:PORT", help: "where senders connect (default: a free port of 127.0.0.1)"),
                    Options.text("courier", "HOST:PORT", help: "where simulated phones connect (default: a free port)"),
                    Options.choice(
                        "environment", ["development", "production"], help: "which of Apple's services to imitate"),
                    Options.text("bundle-ids", "ID[,ID…]", help: "accept pushes for these apps only (default: all)"),
                    Options.number(
                        "streams", "N", in: 1...1_000_000, help: "the limit of concurrent pushes on one connection"),
                    Options.text("script", "FILE", help: "a JSON list of rules: which push gets which answer"),
                ],
                details: """
                    Checks each push against Apple's documentation and prints one JSON line for it. The page PushStandIn of
                    the documentation describes the rules of a script.
                    """, passesOn: runPushStandIn(arguments:)),
        ]
        + ProfileCommands.all + HelpCommands.all
}
