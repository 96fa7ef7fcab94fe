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
        + [WitnessCommand.command, SimulateCommand.command, PushStandInCommand.command]
        + ProfileCommands.all + HelpCommands.all
}
