import Glibc
import LocationPush
import PushStandIn
import TestSupport
import Testing

/// The stand-in's way to simulated phones, with real sockets on the loopback address.
@Suite struct CourierTests {
    @Test func `a phone that registers gets its pushes, byte for byte`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        let phone = CourierClient(port: scene.standIn.courierPort)
        let token = try phone.register(bundleID: Scene.bundleID, environment: .development)
        #expect((32...100).contains(token.count))
        let sender = try scene.sender()
        // `,"payload":` inside the payload must not confuse the line.
        let payload = #"{"aps":{},"text":"é\u0041 \",\"payload\":","payload":{"n":1.50}}"#
        let push = try scene.push(to: token, expirationSeconds: 1_900_000_000, payload: payload)
        _ = await sender.send(push)
        let got = try #require(try phone.nextPush(timeoutMs: 120_000))
        #expect(got.apnsID == push.apnsID && got.topic == push.topic && got.priority == 10)
        #expect(got.expirationSeconds == 1_900_000_000)
        #expect(got.payload == Array(payload.utf8))
        #expect(try phone.nextPush(timeoutMs: 0) == nil)
        sender.stop()
    }

    @Test func `a payload of several lines stays one line`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        let phone = CourierClient(port: scene.standIn.courierPort)
        let token = try phone.register(bundleID: Scene.bundleID, environment: .development)
        let sender = try scene.sender()
        _ = await sender.send(try scene.push(to: token, payload: "{\r\n\"a\":\n1}"))
        #expect(try phone.nextPush(timeoutMs: 120_000)?.payload == Array(#"{  "a": 1}"#.utf8))
        sender.stop()
    }

    @Test func `a phone that was away gets the newest push that has not expired`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        let phone = CourierClient(port: scene.standIn.courierPort)
        let token = try phone.register(bundleID: Scene.bundleID, environment: .development)
        phone.disconnect()
        let sender = try scene.sender()
        // The courier notices the closed line before it is next looked for; a second phone's reply proves that.
        _ = try CourierClient(port: scene.standIn.courierPort).register(
            bundleID: Scene.bundleID, environment: .development)
        let old = try scene.push(to: token, expirationSeconds: 1_900_000_000)
        let new = try scene.push(to: token, expirationSeconds: 1_900_000_000)
        let once = try scene.push(to: token, expirationSeconds: 0)
        for push in [old, new, once] { _ = await sender.send(push) }
        #expect(try phone.nextPush(timeoutMs: 120_000)?.apnsID == new.apnsID)
        #expect(try phone.nextPush(timeoutMs: 0) == nil)
        sender.stop()
    }

    @Test func `tokens outlive the stand-in, and an unregistered one is 410 for good`() async throws {
        let scene = try Scene()
        let phone = CourierClient(port: scene.standIn.courierPort)
        let kept = try phone.register(bundleID: Scene.bundleID, environment: .development)
        let leaver = CourierClient(port: scene.standIn.courierPort)
        let left = try leaver.register(bundleID: Scene.bundleID, environment: .development)
        let before = PushClock.system.now().unixMs
        try leaver.unregister()
        let after = PushClock.system.now().unixMs
        scene.standIn.stop()

        let again = try Scene(folder: scene.folder)
        defer { again.close() }
        let returned = CourierClient(port: again.standIn.courierPort)
        try returned.resume(token: kept)
        let gone = CourierClient(port: again.standIn.courierPort)
        #expect(throws: TransportFault("courier: unknown token")) { try gone.resume(token: left) }
        let sender = try again.sender()
        let push = try again.push(to: kept)
        _ = await sender.send(push)
        #expect(try returned.nextPush(timeoutMs: 120_000)?.apnsID == push.apnsID)
        let refused = await sender.send(try again.push(to: left)).outcome
        guard case .rejected(let refusal) = refused else {
            Issue.record("\(refused)")
            return
        }
        #expect(refusal.status == 410 && refusal.reason == .unregistered)
        #expect((before...after).contains(refusal.timestampMs ?? 0))
        sender.stop()
    }

    @Test func `a phone without a courier says so`() throws {
        let scene = try Scene()
        let port = scene.standIn.courierPort
        scene.close()
        #expect(throws: TransportFault.self) {
            try CourierClient(port: port).register(bundleID: "a.b", environment: .development, timeoutMs: 1000)
        }
    }

    @Test func `a test scripts faults and counts what came, over a line of text`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        func say(_ line: String) -> String {
            Foreign.run(
                """
                echo '\(line)' | \\
                bash -c 'exec 3<>/dev/tcp/127.0.0.1/\(scene.standIn.courierPort); cat >&3; head -n 1 <&3'
                """
            ).output
        }
        let faults = #"[{"fault":"answer","status":403,"reason":"Forbidden"},{"fault":"close","times":null}]"#
        #expect(say(#"{"script":\#(faults)}"#) == "{\"scripted\":2}\n")
        #expect(say(#"{"script":[{"fault":"x"}]}"#).contains("there is no fault"))
        let sender = try scene.sender()
        let refused = await sender.send(try scene.push())
        #expect(refused.outcome == .rejected(PushRejection(status: 403, reason: .forbidden)))
        #expect(say(#"{"clear":{}}"#) == "{\"cleared\":true}\n")
        _ = await sender.send(try scene.push())
        #expect(say(#"{"count":{}}"#) == "{\"connections\":1,\"pushes\":2,\"accepted\":1,\"resets\":0}\n")
        sender.stop()
    }

    @Test func `nonsense is answered, and an endless line ends the connection`() throws {
        let scene = try Scene()
        defer { scene.close() }
        let (_, said) = Foreign.run(
            "bash -c 'exec 3<>/dev/tcp/127.0.0.1/\(scene.standIn.courierPort); printf \"x\\n{}\\n\" >&3; head -n 2 <&3'"
        )
        let verbs = "register, resume, unregister, script, clear or count"
        #expect(said == "{\"error\":\"not JSON\"}\n{\"error\":\"say \(verbs)\"}\n")
        let (_, cut) = Foreign.run(
            """
            bash -c 'exec 3<>/dev/tcp/127.0.0.1/\(scene.standIn.courierPort); \
            head -c 70000 /dev/zero >&3; cat <&3; echo over' 2>/dev/null
            """)
        #expect(cut == "over\n")
    }
}
