package import Transparency

/// A log that the witness cosigns, and a key that signs for it.
///
/// The key's name is the log's origin: `where.example/whereabouts/7f3c/p/k2m9+0b7e79b9+Aepk…`. A log whose origin is
/// another text has it after a space: `sum.golang.org+033de0ae+Ac4z… go.sum database tree`.
package struct KnownLog: Equatable, Sendable {
    package let origin: LogOrigin
    package let key: NoteVerifier

    /// The log of a text `KEY` or `KEY ORIGIN`.
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` for another form, and for a key that signs no checkpoints.
    package init(text: some StringProtocol) throws(TransparencyError) {
        let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        key = try NoteVerifier(text: parts[0])
        guard key.kind == .ed25519 else { throw .malformed("the key of \(key.name) is not one of a log (Ed25519)") }
        origin = try LogOrigin(parts.count == 2 ? String(parts[1]) : key.name.text)
    }
}

/// The logs of the command line, and those of a file that may change at any time.
struct KnownLogs {
    /// The longest file in bytes.
    static let fileBytesMax = 1 << 20
    /// The most logs.
    static let countMax = 10_000

    private let fixed: [KnownLog]
    private let path: String
    /// The file as it was read last; `nil` when it was not there.
    private var content: [UInt8]?
    /// All of them, for a ``Witness``.
    private(set) var known: [Witness.Known]

    /// Reads the file, which may be missing: one log a line, in the form of ``KnownLog``. Empty lines and lines that
    /// begin with `#` are ignored.
    ///
    /// - Throws: ``WitnessFault`` with the line that is malformed.
    init(_ fixed: [KnownLog], file path: String) throws(WitnessFault) {
        self.fixed = fixed
        self.path = path
        content = try SmallFile.read(path, atMost: Self.fileBytesMax)
        known = try Self.known(fixed, content, path)
    }

    /// Reads the file again. One read costs less than an SHA-256 over the same bytes; a time of change could be equal
    /// for two contents.
    ///
    /// - Returns: whether it has changed.
    /// - Throws: ``WitnessFault`` when it is malformed, once for each content. The logs are then those read before.
    mutating func refresh() throws(WitnessFault) -> Bool {
        let content = try SmallFile.read(path, atMost: Self.fileBytesMax)
        guard content != self.content else { return false }
        self.content = content
        known = try Self.known(fixed, content, path)
        return true
    }

    private static func known(
        _ fixed: [KnownLog], _ content: [UInt8]?, _ path: String
    ) throws(WitnessFault) -> [Witness.Known] {
        var logs = fixed
        let lines = (content ?? []).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.isEmpty && line.first != UInt8(ascii: "#") {
            do throws(TransparencyError) {
                logs.append(try KnownLog(text: String(decoding: line, as: UTF8.self)))
            } catch {
                throw WitnessFault("\(path), line \(index + 1): \(error).")
            }
        }
        guard logs.count <= countMax else { throw WitnessFault("A witness knows \(countMax) logs at most.") }
        var keys: [LogOrigin: [NoteVerifier]] = [:]
        for log in logs where keys[log.origin]?.contains(log.key) != true {
            keys[log.origin, default: []].append(log.key)
        }
        return keys.map { .log($0, keys: $1) }
    }
}
