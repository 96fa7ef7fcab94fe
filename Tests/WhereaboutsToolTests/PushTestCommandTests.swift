import Glibc
import HTTPServer
import JSON
import LocationPush
import PushStandIn
import TestSupport
import Testing
import WhereaboutsClient

@testable import WhereaboutsTool

/// `push-test` without a service running: the tool opens the log and sends the push itself.
@Suite struct PushTestCommandTests {
    private final class Scene {
        let folder: TemporaryFolder
        let standIn: PushStandIn
        let token: String

        init() throws {
            folder = TemporaryFolder()
            standIn = try PushStandIn(PushStandIn.Configuration(directory: folder.path + "/stand-in"))
            token = hex(try standIn.registerPhone(bundleID: "org.example.app"))
            let credentials = standIn.credentials
            mkdir(folder.path + "/state", 0o700)
            _ = try folder.write(
                """
                {"push":[{"host":"localhost","port":\(standIn.port),"caFile":"\(credentials.trustFile)",
                "teamID":"\(credentials.teamID)","keyID":"\(credentials.keyID)","keyFile":"\(credentials.providerKeyFile)",
                "bundleIDs":["org.example.app"],"environment":"development"}]}
                """, to: "state/config.json")
            #expect(tool("person", "add", "anna").exitCode == 0)
            let added = tool("device", "add", "phone", "--person", "anna", "--json")
            let key = try #require(try json(added.results)["password"]?.string)
            try register(key)
        }

        deinit { standIn.stop() }

        func tool(_ arguments: String...) -> (exitCode: Int32, results: String, notes: String) {
            let screen = Screen()
            let exitCode = Program.run(["--data", folder.path + "/state"] + arguments, console: screen.console)
            return (exitCode, screen.results, screen.notes)
        }

        /// Uploads the token as the phone's app does.
        private func register(_ key: String) throws {
            let service = try House.open(folder.path + "/state")
            let transport = HouseTransport(service: service)
            defer { transport.close() }
            let body = #"{"hex":"\#(token)","environment":"development","bundleID":"org.example.app"}"#
            let answer = try transport.answer(
                to: HTTPRequest(
                    method: "PUT", path: "/v1/devices/phone/location-push-token",
                    headers: [("Authorization", "Bearer " + key)], body: Array(body.utf8)))
            #expect(answer.status == 200)
        }
    }

    @Test func `push-test shows APNs' status, reason and id, and fails unless it was accepted`() throws {
        let scene = try Scene()
        let good = scene.tool("push-test", "--device", "phone")
        #expect(good.exitCode == 0, "\(good.notes)")
        let push = try #require(scene.standIn.pushes.first)
        #expect(good.results.hasPrefix("APNs accepted the push: status 200\n  apns-id         \(push.apnsID ?? "?")\n"))
        let tooSoon = scene.tool("push-test", "--device", "phone")
        #expect(tooSoon.exitCode == 3 && tooSoon.notes.contains("try again later"))
        let nobody = scene.tool("push-test", "--device", "nobodys")
        #expect(nobody.exitCode == 3 && nobody.notes == "whereabouts: There is nothing of this name or number.\n")
        let events = scene.tool("events", "--kind", "LocationPushTested").results
        #expect(events.split(separator: "\n").count == 2)
    }

    @Test(.enabled(if: hasHTTP2Curl, "There is no curl that speaks HTTP/2"))
    func `curl sends the printed request, and it is accepted`() throws {
        let scene = try Scene()
        let printed = scene.tool("push-test", "--device", "phone", "--print-curl")
        #expect(printed.exitCode == 0 && printed.results.contains("\"authorization: bearer $PROVIDER_TOKEN\""))
        #expect(!printed.results.contains("eyJ"))
        #expect(scene.standIn.pushes.isEmpty)
        let signed = scene.tool("push-test", "--device", "phone", "--print-curl", "--with-provider-token")
        let command = signed.results.split(separator: "\n").joined(separator: "\n")
        let file = try #require(popen(command + " 2>/dev/null", "r"))
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = fread(&bytes, 1, bytes.count, file)
        pclose(file)
        #expect(String(decoding: bytes[..<count], as: UTF8.self).hasPrefix("HTTP/2 200"))
        let push = try #require(scene.standIn.pushes.first)
        #expect(push.status == 200 && push.pushType == "location" && push.priority == "10")
        #expect(scene.tool("push-test", "--device", "phone", "--with-provider-token").exitCode == 2)
    }

    private static let hasHTTP2Curl = system("curl --version 2>/dev/null | grep -q HTTP2") == 0
}
