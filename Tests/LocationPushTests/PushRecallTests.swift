import LocationPush
import PushStandIn
import Testing

/// An unwanted push is not sent, and a try that may have reached APNs is recorded, with every outcome of its push.
@Suite struct PushRecallTests {
    private static func began(_ word: WatchedPush.Word) -> Bool {
        if case .began = word { true } else { false }
    }

    private static func attempted(_ word: WatchedPush.Word) -> Bool {
        if case .attempted = word { true } else { false }
    }

    @Test func `ten pushes that wait for a connection are withdrawn when they become unwanted`() throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script([PushStandInRule(.silentConnection, times: nil)])
        let sender = try scene.sender()
        let pushes = try (0..<10).map { _ in try scene.watched().go(over: sender) }
        let kept = try scene.watched(withinMs: 2000).go(over: sender)
        for push in pushes { push.unwant() }
        sender.reconsider()
        for push in pushes {
            #expect(push.end() == .withdrawn)
            push.expectOrder()
            #expect(push.attempts.isEmpty)
        }
        // The push that is still wanted waits until its deadline.
        #expect(kept.end() == .failed(.deadlinePassed))
        sender.stop()
        #expect(scene.standIn.pushes.isEmpty)
    }

    @Test func `a push that is unwanted when it is handed in does not wait for a connection`() throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script([PushStandInRule(.refuseConnection, times: nil)])
        let sender = try scene.sender()
        let push = try scene.watched()
        push.unwant()
        #expect(push.go(over: sender).end() == .withdrawn)
        #expect(push.attempts.isEmpty)
        sender.stop()
        #expect(scene.standIn.pushes.isEmpty)
    }

    @Test func `a push is checked before its first try without a call of reconsider`() throws {
        let scene = try Scene()
        defer { scene.close() }
        let sender = try scene.sender()
        let push = try scene.watched()
        push.unwant()
        #expect(push.go(over: sender).end() == .withdrawn)
        push.expectOrder()
        // The next one is accepted.
        let next = try scene.watched().go(over: sender)
        guard case .accepted? = next.end() else {
            Issue.record("\(next.words)")
            return
        }
        sender.stop()
        #expect(scene.standIn.pushes.map(\.apnsID) == [next.request.apnsID])
    }

    @Test func `an unwanted push is withdrawn at once instead of being tried again, and its try is recorded`() throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script([.answer(status: 503, reason: "ServiceUnavailable", retryAfterSeconds: 30)])
        let sender = try scene.sender()
        let push = try scene.watched()
        push.unwant(afterTries: 1)
        #expect(push.go(over: sender).end() == .withdrawn)
        push.expectOrder()
        #expect(push.attempts.map(\.status) == [503])
        sender.stop()
        #expect(scene.standIn.pushes.count == 1)
    }

    @Test func `reconsider withdraws a push that waits for its second try`() throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script([.answer(status: 503, reason: "ServiceUnavailable", retryAfterSeconds: 30)])
        let sender = try scene.sender()
        let push = try scene.watched().go(over: sender)
        push.wait(for: Self.attempted)
        push.unwant()
        sender.reconsider()
        #expect(push.end() == .withdrawn)
        push.expectOrder()
        sender.stop()
        #expect(scene.standIn.pushes.count == 1)
    }

    @Test func `an unwanted push in flight keeps its answer`() throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script([.delay(ms: 300)])
        let sender = try scene.sender()
        let push = try scene.watched().go(over: sender)
        push.wait(for: Self.began)
        push.unwant()
        sender.reconsider()
        guard case .accepted? = push.end() else {
            Issue.record("\(push.words)")
            return
        }
        push.expectOrder()
        sender.stop()
    }

    @Test func `an unwanted push lost in flight is withdrawn, and its try is recorded as unknown`() throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script([.none, .closeAfterAcceptance])
        let sender = try scene.sender()
        _ = try scene.watched().go(over: sender).end()
        let push = try scene.watched()
        push.unwant(afterTries: 1)
        #expect(push.go(over: sender).end() == .withdrawn)
        push.expectOrder()
        guard case .unknown? = push.attempts.first?.ending else {
            Issue.record("\(push.words)")
            return
        }
        sender.stop()
        #expect(scene.standIn.acceptedCount == 2)
    }

    @Test func `a stop and a deadline record the tries in flight as unknown`() throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script([PushStandInRule(.delay(ms: 600_000), skip: 1, times: nil)])
        let sender = try scene.sender()
        _ = try scene.watched().go(over: sender).end()
        let late = try scene.pushThatIsLate(over: sender)
        let stopped = try (0..<20).map { _ in try scene.watched().go(over: sender) }
        #expect(late.end() == .failed(.deadlinePassed))
        for push in stopped { push.wait(for: Self.began) }
        sender.stop(drainMs: 0)
        for push in stopped + [late] {
            push.expectOrder()
            guard case .unknown? = push.attempts.first?.ending else {
                Issue.record("\(push.words)")
                return
            }
        }
        #expect(stopped.allSatisfy { $0.outcomes == [.failed(.stopped)] })
    }

    @Test func `a try has its start by the sender's clock`() throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.senderClock.moveAhead(minutes: 30)
        let sender = try scene.sender()
        let before = scene.senderClock.clock.now().unixMs
        let push = try scene.watched().go(over: sender)
        _ = push.end()
        let after = scene.senderClock.clock.now().unixMs
        #expect(push.attempts.count == 1)
        // The two clocks are cut to milliseconds each for itself.
        #expect(push.attempts.allSatisfy { before <= $0.startedMs && $0.startedMs + $0.durationMs <= after + 1 })
        sender.stop()
    }
}
