import Cryptography
import Glibc
import JSON
import Log
import Replies
import Transparency
import Whereabouts
import WhereaboutsClient

/// `prove`: a person's audit as a file that proves itself. `receipts check`: an asker's receipts against such a file.
enum ProofCommands {
    private static let output = Options.text(
        "output", "FILE", help: "the proof; an older one there must be continued (default: HANDLE.person-proof)")
    private static let policy = Options.text(
        "policy", "FILE",
        help: "whom to trust; written with the service's key if it is missing (default: HANDLE.tlog-policy)"
    )
    private static let receipts = Options.text(
        "receipts", "FILE", help: "the kept receipts (default: the file for --person)")
    private static let person = Options.handle("person", help: "the person who was asked about, without --receipts")
    private static let proof = Options.text("proof", "FILE", help: "the person's proof, made after the receipts")
    private static let house = Options.text(
        "house", "KEY", help: "the key of the house, which the policy of \"prove\" names, to check the signatures")

    static let all = [
        Command(
            words: ["prove"], summary: "Prove that a person's audit is complete.",
            requires: [Options.person], accepts: [output, policy, ReadCommands.reader, Options.purpose, Options.json],
            details: """
                Writes all entries of the person's own log, with what opens them and the signed checkpoint over them, and
                checks the file: that the entries give the signed root, that the signatures satisfy the policy, and that
                the log continues the proof that was in FILE before. If it does not, FILE stays as it was, the new proof is
                beside it as FILE.refused, and the two are evidence.

                Everyone can check the file without the service: scripts/verify_proof.py HANDLE.person-proof --policy
                HANDLE.tlog-policy. The page Proof of the documentation says what it proves, and how to add witnesses to
                the policy.
                """, run: prove),
        Command(
            words: ["receipts", "check"], summary: "Compare the receipts of someone who asked with the person's proof.",
            requires: [proof], accepts: [receipts, person, house, Options.json],
            details: """
                Each receipt of the person's log must have its entry in the proof. One that has none is named, and the
                exit code is 1: the service answered and did not record it. A file of receipts is about one person.

                A receipt that is newer than the last entry of the proof needs a newer proof. One of another log, for
                example from before the service was restored from a backup, needs a proof of that log.

                A receipt says that its own answer is recorded. It says nothing about other questions, nor how many
                there are.
                """, run: checkReceipts),
    ]

    // MARK: prove

    private static func prove(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person).text
        let path = invocation[output] ?? "\(person).person-proof"
        let policyPath = invocation[policy] ?? "\(person).tlog-policy"
        let older = try readProof(path, isRequired: false)
        // Before the service is asked: a file that cannot be used costs no recorded read.
        let kept = access(policyPath, F_OK) == 0 ? try readPolicy(policyPath) : nil
        // Both are recorded reads, so the keys are asked for only once.
        let (bytes, first) = try ReadCommands.reading(invocation, scopes: ["audit"]) {
            client, query throws(ToolError) in
            (
                try client.file(APIPath.peopleProof.parts(person), query: query),
                kept == nil ? firstPolicy(try client.get(APIPath.peopleCheckpoint.parts(person)).read(), person) : nil
            )
        }
        let proven: PersonProof
        let verdict: TrustPolicy.Verdict
        do throws(TransparencyError) {
            let policy = if let kept { kept } else { try TrustPolicy(parsing: first ?? []) }
            proven = try PersonProof(parsing: bytes)
            if let older { try checkOrigin(of: proven, like: older) }
            verdict =
                if let older { try proven.verify(policy: policy, since: older) } else {
                    try proven.verify(policy: policy)
                }
        } catch {
            try write(bytes, to: path + ".refused")
            throw .checkFailed("The proof is refused: \(error). It is in \(path).refused; keep it with \(path).")
        }
        try write(bytes, to: path)
        if let first { try write(first, to: policyPath) }
        show(proven, verdict, after: older, path, first == nil ? nil : policyPath, invocation)
    }

    /// - Throws: If the proofs are of different logs, in words for the person: a restore must not pass unnoticed.
    private static func checkOrigin(of proof: PersonProof, like older: PersonProof) throws(TransparencyError) {
        let (before, now) = (try Checkpoint(text: older.note.text).origin, try Checkpoint(text: proof.note.text).origin)
        guard before != now else { return }
        throw .unproven(
            "it is of another log, \(now), and the one before is of \(before). The service was restored from a backup, has "
                + "accepted a loss, or has another address: entries that you have seen may be missing. Ask the operator; to "
                + "begin anew, move the old proof and its policy away")
    }

    /// The policy that trusts the key of a service's checkpoint, for the first proof.
    private static func firstPolicy(_ checkpoint: LogCheckpoint, _ person: String) -> [UInt8] {
        let text = """
            # Whom to trust about the log of \(person): the service's key as it was at the first time. Compare it with
            # what the operator says by another way, and add witnesses (c2sp.org/tlog-policy).
            log \(checkpoint.key)
            quorum none
            # Receipts of those who asked are signed by
            # \(checkpoint.houseKey)

            """
        return Array(text.utf8)
    }

    private static func show(
        _ proof: PersonProof, _ verdict: TrustPolicy.Verdict, after older: PersonProof?, _ path: String,
        _ newPolicy: String?, _ invocation: Invocation
    ) {
        let witnesses = verdict.cosignatures.map(\.key.name.text)
        if invocation.has(Options.json) {
            var writer = JSONWriter()
            writer.beginObject()
            writer.field("file", path)
            writer.field("origin", verdict.checkpoint.origin.text)
            writer.field("entries", verdict.checkpoint.size)
            writer.field("root", Base64.encode(verdict.checkpoint.root.bytes))
            writer.field("continues", older.map { Int64($0.entries.count) })
            writer.array("witnesses") { writer in for one in witnesses { writer.value(one) } }
            writer.endObject()
            return invocation.console.result(writer.bytes + [UInt8(ascii: "\n")])
        }
        let count = proof.entries.count
        invocation.console.line("\(path) proves all \(Text.count(count, "entry")) of \(verdict.checkpoint.origin).")
        if let older {
            invocation.console.line(
                "The log continues the one that was there, of \(Text.count(older.entries.count, "entry")).")
        }
        invocation.console.line(
            witnesses.isEmpty
                ? "No witness has cosigned: the service could show others another list."
                : "Cosigned by \(witnesses.joined(separator: ", ")).")
        if let newPolicy {
            invocation.console.line("The service's key was new and is trusted from now on: \(newPolicy)")
        }
    }

    // MARK: receipts check

    private static func checkReceipts(_ invocation: Invocation) throws(ToolError) {
        let file = try receiptsFile(invocation)
        guard let proof = try readProof(invocation.required(proof), isRequired: true) else { return }
        let bytes = try read(file)
        var kept: [(receipt: AskerReceipt, house: String)] = []
        do throws(TransparencyError) {
            let key = try invocation[house].map { (text) throws(TransparencyError) in try NoteVerifier(text: text) }
            for note in try AskerReceipt.notes(in: bytes) {
                let receipt =
                    if let key { try AskerReceipt.verify(note, house: key) } else { try AskerReceipt(text: note.text) }
                kept.append((receipt, note.signatures.first?.name.text ?? ""))
            }
        } catch { throw .data("\(file) cannot be used: \(error).") }
        guard !kept.isEmpty else { throw .data("\(file) has no receipt. \"ask\" and the reads with --as keep them.") }
        let found = MissingReceipts(kept, in: proof)
        if invocation.has(Options.json) {
            invocation.console.result(found.json)
        } else {
            for line in found.lines { invocation.console.line(line) }
        }
        if !found.missing.isEmpty { throw .checkFailed(nil) }
    }

    /// The file of `--receipts`, or the one in which the receipts about `--person` are kept.
    private static func receiptsFile(_ invocation: Invocation) throws(ToolError) -> String {
        switch (invocation[receipts], invocation[person]) {
        case (let path?, nil): return path
        case (nil, let person?):
            guard case .file(let path) = try Receipts.standard(invocation).about(person.text) else {
                preconditionFailure("The receipts about a person are in a file.")
            }
            guard access(path, F_OK) == 0 else {
                throw .data(
                    "No receipt about \(person.text) is kept here for this service (\(path)). \"ask\" and the reads of a "
                        + "person keep them; --receipts FILE names another file.")
            }
            return path
        default: throw .usage("Give --receipts FILE, or --person HANDLE for the receipts that this tool has kept.")
        }
    }

    // MARK: Files

    private static func read(_ path: String) throws(ToolError) -> [UInt8] {
        guard let bytes = DataDirectory.read(path, atMost: PersonProof.bytesMax) else {
            throw .data("\(path) cannot be read: \(String(cString: strerror(errno))).")
        }
        return bytes
    }

    private static func readPolicy(_ path: String) throws(ToolError) -> TrustPolicy {
        let bytes = try read(path)
        do throws(TransparencyError) { return try TrustPolicy(parsing: bytes) } catch {
            throw .data("\(path) is no policy: \(error). Correct it, or choose another --policy.")
        }
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(ToolError) {
        do throws(LogError) { try DataDirectory.writePrivate(bytes, to: path) } catch { throw .data("\(error)") }
    }

    /// The proof in a file; `nil` if there is none and none is required.
    private static func readProof(_ path: String, isRequired: Bool) throws(ToolError) -> PersonProof? {
        if !isRequired, access(path, F_OK) != 0 { return nil }
        let bytes = try read(path)
        do throws(TransparencyError) { return try PersonProof(parsing: bytes) } catch {
            throw .data("\(path) is no proof: \(error).\(isRequired ? "" : " Choose another --output.")")
        }
    }
}
