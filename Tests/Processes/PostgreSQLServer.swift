import Foundation
import Synchronization

/// A PostgreSQL server of the tests, reached by a socket in its own folder. It ends with this object, or with the process.
package final class PostgreSQLServer: Sendable {
    /// Debian's folder of the programs; `nil` if they are not installed.
    package static let programs = ["15", "16", "17", "18"].map { "/usr/lib/postgresql/\($0)/bin" }.first { path in
        FileManager.default.isExecutableFile(atPath: path + "/postgres")
    }

    /// One server for the tests that do not change its settings, started by the first of them.
    package static func shared() throws -> PostgreSQLServer {
        try common.withLock { server in
            if let server { return server }
            let new = try PostgreSQLServer()
            server = new
            return new
        }
    }

    private static let common = Mutex<PostgreSQLServer?>(nil)

    package struct NotStarted: Error {
        package let output: String
    }

    /// The folder of the server and its socket.
    package let folder: String
    private let process = Process()
    /// The server ends when this pipe is closed, so it cannot outlive the tests.
    private let life = Pipe()
    private let databases = Atomic<Int>(0)

    /// Makes a cluster and starts its server.
    ///
    /// - Parameters:
    ///   - primary: The server that it follows as a standby; `nil` for a new cluster.
    ///   - settings: Lines of postgresql.conf.
    package init(following primary: PostgreSQLServer? = nil, settings: [String] = []) throws {
        let programs = try Self.programs ?? { throw NotStarted(output: "PostgreSQL is not installed.") }()
        // Another user must reach it, so it is not in the folder of the tests.
        var template = Array("/tmp/whereabouts-postgresql-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw NotStarted(output: "No folder could be made.") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // initdb refuses root.
        let user = getuid() == 0 ? "--reuid=postgres --regid=postgres --clear-groups" : ""
        let making =
            primary.map { "pg_basebackup' -h '\($0.folder)' -U whereabouts -D data -R -c fast" }
            ?? "initdb' -D data -U whereabouts -A trust -N"
        let lines = settings.map { "echo \"\($0)\"" }.joined(separator: "; ")
        let script = """
            cd '\(folder)' || exit 1
            if [ -n '\(user)' ]; then chown postgres: . ; fi
            setpriv \(user) '\(programs)/\(making) >initdb.log 2>&1 || { cat initdb.log; exit 1; }
            { echo "listen_addresses = ''"; echo "unix_socket_directories = '\(folder)'"; echo "max_connections = 50"; \(lines.isEmpty ? "true" : lines); } >>data/postgresql.conf
            # It makes a session of its own, so it would outlive this shell if that is killed.
            setpriv --pdeathsig QUIT \(user) '\(programs)/postgres' -D data >server.log 2>&1 </dev/null &
            server=$!
            until '\(programs)/pg_isready' -q -h '\(folder)'; do
                kill -0 $server 2>/dev/null || { cat server.log; exit 1; }
                sleep 0.05
            done
            echo ready
            read -r over
            kill -QUIT $server
            wait $server
            cd / && rm -rf '\(folder)'
            """
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = ["-c", script]
        process.standardInput = life
        let output = Pipe()
        process.standardOutput = output
        // As long as the longest run of all tests; it ends sooner, with the process or this object.
        try process.runBounded(seconds: 6 * Process.lifeSeconds)
        // Only the child keeps its end, so that the end of the output is seen.
        try output.fileHandleForWriting.close()
        var text = Data()
        while !text.contains(UInt8(ascii: "\n")) {
            let piece = output.fileHandleForReading.availableData
            if piece.isEmpty { break }
            text += piece
        }
        guard text.starts(with: Data("ready\n".utf8)) else {
            throw NotStarted(output: String(decoding: text, as: UTF8.self))
        }
    }

    deinit {
        try? life.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// How libpq finds a database of the server.
    package func connection(_ database: String = "postgres") -> String {
        "host=\(folder) user=whereabouts dbname=\(database)"
    }

    /// The name of a database that no test has used. The caller makes it.
    package func newName() -> String { "test\(databases.add(1, ordering: .relaxed).newValue)" }
}
