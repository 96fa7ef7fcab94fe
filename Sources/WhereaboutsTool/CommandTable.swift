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
                "push-stand-in", summary: "Stand in for Apple's push service.", passesOn: runPushStandIn(arguments:)),
        ]
}
