import Glibc
import JSON
import TestSupport
import Testing
import Whereabouts

@testable import Log
@testable import Service

/// Runs `whereabouts import` and the service as processes, kills either without warning, and repeats the import until
/// it is done.
@Suite struct KilledImportTests {
    private typealias Process = KilledProcessTests.Process

    private static let lines = isLongForm ? 60_000 : 12_000
    private static let kills = isLongForm ? 20 : 3
    /// Seconds, of which the slowest run takes a tenth.
    private static let patience = isLongForm ? 900.0 : 240

    /// Walks and stays, one fix in ten seconds.
    private static func history() -> String {
        var dice = SplitMix(18)
        var (latitude, longitude) = (48.2, 16.37)
        var text = ""
        for index in 0..<lines {
            if index / 400 % 2 == 0 {
                latitude += Double.random(in: -0.0002...0.0003, using: &dice)
                longitude += Double.random(in: -0.0002...0.0003, using: &dice)
            }
            text += #"{"timestamp":\#(1_700_000_000 + index * 10),"latitude":\#(latitude),"longitude":\#(longitude),"#
            text += #""horizontalAccuracy":8}"# + "\n"
        }
        return text
    }

    /// The tool as a process; its notes go to a file.
    private final class Import {
        let id: pid_t
        private var hasEnded = false

        init(_ tool: String, data: String, file: String, notes: String) throws {
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_addopen(&actions, 1, notes + ".json", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            posix_spawn_file_actions_addopen(&actions, 2, notes, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            let arguments = [tool, "--data", data, "import", "--person", "anna", "--json", file]
            var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
            let settings = ["HOME=\(data)", "XDG_CACHE_HOME=\(data)-cache", "PATH=/usr/bin:/bin"]
            var variables: [UnsafeMutablePointer<CChar>?] = settings.map { strdup($0) } + [nil]
            defer { for word in words + variables { free(word) } }
            var made: pid_t = 0
            try #require(posix_spawn(&made, tool, &actions, nil, &words, &variables) == 0)
            id = made
        }

        deinit {
            guard !hasEnded else { return }
            kill(id, SIGKILL)
            waitpid(id, nil, 0)
        }

        /// The signal or exit status that it ended with; `nil` while it runs.
        func ended() -> (signal: Int32, status: Int32)? {
            var status: Int32 = 0
            guard waitpid(id, &status, WNOHANG) == id else { return nil }
            hasEnded = true
            return (status & 0x7F, (status >> 8) & 0xFF)
        }
    }

    private static func projections(_ port: Int, _ admin: String) throws -> [JSONValue] {
        try SocketClient(port: port).send("GET", "/v1/projections", as: admin).items.filter {
            $0["role"]?.string == "active"
        }
    }

    private static func head(_ port: Int, _ admin: String) throws -> Int64 {
        try projections(port, admin).compactMap { $0["head"]?.int }.max() ?? 0
    }

    /// The fingerprints of the projections, once they have folded the whole log.
    private static func fingerprints(_ port: Int, _ admin: String) throws -> [String] {
        try eventually("the projections", within: Self.patience) {
            let all = try projections(port, admin)
            guard all.allSatisfy({ $0["place"]?.int == $0["head"]?.int }) else { return nil }
            return all.filter { ["current", "timeline"].contains($0["name"]?.string ?? "") }
                .map { "\($0["name"]?.string ?? "") \($0["fingerprint"]?.string ?? "")" }.sorted()
        }
    }

    @Test(.enabled(if: Repository.tool != nil, "whereabouts was not built beside the tests"))
    func `an import that is killed again and again comes to the same as one that is left alone`() throws {
        let tool = try #require(Repository.tool)
        let folder = TemporaryFolder()
        let file = try folder.write(Self.history(), to: "walk.jsonl")
        func make(_ name: String) throws -> String {
            let data = "\(folder.path)/\(name)"
            try #require(mkdir(data, 0o700) == 0)
            return data
        }

        // Left alone.
        let whole = try make("whole")
        let alone = try Process(tool, data: whole)
        let undisturbed = try Import(tool, data: whole, file: file, notes: "\(folder.path)/whole.txt")
        let end = try eventually("the import", within: Self.patience) { undisturbed.ended() }
        try #require(end == (0, 0))
        let expected = try Self.fingerprints(alone.port, try KilledProcessTests.admin(whole))
        kill(alone.id, SIGTERM)
        #expect(alone.ended().status == 0)

        // Killed, the tool and the service in turn, at moments that the seed chooses by the log's length.
        let data = try make("killed")
        let notes = "\(folder.path)/killed.txt"
        var dice = SplitMix(1818)
        var service = try Process(tool, data: data)
        var running = try Import(tool, data: data, file: file, notes: notes)
        for turn in 0..<Self.kills {
            let admin = try KilledProcessTests.admin(data)
            let share = Self.lines / (Self.kills + 1)
            let moment = Int64(turn * share + Int.random(in: share / 4..<share, using: &dice))
            let port = service.port
            try eventually("event \(moment)", within: Self.patience, pauseMilliseconds: 1) {
                try Self.head(port, admin) >= moment
            }
            try #require(running.ended() == nil, "The import was over too soon.")
            if turn % 2 == 0 {
                kill(running.id, SIGKILL)
                let died = try eventually("the tool's end") { running.ended() }
                #expect(died.signal == SIGKILL)
            } else {
                kill(service.id, SIGKILL)
                #expect(service.ended().signal == SIGKILL)
                let failed = try eventually("the tool's end") { running.ended() }
                #expect(failed.signal == 0 && failed.status != 0)
                service = try Process(tool, data: data)
            }
            running = try Import(tool, data: data, file: file, notes: notes)
        }
        let last = try eventually("the last run", within: Self.patience) { running.ended() }
        let told = String(decoding: DataDirectory.read(notes, atMost: 1 << 20) ?? [], as: UTF8.self)
        #expect(last == (0, 0), "\(told)")

        let admin = try KilledProcessTests.admin(data)
        let client = SocketClient(port: service.port)
        #expect(try Self.fingerprints(service.port, admin) == expected)
        // It was one import, continued after each kill.
        let imports = try client.send("GET", "/v1/imports", as: admin).items
        #expect(imports.map { $0["state"]?.string } == ["ended"])
        #expect(told.contains("continued after"))
        // Each fix is in the log once.
        let id = try #require(imports.first?["id"]?.string)
        var (fixes, after): (Int64, JSONValue?) = (0, nil)
        repeat {
            var body = #"{"reason":"test"}"#
            if let number = after?.int { body = #"{"reason":"test","after":\#(number)}"# }
            let undone = try client.send("POST", "/v1/imports/\(id)/withdrawals", as: admin, body)
            try #require(undone.status == 200, "\(undone.text)")
            fixes += undone["fixes"]?.int ?? 0
            after = undone["next"].flatMap { $0.isNull ? nil : $0 }
        } while after != nil
        #expect(fixes == Int64(Self.lines))
        #expect(try client.send("GET", "/v1/verify", as: admin)["ok"]?.bool == true)
        kill(service.id, SIGTERM)
        #expect(service.ended().status == 0)
    }
}
