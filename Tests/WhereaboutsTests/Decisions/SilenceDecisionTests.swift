import Testing
import Whereabouts

/// A phone that does not report is silent after the time that its owner chose, once, until its next fix.
@Suite struct SilenceDecisionTests {
    private static func want(_ scene: inout Scene, after seconds: Int64) -> WebhookID? {
        let reply = scene.house.submit(
            .addWebhook(
                of: House.handle("walker"), WebhookTarget(url: "https://example.org/", secret: [1]), .silence,
                NoticeTerms(silentAfterSeconds: seconds)), by: scene.walker)
        guard case .success(.webhook(let id)) = reply else { return nil }
        return id
    }

    private static func report(_ scene: inout Scene) {
        let second = (scene.house.now.milliseconds - House.start.milliseconds) / 1000
        #expect(scene.house.report([scene.house.fix(atSecond: second)], by: scene.phone).count == 1)
    }

    /// The lengths that the house records now.
    private static func look(_ scene: inout Scene) -> [Silence] {
        let before = scene.house.log.count
        scene.house.submit(.noteSilences, by: .house)
        return scene.house.log[before...].compactMap { recorded in
            guard case .phoneFellSilent(let silence) = recorded.event else { return nil }
            #expect(recorded.stream == .audit(scene.walkerID))
            return silence
        }
    }

    @Test func `each silence is recorded once for each length, by the house's time, and the next fix ends it`() throws {
        var scene = Scene()
        #expect(Self.want(&scene, after: 900) != nil && Self.want(&scene, after: 3600) != nil)
        // A phone that has never reported cannot fall silent.
        scene.house.now = House.start.adding(seconds: 10_000)
        #expect(Self.look(&scene).isEmpty)
        Self.report(&scene)
        let since = scene.house.now
        scene.house.now = since.adding(seconds: 899)
        #expect(Self.look(&scene).isEmpty)
        scene.house.now = since.adding(seconds: 900)
        let first = Self.look(&scene)
        #expect(first.map(\.afterSeconds) == [900] && first.map(\.since) == [since])
        #expect(Self.look(&scene).isEmpty)
        scene.house.now = since.adding(seconds: 86_400)
        #expect(Self.look(&scene).map(\.afterSeconds) == [3600])
        #expect(Self.look(&scene).isEmpty)
        // The standing is the same after a restart.
        var entries: [StandingEntry] = []
        scene.house.standing.forEachEntry { (entry) throws(Never) in entries.append(entry) }
        let loaded = try Standing(
            place: scene.house.standing.place,
            entries: entries.sorted { ($0.kind.rawValue, $0.id) < ($1.kind.rawValue, $1.id) })
        #expect(loaded.newSilences(at: scene.house.now).isEmpty)
        Self.report(&scene)
        scene.house.now = scene.house.now.adding(seconds: 900)
        #expect(Self.look(&scene).map(\.afterSeconds) == [900])
    }

    @Test func `an import is not the phone, and a pause neither begins nor hides a silence`() {
        var scene = Scene()
        #expect(Self.want(&scene, after: 900) != nil)
        Self.report(&scene)
        scene.house.submit(.pauseSharing(House.handle("walker"), until: nil), by: scene.walker)
        scene.house.now = scene.house.now.adding(seconds: 900)
        let fix = DeviceReport.fix(scene.house.fix(atSecond: 899), answering: nil)
        scene.house.submit(
            .importFixes(of: House.handle("walker"), device: House.handle("phone"), [fix]), by: scene.admin)
        #expect(Self.look(&scene).map(\.afterSeconds) == [900])
    }

    @Test func `without a wish, a valid token or the device there is none`() throws {
        var scene = Scene()
        Self.report(&scene)
        scene.house.now = scene.house.now.adding(seconds: 900)
        #expect(Self.look(&scene).isEmpty)
        let id = try #require(Self.want(&scene, after: 900))
        #expect(scene.house.standing.newSilences(at: scene.house.now).count == 1)
        var revoked = scene
        let token = try #require(revoked.house.standing.webhooks[id]?.token)
        revoked.house.submit(.revokeToken(token), by: revoked.admin)
        #expect(Self.look(&revoked).isEmpty)
        var removed = scene
        removed.house.submit(.removeDevice(House.handle("phone")), by: removed.admin)
        #expect(Self.look(&removed).isEmpty)
        // Only the house finds them.
        scene.house.submit(.noteSilences, by: scene.admin)
        #expect(scene.house.standing.newSilences(at: scene.house.now).count == 1)
    }

    @Test func `a clock that is set back lengthens no silence, and shortens none`() {
        var scene = Scene()
        #expect(Self.want(&scene, after: 900) != nil)
        Self.report(&scene)
        scene.house.now = scene.house.now.adding(seconds: 500)
        let back: Int64 = 100_000
        scene.house.now = scene.house.now.adding(seconds: -back)
        scene.house.record(.clockSteppedBack(byMilliseconds: back * 1000), in: .house)
        scene.house.now = scene.house.now.adding(seconds: 399)
        #expect(Self.look(&scene).isEmpty)
        scene.house.now = scene.house.now.adding(seconds: 1)
        #expect(Self.look(&scene).count == 1)
    }
}
