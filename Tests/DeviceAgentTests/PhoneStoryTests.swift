import Foundation
import Glibc
import HTTPServer
import JSON
import LocationPush
import PushStandIn
import Synchronization
import TestSupport
import Testing

@testable import DeviceAgent

/// The phone between a real push stand-in and a service that only listens.
@Suite struct PhoneStoryTests {
    static let query = "0b5a1f52-5c4f-4f0e-9a53-0c8a3fd1c6de"

    @Test func `a push wakes the extension, which reports the same fix until it is acknowledged`() async throws {
        let service = try ListeningService(failingFixes: 1)
        let folder = TemporaryFolder()
        let standIn = try PushStandIn(PushStandIn.Configuration(directory: folder.path))
        let diary = Lines()
        let scenario = """
            {"service":"http://127.0.0.1:\(service.port)","pushStandIn":"127.0.0.1:\(standIn.courierPort)","devices":[
            {"device":"walker-phone","reportingKey":"wd_key","bundleID":"org.example.app","track":"track.gpx"}]}
            """
        try writeFile(TracksTests.gpx, to: "\(folder.path)/track.gpx")
        let simulation = try Simulation(
            Scenario(json: Array(scenario.utf8), directory: folder.path), diary: Diary { diary.append($0) })

        // The app registers and uploads its token.
        let upload = service.next { $0.method == "PUT" }
        #expect(upload.path == "/v1/devices/walker-phone/location-push-token")
        #expect(upload.header("authorization") == "Bearer wd_key")
        let said = try JSONDocument.parse(upload.body).root
        #expect(said["environment"]?.string == "development")
        #expect(said["bundleID"]?.string == "org.example.app")
        let hex = Array(try #require(said["hex"]?.string).utf8)
        let token = stride(from: 0, to: hex.count, by: 2).compactMap { index in
            UInt8(String(decoding: hex[index..<(index + 2)], as: UTF8.self), radix: 16)
        }
        diary.wait(for: #""event":"tokenUploaded""#)

        // A sender pushes, and the extension answers.
        let key = try standIn.credentials.providerTokenKey()
        let sender = try PushSender(
            PushSender.Configuration(
                endpoint: standIn.endpoint(), providerTokens: ProviderTokenSource(key: key, clock: .system)))
        let push = try LocationPushRequest(
            deviceToken: token, bundleID: "org.example.app", environment: .development, priority: .userAsked,
            expirationSeconds: 0, apnsID: "6f2d3a10-93b1-4b36-8c1d-3a5b7c9d0e1f", collapseID: nil,
            payload: Array(#"{"aps":{},"query":"\#(Self.query)"}"#.utf8),
            deadlineMs: PushClock.system.now().unixMs + 900_000)
        _ = await sender.send(push)
        let first = service.next { $0.path == "/v1/fixes" }
        let second = service.next { $0.path == "/v1/fixes" }
        #expect(first.method == "POST" && first.body == second.body)
        let fixes = try #require(try JSONDocument.parse(first.body).root["fixes"]?.array)
        let fix = try #require(Array(fixes).first)
        #expect(fix["answering"]?.string == Self.query)
        #expect(fix["latitude"]?.double == 48.5)
        #expect(fix["horizontalAccuracy"]?.double == 12)
        #expect(fix["sourceInformation"]?["isSimulatedBySoftware"]?.bool == true)

        diary.wait(for: #""event":"completed""#)
        simulation.stop()
        sender.stop()
        standIn.stop()
        let steps = try diary.events.filter { $0 != "reported" }
        #expect(
            steps == ["registered", "tokenUploaded", "pushReceived", "launched", "retrying", "completed"])
        // The diary does not reveal where the phone is. The test compares whole numbers, because a time may end in
        // 48.5.
        let numbers = diary.text.split { !$0.isNumber && $0 != "." }
        #expect(!numbers.contains { $0.hasPrefix("48.5") || $0.hasPrefix("16.5") } && !diary.text.contains("itude"))
    }

    @Test func `a phone whose stand-in has forgotten it registers again`() throws {
        let service = try ListeningService(failingFixes: 0)
        let folders = (TemporaryFolder(), TemporaryFolder())
        let before = try PushStandIn(PushStandIn.Configuration(directory: folders.0.path))
        let diary = Lines()
        let courierPort = before.courierPort
        let scenario = """
            {"service":"http://127.0.0.1:\(service.port)","pushStandIn":"127.0.0.1:\(courierPort)","devices":[
            {"device":"walker-phone","reportingKey":"wd_key","bundleID":"org.example.app","track":"track.gpx"}]}
            """
        try writeFile(TracksTests.gpx, to: "\(folders.0.path)/track.gpx")
        let simulation = try Simulation(
            Scenario(json: Array(scenario.utf8), directory: folders.0.path), diary: Diary { diary.append($0) })
        let upload = service.next { $0.method == "PUT" }
        before.stop()
        var configuration = PushStandIn.Configuration(directory: folders.1.path)
        configuration.courierPort = courierPort
        let after = try PushStandIn(configuration)
        #expect(service.next { $0.method == "PUT" }.body != upload.body)
        simulation.stop()
        after.stop()
        #expect(try diary.events.contains("courierLost"))
    }

    @Test func `wrong arguments and unreadable scenarios end with their codes`() {
        let host: WorldService.Start = { _, _, _, _ in throw ScenarioError("There is no service here.") }
        #expect(runSimulate(arguments: [], host: host) == 2)
        #expect(runSimulate(arguments: ["a.json", "b.json"], host: host) == 2)
        #expect(runSimulate(arguments: ["/nowhere/scenario.json"], host: host) == 3)
    }
}

/// A service that keeps every message; its first answers to fixes are 503.
private final class ListeningService: Sendable {
    private let server: HTTPServer
    private let box: Inbox
    var port: Int { server.port }

    init(failingFixes failures: Int) throws {
        let box = Inbox(failures: failures)
        self.box = box
        server = try HTTPServer(HTTPServerConfiguration()) { request, responder in
            let isFailing = box.take(request)
            responder.respond(
                isFailing
                    ? .problem(503, title: "Busy", detail: "Come again later.")
                    : .json(Array(#"{"new":1,"duplicate":0,"rejected":[],"number":7}"#.utf8)))
        }
        try server.start()
    }

    deinit { server.stop() }

    /// The next request of this kind, waiting for it; others before it are passed over.
    func next(where isWanted: (HTTPRequest) -> Bool) -> HTTPRequest {
        box.requests.wait { requests in
            guard let index = requests.firstIndex(where: isWanted) else { return nil }
            defer { requests.removeFirst(index + 1) }
            return requests[index]
        }
    }
}

private final class Inbox: Sendable {
    let requests = Arrivals<HTTPRequest>()
    private let failuresLeft: Mutex<Int>

    init(failures: Int) { failuresLeft = Mutex(failures) }

    /// Keeps a request and says whether it shall fail.
    func take(_ request: HTTPRequest) -> Bool {
        requests.append(request)
        return request.path == "/v1/fixes"
            && failuresLeft.withLock { left in
                left -= 1
                return left >= 0
            }
    }
}

/// The lines of a diary.
private final class Lines: Sendable {
    private let lines = Arrivals<[UInt8]>()

    func append(_ line: [UInt8]) { lines.append(line) }

    var text: String { lines.all.map { String(decoding: $0, as: UTF8.self) }.joined() }

    var events: [String] {
        get throws { try lines.all.map { try JSONDocument.parse($0).root["event"]?.string ?? "" } }
    }

    func wait(for part: String) {
        lines.wait { $0.contains { String(decoding: $0, as: UTF8.self).contains(part) } ? () : nil }
    }
}

/// Values from other threads. A waiting caller blocks instead of polling: a polling thread counts as busy, and the pool
/// then has none left for the phone's network.
private final class Arrivals<Value: Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    private var values: [Value] = []

    func append(_ value: Value) {
        condition.withLock { values.append(value) }
        condition.broadcast()
    }

    func wait<Result>(for find: (inout [Value]) -> Result?) -> Result {
        condition.withLock {
            let latest = Date(timeIntervalSinceNow: patienceSeconds)
            while true {
                if let result = find(&values) { return result }
                if !condition.wait(until: latest) { waitedInVain(for: "a value among \(values.count)") }
            }
        }
    }

    var all: [Value] { condition.withLock { values } }
}
