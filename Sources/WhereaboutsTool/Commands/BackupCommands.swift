import Glibc
import JSON
import Log
import Maintenance
import Replies
import Whereabouts

/// `backup FOLDER` and `restore FOLDER`.
enum BackupCommands {
    private static let kek = path("kek", help: "the key-encryption key, if it is not in the data directory")
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
            words: ["restore"], summary: "Restore a backup as a new data directory.", operands: .one("FOLDER"),
            accepts: [kek, keys, Options.json],
            details: """
                Nothing is overwritten: the data directory must hold no log. The log goes on from the moment of the backup;
                what was granted, revoked or paused later is not in it. Name the newest keys.sqlite there is with --keys:
                whoever was erased by then is erased again.
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
        let outcome: Restore.Outcome
        do {
            outcome = try Restore.restore(
                from: invocation.operands[0], to: path, kek: invocation[kek], newerKeys: invocation[keys])
        } catch { throw .data("\(error)") }
        if invocation.has(Options.json) {
            let restored = RestoredBackup(
                events: outcome.manifest.events, epoch: outcome.epoch, erased: Int64(outcome.erased))
            return invocation.console.result(restored.bytes + [UInt8(ascii: "\n")])
        }
        let (console, madeAt) = (invocation.console, LocalTime.text(outcome.manifest.madeAt))
        console.line(
            "\(Text.count(Int(outcome.manifest.events))) events of \(madeAt) are in \(path), epoch \(outcome.epoch).")
        if invocation[keys] == nil {
            console.note("People erased after \(madeAt) are back: erase them again, or restore with --keys.")
        } else if outcome.erased > 0 {
            console.line("Erased again: \(outcome.erased) people who had been erased after the backup.")
        }
        console.note(
            "Tokens, grants and pauses are as of then: revoke or pause again what was revoked or paused later.")
    }
}
