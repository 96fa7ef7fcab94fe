import Glibc
import JSON
import LocationPush
import LogVerifying
import Projections
import PushStandIn
import Synchronization
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Log
@testable import Service

/// `whereabouts serve` as a separate process, killed without warning.
@Suite struct KilledProcessTests {
    /// The service over a data directory, and where it listens.
    final class Process {
        let id: pid_t
        let port: Int
        private let output: UnsafeMutablePointer<FILE>
        private var hasEnded = false

        init(_ tool: String, data: String) throws {
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
            posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
            let arguments = [tool, "serve", "--data", data, "--listen", "127.0.0.1:0"]
            var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
            defer { for word in words { free(word) } }
            var made: pid_t = 0
            try #require(posix_spawn(&made, tool, &actions, nil, &words, environ) == 0)
            id = made
            close(ends[1])
            output = try #require(fdopen(ends[0], "r"))
            var line: UnsafeMutablePointer<CChar>?
            var capacity = 0
            defer { free(line) }
            while getline(&line, &capacity, output) > 0, let text = line.map({ String(cString: $0) }) {
                guard let colon = text.lastIndex(of: ":"), text.contains("http://127.0.0.1:") else { continue }
                port = try #require(Int(text[text.index(after: colon)...].prefix { $0.isNumber }))
                return
            }
            port = 0
            Issue.record("The service said nothing of where it listens.")
        }

        deinit {
            // Once it was waited for, the number may be another process's.
            if !hasEnded {
                kill(id, SIGKILL)
                ended()
            }
            fclose(output)
        }

        /// The signal or exit status that it ended with.
        ///
        /// Each child must be waited for: Swift Testing's exit tests look at any child that has ended, and while there is
        /// one that nobody waits for, they do not see their own.
        @discardableResult
        func ended() -> (signal: Int32, status: Int32) {
            var status: Int32 = 0
            waitpid(id, &status, 0)
            hasEnded = true
            return (status & 0x7F, (status >> 8) & 0xFF)
        }
    }

    static func admin(_ data: String) throws -> String {
        let secret = try #require(DataDirectory.read("\(data)/admin.token", atMost: 256))
        return String(decoding: secret, as: UTF8.self).filter { !$0.isWhitespace }
    }

    @Test(.enabled(if: Repository.tool != nil, "whereabouts was not built beside the tests"))
    func `a process that a test leaves behind is waited for`() throws {
        let folder = TemporaryFolder()
        let left = try Process(try #require(Repository.tool), data: folder.path + "/state").id
        #expect(waitpid(left, nil, WNOHANG) == -1 && errno == ECHILD)
    }

    @Test(.enabled(if: Repository.tool != nil, "whereabouts was not built beside the tests"))
    func `killed between a post and its answer, the next process posts again under the same id, and loses none`() throws
    {
        let tool = try #require(Repository.tool)
        let temporary = TemporaryFolder()
        let data = temporary.path
        let victim = Monitor<pid_t?>(nil)
        let receiver = try WebhookReceiver { _, index in
            if index < 3 { return .status(204) }
            // The fourth is not taken at first; when it comes again after all were made, the process ends before the
            // answer leaves.
            return victim.change { victim in
                guard index > 3, let id = victim else { return .status(500) }
                if id > 0 { kill(id, SIGKILL) }
                victim = 0
                return .status(204)
            }
        }
        try DataDirectory.writePrivate(
            Array(#"{"webhooks":{"targets":["\#(receiver.url)"]}}"#.utf8), to: "\(data)/config.json")
        let first = try Process(tool, data: data)
        let admin = try Self.admin(data)
        var client = SocketClient(port: first.port)
        func send(_ method: String, _ path: String, _ body: String = "", as token: String) throws -> Answer {
            let answer = try client.send(method, path, as: token, body)
            #expect((200..<300).contains(answer.status), "\(method) \(path): \(answer.text)")
            return answer
        }
        _ = try send("POST", "/v1/people", #"{"handle":"walker"}"#, as: admin)
        let issued = try send(
            "POST", "/v1/people/walker/tokens", #"{"scopes":["query","audit","manage"]}"#, as: admin)
        let walker = try #require(issued["token"]?.string)
        _ = try send(
            "POST", "/v1/people/walker/webhooks", #"{"url":"\#(receiver.url)","topics":["change"]}"#, as: walker)
        // When the process ends, some messages are posted and settled, one is posted but not settled, and some are not
        // posted.
        for method in ["POST", "DELETE", "POST", "DELETE", "POST", "DELETE"] {
            _ = try send(method, "/v1/people/walker/pauses", method == "POST" ? "{}" : "", as: walker)
        }
        victim.change { $0 = first.id }
        #expect(first.ended().signal == SIGKILL)

        let second = try Process(tool, data: data)
        client = SocketClient(port: second.port)
        let last = try #require(try send("POST", "/v1/people/walker/pauses", "{}", as: walker)["number"]?.string)
        let audit = try send("GET", "/v1/people/walker/audit?at-least=\(last)", as: walker).items
        let changes = audit.reversed().filter {
            ["SharingPaused", "SharingResumed"].contains($0["event"]?.string ?? "")
        }
        .compactMap { $0["number"]?.string }
        #expect(changes.count == 7)
        let told = receiver.until { Set($0.compactMap(\.number?.string)).isSuperset(of: changes) }
        // Repeats are known by their ids, and without them all came, in order.
        var ids: Set<String> = []
        let once = told.filter { ids.insert($0.id).inserted }
        #expect(once.compactMap(\.number?.string) == changes && told.count > once.count)
        #expect(try send("GET", "/v1/verify", as: admin)["ok"]?.bool == true)
        kill(second.id, SIGTERM)
        #expect(second.ended().status == 0)
    }

    @Test(.enabled(if: Repository.tool != nil, "whereabouts was not built beside the tests"))
    func `killed between push and record, the push is unknown on record, and the query has one end`()
        throws
    {
        let tool = try #require(Repository.tool)
        let temporary = TemporaryFolder()
        let folder = temporary.path
        let pushes = Monitor((ids: [String](), victim: pid_t(0)))
        var configuration = PushStandIn.Configuration(directory: folder)
        configuration.record = { record in
            // On the stand-in's thread, before APNs' answer leaves.
            pushes.change { pushes in
                pushes.ids.append(record.apnsID ?? "")
                if pushes.victim > 0 { kill(pushes.victim, SIGKILL) }
                pushes.victim = 0
            }
        }
        let standIn = try PushStandIn(configuration)
        defer { standIn.stop() }
        let data = "\(folder)/data"
        mkdir(data, 0o700)
        let credentials = standIn.credentials
        try DataDirectory.writePrivate(
            Array(
                """
                {"push":{"host":"localhost","port":\(standIn.port),"caFile":"\(credentials.trustFile)",
                "teamID":"\(credentials.teamID)","keyID":"\(credentials.keyID)",
                "keyFile":"\(credentials.providerKeyFile)","bundleIDs":["\(ServiceUnderTest.bundleID)"],
                "environment":"development"}}
                """.utf8), to: "\(data)/config.json")

        let first = try Process(tool, data: data)
        let admin = try Self.admin(data)
        var client = SocketClient(port: first.port)
        func send(_ method: String, _ path: String, _ body: String = "", as token: String) throws -> Answer {
            let answer = try client.send(method, path, as: token, body)
            #expect((200..<300).contains(answer.status), "\(method) \(path): \(answer.text)")
            return answer
        }
        func addPerson(_ handle: String) throws -> String {
            _ = try send("POST", "/v1/people", #"{"handle":"\#(handle)"}"#, as: admin)
            let made = try send("POST", "/v1/people/\(handle)/tokens", #"{"scopes":["query","audit"]}"#, as: admin)
            return try #require(made["token"]?.string)
        }
        _ = try addPerson("walker")
        let friend = try addPerson("friend")
        let device = try send("POST", "/v1/people/walker/devices", #"{"handle":"phone"}"#, as: admin)
        let phone = try #require(device["password"]?.string)
        let token = hex(try standIn.registerPhone(bundleID: ServiceUnderTest.bundleID))
        _ = try send(
            "PUT", "/v1/devices/phone/location-push-token",
            #"{"hex":"\#(token)","environment":"development","bundleID":"\#(ServiceUnderTest.bundleID)"}"#, as: phone)
        _ = try send("POST", "/v1/people/walker/grants", #"{"requester":"friend","precision":"exact"}"#, as: admin)

        pushes.change { $0.victim = first.id }
        let asked = try client.send(
            "POST", "/v1/people/walker/location-queries", as: friend, #"{"purpose":"late","deadlineSeconds":600}"#)
        let url = try #require(asked["url"]?.string), id = try #require(asked["id"]?.string)
        #expect(first.ended().signal == SIGKILL)

        let second = try Process(tool, data: data)
        client = SocketClient(port: second.port)
        let seconds = PushClock.system.now().unixMs / 1000
        _ = try send(
            "POST", "/v1/fixes", #"{"timestamp":\#(seconds),"latitude":48.2,"longitude":16.4,"answering":"\#(id)"}"#,
            as: phone)
        let answer = try send("GET", "\(url)?wait=20", as: friend)
        #expect(answer["status"]?.string == "answered" && answer["location"]?["latitude"]?.double == 48.2)
        let asOf = try #require(try send("GET", "/v1/events?limit=1000", as: admin).items.last?["number"]?.int)
        let query = try send("GET", "/v1/people/walker/audit?at-least=\(asOf)", as: admin).query
        let tries = try #require(query?["pushes"]?.array.map { Array($0) })
        // The try is known to have begun, and no more; another one would have to wait for a minute.
        #expect(tries.map { $0["outcome"]?.string } == ["unknown"])
        #expect(tries.map { $0["reason"]?.string } == ["the service ended"])
        #expect(tries.map { $0["apnsID"]?.string } == pushes.read { $0.ids })
        #expect(query?["end"]?.string == "answered")
        let ends = try send("GET", "/v1/events?limit=1000&kind=LocationQueryEnded", as: admin).items
        #expect(ends.count == 1)
        #expect(try send("GET", "/v1/verify", as: admin)["ok"]?.bool == true)
        kill(second.id, SIGTERM)
        #expect(second.ended().status == 0)
    }

    /// The people of an import, and the number of its requests.
    private static let requests = 12
    private static let peoplePerRequest = 40

    private static func importBody(_ request: Int) -> String {
        let parts = (0..<peoplePerRequest).map { index in
            let number = request * peoplePerRequest + index
            return #"{"person":"p\#(number)","device":"d\#(number)","fixes":[{"timestamp":\#(1_700_000_000 + number),"#
                + #""latitude":48,"longitude":16}]}"#
        }
        return #"{"devices":[\#(parts.joined(separator: ","))]}"#
    }

    /// Posts one request of an import; `nil` if the service ended before it answered.
    private static func postImport(_ request: Int, port: Int, _ admin: String) -> Bool? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        guard descriptor >= 0, Loopback.connect(descriptor, port: port) else { return nil }
        let body = importBody(request)
        let text =
            "POST /v1/imports/6b1c4f6e-3f60-4cb9-9d1f-2f5f1a1f7a03/batches HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            + "Connection: close\r\nAuthorization: Bearer \(admin)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        let bytes = Array(text.utf8)
        guard Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { return nil }
        var received: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = recv(descriptor, &piece, piece.count, 0), count > 0 {
            received.append(contentsOf: piece[..<count])
        }
        return received.isEmpty ? nil : received.starts(with: Array("HTTP/1.1 200".utf8))
    }

    /// The people in the log's order; each must have an import, a device and a fix, which follow at once.
    private static func importedPeople(_ data: String) throws -> [Handle] {
        let log = try EventLog.alone(in: try DataDirectory(path: data))
        defer { log.stop() }
        let verification = try log.verify { _, _ in }
        #expect(verification.problem == nil && verification.lostParts == 0 && verification.events == log.head)
        let events = try log.reader().events(after: 0, limit: .max).map(\.event.event)
        var people: [Handle] = []
        for (index, event) in events.enumerated() {
            guard case .personAdded(let person, .open(let handle)) = event else { continue }
            people.append(handle)
            guard index + 3 < events.count, case .importBegan = events[index + 1],
                case .deviceAdded(let device, person, .open) = events[index + 2],
                case .fixReported(device, _, .open) = events[index + 3]
            else {
                Issue.record("\(handle) is half made.")
                continue
            }
        }
        #expect(events.count { if case .deviceAdded = $0 { true } else { false } } == people.count)
        #expect(events.count { if case .fixReported = $0 { true } else { false } } == people.count)
        return people
    }

    @Test(
        .enabled(if: Repository.tool != nil, "whereabouts was not built beside the tests"), arguments: [0, 1, 4, 7])
    func `an import that is killed leaves nobody half made, and the same import completes it`(after: Int) throws {
        let tool = try #require(Repository.tool)
        let temporary = TemporaryFolder()
        let data = temporary.path
        let first = try Process(tool, data: data)
        let admin = try Self.admin(data)
        var acknowledged = 0
        let victim = first.id
        var killer: WorkerThread?
        while acknowledged < Self.requests {
            if acknowledged == after {
                // While the next requests are taken in, decided, sealed or written.
                let microseconds = UInt32.random(in: 0..<60_000)
                killer = WorkerThread {
                    usleep(microseconds)
                    kill(victim, SIGKILL)
                }
            }
            guard let isTaken = Self.postImport(acknowledged, port: first.port, admin) else { break }
            #expect(isTaken)
            acknowledged += 1
        }
        killer?.join()
        #expect(first.ended().signal == SIGKILL)
        try #require(acknowledged >= after && acknowledged < Self.requests, "The import was over too soon.")

        let all = (0..<Self.requests * Self.peoplePerRequest).compactMap { Handle("p\($0)") }
        let left = try Self.importedPeople(data)
        // Acknowledged fixes are in the log, and the log has only sent ones, in their order and without a gap.
        #expect(left == Array(all.prefix(left.count)))
        #expect(left.count >= acknowledged * Self.peoplePerRequest)
        #expect(left.count <= (acknowledged + 1) * Self.peoplePerRequest)

        let second = try Process(tool, data: data)
        for _ in 0..<2 {
            for request in 0..<Self.requests {
                #expect(Self.postImport(request, port: second.port, admin) == true)
            }
        }
        kill(second.id, SIGTERM)
        #expect(second.ended().status == 0)
        #expect(try Self.importedPeople(data) == all)
    }
}
