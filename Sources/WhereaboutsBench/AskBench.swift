import Glibc
import JSON
import PushStandIn
import Service
import Synchronization

/// Milliseconds from a question to its answer when everything answers at once: the service, a stand-in for APNs and phones
/// that post a fix the moment they are pushed, all on the loopback address, every message over a socket.
///
/// Each question is about another person, who has reported before: a phone is woken once a minute. The asker waits by
/// `?wait=`; askers and phones keep their connections.
struct AskBench {
    private let directory: String
    private let alone, outstanding, each, phoneThreads: Int

    init(_ options: Options) throws {
        directory = try options.text("dir")
        alone = try options.number("asks", default: 300)
        outstanding = try options.number("outstanding", default: 100)
        each = try options.number("each", default: 10)
        phoneThreads = try options.number("phones", default: 16)
    }

    func run() throws {
        let phones = Phones()
        var standInConfiguration = PushStandIn.Configuration(directory: try made("stand-in"))
        standInConfiguration.record = { phones.wake($0.deviceTokenEnd) }
        let standIn = try PushStandIn(standInConfiguration)
        defer { standIn.stop() }
        let credentials = standIn.credentials
        let service = try Service(
            directory: try DataDirectory(path: "\(directory)/data"),
            configuration: try ServiceConfiguration.parse(configuration(credentials, port: Int(standIn.port))),
            gazetteerPath: nil)
        defer { service.stop() }
        let port = try service.listen(host: "127.0.0.1", port: 0)
        let house = House(port: port, admin: service.adminToken)
        let connection = try KeptConnection(port: port)
        let asker = try house.addAsker(connection)
        let count = alone + outstanding * each
        for number in 0..<count {
            let token = try standIn.registerPhone(bundleID: Self.bundleID)
            phones.add(token, key: try house.addPerson(number, token: token, connection))
        }
        let workers = try phones.answer(port: port, threads: phoneThreads)
        defer {
            phones.stop()
            for worker in workers { worker.join() }
        }
        let step = try house.durableStep(asker: asker, key: phones.anyKey, connection)
        let first = try (0..<alone).map { try house.ask($0, as: asker, connection) }
        let cpu = cpuMicroseconds()
        let together = try house.ask(alone..<count, as: asker, threads: outstanding)
        report(step, first.sorted(), together.sorted(), cpu: cpuMicroseconds() - cpu)
    }

    private static let bundleID = "org.example.bench"

    private func made(_ name: String) throws -> String {
        mkdir(directory, 0o700)
        let path = "\(directory)/\(name)"
        mkdir(path, 0o700)
        return path
    }

    private func configuration(_ credentials: PushStandInCredentials, port: Int) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.object("push") { push in
            push.field("host", "localhost")
            push.field("port", port)
            push.field("caFile", credentials.trustFile)
            push.field("teamID", credentials.teamID)
            push.field("keyID", credentials.keyID)
            push.field("keyFile", credentials.providerKeyFile)
            push.array("bundleIDs") { $0.value(Self.bundleID) }
            push.field("environment", "development")
        }
        writer.endObject()
        return writer.bytes
    }

    /// - Parameter cpu: microseconds that all of the process, askers, phones and stand-in too, computed for `together`.
    private func report(_ step: Double, _ alone: [Double], _ together: [Double], cpu: Int64) {
        func part(_ times: [Double], _ share: Double) -> Double {
            times.isEmpty ? 0 : times[min(times.count - 1, Int(Double(times.count) * share))]
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("benchmark", "ask")
        writer.field("durableStepMilliseconds", rounded(step, 3))
        writer.field("aloneMedianMilliseconds", rounded(part(alone, 0.5), 2))
        writer.field("aloneP99Milliseconds", rounded(part(alone, 0.99), 2))
        writer.field("outstanding", outstanding)
        writer.field("togetherMedianMilliseconds", rounded(part(together, 0.5), 2))
        writer.field("togetherP99Milliseconds", rounded(part(together, 0.99), 2))
        writer.field("togetherCPUMilliseconds", rounded(Double(cpu) / 1000 / Double(max(1, together.count)), 3))
        writer.endObject()
        printLine(writer.bytes)
    }

    /// The service as its clients see it.
    private struct House: Sendable {
        let port: Int
        let admin: String

        func addAsker(_ connection: KeptConnection) throws -> String {
            _ = try connection.send("POST", "/v1/people", #"{"handle":"asker"}"#, as: admin)
            let made = try connection.send("POST", "/v1/people/asker/tokens", #"{"scopes":["query"]}"#, as: admin)
            return made["token"]?.string ?? ""
        }

        /// A person whose phone can be woken and whom the asker may ask for; the phone's reporting key.
        func addPerson(_ number: Int, token: [UInt8], _ connection: KeptConnection) throws -> String {
            let person = "p\(number)"
            _ = try connection.send("POST", "/v1/people", #"{"handle":"\#(person)"}"#, as: admin)
            let device = try connection.send(
                "POST", "/v1/people/\(person)/devices", #"{"handle":"d\#(number)"}"#, as: admin)
            let key = device["password"]?.string ?? ""
            _ = try connection.send(
                "POST", "/v1/fixes", #"{"timestamp":1600000000,"latitude":48.1,"longitude":16.3}"#, as: key)
            _ = try connection.send(
                "PUT", "/v1/devices/d\(number)/location-push-token",
                #"{"hex":"\#(hex(token))","environment":"development","bundleID":"\#(AskBench.bundleID)"}"#, as: key)
            _ = try connection.send(
                "POST", "/v1/people/\(person)/grants", #"{"requester":"asker","precision":"exact"}"#, as: admin)
            return key
        }

        /// From the question on its way to the answer read, in milliseconds.
        func ask(_ number: Int, as asker: String, _ connection: KeptConnection) throws -> Double {
            let began = nanoseconds()
            let asked = try connection.send(
                "POST", "/v1/people/p\(number)/location-queries", #"{"purpose":"to measure","maxAgeSeconds":0}"#,
                as: asker)
            let answer = try connection.send("GET", "\(asked["url"]?.string ?? "")?wait=9", as: asker)
            let time = Double(nanoseconds() - began) / 1e6
            guard answer["status"]?.string == "answered" else {
                throw KeptConnection.Failure(description: "A question was not answered.")
            }
            return time
        }

        /// As many threads as questions under way.
        func ask(_ numbers: Range<Int>, as asker: String, threads: Int) throws -> [Double] {
            let state = Mutex((next: numbers.lowerBound, times: [Double](), failed: ""))
            let workers = try (0..<threads).map { _ in
                let connection = UncheckedConnection(try KeptConnection(port: port))
                return WorkerThread {
                    while let number = state.withLock({ state -> Int? in
                        guard state.next < numbers.upperBound, state.failed.isEmpty else { return nil }
                        defer { state.next += 1 }
                        return state.next
                    }) {
                        do {
                            let time = try ask(number, as: asker, connection.value)
                            state.withLock { $0.times.append(time) }
                        } catch { state.withLock { $0.failed = "\(error)" } }
                    }
                }
            }
            for worker in workers { worker.join() }
            let (times, failed) = state.withLock { ($0.times, $0.failed) }
            guard failed.isEmpty else { throw KeptConnection.Failure(description: failed) }
            return times
        }

        /// What one durable step costs a request: a posted fix against a request that writes nothing, medians of 200.
        func durableStep(asker: String, key: String, _ connection: KeptConnection) throws -> Double {
            func median(_ body: () throws -> Void) rethrows -> Double {
                let times = try (0..<200).map { _ in
                    let began = nanoseconds()
                    try body()
                    return Double(nanoseconds() - began) / 1e6
                }
                return times.sorted()[100]
            }
            var second = 1_600_000_000
            let written = try median {
                second += 1
                _ = try connection.send(
                    "POST", "/v1/fixes", #"{"timestamp":\#(second),"latitude":1,"longitude":2}"#, as: key)
            }
            return written - (try median { _ = try connection.send("GET", "/healthz", as: asker) })
        }
    }

    /// Phones that post a fix as soon as a push arrives.
    private final class Phones: Sendable {
        private struct State {
            var keys: [String: String] = [:]
            var woken: [String] = []
            var isStopping = false
        }
        private let state = Monitor(State())

        func add(_ token: [UInt8], key: String) {
            let end = String(hex(token).suffix(8))
            state.change { $0.keys[end] = key }
        }

        var anyKey: String { state.read { $0.keys.values.first ?? "" } }

        func wake(_ tokenEnd: String) {
            state.change { state in if let key = state.keys[tokenEnd] { state.woken.append(key) } }
        }

        func stop() { state.change { $0.isStopping = true } }

        func answer(port: Int, threads: Int) throws -> [WorkerThread] {
            try (0..<threads).map { _ in
                let connection = UncheckedConnection(try KeptConnection(port: port))
                return WorkerThread { [state] in
                    while let key = state.wait(for: { state -> String?? in
                        if !state.woken.isEmpty { return .some(state.woken.removeFirst()) }
                        return state.isStopping ? .some(nil) : nil
                    }) ?? nil {
                        var time = timespec()
                        clock_gettime(CLOCK_REALTIME, &time)
                        let milliseconds = (time.tv_nsec / 1_000_000) % 1000
                        let padded = String(repeating: "0", count: 3 - "\(milliseconds)".count) + "\(milliseconds)"
                        let fix = #"{"timestamp":\#(time.tv_sec).\#(padded),"latitude":48.2,"longitude":16.4}"#
                        // Whose answer is missing is asked in vain, which is said there.
                        _ = try? connection.value.send("POST", "/v1/fixes", fix, as: key)
                    }
                }
            }
        }
    }
}

/// Hands a connection to the one thread that uses it from then on.
private struct UncheckedConnection: @unchecked Sendable {
    // The maker does not touch the value again.
    let value: KeptConnection
    init(_ value: KeptConnection) { self.value = value }
}

private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
