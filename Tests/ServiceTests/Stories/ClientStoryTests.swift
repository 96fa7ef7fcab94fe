import Cryptography
import JSON
import Log
import PushStandIn
import TestSupport
import Testing
import Transparency
import WhereaboutsClient

@testable import Service

/// An app's server that asks through this package's client, over TLS with a certificate from its own CA.
@Suite struct ClientStoryTests {
    private final class Scene: Sendable {
        let house: ServiceUnderTest
        let trustFile, address: String
        let anna, ben, phone: ServiceClient
        nonisolated(unsafe) private let front: TLSFront
        let folder = TemporaryFolder()

        init() throws {
            house = try ServiceUnderTest()
            let credentials = try PushStandInCredentials.make(in: folder.file("tls"))
            front = try TLSFront(
                before: house.listen(), certificateFile: credentials.serverCertificateFile,
                keyFile: credentials.serverKeyFile)
            (trustFile, address) = (credentials.trustFile, "https://localhost:\(front.port)")
            let tokens = (
                try house.addPerson("anna"), try house.addPerson("ben"), try house.addDevice("phone", of: "anna")
            )
            let receipts = ReceiptKeeping.folder(folder.file("receipts"))
            anna = try ServiceClient(address: address, token: tokens.0, trustFile: trustFile, receipts: receipts)
            ben = try ServiceClient(address: address, token: tokens.1, trustFile: trustFile, receipts: receipts)
            phone = try ServiceClient(address: address, token: tokens.2, trustFile: trustFile)
            try house.grant("anna", to: "ben")
        }

        func fix(_ latitude: Double = 48.2, at seconds: Int64) -> ServiceClient.Fix {
            ServiceClient.Fix(
                timestamp: Double(seconds), latitude: latitude, longitude: 16.35, horizontalAccuracy: 5)
        }
    }

    @Test func `a friend asks where somebody is, and the phone answers`() async throws {
        let scene = try Scene()
        let start = scene.house.clock.seconds
        let first = try await scene.phone.report([scene.fix(at: start - 600)])
        #expect(first.new == 1 && first.duplicate == 0 && first.rejected == [])
        let head = scene.house.service.log.head
        async let asked = scene.ben.ask(where: "anna", purpose: "dinner is ready")
        while scene.house.service.log.head == head {
            _ = scene.house.service.log.waitForHead(after: head, milliseconds: 5)
            await Task.yield()
        }
        #expect(try await scene.phone.report([scene.fix(48.21, at: start)]).new == 1)
        guard case .now(let location) = try await asked else { return #expect(Bool(false), "not answered") }
        #expect(location.latitude == 48.21 && location.precision == "exact" && location.timestamp == Double(start))
        #expect(location.place?.isoCountryCode == "AT")
        _ = scene.house.settled()
        // It is on record, with its purpose.
        let audit = scene.house.manage("GET", "/v1/people/anna/audit").items
        #expect(audit.contains { $0["purpose"]?.string == "dinner is ready" && $0["requester"]?.string == "ben" })
        // The answer's receipt is kept, in the file about her.
        let kept = try AskerReceipt.notes(in: contents(ofFile: scene.folder.file("receipts") + "/anna.receipts"))
        #expect(try kept.count == 1 && AskerReceipt(text: kept[0].text).recordedAtMs == start * 1000)
        // The fix is still fresh, so the next question wakes no phone.
        guard case .lastKnown(location) = try await scene.ben.ask(where: "anna", purpose: "still there?") else {
            return #expect(Bool(false), "not answered")
        }
        #expect(try await scene.ben.lastKnownLocation(of: "anna") == location)
    }

    @Test func `one's own visits, crossings and track come in pages`() async throws {
        let scene = try Scene()
        let start = scene.house.clock.seconds
        _ = scene.house.manage(
            "POST", "/v1/people/anna/regions",
            #"{"id":"home","circle":{"latitude":48.2,"longitude":16.35,"radiusMeters":200}}"#)
        // From the south, an hour at home, then ten kilometers north, where the hour is not over.
        let toHome = (0..<5).map { scene.fix(48.15 + 0.01 * Double($0), at: start - 300 + Int64($0) * 60) }
        let stay = toHome + (0..<60).map { scene.fix(at: start + $0 * 60) }
        let onwards = (1...10).map { scene.fix(48.2 + 0.01 * Double($0), at: start + 3600 + Int64($0) * 60) }
        let end = (1...30).map { scene.fix(48.3, at: start + 4200 + $0 * 60) }
        scene.house.clock.advance(seconds: 6100)
        let reported = try await scene.phone.report(stay + onwards + end)
        #expect(reported.new == 105)
        #expect(try await scene.phone.report(stay + onwards + end).duplicate == 105)
        _ = scene.house.settled()
        let visits = try await scene.anna.visits(of: "anna")
        try #require(visits.items.count == 2 && visits.next == nil)
        #expect(visits.items[0].departure != nil && visits.items[0].timeZone == "Europe/Vienna")
        #expect(visits.items[1].departure == nil)
        let crossings = try await scene.anna.crossings(of: "anna", from: Double(start - 600), to: Double(start + 6000))
        try #require(crossings.items.map(\.isEntry) == [true, false])
        #expect(crossings.items.allSatisfy { $0.region == "home" })
        #expect(crossings.items[1].dwellSeconds != nil)
        var track: [ServiceClient.Fix] = []
        var after: String?
        repeat {
            let page = try await scene.anna.track(of: "anna", after: after)
            track += page.items
            after = page.next
        } while after != nil
        #expect(track == stay + onwards + end)
    }

    @Test func `what is refused, and a certificate of somebody else's, is an error in words`() async throws {
        let scene = try Scene()
        var error = await #expect(throws: ClientError.self) { try await scene.anna.lastKnownLocation(of: "ben") }
        guard case .problem(let problem) = error else { return #expect(Bool(false), "\(error as Any)") }
        #expect(problem.status == 404 && problem.detail == "There is no such person.")
        error = await #expect(throws: ClientError.self) {
            try await scene.ben.ask(where: "anna", purpose: "", waitSeconds: 9_999)
        }
        guard case .problem(let problem) = error else { return #expect(Bool(false), "\(error as Any)") }
        #expect(problem.status == 422)
        let other = try PushStandInCredentials.make(in: scene.house.directory + "/other")
        for trustFile in [other.trustFile, scene.house.directory + "/none.pem", nil] {
            let stranger = try ServiceClient(address: scene.address, token: "wp_x", trustFile: trustFile)
            let said = await #expect(throws: ClientError.self) { try await stranger.visits(of: "anna") }
            #expect(
                said?.description
                    == "The service at \(scene.address) cannot be reached: its certificate is not trusted, or it does not speak TLS."
            )
        }
        #expect(throws: ClientError.self) { try ServiceClient(address: "where.example", token: "wp_x") }
        #expect(throws: ClientError.self) { try ServiceClient(address: "https://where.example/v1", token: "wp_x") }
        // A line break in a token would begin another header.
        let forged = try ServiceClient(address: scene.address, token: "wp_x\r\nX: y", trustFile: scene.trustFile)
        await #expect(throws: ClientError.self) { try await forged.visits(of: "anna") }
    }

    @Test func `who waits no more is told so at once`() async throws {
        let scene = try Scene()
        let head = scene.house.service.log.head
        let asking = Task { try await scene.ben.ask(where: "anna", purpose: "dinner is ready", waitSeconds: 3600) }
        while scene.house.service.log.head == head { await Task.yield() }
        asking.cancel()
        await #expect(throws: ClientError.cancelled) { try await asking.value }
    }
}
