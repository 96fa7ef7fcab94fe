import Glibc

/// A second opinion: a program of someone else's, run to its end.
package enum Foreign {
    /// The one of `WHEREABOUTS_PYTHON`, which has the packages of `scripts/dev/test-packages.txt`; else the system's.
    package static let python = getenv("WHEREABOUTS_PYTHON").map { String(cString: $0) } ?? "python3"

    package struct Failure: Error {
        let command: String
        let status: Int32
        let output: String
    }

    /// Whether Python has all of these modules, which are written with commas between them.
    package static func hasPython(with modules: String) -> Bool {
        run("'\(python)' -c 'import \(modules)' 2>&1").status == 0
    }

    package static func has(_ program: String) -> Bool { run("command -v \(program)").status == 0 }

    /// The output of a shell command. It gets `input` in a file: writing to and reading from pipes could block both
    /// processes.
    package static func run(_ command: String, input: String? = nil) -> (status: Int32, output: String) {
        guard let input else { return output(of: command) }
        let folder = TemporaryFolder()
        guard let file = try? folder.write(input, to: "input") else { return (-1, "") }
        return withExtendedLifetime(folder) { output(of: "( \(command) ) < '\(file)'") }
    }

    /// The output of a Python program.
    ///
    /// - Throws: `Failure` when it ends with another status than 0, as after a failed `assert`.
    @discardableResult
    package static func python(_ program: String, input: String = "") throws -> String {
        let folder = TemporaryFolder()
        return try withExtendedLifetime(folder) {
            try python(path: folder.write(program, to: "program.py"), input: input)
        }
    }

    /// The output of a script under `Tests/Conformance`.
    package static func python(script: String, _ arguments: String..., input: String = "") throws -> String {
        try python(path: Repository.conformance(script), arguments, input: input)
    }

    /// The output of the Python program in a file.
    package static func python(path: String, _ arguments: [String] = [], input: String = "") throws -> String {
        let words = ([python, path] + arguments).map { "'\($0)'" }.joined(separator: " ")
        let (status, output) = run(words, input: input)
        guard status == 0 else { throw Failure(command: words, status: status, output: output) }
        return output
    }

    private static func output(of command: String) -> (status: Int32, output: String) {
        guard let pipe = popen(command, "r") else { return (-1, "") }
        let output = String(decoding: rest(of: pipe), as: UTF8.self)
        return (pclose(pipe), output)
    }
}
