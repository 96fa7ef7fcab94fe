import LocationPush
import PushStandIn
import Synchronization
import Testing

/// Young provider tokens that APNs reports as expired or invalid, and clocks that are set.
@Suite struct ProviderTokenFaultTests {
    private struct Setting {
        let scene: Scene
        let tokens: ProviderTokenSource
        let sender: PushSender
        let alarms = Alarms()

        init() throws {
            let scene = try Scene()
            let tokens = ProviderTokenSource(
                key: try scene.standIn.credentials.providerTokenKey(), clock: scene.senderClock.clock)
            let alarms = alarms
            self.scene = scene
            self.tokens = tokens
            self.sender = try scene.sender {
                $0.providerTokens = tokens
                $0.diagnose = { if case .held = $0 { alarms.note() } }
            }
        }

        func close() {
            sender.stop()
            scene.close()
        }
    }

    private final class Alarms: Sendable {
        private let state = Atomic<Int>(0)
        func note() { state.add(1, ordering: .relaxed) }
        var count: Int { state.load(ordering: .relaxed) }
    }

    @Test func `a young token reported as expired is renewed, on a new connection`() throws {
        let setting = try Setting()
        defer { setting.close() }
        setting.scene.standIn.script([.none, .expireProviderToken])
        _ = try setting.scene.watched().go(over: setting.sender).end()
        let push = try setting.scene.watched().go(over: setting.sender)
        _ = push.end()
        push.expectOrder()
        #expect(push.attempts.map(\.status) == [403, 200])
        #expect(push.attempts.map(\.connection) == [1, 2])
        #expect(try setting.tokens.current().number == 2)
        #expect(setting.alarms.count == 0)
    }

    @Test func `100 pushes in flight with a young token reported as expired cost one signature`() async throws {
        let setting = try Setting()
        defer { setting.close() }
        _ = await setting.sender.send(try setting.scene.push())
        setting.scene.standIn.script([.expireProviderToken])
        let ended = try await setting.scene.push(100, over: setting.sender, inFlight: 100)
        #expect(ended.allSatisfy { if case .accepted = $0.outcome { true } else { false } })
        #expect(try setting.tokens.current().number == 2)
        // No connection saw both tokens.
        #expect(ended.allSatisfy { $0.attempts.last?.connection == 2 })
        #expect(setting.scene.standIn.acceptedCount == 101)
        #expect(setting.alarms.count == 0)
    }

    @Test func `a second refusal holds the queue after two signatures, and setting the clock ends the hold`() throws {
        let setting = try Setting()
        defer { setting.close() }
        setting.scene.senderClock.set(onByMinutes: -120)
        let first = try setting.scene.watched().go(over: setting.sender)
        #expect(first.end() == .rejected(PushRejection(status: 403, reason: .expiredProviderToken)))
        #expect(first.attempts.map(\.status) == [403, 403])
        #expect(first.attempts.map(\.connection) == [1, 2])
        #expect(setting.alarms.count == 1)
        let waiting = try (0..<5).map { _ in try setting.scene.watched().go(over: setting.sender) }
        setting.scene.senderClock.set(onByMinutes: 120)
        // Well within the hold of a minute, by the sender's own look at the clocks.
        for push in waiting {
            guard case .accepted? = push.end() else {
                Issue.record("\(push.words)")
                return
            }
            #expect(push.attempts.map(\.status) == [200])
        }
        #expect(setting.scene.standIn.pushes.count == 7)
        #expect(try setting.tokens.current().number == 3)
        #expect(setting.alarms.count == 1)
    }

    @Test(arguments: [-120, 120] as [Int64])
    func `a clock that is set while the first push is in flight costs that push one more try`(
        minutes: Int64
    ) throws {
        let setting = try Setting()
        defer { setting.close() }
        setting.scene.senderClock.set(onByMinutes: minutes)
        setting.scene.standIn.script([.delay(ms: 300)])
        let push = try setting.scene.watched().go(over: setting.sender)
        push.wait { $0 == .began(1) }
        setting.scene.senderClock.set(onByMinutes: -minutes)
        guard case .accepted? = push.end() else {
            Issue.record("\(push.words)")
            return
        }
        #expect(push.attempts.map(\.status) == [403, 200])
        #expect(setting.alarms.count == 0)
    }

    @Test func `after the clock was set the next push has a new token on a new connection`() throws {
        let setting = try Setting()
        defer { setting.close() }
        var connections: [Int] = []
        for _ in 0..<8 {
            let push = try setting.scene.watched().go(over: setting.sender)
            _ = push.end()
            #expect(push.attempts.map(\.status) == [200])
            connections += push.attempts.map(\.connection)
            setting.scene.senderClock.set(onByMinutes: 1)
        }
        // Three tokens out of turn; then the fourth stays, although the clock keeps jumping.
        #expect(connections == [1, 2, 3, 4, 4, 4, 4, 4])
    }
}
