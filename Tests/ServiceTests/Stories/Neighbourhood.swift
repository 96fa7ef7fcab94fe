import DeviceAgent
import Glibc
import JSON
import LocationPush
import PushStandIn
import Synchronization
import TestSupport
import Testing

@testable import Log
@testable import Service

/// Two persons and the walker's phone, between a push stand-in and a service that listens on a socket.
final class Neighbourhood {
    let standIn: PushStandIn
    let house: ServiceUnderTest
    let client: SocketClient
    let walker: String
    let friend: String
    /// The reporting key of `walker-phone`.
    let phoneKey: String
    private let folder = TemporaryFolder()
    private let hooks = Shared()

    /// A hook that the stand-in's thread may call at any time.
    private final class Shared: Sendable {
        let hook = Mutex<(@Sendable (PushRecord) -> Void)?>(nil)
    }

    /// Calls `body` on the stand-in's thread with each push that arrives from now on.
    func onPush(_ body: @escaping @Sendable (PushRecord) -> Void) { hooks.hook.withLock { $0 = body } }

    init(clock: HouseClock = .running) throws {
        var configuration = PushStandIn.Configuration(directory: folder.path)
        configuration.record = { [hooks] record in hooks.hook.withLock { $0 }?(record) }
        standIn = try PushStandIn(configuration)
        house = try ServiceUnderTest(clock: clock, standIn: standIn)
        client = SocketClient(port: try house.listen())
        walker = try house.addPerson("walker")
        friend = try house.addPerson("friend")
        phoneKey = try house.addDevice("walker-phone", of: "walker")
    }

    deinit {
        house.stop()
        standIn.stop()
    }

    /// The place of the walker's phone: Karlsplatz in Vienna.
    static let place = (latitude: 48.2006, longitude: 16.3698)

    /// The file of the walker's keys, for a phone that seals.
    var walkersKeys: String { folder.file("walker.keys") }

    /// Starts the walker's phone, and returns when the service knows its push token.
    ///
    /// - Parameters:
    ///   - seals: whether it seals its fixes with ``walkersKeys``, and adds them to the history.
    ///   - port: where it finds the service; `nil` for the service's own port.
    ///   - gazetteer: the file of places from which it knows cities.
    func startPhone(seals: Bool = false, over port: Int? = nil, gazetteer: String? = nil) throws -> Simulation {
        let gpx = """
            <gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>
            <trkpt lat="\(Self.place.latitude)" lon="\(Self.place.longitude)"><time>2026-05-04T07:00:00Z</time></trkpt>
            </trkseg></trk></gpx>
            """
        try DataDirectory.writePrivate(Array(gpx.utf8), to: folder.file("track.gpx"))
        let scenario = """
            {"service":"http://127.0.0.1:\(port ?? client.port)",\(gazetteer.map { "\"gazetteer\":\"\($0)\"," } ?? "")"pushStandIn":"127.0.0.1:\(standIn.courierPort)","devices":[
            {"device":"walker-phone","reportingKey":"\(phoneKey)","bundleID":"\(ServiceUnderTest.bundleID)",
            "track":"track.gpx"\(seals ? #","keys":"walker.keys","reports":["updates"]"# : "")}]}
            """
        let simulation = try Simulation(
            Scenario(json: Array(scenario.utf8), directory: folder.path), diary: Diary { _ in })
        try eventually("the registered token") { isTokenKnown }
        return simulation
    }

    /// Registers a phone that never answers, and returns its token.
    func registerSilentPhone() throws -> [UInt8] {
        let token = try standIn.registerPhone(bundleID: ServiceUnderTest.bundleID)
        register(token)
        return token
    }

    func register(_ token: [UInt8]) {
        let hex = token.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let answer = house.send(
            "PUT", "/v1/devices/walker-phone/location-push-token", as: phoneKey,
            #"{"hex":"\#(hex)","environment":"development","bundleID":"\#(ServiceUnderTest.bundleID)"}"#)
        #expect(answer.status == 200)
    }

    /// Adds a phone that never answers, and returns its reporting key and token.
    @discardableResult
    func addPhone(_ handle: String, of person: String) throws -> (key: String, token: [UInt8]) {
        let key = try house.addDevice(handle, of: person)
        let token = try standIn.registerPhone(bundleID: ServiceUnderTest.bundleID)
        let hex = token.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let answer = house.send(
            "PUT", "/v1/devices/\(handle)/location-push-token", as: key,
            #"{"hex":"\#(hex)","environment":"development","bundleID":"\#(ServiceUnderTest.bundleID)"}"#)
        #expect(answer.status == 200)
        return (key, token)
    }

    var isTokenKnown: Bool {
        house.manage("GET", "/v1/people/walker/devices").items.first?["pushToken"]?.bool == true
    }

    /// Asks as the friend; the query's address.
    func ask(_ more: String = "") throws -> String {
        let answer = try client.send(
            "POST", "/v1/people/walker/location-queries", as: friend, #"{"purpose":"late for dinner"\#(more)}"#)
        #expect(answer.status == 202, "\(answer.text)")
        #expect(answer["status"]?.string == "pending")
        let url = try #require(answer["url"]?.string)
        #expect(answer.header("Location") == url)
        return url
    }

    /// The friend's view of a query once it is no longer pending.
    func outcome(of url: String) throws -> Answer {
        try eventually("the outcome of \(url)") {
            let answer = try client.send("GET", url, as: friend)
            return answer.status == 200 && answer["status"]?.string == "pending" ? nil : answer
        }
    }

    /// The walker's view of the newest query, once `isDone`.
    func audited(where isDone: (JSONValue) -> Bool = { $0["end"]?.string != nil }) throws -> Answer {
        try eventually("the audit of a query that has ended") {
            let head = house.service.log.head
            let answer = house.send("GET", "/v1/people/walker/audit?at-least=\(head)", as: walker)
            try #require(answer.status == 200, "\(answer.text)")
            return answer.query.map(isDone) == true ? answer : nil
        }
    }

}

extension Answer {
    /// The newest query of an audit.
    var query: JSONValue? { items.first { $0["kind"]?.string == "query" } }
}
