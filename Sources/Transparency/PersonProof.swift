package import Cryptography

// The proof that a list is complete, for files `*.person-proof`: names, all entries of a person's log, its checkpoint.
//
//     whereabouts/person-proof@v1
//     name r8Vu2n0mVpjCrr7a6lTqB5A YmVu                              reference, name: ascending by reference
//     1 1777881600000 pZ0aVXKQ0Z2k7A8y0x7hAA== pGNieWNiZW5k…        version, time, salt, content
//     2 1777881612345 - 9jVQ1u2S6oJ8cHc3mV0r8nKQz3d2y8g3l0o4sN7u2hA= version, time, commit: the content is erased
//
//     where.example/whereabouts/7f3c/p/k2m9                          the checkpoint, verbatim, with its cosignatures
//     2
//     Wqx3HImawpLnS/Gv4ubjAvi1WIOy0b8Ze0amvqbavKk=
//
//     — where.example/whereabouts/7f3c/p/k2m9 M9e0…
//
// Names, salts, contents and commits are base 64. A verifier recomputes commits, entries, leaves and the root. If an entry
// was left out, added, moved or changed, the root differs from the signed one. No signature covers the names.

/// All entries of a person's log up to a signed checkpoint, with their contents.
package struct PersonProof: Equatable, Sendable {
    /// The longest file in bytes.
    package static let bytesMax = 256 << 20
    /// The most entries.
    package static let entriesMax = 1_000_000
    /// The longest content of an entry in bytes.
    package static let contentBytesMax = 16 << 10

    /// The part of an entry that can still be shown.
    package enum Opening: Equatable, Sendable {
        /// Everything: the content is proven.
        case whole(salt: EntrySalt, content: [UInt8])
        /// Its place, time and commitment: the content and the salt were erased.
        case erased(commit: Digest)
    }

    /// One entry; its version is its place in the list, from 1 on.
    package struct Entry: Equatable, Sendable {
        package let recordedAtMs: Int64
        package let opening: Opening

        package init(recordedAtMs: Int64, opening: Opening) {
            self.recordedAtMs = recordedAtMs
            self.opening = opening
        }
    }

    /// The names that the service gives for the references in the contents, ascending by reference. Nothing proves a
    /// name; see ``renamed(since:)``.
    package let names: [Name]
    package let entries: [Entry]
    /// The checkpoint with all its signatures.
    package let note: SignedNote

    private static let firstLine = "whereabouts/person-proof@v1"

    /// A proof. Whether it proves something, ``verify(policy:after:)`` says.
    ///
    /// - Parameter names: in any order.
    /// - Precondition: There are at most ``namesMax`` names, and each reference has one.
    package init(names: [Name] = [], entries: [Entry], note: SignedNote) {
        let names = names.sorted { $0.precedes($1) }
        precondition(
            names.count <= Self.namesMax && zip(names, names.dropFirst()).allSatisfy { $0.precedes($1) },
            "A reference has one name.")
        self.names = names
        self.entries = entries
        self.note = note
    }

    /// Reads a proof.
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` for another form, with the number of the line.
    package init(parsing bytes: [UInt8]) throws(TransparencyError) {
        guard bytes.count <= Self.bytesMax else {
            throw .malformed("a proof of a person's log has \(Self.bytesMax >> 20) MiB at most")
        }
        guard let (head, note) = NoteText.parts(bytes[...]) else {
            throw .malformed("a proof of a person's log is lines of entries, an empty line, and a checkpoint")
        }
        let lines = head.split(separator: NoteText.lineFeed, omittingEmptySubsequences: false)
        guard lines[0].elementsEqual(Self.firstLine.utf8) else {
            throw .malformed("the first line of a proof of a person's log is \(Self.firstLine)")
        }
        names = try Self.names(lines.dropFirst())
        let entryLines = lines.dropFirst(1 + names.count)
        guard entryLines.count <= Self.entriesMax else {
            throw .malformed("a proof of a person's log has \(Self.entriesMax) entries at most")
        }
        var entries: [Entry] = []
        entries.reserveCapacity(entryLines.count)
        for (index, line) in zip(entryLines.indices, entryLines) {
            let version = entries.count + 1
            guard let entry = Self.entry(line, version: Int64(version)) else {
                throw .malformed("line \(index + 1) of the proof is not entry \(version): VERSION TIME SALT CONTENT")
            }
            entries.append(entry)
        }
        self.entries = entries
        self.note = try SignedNote(parsing: Array(note))
    }

    private static func entry(_ line: ArraySlice<UInt8>, version: Int64) -> Entry? {
        let text = String(decoding: line, as: UTF8.self)
        let fields = NoteText.fields(text)
        guard fields.count == 4, NoteText.number(fields[0]) == version, let time = NoteText.number(fields[1]),
            let last = NoteText.base64(fields[3])
        else { return nil }
        if fields[2] == "-" {
            return Digest(bytes: last).map { Entry(recordedAtMs: time, opening: .erased(commit: $0)) }
        }
        guard let salt = NoteText.base64(fields[2]).flatMap(EntrySalt.init), last.count <= contentBytesMax else {
            return nil
        }
        return Entry(recordedAtMs: time, opening: .whole(salt: salt, content: last))
    }

    /// The proof as text.
    package var bytes: [UInt8] {
        var text = Self.firstLine + "\n" + names.map(\.line).joined()
        for (index, entry) in entries.enumerated() {
            text += "\(index + 1) \(entry.recordedAtMs) "
            switch entry.opening {
            case .whole(let salt, let content): text += "\(Base64.encode(salt.bytes)) \(Base64.encode(content))\n"
            case .erased(let commit): text += "- \(NoteText.text(commit))\n"
            }
        }
        return Array((text + "\n").utf8) + note.bytes
    }

    /// The entries as the log has them.
    package func logEntries(_ sha256: SHA256) -> [PersonLogEntry] {
        entries.enumerated().map { index, entry in
            switch entry.opening {
            case .whole(let salt, let content):
                PersonLogEntry(
                    version: Int64(index + 1), recordedAtMs: entry.recordedAtMs, salt: salt, content: content, sha256)
            case .erased(let commit):
                PersonLogEntry(version: Int64(index + 1), recordedAtMs: entry.recordedAtMs, commit: commit)
            }
        }
    }

    /// Checks three claims: the entries are all that the log had at the checkpoint, the policy accepts the checkpoint,
    /// and the log continues the one of the checkpoint seen earlier.
    ///
    /// - Parameters:
    ///   - policy: the logs and witnesses that one trusts.
    ///   - earlier: a checkpoint that was verified before; `nil` at the first time.
    /// - Throws: ``TransparencyError`` with the fault.
    package func verify(
        policy: TrustPolicy, after earlier: Checkpoint? = nil
    ) throws(TransparencyError) -> TrustPolicy.Verdict {
        let verdict = try policy.judge(note)
        let checkpoint = verdict.checkpoint
        guard checkpoint.size == Int64(entries.count) else {
            throw .unproven("the checkpoint is over \(checkpoint.size) entries, and the proof has \(entries.count)")
        }
        let sha256 = SHA256()
        var range = CompactRange()
        var earlierRoot: Digest?
        if earlier?.size == 0 { earlierRoot = range.root(sha256) }
        for entry in logEntries(sha256) {
            range.append(entry.leaf(sha256), sha256)
            if range.size == earlier?.size { earlierRoot = range.root(sha256) }
        }
        guard range.root(sha256) == checkpoint.root else {
            throw .unproven("the entries do not give the root that was signed: one is missing, added or changed")
        }
        guard let earlier else { return verdict }
        guard earlier.origin == checkpoint.origin else {
            throw .unproven("the earlier checkpoint is of another log: \(earlier.origin)")
        }
        guard earlier.size <= checkpoint.size else {
            throw .unproven("the log had \(earlier.size) entries earlier, and has \(checkpoint.size) now")
        }
        guard earlierRoot == earlier.root else {
            throw .unproven(
                "the first \(earlier.size) entries are not those of the earlier checkpoint: the log was forked")
        }
        return verdict
    }
}
