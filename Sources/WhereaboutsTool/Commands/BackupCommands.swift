import Glibc
import JSON
import Log
import Maintenance
import Replies
import Whereabouts

/// `backup FOLDER` and `restore FOLDER`.
enum BackupCommands {
    private static let kek = path("kek", help: "the key-encryption key, if it is not in the data directory")
    private static let until = Options.time("until", help: "the moment to restore, of a shipped folder")
    private static let number = Options.number(
        "number", "N", in: 1...(1 << 52), help: "the last event to restore, of a shipped folder")
    private static let keys = path("keys", help: "keys.sqlite of a later backup, or of the lost directory")

    static let all = [
        Command(
            words: ["backup"], summary: "Copy the log and its keys into a new folder, while the service runs.",
            operands: .one("FOLDER"), accepts: [Options.json],
            details: """
                The copy is verified before the command succeeds. It can be read only with the file kek, which it does not
                contain: copy that file once, to another place. The service remembers the folder: when a person is erased
                later, their keys are destroyed there too, if the folder can be reached; "doctor" names the folders that
                could not. The service does not know copies of the folder: after an erasure, destroy their keys.sqlite.
                """, reach: .files, run: backup),
        Command(
            words: ["restore"], summary: "Restore a backup, or shipped events, as a new data directory.",
            operands: .one("FOLDER"), accepts: [until, number, kek, keys, Options.json],
            details: """
                Nothing is overwritten: the data directory must hold no log. FOLDER is a folder that "backup" made, or a
                folder LOG-EPOCH in the place to which "shipping" in config.json ships. Of shipped events, --until restores
                the events before the first one that was recorded after a moment, and --number the events up to a number.
                Without them, all events are restored.
                Everything is verified before the log gets its name. The log goes on from there: later grants,
                revocations and pauses are not in it. Give the newest keys.sqlite that you have with --keys: people who were
                erased by then are erased again.
                """, makesInstallation: true, reach: .files, run: restore),
    ]

    private static func path(_ name: String, help: String) -> Option<String> {
        Option(name: name, placeholder: "FILE", help: help, form: "a path", read: { $0.isEmpty ? nil : $0 })
    }

    private static func backup(_ invocation: Invocation) throws(ToolError) {
        let (data, folder) = (try House.path(of: invocation), invocation.operands[0])
        // The folder may exist if it is empty.
        guard mkdir(folder, 0o700) == 0 || (errno == EEXIST && rmdir(folder) == 0 && mkdir(folder, 0o700) == 0) else {
            throw .data("\(folder) cannot be made: \(lastSystemError()). Name a folder that does not exist yet.")
        }
        do throws(ToolError) {
            let answer = try House.withClient(invocation) { client throws(ToolError) in
                try client.post(APIPath.backups.parts())
            }
            do throws(LogError) { try Backup.move(outOf: data, to: folder) } catch {
                throw .data("\(error)")
            }
            try invocation.show(answer) { (made: BackupItem) in
                let events = Text.count(Int(made.events))
                invocation.console.line("\(events) events are in \(folder), with root \(made.root.prefix(16))…")
            }
        } catch {
            rmdir(folder)
            throw error
        }
    }

    private static func restore(_ invocation: Invocation) throws(ToolError) {
        let path = try House.path(of: invocation)
        let point: RestorePoint
        switch (invocation[until], invocation[number]) {
        case (nil, nil): point = .newest
        case (let time?, nil): point = .time(time)
        case (nil, let number?): point = .number(number)
        default: throw .usage("Give --until or --number, not both.")
        }
        let outcome: Restore.Outcome
        do {
            outcome = try Restore.restore(
                from: invocation.operands[0], at: point, to: path, kek: invocation[kek], newerKeys: invocation[keys])
        } catch { throw .data("\(error)") }
        if invocation.has(Options.json) {
            let restored = RestoredBackup(
                events: outcome.manifest.events, epoch: outcome.epoch, erased: Int64(outcome.erased),
                root: outcome.manifest.root, madeAt: outcome.manifest.reply.madeAt, later: outcome.rest?.later)
            return invocation.console.result(restored.bytes + [UInt8(ascii: "\n")])
        }
        let (console, madeAt) = (invocation.console, LocalTime.text(outcome.manifest.madeAt))
        console.line(
            "\(Text.count(Int(outcome.manifest.events))) events of \(madeAt) are in \(path), epoch \(outcome.epoch).")
        console.line("The root over them is \(outcome.manifest.root).")
        if let rest = outcome.rest {
            console.line("The folder has \(Text.count(Int(rest.later))) later events.")
            if rest.incompleteBytes > 0 {
                console.note(
                    "Its last \(Text.count(Int(rest.incompleteBytes))) bytes are a batch that was not written to its end; they are left out."
                )
            }
        }
        if invocation[keys] == nil {
            console.note("People erased after \(madeAt) are back: erase them again, or restore with --keys.")
        } else if outcome.erased > 0 {
            console.line("Erased again: \(outcome.erased) people who had been erased after the backup.")
        }
        console.note(
            "Tokens, grants and pauses are as of then: revoke or pause again what was revoked or paused later.")
    }
}
