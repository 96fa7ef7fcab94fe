/// Why the tool failed: one sentence on standard error and an exit code.
enum ToolError: Error, Equatable, CustomStringConvertible {
    /// A check has found a fault, which was printed, or an answer did not come. Exit code 1.
    case checkFailed(String?)
    /// The command line is wrong. Exit code 2.
    case usage(String)
    /// The command line is right, but something is missing, unreadable, refused or out of reach. Exit code 3.
    case data(String)
    /// The service stopped because of a fault; a restart may help. Exit code 75, `EX_TEMPFAIL` of sysexits(3).
    case stopped(String)

    var exitCode: Int32 {
        switch self {
        case .checkFailed: 1
        case .usage: 2
        case .data: 3
        case .stopped: 75
        }
    }

    var description: String {
        switch self {
        case .checkFailed(let sentence): sentence ?? ""
        case .usage(let sentence), .data(let sentence), .stopped(let sentence): sentence
        }
    }
}
