import LocationPush
import PushStandIn
import Testing

/// Servers that read requests and answer PING and SETTINGS, but do not answer the requests.
@Suite struct PushSilenceTests {
    /// A sender that gives each request five seconds, so that only this limit ends a request.
    private func sender(_ scene: Scene, requestMs: Int64 = 5000) throws -> PushSender {
        try scene.sender {
            $0.timing.requestMs = requestMs
            $0.timing.pingAfterSilenceMs = 600_000
        }
    }

    @Test func `60 pushes on a connection that stopped answering are all accepted, on another one`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script([.none, .mute()])
        let sender = try sender(scene)
        _ = await sender.send(try scene.push())
        let ended = try await scene.push(60, over: sender, inFlight: 20)
        sender.stop()
        for push in ended {
            guard case .accepted = push.outcome else {
                Issue.record("\(push)")
                continue
            }
            #expect(push.attempts.count <= 3)
            for attempt in push.attempts.dropLast() {
                #expect(attempt.ending == .unknown("no answer within 5000 ms"))
                #expect(attempt.durationMs >= 1000)
                #expect(attempt.connection == 1)
            }
            #expect(push.attempts.last?.connection == 2)
        }
        #expect(scene.standIn.acceptedCount == 61)
        #expect(scene.standIn.connectionCount == 2)
        expectAgreement(ended, Array(scene.standIn.pushes.dropFirst()))
    }

    @Test func `a connection that never answered is abandoned after two requests`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script([.mute()])
        let sender = try sender(scene)
        let push = try scene.watched().go(over: sender)
        guard case .accepted? = push.end() else {
            Issue.record("\(push.words)")
            return
        }
        push.expectOrder()
        #expect(push.attempts.map(\.connection) == [1, 1, 2])
        #expect(Set(scene.standIn.pushes.map(\.apnsID)) == [push.request.apnsID])
        sender.stop()
        #expect(scene.standIn.resetsReceived >= 1)
    }

    @Test func `a connection that answers only every third request fails none`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script([.none, .mute(answersEvery: 3)])
        let sender = try sender(scene, requestMs: 500)
        let ended = try await scene.push(60, over: sender, inFlight: 10)
        sender.stop()
        #expect(ended.allSatisfy { if case .accepted = $0.outcome { true } else { false } })
        expectAgreement(ended, scene.standIn.pushes)
    }

    @Test func `a push accepted without an answer is sent again with its id, and both tries are reported`() async throws
    {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script([.none, .noAnswerAfterAcceptance])
        let sender = try sender(scene)
        _ = await sender.send(try scene.push())
        let push = try scene.watched().go(over: sender)
        _ = push.end()
        push.expectOrder()
        #expect(push.attempts.map(\.status) == [nil, 200])
        #expect(push.attempts.map(\.connection) == [1, 1])
        #expect(scene.standIn.acceptedCount == 3)
        #expect(scene.standIn.resetsReceived == 1)
        #expect(scene.standIn.pushes.suffix(2).map(\.apnsID) == [push.request.apnsID, push.request.apnsID])
        sender.stop()
    }

    @Test func `a request has 10 s by default`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script([.none, .noAnswer])
        let sender = try scene.sender { $0.timing.requestMs = PushTiming().requestMs }
        _ = await sender.send(try scene.push())
        let push = try scene.watched().go(over: sender)
        push.wait { $0 == .began(1) }
        scene.senderClock.moveAhead(seconds: 11)
        // Wakes the sender, which sleeps by the system's clock.
        sender.reconsider()
        guard case .accepted? = push.end() else {
            Issue.record("\(push.words)")
            return
        }
        #expect(push.attempts.first?.ending == .unknown("no answer within 10000 ms"))
        sender.stop()
    }

    @Test func `without any connection that answers, a push ends after four tries`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script([PushStandInRule(.noAnswer, times: nil)])
        let sender = try sender(scene, requestMs: 200)
        let push = try scene.watched().go(over: sender)
        #expect(push.end() == .failed(.connectionLost("no answer within 200 ms")))
        push.expectOrder()
        #expect(push.attempts.map(\.connection) == [1, 1, 2, 2])
        sender.stop()
    }
}
