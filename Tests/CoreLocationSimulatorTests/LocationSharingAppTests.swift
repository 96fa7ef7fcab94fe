import CoreLocation
import FoundationNetworking
import LocationSharingApp
import Testing

/// The app's side as it is copied into an app: its messages, the outbox, and the extension's report without a fix.
@Suite struct LocationSharingAppTests {
    @Test func `the device token is uploaded once as hex, and again when the system changes it`() throws {
        let phone = try SharingPhone()
        phone.launch()
        let upload = try #require(phone.network.sent.first { $0.method == "PUT" })
        #expect(upload.path == "/v1/devices/anna-phone/location-push-token" && upload.key == "Bearer wd_key")
        let said = try upload.object()
        #expect(said["environment"] as? String == "development" && said["bundleID"] as? String == "org.example.app")
        let hex = try #require(said["hex"] as? String)
        #expect(hex.count >= 64 && hex.allSatisfy { "0123456789abcdef".contains($0) })
        phone.relaunch()
        #expect(phone.network.sent.count { $0.method == "PUT" } == 1)
        phone.application.rotateLocationPushToken()
        phone.relaunch()
        let uploads = try phone.network.sent.filter { $0.method == "PUT" }.map { try $0.object()["hex"] as? String }
        #expect(uploads.count == 2 && uploads[0] != uploads[1])
    }

    @Test func `authorization, fixes, visits and crossings are reported`() throws {
        let phone = try SharingPhone(interests: .frugal)
        phone.launch(regions: [CLCircularRegion(center: north(1500), radius: 150, identifier: "office")])
        try phone.follow([
            .stay(seconds: 1200), .move(to: north(1500), metersPerSecond: 1.5), .stay(seconds: 3600),
            .move(to: home, metersPerSecond: 12), .stay(seconds: 1800),
        ])
        phone.advance(9000)
        let reports = try phone.network.reports()
        #expect(reports.first?["type"] as? String == "authorization")
        #expect(
            reports.first?["status"] as? String == "authorizedAlways" && reports.first?["accuracy"] as? String == "full"
        )
        let crossings = reports.filter { $0["type"] as? String == "crossing" }
        #expect(crossings.map { $0["crossing"] as? String } == ["enter", "exit"])
        #expect(crossings.allSatisfy { $0["region"] as? String == "office" })
        let visits = reports.filter { $0["type"] as? String == "visit" }
        // The stay that began before the first fix has no arrival, the office has both in the end.
        #expect(visits.first?["arrival"] == nil && visits.first?["departure"] != nil)
        #expect(visits.contains { $0["arrival"] != nil && $0["departure"] != nil })
        #expect(phone.network.sent.contains { $0.path == "/v1/fixes" })
    }

    /// The beacon is passed twice at 1 m/s, 1 m beside the way: far from 50 m to 3 m before it, near to 3 m behind it.
    @Test func `a beacon is reported when it comes nearer or goes farther, and a heading when the phone turns`() throws
    {
        let phone = try SharingPhone(interests: [.beacons, .headings, .updates])
        let house = try #require(UUID(uuidString: "0A1B2C3D-0000-4000-8000-000000000001"))
        var place = north(200)
        place.longitude += 1 / 76_767.0
        phone.device.beacons = [SimulatedBeacon(uuid: house, major: 7, minor: 9, coordinate: place)]
        phone.launch(regions: [CLBeaconRegion(uuid: house, identifier: "door")])
        try phone.follow([
            .stay(seconds: 10), .move(to: north(400), metersPerSecond: 1), .stay(seconds: 60),
        ])
        phone.advance(20)
        phone.device.turn(by: 90)
        phone.advance(300)
        phone.relaunch()
        phone.advance(200)
        let reports = try phone.network.reports()
        let beacons = reports.filter { $0["type"] as? String == "beacon" }
        #expect(beacons.map { $0["proximity"] as? Int } == [3, 2, 3, 0])
        #expect(beacons.allSatisfy { $0["uuid"] as? String == "0a1b2c3d-0000-4000-8000-000000000001" })
        #expect(beacons.allSatisfy { $0["major"] as? Int == 7 && $0["minor"] as? Int == 9 })
        let distances = beacons.compactMap { $0["accuracy"] as? Double }
        #expect(distances.count == 4 && distances[0] > 40 && distances[1] < 3.1 && distances[3] == -1)
        let crossings = reports.filter { $0["type"] as? String == "crossing" }
        #expect(crossings.map { $0["crossing"] as? String } == ["enter", "exit"])
        let headings = reports.filter { $0["type"] as? String == "heading" }
        #expect(headings.contains { abs(($0["trueHeading"] as? Double ?? -1) - 90) < 0.001 })
    }

    @Test func `an app launched among its beacons ranges them, although it never entered`() throws {
        let phone = try SharingPhone(interests: [.beacons, .updates])
        let house = UUID()
        phone.device.beacons = [SimulatedBeacon(uuid: house, major: 1, minor: 1, coordinate: home)]
        try phone.follow([.stay(seconds: 600)])
        phone.advance(5)
        phone.launch(regions: [CLBeaconRegion(uuid: house, identifier: "door")])
        phone.advance(30)
        func count() throws -> Int { try phone.network.reports().count { $0["type"] as? String == "beacon" } }
        #expect(try count() == 1)
        // The region outlives the process; ranging does not.
        phone.relaunch()
        phone.advance(30)
        #expect(try count() == 2)
    }

    /// Half a second, one, two: doubled up to half a minute, as long as it takes.
    @Test func `what happens offline is delivered late, in order and with the same bytes`() throws {
        let phone = try SharingPhone(interests: .significantChanges)
        phone.network.answer = nil
        phone.launch()
        try phone.follow([.move(to: north(6000), metersPerSecond: 5), .stay(seconds: 600)])
        phone.advance(1500)
        let tries = phone.network.sent.map(\.body)
        #expect(Set(tries).count == 1 && tries.count > 40)
        phone.network.answer = 200
        let before = phone.network.sent.count
        phone.advance(60)
        let late = phone.network.sent[before...]
        #expect(late.first?.body == tries.first)
        let times = try late.filter { $0.path == "/v1/fixes" }.flatMap { try $0.fixes() }
            .compactMap { $0["timestamp"] as? Double }
        #expect(times.count >= 3 && times == times.sorted())
        #expect(times.allSatisfy { $0 < phone.device.clock.now.timeIntervalSince1970 - 60 })
    }

    @Test(arguments: [(404, 1), (413, 1), (503, 3), (429, 3), (408, 3)])
    func `a refusal is final, a fault of the service passes`(status: Int, tries: Int) throws {
        let phone = try SharingPhone()
        phone.network.answer = status
        phone.launch()
        let first = try #require(phone.network.sent.first)
        // Tried at 0, 0.5 and 1.5 s.
        phone.advance(0.6)
        #expect(phone.network.sent.count { $0.body == first.body } == tries)
    }

    @Test func `the extension's answer goes before what waits, and stays for the app when it cannot be delivered`()
        throws
    {
        let phone = try SharingPhone(interests: .significantChanges)
        phone.launch()
        try phone.follow([.move(to: north(6000), metersPerSecond: 5), .stay(seconds: 600)])
        phone.network.answer = nil
        phone.advance(1200)
        phone.application.terminateBySystem()
        phone.push("0b5a1f52-5c4f-4f0e-9a53-0c8a3fd1c6de")
        phone.advance(40)
        #expect(phone.device.callbackLog.lines(containing: " willTerminate").count == 1)
        phone.network.answer = 200
        let before = phone.network.sent.count
        phone.push("1b5a1f52-5c4f-4f0e-9a53-0c8a3fd1c6de")
        phone.advance(5)
        let first = try #require(try phone.network.sent[before].fixes().first)
        #expect(first["answering"] as? String == "1b5a1f52-5c4f-4f0e-9a53-0c8a3fd1c6de")
        #expect(phone.device.callbackLog.lines(containing: "/2 completed").count == 1)
        phone.application.open()
        phone.advance(5)
        let late = try phone.network.sent[before...].filter { $0.path == "/v1/fixes" }.flatMap { try $0.fixes() }
        #expect(late.contains { $0["answering"] as? String == "0b5a1f52-5c4f-4f0e-9a53-0c8a3fd1c6de" })
    }

    @Test func `P8 without a fix in time the last one is reported with its own time, never as new`() throws {
        let phone = try SharingPhone()
        phone.launch()
        try phone.follow([.stay(seconds: 5)])
        phone.advance(3600)
        let seen = try #require(phone.application.run { CLLocationManager().location }).timestamp
        let before = phone.network.sent.count
        phone.push("0b5a1f52-5c4f-4f0e-9a53-0c8a3fd1c6de")
        phone.advance(15)
        let fix = try #require(try phone.network.sent[before].fixes().first)
        #expect(fix["timestamp"] as? Double == seen.timeIntervalSince1970)
        #expect(fix["answering"] as? String == "0b5a1f52-5c4f-4f0e-9a53-0c8a3fd1c6de")
        #expect(phone.device.clock.now.timeIntervalSince(seen) > 3500)
    }

    @Test func `P8 without any fix the extension says so by reporting its authorization`() throws {
        let phone = try SharingPhone()
        phone.launch()
        let before = phone.network.sent.count
        phone.push("0b5a1f52-5c4f-4f0e-9a53-0c8a3fd1c6de")
        phone.advance(15)
        #expect(phone.network.sent[before...].map(\.path) == ["/v1/reports"])
        #expect(phone.device.callbackLog.lines(containing: "/1 completed").count == 1)
    }

    @Test func `a thousand messages wait, the oldest goes for one more`() throws {
        let phone = try SharingPhone()
        phone.network.answer = nil
        let dropped = Dropped()
        let outbox = phone.outbox { if case .dropped(let message) = $0 { dropped.messages.append(message) } }
        for number in 0...Outbox.capacity {
            try outbox.add(Outbox.Message(kind: .reports, path: "/v1/reports", body: Data("\(number)".utf8)))
        }
        #expect(dropped.messages.map(\.body) == [Data("0".utf8)])
    }

    @Test func `a message that was dropped or replaced is over`() throws {
        let phone = try SharingPhone()
        phone.network.answer = nil
        let outbox = phone.outbox { _ in }
        let over = Over()
        for kind in [Outbox.Message.Kind.reports, .token] {
            try outbox.add(Outbox.Message(kind: kind, path: "/", body: Data())) { over.kinds.append(kind) }
        }
        #expect(over.kinds == [])
        try outbox.add(Outbox.Message(kind: .token, path: "/", body: Data()))
        #expect(over.kinds == [.token])
        for _ in 1..<Outbox.capacity { try outbox.add(Outbox.Message(kind: .fixes, path: "/", body: Data())) }
        #expect(over.kinds == [.token, .reports])
    }

    @Test func `the extension ends when the app has delivered its message`() throws {
        let phone = try SharingPhone()
        phone.launch()
        phone.network.answer = nil
        let before = phone.network.sent.count
        phone.push("0b5a1f52-5c4f-4f0e-9a53-0c8a3fd1c6de")
        // Until the report waits. Later its tries would be up to 30 s apart.
        for _ in 0..<20 where phone.network.sent.count == before { phone.advance(1) }
        #expect(phone.network.sent.count > before)
        phone.network.answer = 200
        phone.outbox { _ in }.deliver()
        let sent = phone.network.sent.count
        #expect(phone.device.callbackLog.lines(containing: "/1 completed").isEmpty)
        phone.advance(4)
        #expect(phone.network.sent.count == sent)
        #expect(phone.device.callbackLog.lines(containing: "/1 completed").count == 1)
    }

    /// C1: −1 stays −1, and no number loses a bit.
    @Test func `C1 every field of a fix is in the message, bit for bit`() throws {
        let phone = try SharingPhone(interests: .updates)
        phone.launch()
        let fix = CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: 46.1 + 0.2, longitude: -9.123456789012345), altitude: 410.1,
            horizontalAccuracy: 12.3, verticalAccuracy: 3, course: -1, courseAccuracy: -1,
            speed: 0.1 + 0.2, speedAccuracy: -1, timestamp: phone.device.clock.now.addingTimeInterval(0.125),
            sourceInfo: CLLocationSourceInformation(softwareSimulationState: false, andExternalAccessoryState: true))
        phone.device.receiveLive(fix)
        phone.advance(1)
        let sent = try #require(phone.network.sent.last { $0.path == "/v1/fixes" })
        let text = String(decoding: sent.body, as: UTF8.self)
        // The text is judged, because Foundation's reader does not keep the last bit.
        for member in [
            "\"latitude\":46.300000000000004,", "\"longitude\":-9.123456789012344,",
            "\"horizontalAccuracy\":12.3,",
            "\"altitude\":410.1,", "\"verticalAccuracy\":3", "\"course\":-1,", "\"speed\":0.30000000000000004,",
            "\"timestamp\":1767225601.125",
        ] {
            #expect(text.contains(member))
        }
        let said = try #require(try sent.fixes().first)
        let source = said["sourceInformation"] as? [String: Bool]
        #expect(source == ["isSimulatedBySoftware": false, "isProducedByAccessory": true])
    }
}

private final class Dropped: @unchecked Sendable {
    var messages: [Outbox.Message] = []
}

private final class Over: @unchecked Sendable {
    var kinds: [Outbox.Message.Kind] = []
}

/// The service as a test wants it. Everything here happens on the thread that moves the clock.
private final class PlayedNetwork: RequestSending, @unchecked Sendable {
    struct Sent {
        let method, path, key: String
        let body: Data

        func object() throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
        }
        func fixes() throws -> [[String: Any]] { try object()["fixes"] as? [[String: Any]] ?? [] }
    }

    /// The status of every answer; `nil` when the service is not there.
    var answer: Int? = 200
    var sent: [Sent] = []

    func send(
        _ request: URLRequest, completion: @escaping @Sendable (Result<ServiceAnswer, any Error>) -> Void
    ) {
        sent.append(
            Sent(
                method: request.httpMethod ?? "", path: request.url?.path ?? "",
                key: request.value(forHTTPHeaderField: "Authorization") ?? "", body: request.httpBody ?? Data()))
        completion(
            answer.map { .success(ServiceAnswer(status: $0, body: Data())) }
                ?? .failure(URLError(.notConnectedToInternet)))
    }

    func reports() throws -> [[String: Any]] {
        try sent.filter { $0.path == "/v1/reports" }.flatMap { try $0.object()["reports"] as? [[String: Any]] ?? [] }
    }
}

/// A phone with the app and its extension, on a temporary folder.
private final class SharingPhone {
    let device = SimulatedDevice(seed: 1)
    let network = PlayedNetwork()
    private(set) var application: SimulatedApplication! = nil
    private let surroundings: Surroundings
    private let account: ServiceAccount
    private let launchRegions = Regions()

    private final class Regions { var all: [CLRegion] = [] }

    private final class App: SimulatedApplicationDelegate {
        let launched: () -> LocationReporter
        var reporter: LocationReporter?

        init(_ launched: @escaping () -> LocationReporter) { self.launched = launched }

        func applicationDidFinishLaunching(options: [SimulatedLaunchOption: Bool]) { reporter = launched() }
    }

    init(interests: LocationReporter.Interests = []) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sharing-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        account = ServiceAccount(
            service: try #require(URL(string: "http://127.0.0.1:1")), device: "anna-phone", reportingKey: "wd_key",
            bundleID: "org.example.app", environment: "development")
        let clock = device.clock
        let surroundings = Surroundings(
            container: folder, network: network, now: { clock.now },
            after: { SimulatedApplication.current?.after($0, $1) })
        self.surroundings = surroundings
        application = device.install(
            SimulatedBundle(
                identifier: "org.example.app", infoDictionary: Scene.purposes,
                entitlements: ["aps-environment": "development", "com.apple.developer.location.push": true]),
            delegate: { [account, launchRegions] in
                App {
                    let outbox = Outbox(account: account, surroundings: surroundings, process: "app")
                    let reporter = LocationReporter(
                        account: account, outbox: outbox, surroundings: surroundings, interests: interests)
                    reporter.start()
                    for region in launchRegions.all { reporter.monitor(region) }
                    return reporter
                }
            },
            locationPushExtension: { [account] in
                LocationPushService(
                    outbox: Outbox(account: account, surroundings: surroundings, process: "extension"),
                    surroundings: surroundings)
            })
        application.changeInSettings(.authorizedAlways)
    }

    deinit { try? FileManager.default.removeItem(at: surroundings.container) }

    func launch(regions: [CLRegion] = []) {
        if !regions.isEmpty { launchRegions.all = regions }
        application.open()
        advance(1)
    }

    func relaunch() {
        application.terminateBySystem()
        launch()
    }

    func push(_ query: String) { application.receiveLocationPush(["aps": [String: Any](), "query": query]) }

    func advance(_ seconds: Double) { device.clock.advance(by: seconds) }

    func follow(_ legs: [SimulatedItinerary.Leg]) throws {
        device.follow(
            try SimulatedItinerary(start: home, legs: legs, intervalSeconds: 1).track(departure: device.clock.now))
    }

    /// An outbox of the app, outside of the app's code.
    func outbox(tell: @escaping @Sendable (Outbox.Event) -> Void) -> Outbox {
        Outbox(account: account, surroundings: surroundings, process: "app", tell: tell)
    }
}
