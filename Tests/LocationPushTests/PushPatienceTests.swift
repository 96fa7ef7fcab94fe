import LocationPush
import PushStandIn
import Synchronization
import Testing

/// APNs is busy, or the sender's queue is full: pushes wait and are sent later.
@Suite struct PushPatienceTests {
    @Test func `a push is accepted at its ninth try when APNs was busy eight times`() throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script([
            PushStandInRule(.answer(status: 503, reason: "ServiceUnavailable"), times: 4),
            PushStandInRule(.answer(status: 500, reason: "InternalServerError"), times: 4),
        ])
        let sender = try scene.sender()
        let push = try scene.watched().go(over: sender)
        guard case .accepted? = push.end() else {
            Issue.record("\(push.words)")
            return
        }
        push.expectOrder()
        #expect(push.attempts.map(\.status) == [503, 503, 503, 503, 500, 500, 500, 500, 200])
        sender.stop()
    }

    @Test(arguments: [(2, nil), (nil, 3)] as [(Int?, Int?)])
    func `Retry-After is honoured as seconds and as a date`(seconds: Int?, date: Int?) throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script([
            .answer(
                status: 503, reason: "ServiceUnavailable", retryAfterSeconds: seconds, retryDateSeconds: date)
        ])
        let sender = try scene.sender()
        let push = try scene.watched().go(over: sender)
        _ = push.end()
        try #require(push.attempts.map(\.status) == [503, 200])
        // A date is cut to seconds, so three seconds ahead is more than two.
        #expect(push.attempts[1].startedMs - push.attempts[0].startedMs >= 2000)
        sender.stop()
    }

    @Test func `a full queue refuses at once, reports when it has room, and reserves some for people`() throws {
        let scene = try Scene()
        defer { scene.close() }
        let rooms = Mutex<[Int]>([])
        let sent = Mutex<PushSender?>(nil)
        scene.standIn.script([PushStandInRule(.delay(ms: 500), times: 8)])
        let sender = try scene.sender {
            $0.outstandingMax = 8
            $0.madeRoom = {
                guard let sender = sent.withLock({ $0 }) else { return }
                rooms.withLock { $0.append(sender.room(for: .userAsked)) }
            }
        }
        sent.withLock { $0 = sender }
        func watched(_ priority: LocationPushRequest.Priority) throws -> WatchedPush {
            WatchedPush(try scene.push(priority: priority)).go(over: sender)
        }
        let own = try (0..<6).map { _ in try watched(.serverAsked) }
        #expect(sender.room(for: .serverAsked) == 0 && sender.room(for: .userAsked) == 2)
        let refused = try watched(.serverAsked)
        #expect(refused.outcomes == [.failed(.queueFull)])
        let asked = try (0..<2).map { _ in try watched(.userAsked) }
        let alsoRefused = try watched(.userAsked)
        #expect(alsoRefused.outcomes == [.failed(.queueFull)])
        for push in own + asked {
            guard case .accepted? = push.end() else {
                Issue.record("\(push.words)")
                return
            }
        }
        // Handed in again, it is accepted.
        let again = WatchedPush(refused.request).go(over: sender)
        guard case .accepted? = again.end() else {
            Issue.record("\(again.words)")
            return
        }
        sender.stop()
        // One for pushes for people, one for the service's own.
        #expect(rooms.withLock { $0.count } == 2)
        #expect(rooms.withLock { $0.allSatisfy { $0 >= 1 } })
        sent.withLock { $0 = nil }
    }
}
