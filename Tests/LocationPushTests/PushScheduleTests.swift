import LocationPush
import PushStandIn
import TestSupport
import Testing

/// Random faults, deadlines, withdrawals and stops: the sender's guarantees hold for every combination.
@Suite struct PushScheduleTests {
    private static func rule(using random: inout SplitMix) -> PushStandInRule {
        let fault: PushStandInFault
        switch Int.random(in: 0..<14, using: &random) {
        case 0: fault = .answer(status: 503, reason: "ServiceUnavailable")
        case 1: fault = .answer(status: 500, reason: "InternalServerError")
        case 2: fault = .answer(status: 429, reason: "TooManyRequests")
        case 3: fault = .answer(status: 410, reason: "Unregistered", timestampMs: 1_732_147_200_123)
        case 4: fault = .noAnswer
        case 5: fault = .reset(errorCode: 7)
        case 6: fault = .resetAfterAcceptance(errorCode: 2)
        case 7: fault = .goAwayBefore(reason: "Shutdown", unprocessed: 3)
        case 8: fault = .goAwayAfter(reason: "Shutdown")
        case 9: fault = .close
        case 10: fault = .closeAfterAcceptance
        case 11: fault = .noAnswerAfterAcceptance
        case 12: fault = .mute(answersEvery: 3)
        default: fault = .expireProviderToken
        }
        let skip = Int.random(in: 0..<20, using: &random)
        return PushStandInRule(fault, skip: skip, times: Int.random(in: 1...3, using: &random))
    }

    @Test(arguments: 0..<6 as Range<UInt64>)
    func `each push has one outcome, and every try that APNs saw is reported`(seed: UInt64) throws {
        var random = SplitMix(seed)
        let scene = try Scene(streamsMax: 20)
        defer { scene.close() }
        scene.standIn.script((0..<30).map { _ in Self.rule(using: &random) })
        let sender = try scene.sender {
            $0.timing.requestMs = 300
            $0.timing.holdMs = 100
            $0.outstandingMax = 120
        }
        var pushes: [WatchedPush] = []
        for _ in 0..<150 {
            let push = try scene.watched(withinMs: Int64.random(in: 100...4000, using: &random))
            if Int.random(in: 0..<4, using: &random) == 0 {
                push.unwant(afterTries: Int.random(in: 0...2, using: &random))
            }
            pushes.append(push.go(over: sender))
            if Int.random(in: 0..<10, using: &random) == 0 {
                pushes.randomElement(using: &random)?.unwant()
                sender.reconsider()
            }
        }
        // Half of the runs wait for all outcomes, the others stop before.
        if seed % 2 == 0 { for push in pushes { _ = push.end() } }
        sender.stop(drainMs: seed % 2 == 0 ? 0 : 300)
        for push in pushes { push.expectOrder() }
        let ended = pushes.compactMap { push in
            push.outcomes.first.map { EndedPush(id: push.request.apnsID, outcome: $0, attempts: push.attempts) }
        }
        #expect(ended.count == 150)
        #expect(sender.status.outstanding == 0 && sender.status.inFlight == 0)
        expectAgreement(ended, scene.standIn.pushes)
    }
}
