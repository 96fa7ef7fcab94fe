import Cryptography
import Glibc
import JSON
import Log
import Replies
import Transparency
import Whereabouts

/// `prove`: a person's audit as a file that proves itself. `receipts check`: an asker's receipts against such a file.
enum ProofCommands {
    private static let output = Options.text(
        "output", "FILE", help: "the proof; an older one there must be continued (default: HANDLE.person-proof)")
    private static let policy = Options.text(
        "policy", "FILE",
        help: "whom to trust; written with the service's key if it is missing (default: HANDLE.tlog-policy)"
    )
    private static let receipts = Options.text("receipts", "FILE", help: "what \"ask --receipts FILE\" has kept")
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
            requires: [receipts, proof], accepts: [house, Options.json],
            details: """
                Each receipt of the person's log must have its entry in the proof. One that has none is named, and the
                exit code is 1: the service answered and did not record it. A file of receipts is about one person, and
                the proof must be newer than all of them.
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
        let file = invocation.required(receipts)
        guard let proof = try readProof(invocation.required(proof), isRequired: true) else { return }
        let bytes = try read(file)
        var kept: [AskerReceipt] = []
        do throws(TransparencyError) {
            let key = try invocation[house].map { (text) throws(TransparencyError) in try NoteVerifier(text: text) }
            for note in try AskerReceipt.notes(in: bytes) {
                if let key {
                    kept.append(try AskerReceipt.verify(note, house: key))
                } else {
                    kept.append(try AskerReceipt(text: note.text))
                }
            }
        } catch { throw .data("\(file) cannot be used: \(error).") }
        guard !kept.isEmpty else { throw .data("\(file) has no receipt. \"ask --receipts FILE\" keeps them.") }
        let missing = AskerReceipt.missing(kept, from: proof)
        if invocation.has(Options.json) {
            var writer = JSONWriter()
            writer.beginObject()
            writer.field("receipts", Int64(kept.count))
            writer.array("missing") { writer in
                for one in missing {
                    writer.beginObject()
                    writer.field("at", milliseconds: one.recordedAtMs)
                    writer.field("commit", Base64.encode(one.commit.bytes))
                    writer.field("log", one.pseudonym)
                    writer.endObject()
                }
            }
            writer.endObject()
            invocation.console.result(writer.bytes + [UInt8(ascii: "\n")])
        } else {
            for one in missing {
                invocation.console.line(
                    "\(LocalTime.text(Timestamp(milliseconds: one.recordedAtMs)))  has no entry  \(Base64.encode(one.commit.bytes))"
                )
            }
            invocation.console.line(
                missing.isEmpty
                    ? "Every receipt of \(Text.count(kept.count)) has its entry."
                    : "No entry in the proof: \(Text.count(missing.count)) of \(Text.count(kept.count, "receipt")).")
        }
        if !missing.isEmpty { throw .checkFailed(nil) }
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
