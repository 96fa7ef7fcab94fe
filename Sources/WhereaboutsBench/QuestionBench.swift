import Glibc
import JSON
import PushStandIn
import Synchronization
import Threading

/// The CPU time of the service's process for a question, from the HTTP request to the disclosed answer.
///
/// The service is the built tool in another process. Its log gets six events per question: the question, the start of the
/// push, its acceptance, the fix, the end of the question and the disclosure. The askers, the phones and the stand-in for APNs
/// run in this process, so that their time is not counted.
struct QuestionBench {
    private let directory, tool: String
    private let questions, outstanding, phoneThreads: Int

    init(_ options: Options) throws {
        directory = try options.text("dir")
        tool = try options.text("tool")
        questions = try options.number("questions", default: 3000)
        outstanding = try options.number("outstanding", default: 64)
        phoneThreads = try options.number("phones", default: 16)
    }

    /// The number of questions before the measurement, which create connections, keys of the month and caches.
    private static let unmeasured = 200

    func run() throws {
        let phones = BenchedPhones()
        for path in [directory, "\(directory)/stand-in", "\(directory)/data"] { mkdir(path, 0o700) }
        var standInConfiguration = PushStandIn.Configuration(directory: "\(directory)/stand-in")
        standInConfiguration.record = { phones.wake($0.deviceTokenEnd) }
        let standIn = try PushStandIn(standInConfiguration)
        defer { standIn.stop() }
        try TextFile.write(
            BenchedService.configuration(standIn.credentials, standIn.port), to: "\(directory)/data/config.json")
        let process = try ToolProcess(
            [tool, "serve", "--data", "\(directory)/data", "--listen", "127.0.0.1:0"], output: "\(directory)/serve.out")
        defer { process.end() }
        let port = try process.port()
        let admin = try TextFile.read("\(directory)/data/admin.token")
        let service = BenchedService(port: port, admin: String(admin.prefix { !$0.isWhitespace }))
        let connection = try KeptConnection(port: port)
        let asker = try service.addAsker(connection)
        let count = Self.unmeasured + questions
        for number in 0..<count {
            let token = try standIn.registerPhone(bundleID: BenchedService.bundleID)
            phones.add(token, key: try service.addPerson(number, token: token, connection))
        }
        let workers = try phones.answer(port: port, threads: phoneThreads)
        defer {
            phones.stop()
            for worker in workers { worker.join() }
        }
        _ = try service.ask(0..<Self.unmeasured, as: asker, threads: outstanding)
        let (begun, cpu) = (nanoseconds(), process.cpuNanoseconds)
        _ = try service.ask(Self.unmeasured..<count, as: asker, threads: outstanding)
        QuestionFigures(
            questions: questions, nanoseconds: nanoseconds() - begun, cpuNanoseconds: process.cpuNanoseconds - cpu
        ).show("question")
    }
}

/// The same writes with the C server of `bench ingest`: three posts per question, with two, three and one rows.
struct QuestionWritesBench {
    private let port, process, questions, outstanding: Int

    init(_ options: Options) throws {
        port = try options.number("port", default: 0)
        process = try options.number("pid", default: 0)
        questions = try options.number("questions", default: 3000)
        outstanding = try options.number("outstanding", default: 64)
    }

    /// About the size of an event in the log: its clear part, sealed parts, leaf and row headers.
    private static let body = #"{"bytes":"\#(String(repeating: "x", count: 288))"}"#

    func run() throws {
        try ask(200)
        let clock = try cpuClock(of: pid_t(process))
        let (begun, cpu) = (nanoseconds(), nanoseconds(clock))
        try ask(questions)
        QuestionFigures(
            questions: questions, nanoseconds: nanoseconds() - begun, cpuNanoseconds: nanoseconds(clock) - cpu
        ).show("question-writes")
    }

    private func ask(_ count: Int) throws {
        let state = Mutex((left: count, failed: ""))
        let workers = try (0..<outstanding).map { _ in
            let connection = UncheckedConnection(try KeptConnection(port: port))
            return WorkerThread {
                while state.withLock({ state in
                    state.left -= 1
                    return state.left >= 0 && state.failed.isEmpty
                }) {
                    do {
                        for rows in [2, 3, 1] {
                            _ = try connection.value.send("POST", "/rows/\(rows)", Self.body, as: "nobody")
                        }
                    } catch { state.withLock { $0.failed = "\(error)" } }
                }
            }
        }
        for worker in workers { worker.join() }
        let failed = state.withLock { $0.failed }
        guard failed.isEmpty else { throw KeptConnection.Failure(description: failed) }
    }
}

private struct QuestionFigures {
    let questions: Int
    let nanoseconds, cpuNanoseconds: Int64

    func show(_ name: String) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("benchmark", name)
        writer.field("questionsPerSecond", Int(Double(questions) / (Double(nanoseconds) / 1e9)))
        writer.field("cpuMicroseconds", rounded(Double(cpuNanoseconds) / 1000 / Double(questions), 1))
        writer.endObject()
        printLine(writer.bytes)
    }
}

/// The CPU-time clock of another process.
private func cpuClock(of process: pid_t) throws(KeptConnection.Failure) -> clockid_t {
    var clock = clockid_t()
    guard clock_getcpuclockid(process, &clock) == 0 else {
        throw KeptConnection.Failure(description: "Process \(process) does not run.")
    }
    return clock
}

/// The built tool in another process, with its standard output in a file.
private struct ToolProcess {
    private let process: pid_t
    private let clock: clockid_t
    private let output: String

    init(_ arguments: [String], output: String) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        var words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process = pid_t()
        let code = posix_spawn(&process, arguments[0], &actions, nil, &words, environ)
        guard code == 0 else {
            throw KeptConnection.Failure(description: "\(arguments[0]): \(String(cString: strerror(code)))")
        }
        self.process = process
        self.output = output
        clock = try cpuClock(of: process)
    }

    var cpuNanoseconds: Int64 { nanoseconds(clock) }

    /// The port that the service prints; waits up to half a minute for it.
    func port() throws -> Int {
        for _ in 0..<3000 {
            let text = try TextFile.read(output)
            if let address = text.firstRange(of: "http://127.0.0.1:") {
                let digits = text[address.upperBound...].prefix { $0.isNumber }
                if let port = Int(digits), !text[digits.endIndex...].isEmpty { return port }
            }
            usleep(10_000)
        }
        throw KeptConnection.Failure(description: "The service does not listen after 30 s; see \(output).")
    }

    func end() {
        kill(process, SIGTERM)
        waitpid(process, nil, 0)
    }
}

private enum TextFile {
    static func write(_ bytes: [UInt8], to path: String) throws(KeptConnection.Failure) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(file) }
        guard file >= 0, Glibc.write(file, bytes, bytes.count) == bytes.count else {
            throw KeptConnection.Failure(description: "\(path) cannot be written.")
        }
    }

    /// Reads the first 64 KiB of a file.
    static func read(_ path: String) throws(KeptConnection.Failure) -> String {
        let file = open(path, O_RDONLY)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = Glibc.read(file, &bytes, bytes.count)
        guard file >= 0, count >= 0 else { throw KeptConnection.Failure(description: "\(path) cannot be read.") }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
