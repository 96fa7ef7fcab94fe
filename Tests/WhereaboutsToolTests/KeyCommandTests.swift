import Cryptography
import Foundation
import Glibc
import HTTPServer
import JSON
import Log
import OpenedEnvelopes
import Reactors
import Synchronization
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import DeviceAgent
@testable import Service
@testable import WhereaboutsTool

/// `key …`, and reads of sealed people on the asker's computer, against a running service.
@Suite struct KeyCommandTests {
    private let folder = TemporaryFolder()
    private let service: Service
    private let phoneKey: String

    private var annas: String { folder.path + "/anna.keys" }
    private var bens: String { folder.path + "/ben.keys" }

    /// Anna shares exactly with Ben, with history; both have keys and accept each other's. Anna's phone is sealed.
    init() throws {
        let directory = try DataDirectory(path: folder.path + "/state")
        service = try Service(
            directory: directory, configuration: ServiceConfiguration(), gazetteerPath: GazetteerLocation.find())
        directory.announce(address: "127.0.0.1:\(try service.listen(host: "127.0.0.1", port: 0))")
        let data = ["--data", folder.path + "/state"]
        func run(_ words: String...) throws -> String {
            let run = whereabouts(words: data + words)
            try #require(run.exitCode == 0, "\(words): \(run.notes)")
            return run.results
        }
        for person in ["anna", "ben"] { _ = try run("person", "add", person) }
        _ = try run(
            "grant", "add", "--person", "anna", "--requester", "ben", "--precision", "exact", "--history")
        let device = try json(try run("device", "add", "anna.phone", "--person", "anna", "--json"))
        phoneKey = try #require(device["password"]?.string)
        let (annas, bens) = (folder.path + "/anna.keys", folder.path + "/ben.keys")
        _ = try run("key", "add", "--as", "anna", "--keys", annas)
        _ = try run("key", "add", "--as", "ben", "--keys", bens)
        _ = try run("key", "pin", "--as", "anna", "--person", "ben", "--keys", annas)
        _ = try run("key", "pin", "--as", "ben", "--person", "anna", "--keys", bens)
        _ = try run("device", "seal", "anna.phone", "--as", "anna")
    }

    private var data: [String] { ["--data", folder.path + "/state"] }

    private func tool(_ words: String...) -> (exitCode: Int32, results: String, notes: String) {
        whereabouts(words: data + words)
    }

    private func succeed(_ words: [String]) throws {
        let run = whereabouts(words: data + words)
        try #require(run.exitCode == 0, "\(words): \(run.notes)")
    }

    /// What the phone asks of the service, or sends.
    @discardableResult
    private func phone(_ method: String, _ path: String, _ body: [UInt8] = []) throws -> HTTPResponse {
        let given = Monitor<HTTPResponse?>(nil)
        service.handle(
            HTTPRequest(
                method: method, path: path, query: [], headers: [("Authorization", "Bearer \(phoneKey)")], body: body)
        ) { response in given.change { $0 = response } }
        return try given.expected("the answer to \(path)") { $0 }
    }

    /// The phone takes a fix, and sends what its app would send.
    ///
    /// - Parameter seal: answers the questions, or adds to the history.
    private func take(
        at time: Timestamp, _ latitude: Double, _ seal: (PhoneSealer) -> (Data, Data) -> [Data]
    ) throws {
        let questions = Data(try phone("GET", "/v1/devices/anna.phone/questions").body)
        let fix = Data(
            #"{"fixes":[{"timestamp":\#(Double(time.milliseconds) / 1000),"latitude":\#(latitude),"longitude":16.37}]}"#
                .utf8)
        for body in seal(PhoneSealer(keys: annas, folder: folder.path))(fix, questions) {
            let answer = try phone("POST", "/v1/envelopes", [UInt8](body))
            #expect(answer.status == 200)
        }
    }

    private func history(_ sealer: PhoneSealer) -> (Data, Data) -> [Data] { { sealer.history($0, readers: $1) } }

    @Test func `Ben reads Anna's track and place on his computer, and the service cannot`() throws {
        defer { service.stop() }
        let start = Timestamp.now.adding(seconds: -3600)
        for step in 0..<4 {
            try take(at: start.adding(seconds: Int64(step) * 600), 48.2 + Double(step) / 100, history)
        }
        let track = try json(
            tool("track", "--person", "anna", "--as", "ben", "--open-with", bens, "--json", "--no-receipts"))
        let fixes = track["fixes"]?.array.map { Array($0) } ?? []
        let expected: [Double] = (0..<4).map { 48.2 + Double($0) / 100 }
        let latitudes: [Double] = fixes.compactMap { $0["latitude"]?.double }
        #expect(latitudes == expected)
        #expect(fixes.first?["device"]?.string == "anna.phone")
        let place = tool("location", "--person", "anna", "--as", "ben", "--open-with", bens, "--no-receipts")
        #expect(place.exitCode == 0 && place.results.contains("48.23"), "\(place.results) \(place.notes)")
        // The service itself has nothing to show.
        let open = tool("location", "--person", "anna", "--json")
        #expect(!open.results.contains("latitude"))
        // Of a range, with a key that was sealed before it.
        let late = try json(
            tool(
                "track", "--person", "anna", "--as", "ben", "--open-with", bens, "--json", "--no-receipts", "--from",
                "\(start.adding(seconds: 900).milliseconds / 1000)"))
        let count: Int = late["fixes"]?.array.map { Array($0).count } ?? 0
        #expect(count == 2)
    }

    /// Anna's lists from opened envelopes are Carla's, who sent the same fixes openly. `LocalFoldLawTests` compares many histories.
    @Test func `the lists that Anna's computer folds look as those that the service derives from the same fixes`()
        throws
    {
        defer { service.stop() }
        var days = SplitMix(7)
        var lines = ""
        var time = Timestamp.now.milliseconds / 1000 - 2 * 86_400
        // Three places of an hour or two, and the ways between, of which one has fixes.
        for stay in 0..<3 {
            let place = 48.2 + 0.02 * Double(stay)
            func add(_ latitude: Double) throws {
                try take(at: Timestamp(milliseconds: time * 1000), latitude, history)
                lines += #"{"timestamp":\#(time),"latitude":\#(latitude),"longitude":16.37}"# + "\n"
            }
            for step in 0..<30 {
                try add(place + Double.random(in: -0.0001...0.0001, using: &days))
                time += step == 29 ? 120 : 180
            }
            guard stay < 2 else { continue }
            for step in 1..<10 {
                try add(place + 0.002 * Double(step))
                time += 60
            }
            if stay == 1 { time += 1500 }
        }
        for person in ["anna", "carla"] {
            if person == "carla" { try succeed(["person", "add", "carla"]) }
            try succeed(["region", "add", "--person", person, "--id", "home", "--circle", "48.2,16.37,300"])
        }
        let file = try folder.write(lines, to: "carla.jsonl")
        #expect(tool("import", "--person", "carla", file).exitCode == 0)
        let sealed = ["--as", "anna", "--open-with", annas, "--no-receipts"]
        for list in ["visits", "trips", "crossings", "places"] {
            let own = whereabouts(words: data + [list, "--person", "anna"] + sealed)
            let derived = tool(list, "--person", "carla")
            #expect(own.exitCode == 0, "\(own.notes)")
            // Crossings show the time of receipt, which an import does not have.
            if list != "crossings" {
                #expect(own.results == derived.results && own.results.count > 60, "\(own.results)\n\(derived.results)")
            }
            let (a, b) = try (rows(list, "anna", sealed), rows(list, "carla", []))
            #expect(a == b && !a.isEmpty, "\(a) \(b)")
        }
        let bensView = tool(
            "trips", "--person", "anna", "--as", "ben", "--open-with", bens, "--json", "--no-receipts")
        #expect(try json(bensView)["trips"]?.array?.underestimatedCount ?? 0 >= 2)
        for word in ["--day", "--as-of", "--crs"] {
            let value = ["--day": "2026-05-04", "--as-of": "2026-05-04", "--crs": "EPSG:31287"][word] ?? ""
            let refused = whereabouts(words: data + ["trips", "--person", "anna", word, value] + sealed)
            #expect(refused.exitCode == 2 && refused.notes.contains("--open-with"), "\(word): \(refused.notes)")
        }
    }

    /// The items of a list as `--json` shows them, without ids and times of receipt.
    private func rows(_ list: String, _ person: String, _ more: [String]) throws -> [[String: String]] {
        let run = whereabouts(words: data + [list, "--person", person, "--json"] + more)
        return (try json(run)[list]?.array.map { Array($0) } ?? []).map { item in
            var row: [String: String] = [:]
            guard let members = item.members else { return row }
            let left: Set = ["id", "firstReported", "departureReported", "reported"]
            for (name, value) in members where !left.contains(name) {
                var writer = JSONWriter()
                writer.value(value)
                row[name] = String(decoding: writer.bytes, as: UTF8.self)
            }
            return row
        }
    }

    /// Ben asks, and Anna's phone answers from 48.2087.
    private func ask() throws -> JSONValue {
        let isOver = Mutex(false)
        let phone = WorkerThread { [self] in
            // Until the phone has answered, or the test is over.
            while !isOver.withLock({ $0 }) {
                let questions = (try? self.phone("GET", "/v1/devices/anna.phone/questions").body) ?? []
                if String(decoding: questions, as: UTF8.self).contains(#""query""#) {
                    try? take(at: .now, 48.2087) { sealer in { sealer.answer($0, to: $1) } }
                    return
                }
                usleep(20_000)
            }
        }
        defer {
            isOver.withLock { $0 = true }
            phone.join()
        }
        return try json(
            tool(
                "ask", "--as", "ben", "--person", "anna", "--purpose", "lunch", "--wait", "30", "--open-with", bens,
                "--json", "--no-receipts"))
    }

    @Test func `Ben asks, and his computer opens the answer`() throws {
        defer { service.stop() }
        let asked = try ask()
        #expect(asked["status"]?.string == "answered")
        #expect(asked["location"]?["latitude"]?.double == 48.2087 && asked["envelope"] == nil)
    }

    @Test func `an opened location is as precise as its grant`() throws {
        defer { service.stop() }
        try succeed(["grant", "remove", "1"])
        try succeed(["grant", "add", "--person", "anna", "--requester", "ben", "--precision", "kilometer"])
        #expect(try ask()["location"]?["precision"]?.string == "kilometer")
        let found = try json(
            tool("location", "--person", "anna", "--as", "ben", "--open-with", bens, "--json", "--no-receipts"))
        #expect(found["location"]?["precision"]?.string == "kilometer")
        #expect(found["location"]?["latitude"]?.double.map { abs($0 - 48.2087) > 0.0001 } == true)
    }

    @Test func `the safety number is the same on both computers`() throws {
        defer { service.stop() }
        func digits(_ text: String) -> String { String(text.suffix(160).filter { $0.isNumber || $0 == " " }) }
        let annasView = tool("key", "list", "--person", "ben", "--as", "anna", "--keys", annas)
        let bensView = tool("key", "list", "--person", "anna", "--as", "ben", "--keys", bens)
        #expect(annasView.exitCode == 0 && bensView.exitCode == 0, "\(annasView.notes) \(bensView.notes)")
        let (first, second) = (annasView.results.suffix(80), bensView.results.suffix(80))
        #expect(first == second && digits(annasView.results).filter(\.isNumber).count >= 60)
        // The file is the owner's alone.
        var about = stat()
        #expect(stat(annas, &about) == 0 && about.st_mode & 0o777 == 0o600)
        #expect(chmod(bens, 0o640) == 0)
        let open = tool("track", "--person", "anna", "--as", "ben", "--open-with", bens, "--no-receipts")
        #expect(open.exitCode == 3 && open.notes.contains("chmod 600"))
    }

    /// Someone with the operator's rights publishes keys in Ben's name, which Anna's computer compares with what she accepted.
    @Test func `another identity key than the accepted one is refused, and nothing is pinned`() throws {
        defer { service.stop() }
        let forged = folder.path + "/forged.keys"
        let own = try KeyFile(path: bens)
        try KeyFile(of: own.person, at: .now).write(to: forged)
        #expect(tool("key", "add", "--as", "ben", "--keys", forged).exitCode != 0)
        let listed = try json(tool("key", "list", "--person", "ben", "--json"))
        let identity = try #require(listed["identity"]?["id"]?.string)
        try succeed(["key", "lost", identity, "--as", "ben"])
        try succeed(["key", "add", "--as", "ben", "--keys", forged])
        let pinned = tool("key", "pin", "--as", "anna", "--person", "ben", "--keys", annas)
        #expect(pinned.exitCode == 3 && pinned.notes.contains("another identity key"))
        let accepted = try KeyFile(path: annas).known(own.person)
        #expect(accepted?.identity == own.identity.publicKey)
    }

    /// The house shows Anna a list of Ben's keys that Ben never sees. A second service of the same names plays its part.
    @Test func `a list of keys that Anna alone is shown has another safety number, and stands in her log`() throws {
        defer { service.stop() }
        let directory = try DataDirectory(path: folder.path + "/fork")
        let fork = try Service(directory: directory, configuration: ServiceConfiguration(), gazetteerPath: nil)
        defer { fork.stop() }
        directory.announce(address: "127.0.0.1:\(try fork.listen(host: "127.0.0.1", port: 0))")
        func there(_ words: String...) -> (exitCode: Int32, results: String, notes: String) {
            whereabouts(words: ["--data", folder.path + "/fork"] + words)
        }
        for person in ["anna", "ben"] { try #require(there("person", "add", person).exitCode == 0) }
        let granted = there("grant", "add", "--person", "anna", "--requester", "ben", "--precision", "exact")
        try #require(granted.exitCode == 0, "\(granted.notes)")
        let (forged, fresh) = (folder.path + "/forged.keys", folder.path + "/fresh.keys")
        let bensOwn = try KeyFile(path: bens)
        try KeyFile(of: bensOwn.person, at: .now).write(to: forged)
        try #require(there("key", "add", "--as", "ben", "--keys", forged).exitCode == 0)
        // Anna's computer knows Ben's identity: the other list is refused.
        try #require(there("key", "add", "--as", "anna", "--keys", annas).exitCode == 0)
        let pinned = there("key", "pin", "--as", "anna", "--person", "ben", "--keys", annas)
        #expect(pinned.exitCode == 3 && pinned.notes.contains("another identity key"), "\(pinned.notes)")
        // A computer on which she has accepted nobody yet believes it.
        var unknowing = try KeyFile(path: annas)
        unknowing.people = []
        try unknowing.write(to: fresh)
        let believed = there("key", "pin", "--as", "anna", "--person", "ben", "--keys", fresh)
        try #require(believed.exitCode == 0, "\(believed.notes)")
        // What the two read to each other differs,
        let annasView = there("key", "list", "--person", "ben", "--as", "anna", "--keys", fresh)
        let bensView = tool("key", "list", "--person", "anna", "--as", "ben", "--keys", bens)
        #expect(annasView.exitCode == 0 && bensView.exitCode == 0)
        #expect(annasView.results.suffix(80) != bensView.results.suffix(80))
        // and the key that Anna's log says she accepted is none that Ben's log has.
        let key = try KeyFile(path: forged).recipients[0].id.description
        #expect(there("audit", "--person", "anna", "--json").results.contains(key))
        let bensLog = tool("audit", "--person", "ben", "--json")
        #expect(bensLog.results.contains(bensOwn.recipients[0].id.description) && !bensLog.results.contains(key))
    }

    @Test func `a key that is withdrawn or no longer accepted gets nothing new`() throws {
        defer { service.stop() }
        let key = try KeyFile(path: bens).recipients[0].id.description
        try succeed(["key", "unpin", key, "--as", "anna", "--keys", annas])
        try take(at: .now, 48.2, history)
        let none = tool("track", "--person", "anna", "--as", "ben", "--open-with", bens, "--no-receipts")
        #expect(none.exitCode == 0 && none.notes.contains("no fix in that time"), "\(none.notes)")
        // With another key, which Anna accepts again.
        try succeed(["key", "lost", key, "--as", "ben"])
        try succeed(["key", "add", "--as", "ben", "--keys", bens, "--another"])
        try succeed(["key", "pin", "--as", "anna", "--person", "ben", "--keys", annas])
        try take(at: .now, 48.3, history)
        let track = try json(
            tool("track", "--person", "anna", "--as", "ben", "--open-with", bens, "--json", "--no-receipts"))
        // The period goes on, and its key is sealed for Ben's new key.
        let latitudes: [Double] = (track["fixes"]?.array.map { Array($0) } ?? []).compactMap { $0["latitude"]?.double }
        #expect(latitudes == [48.2, 48.3])
        #expect(tool("key", "lost", "no-key", "--as", "ben").exitCode == 2)
    }
}
