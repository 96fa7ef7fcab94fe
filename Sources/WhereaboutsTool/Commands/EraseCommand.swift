import Glibc
import JSON
import Replies
import Whereabouts
import WhereaboutsClient

/// `erase --person P`: the only command that cannot be undone.
enum EraseCommand {
    static let details = """
        Destroys the person's keys, here and in the folders that "backup" wrote. The log keeps the person's events, but
        nobody can read them any more; the log still verifies. Folders that cannot be reached are listed; copies made by
        other means are not known. This cannot be undone.

        The service signs a receipt, which is added to HANDLE.erasures in the folder of receipts. With the last proof of
        the person's audit, everyone can check it without the service:

          scripts/verify_proof.py anna.person-proof --policy anna.tlog-policy --erasure anna.erasures
        """

    /// `--receipt`.
    static let receipt = Options.text(
        "receipt", "FILE", help: "where the receipt is kept (default: HANDLE.erasures beside the others)")

    static let command = Command(
        words: ["erase"], summary: "Erase a person from the log for good.", requires: [Options.person],
        accepts: [receipt, Options.yes, Options.json], details: details,
        run: { (invocation) throws(ToolError) in try erase(invocation.required(Options.person), invocation) })

    static func erase(_ person: Handle, _ invocation: Invocation) throws(ToolError) {
        let path =
            if let named = invocation[receipt] { named } else {
                try Receipts.standard(invocation).erasures(of: person.text)
            }
        if !invocation.has(Options.yes) { try confirm(person, invocation.console) }
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.delete(APIPath.person.parts(person.text))
        }
        ImportState.remove(person: person)
        let isKept = keep(try answer.read(ErasedPerson.self).receipt, in: path, invocation.console)
        try invocation.show(answer) { (erased: ErasedPerson) in
            invocation.console.line("Erased \(person.text). The log's data about them can no longer be read.")
            if isKept { invocation.console.line("The receipt is in \(path).") }
            if erased.areFilesLeft == true {
                invocation.console.note(
                    "A file beside the log still has data of the person, which the service continues to remove. Check "
                        + "with \"verify\".")
            }
            for folder in erased.backupsNotReached ?? [] {
                invocation.console.note(
                    "\(folder) may still hold their keys: make it reachable and restart the service, or destroy its "
                        + "keys.sqlite.")
            }
        }
    }

    /// Writes the receipt. The service gives it only once, so it is shown if it cannot be written.
    private static func keep(_ receipt: String?, in path: String, _ console: Console) -> Bool {
        guard let receipt else {
            console.note("The service gave no receipt.")
            return false
        }
        do throws(ClientError) {
            try ReceiptFile(path: path).append(Array(receipt.utf8))
            return true
        } catch {
            console.note("\(error) Keep this receipt yourself:\n\(receipt)")
            return false
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
