import Glibc
import LocationPush
import PushStandIn
import TestSupport
import Testing
import Whereabouts

@testable import Service

/// Two apps of two teams, one in Apple's sandbox and one in production, woken by one service.
@Suite struct SeveralAppsStoryTests {
    @Test func `each phone is woken through the server, team and key of its own app`() throws {
        let folders = [TemporaryFolder(), TemporaryFolder()]
        let sandbox = try PushStandIn(PushStandIn.Configuration(directory: folders[0].path))
        var configuration = PushStandIn.Configuration(directory: folders[1].path)
        configuration.environment = .production
        let production = try PushStandIn(configuration)
        let house = try ServiceUnderTest(
            clock: .running,
            push: [
                ServiceUnderTest.push(over: sandbox, bundleIDs: ["org.example.beta"]),
                ServiceUnderTest.push(over: production, bundleIDs: ["org.example.app"], environment: .production),
            ])
        defer {
            house.stop()
            sandbox.stop()
            production.stop()
        }
        let walker = try house.addPerson("walker")
        let phones: [(String, PushStandIn, LocationPush.PushEnvironment, String)] = [
            ("beta-phone", sandbox, .development, "org.example.beta"),
            ("phone", production, .production, "org.example.app"),
            // This app is not configured: its phone gets no push.
            ("other-phone", production, .production, "org.example.other"),
        ]
        for (device, standIn, environment, bundleID) in phones {
            let key = try house.addDevice(device, of: "walker")
            let token = hex(try standIn.registerPhone(bundleID: bundleID, environment: environment))
            let answer = house.send(
                "PUT", "/v1/devices/\(device)/location-push-token", as: key,
                #"{"hex":"\#(token)","environment":"\#(environment.rawValue)","bundleID":"\#(bundleID)"}"#)
            #expect(answer.status == 200, "\(answer.text)")
        }
        let asked = house.send("POST", "/v1/people/walker/location-queries", as: walker, #"{"purpose":"mine"}"#)
        #expect(asked.status == 202)
        let attempts = try eventually("two pushes") {
            let attempts = try house.events().compactMap {
                if case .locationPushAttempted(let attempt) = $0.event { attempt } else { nil }
            }
            return attempts.count == 2 ? attempts : nil
        }
        #expect(attempts.allSatisfy { $0.status == 200 })
        // Each stand-in accepts only provider tokens signed with its own key.
        #expect(sandbox.pushes.map(\.topic) == ["org.example.beta.location-query"])
        #expect(production.pushes.map(\.topic) == ["org.example.app.location-query"])
        #expect((sandbox.pushes + production.pushes).allSatisfy { $0.status == 200 })
    }
}
