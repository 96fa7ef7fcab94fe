import Glibc
import Threading

/// Runs the command of a target once for each file.
struct ShippingCommand {
    /// The program, by its absolute path, and its arguments, with `{name}` for the name of the file.
    let words: [String]
    /// A command that takes longer is killed.
    let milliseconds: Int
    /// The path of a file that is there for a moment before each run.
    let scratch: String
    /// Becomes `true` when the service stops. A command then has two more seconds.
    let stopping: Monitor<Bool>

    private static let placeholder = "{name}"
    /// How long a command may go on when the service stops.
    private static let stopMilliseconds: Int64 = 2_000
    /// The pause between two looks at whether the command has ended.
    private static let lookMilliseconds: UInt32 = 20
    /// Variables of the service's environment that are not for others: the place of the credentials and the socket to
    /// systemd.
    private static let withheld = ["CREDENTIALS_DIRECTORY=", "NOTIFY_SOCKET=", "LISTEN_FDS=", "WATCHDOG_"]

    /// Runs the command with bytes on its standard input.
    ///
    /// The input is a file without a name and not a pipe, so that the command gets all of it also if the service is killed
    /// meanwhile. From a pipe it would get a beginning that looks whole.
    func run(_ name: String, _ bytes: [UInt8]) throws(ShippingFault) {
        unlink(scratch)
        let input = open(scratch, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard input >= 0 else { throw .file(path: scratch, errno: errno) }
        defer { close(input) }
        unlink(scratch)
        try ShippingFault.write(bytes, to: input, scratch)
        try run(name, from: input)
    }

    /// Runs the command with an open file as its standard input, and waits for it.
    ///
    /// - Throws: ``ShippingFault/command(_:)`` if it does not end with 0 in time. Whether the bytes are
    ///   stored is then unknown.
    func run(_ name: String, from input: Int32) throws(ShippingFault) {
        lseek(input, 0, SEEK_SET)
        try wait(for: try start(name, input))
    }

    /// Waits for the end of a command.
    private func wait(for process: pid_t) throws(ShippingFault) {
        var status: Int32 = 0
        var deadline = MonotonicClock.milliseconds + Int64(milliseconds)
        var isStopping = false
        while true {
            let ended = waitpid(process, &status, WNOHANG)
            if ended == process { break }
            if ended < 0, errno != EINTR { throw .command("was lost: \(String(cString: strerror(errno)))") }
            if !isStopping, stopping.read({ $0 }) {
                isStopping = true
                deadline = min(deadline, MonotonicClock.milliseconds + Self.stopMilliseconds)
            }
            guard MonotonicClock.milliseconds < deadline else {
                // With the processes that the command has started.
                kill(-process, SIGKILL)
                waitpid(process, &status, 0)
                throw .command("did not end within \(milliseconds / 1000) s and was killed")
            }
            usleep(Self.lookMilliseconds * 1000)
        }
        let (signal, code) = (status & 0x7F, (status >> 8) & 0xFF)
        guard signal == 0 else { throw .command("was ended by signal \(signal)") }
        guard code == 0 else { throw .command("exited with \(code)") }
    }

    /// Starts the command in a process group, with no signal blocked. The service's descriptors are closed in it, because
    /// they are all made with `O_CLOEXEC`. Its output goes nowhere.
    private func start(_ name: String, _ input: Int32) throws(ShippingFault) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        for output: Int32 in [1, 2] {
            posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var arguments = words.map { strdup(Self.replace($0, with: name)) } + [nil]
        var environment = Self.environment().map { strdup($0) } + [nil]
        defer { for word in arguments + environment { free(word) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, words[0], &actions, &attributes, &arguments, &environment)
        guard code == 0 else { throw .command("cannot be started: \(String(cString: strerror(code)))") }
        return process
    }

    /// The argument with the name in place of each placeholder.
    private static func replace(_ argument: String, with name: String) -> String {
        var (text, rest) = ("", argument[...])
        while let place = rest.firstRange(of: placeholder) {
            text += rest[..<place.lowerBound] + name
            rest = rest[place.upperBound...]
        }
        return text + rest
    }

    private static func environment() -> [String] {
        var variables: [String] = []
        var next = environ
        while let variable = next.pointee {
            let text = String(cString: variable)
            if !withheld.contains(where: text.hasPrefix) { variables.append(text) }
            next += 1
        }
        return variables
    }
}
