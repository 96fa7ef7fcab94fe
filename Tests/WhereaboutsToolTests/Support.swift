import Glibc
import HTTPServer
import JSON
import Synchronization
import TestSupport
import Testing
import WhereaboutsClient

@testable import WhereaboutsTool

/// The output of a command.
final class Screen: Sendable {
    private let parts = Mutex<(results: [UInt8], notes: [UInt8])>(([], []))

    var console: Console { console(showsProgress: false) }

    func console(showsProgress: Bool) -> Console {
        Console(showsProgress: showsProgress) { bytes, isResult in
            self.parts.withLock { parts in
                if isResult { parts.results += bytes } else { parts.notes += bytes }
            }
        }
    }

    var bytes: [UInt8] { parts.withLock { $0.results } }
    var results: String { parts.withLock { String(decoding: $0.results, as: UTF8.self) } }
    var notes: String { parts.withLock { String(decoding: $0.notes, as: UTF8.self) } }
}

/// Runs the tool as its `main` does.
func whereabouts(_ arguments: String...) -> (exitCode: Int32, results: String, notes: String) {
    whereabouts(words: arguments)
}

func whereabouts(words arguments: [String]) -> (exitCode: Int32, results: String, notes: String) {
    StateHome.set
    return run(arguments)
}

/// The folder in which the tool keeps receipts, for all tests of this process.
enum StateHome {
    private static let folder = TemporaryFolder()
    static let set: Void = { _ = setenv("XDG_STATE_HOME", folder.path, 1) }()
}

private func run(_ arguments: [String]) -> (exitCode: Int32, results: String, notes: String) {
    let screen = Screen()
    let exitCode = Program.run(arguments, console: screen.console)
    return (exitCode, screen.results, screen.notes)
}

func json(_ text: String) throws -> JSONValue {
    try JSONDocument.parse(Array(text.utf8)).root
}

/// A command that should have printed JSON and failed.
struct CommandFailed: Error {
    let exitCode: Int32
    let notes: String
}

/// The JSON of a command that succeeded.
func json(_ run: (exitCode: Int32, results: String, notes: String)) throws -> JSONValue {
    guard run.exitCode == 0 else { throw CommandFailed(exitCode: run.exitCode, notes: run.notes) }
    return try json(run.results)
}

/// The service as far as an import needs it, with the identity of a fix as the design has it.
final class FakeService: Transport {
    struct State {
        var people: [String: [String]] = [:]
        var seen: Set<String> = []
        var batchSizes: [Int] = []
        /// The results of ended imports, for each person.
        var ends: [String] = []
        /// The id and the epoch of the log.
        var log = "00112233445566778899aabbccddeeff/1"
        /// Refused by the fake: latitudes above this.
        var northernmost = 90.0
    }

    let state: Mutex<State>
    var isRunningService: Bool { true }

    init(_ state: State = State()) {
        self.state = Mutex(state)
    }

    func close() {}

    func send(
        _ request: HTTPRequest, _ completion: @escaping @Sendable (Result<HTTPResponse, ClientError>) -> Void
    ) {
        completion(.success(answer(request)))
    }

    private func answer(_ request: HTTPRequest) -> HTTPResponse {
        guard request.header("authorization") == "Bearer wo_test" else {
            return .problem(401, title: "Not authenticated", detail: "Not authenticated")
        }
        let path = request.path.split(separator: "/").map(String.init)
        let body = try? JSONDocument.parse(request.body).root
        return state.withLock { state in
            switch (request.method, path.dropFirst().first, path.count) {
            case ("POST", "imports", 2): return Self.begin(body, &state)
            case ("POST", "imports", 4) where path.last == "ends":
                state.ends += Self.items(body?["people"]).map {
                    "\($0["person"]?.string ?? "") \($0["new"]?.int ?? -1)"
                }
                return .json(Array("{}".utf8))
            case ("POST", "imports", 4):
                return Self.take(body, &state)
            default: return .problem(404, title: "Not found", detail: "There is nothing at this address.")
            }
        }
    }

    private static func begin(_ body: JSONValue?, _ state: inout State) -> HTTPResponse {
        guard let person = body?["person"]?.string, let id = body?["id"]?.string else {
            return .problem(422, title: "Refused", detail: "There is no person.")
        }
        let isNew = state.people[person] == nil
        if isNew { state.people[person] = [] }
        return .json(Array(#"{"id":"\#(id)","resumed":false,"addedPerson":\#(isNew),"log":"\#(state.log)"}"#.utf8))
    }

    private static func take(_ body: JSONValue?, _ state: inout State) -> HTTPResponse {
        guard let devices = body?["devices"].map(items) else {
            return .problem(422, title: "Refused", detail: "There are no devices.")
        }
        let size = devices.reduce(0) { $0 + items($1["fixes"]).count + items($1["visits"]).count }
        guard max(size, devices.count) <= 1000 else {
            return .problem(413, title: "Too many fixes", detail: "Send fewer.")
        }
        state.batchSizes.append(size)
        let outcomes = devices.map { take($0, &state) }.joined(separator: ",")
        return .json(Array(#"{"devices":[\#(outcomes)],"number":9}"#.utf8))
    }

    private static func items(_ list: JSONValue?) -> [JSONValue] { list?.array.map { Array($0) } ?? [] }

    /// Takes the fixes of one device, which is made with its person.
    private static func take(_ part: JSONValue, _ state: inout State) -> String {
        let (person, device) = (part["person"]?.string ?? "", part["device"]?.string ?? "")
        let isNewPerson = state.people[person] == nil
        let isNewDevice = state.people[person]?.contains(device) != true
        if isNewDevice { state.people[person, default: []].append(device) }
        var (new, duplicate) = (0, 0)
        var rejected: [Int] = []
        for (index, fix) in items(part["fixes"]).enumerated() {
            let parts = ["timestamp", "latitude", "longitude"].compactMap { fix[$0]?.double }
            if parts.count != 3 || parts[1] > state.northernmost {
                rejected.append(index)
            } else if state.seen.insert("\(device) \(parts)").inserted {
                new += 1
            } else {
                duplicate += 1
            }
        }
        var visits = (new: 0, duplicate: 0)
        for visit in items(part["visits"]) {
            let parts = ["arrival", "departure", "latitude", "longitude"].map { visit[$0]?.double }
            if state.seen.insert("\(device) \(parts)").inserted { visits.new += 1 } else { visits.duplicate += 1 }
        }
        let reasons = rejected.map { #"{"index":\#($0),"reason":"badCoordinate"}"# }.joined(separator: ",")
        return #"{"addedPerson":\#(isNewPerson),"addedDevice":\#(isNewDevice),"new":\#(new),"duplicate":\#(duplicate),"#
            + #""visits":{"new":\#(visits.new),"duplicate":\#(visits.duplicate),"rejected":[]},"rejected":[\#(reasons)]}"#
    }
}
