internal import Glibc
internal import SQLite
package import Transparency

// The folder of a witness, which only its owner may enter:
//
//     key            the private key, PRIVATE+KEY+NAME+HASH+BASE64 and a line feed, mode 0600; made once
//     state.sqlite   the last cosigned size and root of each log: see ``WitnessTable``
//     logs           keys of logs, one a line; the operator writes it, and may change it at any time

/// The folder with the key and the state of a witness.
///
/// A key without its state would cosign a second history of each log, so the two belong together.
package struct WitnessFolder: Sendable {
    private static let keyBytesMax = 4096

    package let path: String
    private var keyPath: String { path + "/key" }
    private var statePath: String { path + "/state.sqlite" }
    var logsPath: String { path + "/logs" }

    /// The folder at a path. It is made when it is opened.
    package init(_ path: String) { self.path = path }

    /// The public key of the witness, which is made with its folder if it does not exist.
    ///
    /// - Parameter name: the name of the key; `nil` keeps the existing key's, or names a new key HOST/witness.
    /// - Throws: ``WitnessFault`` when the key has another name, or the folder cannot be used.
    package func publicKey(name: KeyName?) throws(WitnessFault) -> NoteVerifier {
        if let signer = try signer(name: name) { return signer.verifier }
        return try open(name: name).signer.verifier
    }

    /// Opens the folder for one server, and creates missing files.
    ///
    /// - Throws: ``WitnessFault`` when another process has opened it, when the key has another name or can be read by
    ///   others, when the state is damaged, and when there is a key without a state.
    func open(name: KeyName?) throws(WitnessFault) -> (signer: NoteSigner, table: WitnessTable, lock: FolderLock) {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SmallFile.failure("make", path) }
        let lock = try FolderLock(path)
        let signer = try signer(name: name)
        if signer != nil, access(statePath, F_OK) != 0 {
            throw WitnessFault(
                "\(statePath) is missing, so that this key could cosign a second history of a log. Restore the file, or "
                    + "remove \(keyPath) and give the new key to everyone who trusts this witness.")
        }
        let table: WitnessTable
        do throws(SQLiteError) { table = try WitnessTable(path: statePath) } catch {
            throw WitnessFault("\(statePath): \(error).")
        }
        // The state comes first: a key without it is refused above.
        if let signer { return (signer, table, lock) }
        let new = try Self.newKey(name: name)
        try SmallFile.make(keyPath, Array((new.text + "\n").utf8), in: path)
        return (new.signer, table, lock)
    }

    /// The key of the file; `nil` if there is none.
    private func signer(name: KeyName?) throws(WitnessFault) -> NoteSigner? {
        guard let bytes = try SmallFile.read(keyPath, atMost: Self.keyBytesMax) else { return nil }
        var status = stat()
        guard stat(keyPath, &status) == 0, status.st_mode & 0o077 == 0 else {
            throw WitnessFault("Other users can read \(keyPath): chmod 600 \(keyPath).")
        }
        let signer: NoteSigner
        do throws(TransparencyError) {
            signer = try NoteSigner(text: String(decoding: bytes, as: UTF8.self).filter { !$0.isNewline })
        } catch { throw WitnessFault("\(keyPath): \(error).") }
        guard signer.verifier.kind == .cosignature else {
            throw WitnessFault("\(keyPath) is not the key of a witness.")
        }
        if let name, name != signer.verifier.name {
            throw WitnessFault("The key in \(path) is named \(signer.verifier.name), and not \(name).")
        }
        return signer
    }

    /// A key with this name; without one it is HOST/witness, or `witness` where the host has no name that a key may have.
    private static func newKey(name: KeyName?) throws(WitnessFault) -> (signer: NoteSigner, text: String) {
        do throws(TransparencyError) {
            if let name { return try NoteSigner.make(name: name, kind: .cosignature) }
            var bytes = [CChar](repeating: 0, count: 256)
            let code = gethostname(&bytes, bytes.count - 1)
            let host = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let isName = code == 0 && !host.isEmpty && (try? KeyName(host)) != nil
            return try NoteSigner.make(name: KeyName(isName ? host + "/witness" : "witness"), kind: .cosignature)
        } catch { throw WitnessFault("\(error).") }
    }
}

/// A folder that one process has opened (`flock`), until the object is released.
final class FolderLock: Sendable {
    private let descriptor: CInt

    init(_ path: String) throws(WitnessFault) {
        descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SmallFile.failure("open", path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw WitnessFault("Another witness uses \(path).")
        }
    }

    deinit { close(descriptor) }
}
