import Cryptography
import Whereabouts
import WhereaboutsClient

/// The receipts of those who ask with the tool: where they are kept, and whether an answer needs one.
///
/// A person's reads need receipts. The operator's own need none, because the operator has the log itself.
enum Receipts {
    /// `--receipts`.
    static let file = Options.text("receipts", "FILE", help: "where the promises are kept that answers are recorded")
    /// `--no-receipts`.
    static let without = Option.flag(
        "no-receipts", help: "accept answers without such a promise, from a service that is too old for it")
    static let options: [any OptionDeclaration] = [file, without]
    static let help = """
        A person who asks keeps the service's signed promise that the answer is recorded, and refuses an answer without
        one. "receipts check" compares the promises with the other person's proof. By default they are in the folder
        ${XDG_STATE_HOME:-~/.local/state}/whereabouts-receipts, one file for each person asked about.
        """

    /// Has a client that acts as a person keep receipts, as the invocation says.
    ///
    /// - Throws: ``ToolError/usage(_:)`` if the options contradict each other.
    static func keep(of client: inout Client, _ invocation: Invocation) throws(ToolError) {
        let path = invocation.takes(file) ? invocation[file] : nil
        if invocation.takes(without), invocation.has(without) {
            guard path == nil else { throw .usage("Give --receipts or --no-receipts, not both.") }
            return client.service.receipts = .notKept
        }
        client.service.receipts = if let path { .file(path) } else { try standard(invocation) }
    }

    /// The folder for the receipts of the service that an invocation reaches. That of a data directory has a hash of
    /// the directory's path as its name.
    static func standard(_ invocation: Invocation) throws(ToolError) -> ReceiptKeeping {
        let reach = try Reach(invocation)
        switch reach {
        case .server(let server): return .standard(for: server.url)
        case .directory:
            let hash = SHA256().hash(Array(reach.text.utf8))
            return .standard(for: "directory-" + Hex.encode(hash.bytes.prefix(8)))
        }
    }
}
