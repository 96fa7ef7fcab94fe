import Glibc
import JSON
import Replies
import Whereabouts

/// `erase --person P`: the only command that cannot be undone.
enum EraseCommand {
    static let details = """
        Destroys the person's keys, here and in the folders that "backup" wrote. The log keeps the person's events, but
        nobody can read them any more; the log still verifies. Folders that cannot be reached are listed; copies made by
        other means are not known. This cannot be undone.
        """

    static let command = Command(
        words: ["erase"], summary: "Erase a person from the log for good.", requires: [Options.person],
        accepts: [Options.yes, Options.json], details: details,
        run: { (invocation) throws(ToolError) in try erase(invocation.required(Options.person), invocation) })

    static func erase(_ person: Handle, _ invocation: Invocation) throws(ToolError) {
        if !invocation.has(Options.yes) { try confirm(person, invocation.console) }
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.delete(APIPath.person.parts(person.text))
        }
        ImportState.remove(person: person)
        try invocation.show(answer) { (erased: ErasedPerson) in
            invocation.console.line("Erased \(person.text). The log's data about them can no longer be read.")
            for folder in erased.backupsNotReached ?? [] {
                invocation.console.note(
                    "\(folder) may still hold their keys: make it reachable and restart the service, or destroy its "
                        + "keys.sqlite.")
            }
        }
    }

    /// Asks for the name, because a "y" is typed too easily.
    private static func confirm(_ person: Handle, _ console: Console) throws(ToolError) {
        guard isatty(STDIN_FILENO) != 0 else {
            throw .usage("Erasing cannot be undone; without a terminal to ask on, it needs --yes.")
        }
        console.note("This erases \(person.text) for good. Type the name to confirm:")
        guard readLine() == person.text else { throw .usage("The name was not confirmed; nothing was erased.") }
    }
}
