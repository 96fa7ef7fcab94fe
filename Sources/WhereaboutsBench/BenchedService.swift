import Glibc
import JSON
import PushStandIn
import Synchronization
import Threading

/// The service as its clients see it.
struct BenchedService: Sendable {
    static let bundleID = "org.example.bench"

    let port: Int
    let admin: String

    /// A configuration that sends pushes to the stand-in with these credentials on this port of this computer.
    static func configuration(_ credentials: PushStandInCredentials, _ port: UInt16) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.object("push") { push in
            push.field("host", "localhost")
            push.field("port", Int(port))
            push.field("caFile", credentials.trustFile)
            push.field("teamID", credentials.teamID)
            push.field("keyID", credentials.keyID)
            push.field("keyFile", credentials.providerKeyFile)
            push.array("bundleIDs") { $0.value(bundleID) }
            push.field("environment", "development")
        }
        writer.endObject()
        return writer.bytes
    }

    func addAsker(_ connection: KeptConnection) throws -> String {
        _ = try connection.send("POST", "/v1/people", #"{"handle":"asker"}"#, as: admin)
        let made = try connection.send("POST", "/v1/people/asker/tokens", #"{"scopes":["query"]}"#, as: admin)
        return made["token"]?.string ?? ""
    }

    /// Adds a person whose phone can be woken and whom the asker may ask for. Returns the phone's reporting key.
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
            #"{"hex":"\#(hex(token))","environment":"development","bundleID":"\#(BenchedService.bundleID)"}"#, as: key)
        _ = try connection.send(
            "POST", "/v1/people/\(person)/grants", #"{"requester":"asker","precision":"exact"}"#, as: admin)
        return key
    }

    /// Asks one question. Returns the milliseconds from sending it to reading the answer.
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

    /// Asks about many people, with one thread per concurrent question.
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

    /// The cost of one durable step: the difference between a posted fix and a request that writes nothing, medians of 200.
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
final class BenchedPhones: Sendable {
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
                    // A missing answer shows as an unanswered question.
                    _ = try? connection.value.send("POST", "/v1/fixes", fix, as: key)
                }
            }
        }
    }
}

/// Moves a connection to the only thread that uses it from then on.
struct UncheckedConnection: @unchecked Sendable {
    // The creating thread does not use the value again.
    let value: KeptConnection
    init(_ value: KeptConnection) { self.value = value }
}

private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
