internal import Dispatch
internal import Glibc

/// The whole of a file of at most 64 MiB.
///
/// - Throws: ``ScenarioError`` with the path and the system's reason.
func readFile(_ path: String) throws(ScenarioError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw ScenarioError("\(path) cannot be read: \(reason()).") }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while true {
        let count = read(descriptor, &piece, piece.count)
        guard count >= 0 else { throw ScenarioError("\(path) cannot be read: \(reason()).") }
        if count == 0 { return bytes }
        bytes.append(contentsOf: piece[..<count])
        guard bytes.count <= 64 << 20 else { throw ScenarioError("\(path) is larger than 64 MiB.") }
    }
}

/// Puts a whole file in place at once, readable by its owner only.
func writeFile(_ bytes: [UInt8], to path: String) throws(ScenarioError) {
    let draft = path + ".new"
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw ScenarioError("\(path) cannot be written: \(reason()).") }
    let isWritten = write(descriptor, bytes, bytes.count) == bytes.count
    guard close(descriptor) == 0, isWritten, rename(draft, path) == 0 else {
        throw ScenarioError("\(path) cannot be written: \(reason()).")
    }
}

/// Writes bytes to standard output or standard error. A reader that has gone is no reason to stop.
func write(_ bytes: [UInt8], toDescriptor descriptor: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
    }
}

/// One sentence on standard error.
func complain(_ sentence: String) { write(Array("\(sentence)\n".utf8), toDescriptor: 2) }

/// Blocks the calling thread.
func rest(ms: Int64) {
    usleep(UInt32(clamping: max(0, ms) * 1000))
}

private func reason() -> String { String(cString: strerror(errno)) }

/// SIGINT and SIGTERM, for a thread to wait for. Creating one takes both signals from the whole process.
final class EndSignal {
    private let semaphore = DispatchSemaphore(value: 0)
    private let sources: [any DispatchSourceSignal]

    init() {
        let semaphore = semaphore
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { semaphore.signal() }
            source.resume()
            return source
        }
        // Writing to a peer or reader that has gone is an error code, not the end.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Blocks until one of them has come.
    func wait() { semaphore.wait() }
}

/// Makes a new folder in the system's folder for temporary files, with a unique name.
func makeTemporaryFolder() throws(ScenarioError) -> String {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/whereabouts-phones-XXXXXX".utf8CString)
    guard let path = mkdtemp(&template) else { throw ScenarioError("\(parent) cannot be written: \(reason()).") }
    return String(cString: path)
}
