import Glibc

/// `simulate`: phones in real time for a running service, or phones in simulated time with their own service.
///
/// This process executes `whereabouts-simulate`, which reads the options.
enum SimulateCommand {
    static let command = Command(
        "simulate", summary: "Simulate phones that report to a service.", operands: .optional("SCENARIO.json"),
        accepts: [
            Option.flag("verbose", help: "print each step of the phones, with coordinates"),
            Options.json,
            Options.text("data", "DIR", help: "use and keep this data directory for the simulated service"),
            Options.text("logs", "DIR", help: "write one file per phone with the callbacks of its app"),
            Option.flag("fidelity", help: "list undocumented behavior of Core Location and its evidence"),
        ],
        details: """
            A scenario lists people, where they go, what the network loses and who asks; data/demo has examples. The exit
            code is 0 if every question ended as expected, 1 if one did not, and 3 if the scenario cannot be simulated.
            """, passesOn: execute)

    private static let program = "whereabouts-simulate"

    /// Replaces this process by the program in the same folder, or in the folder where the Debian package installs it.
    ///
    /// - Throws: If it is in neither folder. Otherwise it does not return.
    private static func execute(_ arguments: [String]) throws(ToolError) {
        let folder = folder()
        for path in ["\(folder)/\(program)", "\(folder)/../lib/whereabouts/\(program)"] where access(path, X_OK) == 0 {
            var words = ([path] + arguments).map { strdup($0) } + [nil]
            execv(path, &words)
            throw .data("\(path) cannot be run: \(String(cString: strerror(errno))).")
        }
        throw .data("\(folder) has no \(program), which simulates the phones; build or install it there.")
    }

    /// The folder of this program.
    private static func folder() -> String {
        guard let path = realpath("/proc/self/exe", nil) else { return "." }
        defer { free(path) }
        let text = String(cString: path)
        return String(text[..<(text.lastIndex(of: "/") ?? text.startIndex)])
    }
}
