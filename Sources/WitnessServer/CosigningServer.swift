internal import Glibc
internal import HTTPServer
internal import SQLite
internal import Threading
package import Transparency

/// A witness over HTTP: `POST /add-checkpoint` of C2SP tlog-witness.
///
/// | | |
/// |---|---|
/// | 200 | the cosignature, one line |
/// | 400, 403, 404 | a malformed request, a signature of no known key, an unknown log |
/// | 409 | `text/x.tlog.size`: the size that was cosigned last |
/// | 422 | the checkpoint does not continue the one before |
/// | 413, 503 | a body of more than 64 KiB; too many requests wait, or the state cannot be written |
///
/// One thread answers the requests one after the other, and the new state is durable before the cosignature leaves. So
/// two requests never both succeed from the same old size.
package final class CosigningServer: Sendable {
    /// The settings of a server.
    package struct Configuration: Sendable {
        /// The folder of the key, the state and the file `logs`; made if it does not exist.
        package var directory: String
        /// A loopback address: the server has no TLS.
        package var host = "127.0.0.1"
        /// 0 lets the system choose.
        package var port = 0
        /// The name of the key; `nil` keeps the existing key's, or names a new key HOST/witness.
        package var name: KeyName?
        /// Logs beside those of the file.
        package var logs: [KnownLog] = []
        /// Now, in seconds since 1970 UTC.
        package var clock: @Sendable () -> Int64 = { Int64(time(nil)) }
        /// Gets a sentence for the operator: a log that contradicts itself, a fault of the disk, a malformed file.
        package var report: @Sendable (String) -> Void = { _ in }

        package init(directory: String) { self.directory = directory }
    }

    /// The longest body in bytes. A proof of 63 hashes and a checkpoint with its signatures need a tenth of it.
    static let bodyBytesMax = 64 << 10
    /// The most requests that wait; further ones get 503.
    static let waitingMax = 256
    private static let connectionsMax = 512
    private static let requestSeconds = 10.0

    /// The public key, for the policy files of people who trust this witness.
    package let verifier: NoteVerifier
    /// The port it listens on.
    package var port: Int { server.port }

    private let server: HTTPServer
    private let queue: Monitor<Queue>
    private let worker: WorkerThread
    private let isStopped = Monitor(false)

    private struct Queue: Sendable {
        var waiting: [(body: [UInt8], responder: HTTPResponder)] = []
        var isOver = false
    }

    /// Opens the folder and begins to serve.
    ///
    /// - Throws: ``WitnessFault`` when the folder, the file `logs` or the address cannot be used.
    package init(_ configuration: Configuration) throws(WitnessFault) {
        let folder = WitnessFolder(configuration.directory)
        let (signer, table, lock) = try folder.open(name: configuration.name)
        let logs = try KnownLogs(configuration.logs, file: folder.logsPath)
        verifier = signer.verifier
        let queue = Monitor(Queue())
        self.queue = queue
        do throws(HTTPServerError) {
            server = try HTTPServer(Self.configuration(configuration)) { Self.take($0, $1, queue) }
        } catch { throw WitnessFault(error.description) }
        let desk = UncheckedBox(Desk(configuration, signer: signer, table: table, logs: logs, lock: lock))
        do throws(ThreadError) {
            worker = try WorkerThread.started {
                var desk = desk.value
                while case .request(let body, let responder) = queue.wait(for: Self.next) {
                    responder.respond(desk.answer(body))
                }
            }
        } catch { throw WitnessFault(error.description) }
        do throws(HTTPServerError) { try server.start() } catch {
            stop()
            throw WitnessFault(error.description)
        }
    }

    deinit { stop() }

    /// Answers the requests that were received, and ends. A second call does nothing.
    package func stop() {
        let wasStopped = isStopped.change { isStopped in
            defer { isStopped = true }
            return isStopped
        }
        if wasStopped { return }
        server.stop()
        queue.change { $0.isOver = true }
        worker.join()
    }

    private static func configuration(_ configuration: Configuration) -> HTTPServerConfiguration {
        var http = HTTPServerConfiguration()
        http.host = configuration.host
        http.port = configuration.port
        http.connectionLimit = connectionsMax
        http.requestDeadlineSeconds = requestSeconds
        http.bodyLimit = { _, _ in HTTPBodyLimit(bodyBytesMax) }
        return http
    }

    /// Runs on the server's thread, which must not wait for the disk.
    private static func take(_ request: HTTPRequest, _ responder: HTTPResponder, _ queue: Monitor<Queue>) {
        guard request.path == "/add-checkpoint" else {
            return responder.respond(.text("This is a witness of logs: POST to /add-checkpoint.\n", status: 404))
        }
        guard request.method == "POST" else {
            var refusal = HTTPResponse.text("POST a checkpoint (c2sp.org/tlog-witness).\n", status: 405)
            refusal.headers.append(("Allow", "POST"))
            return responder.respond(refusal)
        }
        let isTaken = queue.change { queue in
            guard queue.waiting.count < waitingMax else { return false }
            queue.waiting.append((request.body, responder))
            return true
        }
        if !isTaken { responder.respond(unavailable("Too many requests wait.")) }
    }

    private enum Work {
        case request([UInt8], HTTPResponder), end
    }

    private static func next(_ queue: inout Queue) -> Work? {
        guard queue.waiting.isEmpty else {
            let (body, responder) = queue.waiting.removeFirst()
            return .request(body, responder)
        }
        return queue.isOver ? .end : nil
    }

    fileprivate static func unavailable(_ reason: String) -> HTTPResponse {
        var refusal = HTTPResponse.text(reason + " Send it again.\n", status: 503)
        refusal.headers.append(("Retry-After", "1"))
        return refusal
    }
}

/// The work of the one thread that decides.
private struct Desk {
    private let configuration: CosigningServer.Configuration
    private let signer: NoteSigner
    private var table: WitnessTable
    private var logs: KnownLogs
    private var witness: Witness
    private let lock: FolderLock
    private var lastReport = ""

    init(
        _ configuration: CosigningServer.Configuration, signer: NoteSigner, table: WitnessTable, logs: KnownLogs,
        lock: FolderLock
    ) {
        self.configuration = configuration
        self.signer = signer
        self.table = table
        self.logs = logs
        self.lock = lock
        witness = Witness(signer: signer, known: logs.known)
    }

    mutating func answer(_ body: [UInt8]) -> HTTPResponse {
        do throws(WitnessFault) {
            if try logs.refresh() { witness = Witness(signer: signer, known: logs.known) }
        } catch {
            report("\(error) The logs read before stay in force.")
        }
        do throws(SQLiteError) {
            let answer = try witness.addCheckpoint(body, timeSeconds: max(0, configuration.clock()), store: &table)
            if let origin = Self.contradiction(in: body, answer) {
                report(
                    "Refused: \(origin) has signed a checkpoint that does not continue the one cosigned before.")
            }
            return HTTPResponse(
                status: answer.status, headers: [("Content-Type", answer.contentType)], body: Array(answer.body.utf8))
        } catch {
            report("The state cannot be read or written, and nothing was cosigned: \(error).")
            return CosigningServer.unavailable("The state of the witness cannot be written.")
        }
    }

    /// Says a sentence once, however many requests cause it.
    private mutating func report(_ sentence: String) {
        if sentence != lastReport { configuration.report(sentence) }
        lastReport = sentence
    }

    /// The log whose signed checkpoint does not continue the one before: another root at its size, or a proof that does
    /// not lead there.
    private static func contradiction(in body: [UInt8], _ answer: WitnessAnswer) -> LogOrigin? {
        guard let request = try? WitnessRequest(parsing: body),
            let checkpoint = try? Checkpoint(text: request.note.text)
        else { return nil }
        switch answer {
        case .conflict(size: request.oldSize), .inconsistent: return checkpoint.origin
        default: return nil
        }
    }
}
