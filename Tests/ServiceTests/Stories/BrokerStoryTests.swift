import Geodesy
import Glibc
import JSON
import MQTT
import PushStandIn
import Synchronization
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Log
@testable import Reactors
@testable import Service

/// OwnTracks in mode MQTT, with a real broker between the apps and the service.
@Suite struct BrokerStoryTests {
    private static let start: Int64 = 1_777_800_000

    private func location(_ index: Int64, isRetained: Bool = true, topic: String = "owntracks/walker/walker-phone")
        -> RunningBroker.Message
    {
        RunningBroker.Message(
            topic: topic,
            payload: #"{"_type":"location","lat":46.5,"lon":9.25,"tst":\#(Self.start + index),"tid":"ab"}"#,
            isRetained: isRetained)
    }

    private func fixes(_ house: ServiceUnderTest) throws -> [Int64] {
        try house.events().compactMap { recorded in
            guard case .fixReported(_, _, .open(let fix)) = recorded.event else { return nil }
            return fix.timestamp.milliseconds / 1000 - Self.start
        }
    }

    /// Waits until the log holds the fix.
    private func wait(for index: Int64, _ house: ServiceUnderTest) throws {
        try eventually("a message of the broker", pauseMilliseconds: 50) { try fixes(house).contains(index) }
    }

    @Test(.enabled(if: RunningBroker.program != nil, "mosquitto is not installed"))
    func `what is published arrives once, retained or not, and also what came while the service was off`() throws {
        let broker = try RunningBroker()
        let port = Int64(broker.port)
        let house = try ServiceUnderTest {
            var mqtt = ServiceConfiguration.Broker(host: "127.0.0.1")
            (mqtt.port, mqtt.isEncrypted) = (port, false)
            $0.mqtt = mqtt
        }
        _ = try house.addPerson("walker")
        _ = try house.addDevice("walker-phone", of: "walker")
        _ = try house.addDevice("walker.watch", of: "walker")
        // Retained: it waits for a service that subscribes only later.
        try broker.publish([location(0)])
        try wait(for: 0, house)
        let base = "owntracks/walker/walker-phone"
        try broker.publish([
            location(1, isRetained: false), location(1), location(1, isRetained: false),
            RunningBroker.Message(
                topic: base + "/waypoint",
                payload: #"{"_type":"waypoint","desc":"home","tst":1767225610,"lat":46.5,"lon":9.25,"rad":150}"#),
            RunningBroker.Message(
                topic: base + "/event",
                payload: #"{"_type":"transition","event":"enter","tst":1777800001,"wtst":1767225610,"desc":"home"}"#),
            RunningBroker.Message(topic: base + "/cmd", payload: #"{"_type":"cmd","action":"dump"}"#),
            RunningBroker.Message(topic: base, payload: "not json"),
            RunningBroker.Message(topic: "owntracks/walker/nobodys", payload: "{}"),
            RunningBroker.Message(topic: "owntracks/nobody/walker-phone", payload: "{}"),
            location(2, isRetained: false, topic: "owntracks/Walker/Watch"),
        ])
        try wait(for: 2, house)
        try house.restart { try broker.publish((3..<23).map { location($0, isRetained: $0 == 22) }) }
        try wait(for: 22, house)
        // A new subscription receives the retained message again.
        try house.restart()
        try broker.publish([location(30, isRetained: false)])
        try wait(for: 30, house)
        #expect(try fixes(house) == Array(0..<23) + [30])
        let others = try house.events().compactMap { recorded -> String? in
            switch recorded.event {
            case .regionAdded(_, .open(let region)): "region \(region.identifier)"
            case .sightingReported(_, .crossing, .open(.crossing(let crossing))): "crossing \(crossing.region)"
            case .inputRejected(_, let reason, _, _): reason.word
            case .messageReported: "message"
            default: nil
            }
        }
        #expect(others == ["region home", "crossing home", "notJSON"])
    }

    /// A broker that wants TLS and a password, with the certificates that a push stand-in makes.
    private static func lockedBroker(in folder: String) throws -> (RunningBroker, trustFile: String) {
        let standIn = try PushStandIn(PushStandIn.Configuration(directory: folder))
        defer { standIn.stop() }
        let files = standIn.credentials
        let broker = try RunningBroker(
            RunningBroker.Lock(
                certificateFile: files.serverCertificateFile, keyFile: files.serverKeyFile, user: "whereabouts",
                password: "to be kept"))
        return (broker, files.trustFile)
    }

    @Test(.enabled(if: RunningBroker.program != nil, "mosquitto is not installed"))
    func `over TLS and with a password, a waiting question reaches the phone, and its answer ends it`() throws {
        let temporary = TemporaryFolder()
        let folder = temporary.path
        let (broker, trustFile) = try Self.lockedBroker(in: folder)
        try DataDirectory.writePrivate(Array("to be kept\n".utf8), to: "\(folder)/password")
        let house = try ServiceUnderTest(clock: .running) {
            var mqtt = ServiceConfiguration.Broker(host: "localhost")
            (mqtt.port, mqtt.user, mqtt.passwordFile) = (Int64(broker.servicePort), "whereabouts", "\(folder)/password")
            mqtt.caFile = trustFile
            $0.mqtt = mqtt
        }
        _ = try house.addPerson("walker")
        let friend = try house.addPerson("friend")
        _ = try house.addDevice("walker-phone", of: "walker")
        try house.grant("walker", to: "friend")
        let topic = "owntracks/Walker/walker-phone"
        let commands = try broker.subscription(to: "\(topic)/cmd")
        try broker.publish([location(1, topic: topic)])
        try wait(for: 1, house)
        let asked = house.send("POST", "/v1/people/walker/location-queries", as: friend, #"{"purpose":"late"}"#)
        let command = try #require(commands())
        #expect(command.topic == "\(topic)/cmd" && command.payload == #"{"_type":"cmd","action":"reportLocation"}"#)
        // On record, once.
        #expect(
            try house.events().count { if case .locationReportCommanded = $0.event { true } else { false } } == 1)
        // The app's answer ends the question although its place is older.
        try broker.publish([
            RunningBroker.Message(
                topic: topic,
                payload: #"{"_type":"location","lat":46.5,"lon":9.25,"tst":\#(Self.start + 2),"tid":"ab","t":"r"}"#)
        ])
        let url = try #require(asked["url"]?.string)
        #expect(house.send("GET", "\(url)?wait=30", as: friend)["status"]?.string == "answered")
    }

    /// Nothing comes of a service that the broker does not know, or that does not trust the broker.
    @Test(.enabled(if: RunningBroker.program != nil, "mosquitto is not installed"), arguments: [true, false])
    func `a wrong password and a foreign certificate take nothing`(isPasswordWrong: Bool) throws {
        let temporary = TemporaryFolder()
        let folder = temporary.path
        let (broker, trustFile) = try Self.lockedBroker(in: folder)
        let said = Mutex<[String]>([])
        var configuration = BrokerConfiguration(
            host: "localhost", port: broker.servicePort, clientID: "c", topic: "owntracks/+/+/#")
        (configuration.user, configuration.password) = ("whereabouts", isPasswordWrong ? "guessed" : "to be kept")
        configuration.tls = isPasswordWrong ? .file(trustFile) : .system
        let isTold = Monitor(false)
        let subscription = BrokerSubscription(configuration) { message in
            Issue.record("\(message.topic) came.")
            return true
        } note: { sentence in
            said.withLock { $0.append(sentence) }
            isTold.change { $0 = true }
        }
        try broker.publish([location(1)])
        let thread = WorkerThread { subscription.run() }
        #expect(isTold.wait(milliseconds: patienceMilliseconds) { $0 ? true : nil } == true)
        subscription.stop()
        thread.join()
        #expect(!said.withLock { $0.contains("Connected to the broker.") })
    }
}
