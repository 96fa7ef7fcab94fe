import TestSupport
import Testing

@testable import LocationPush

/// The consequences of answers, without sockets. Times are milliseconds on a clock that starts at 0; the jitter is its
/// middle, so pauses are exactly 500, 2000 and 5000 ms.
@Suite struct PushQueueTests {
    private func queue() -> PushQueue {
        PushQueue(timing: PushTiming(), jitter: { 0.5 })
    }

    private func push(_ priority: LocationPushRequest.Priority = .userAsked, bundle: String = "a.b") throws
        -> LocationPushRequest
    {
        try LocationPushRequest(
            deviceToken: [1], bundleID: bundle, environment: .development, priority: priority, expirationSeconds: 0,
            apnsID: "00000000-0000-0000-0000-000000000001", payload: [0x7B, 0x7D], deadlineMs: 0)
    }

    private func answer(_ status: Int, _ reason: String? = nil, retryAfter: Int64? = nil) -> PushAnswer {
        PushAnswer(
            status: status, apnsID: nil, uniqueID: nil,
            rejection: reason.map { PushRejection(status: status, reason: PushReason($0)) },
            retryAfterSeconds: retryAfter)
    }

    @Test func `a person's push goes before the service's own, and each kind in its order`() throws {
        var queue = queue()
        queue.submit(1, try push(.serverAsked), deadlineMs: 60_000)
        queue.submit(2, try push(), deadlineMs: 60_000)
        queue.submit(3, try push(), deadlineMs: 60_000)
        #expect((0..<4).map { _ in queue.next(atMs: 0) } == [2, 3, 1, nil])
        #expect(queue.inFlightCount == 3)
    }

    /// Answers each try of push 1 the same way and moves the clock from try to try.
    ///
    /// - Returns: The times of the tries and the outcome.
    private func tries(
        of queue: inout PushQueue, answer: PushAnswer
    ) -> (beganMs: [Int64], outcome: PushOutcome?) {
        var began: [Int64] = []
        var now: Int64 = 0
        while began.count < 1000 {
            if queue.next(atMs: now) == 1 {
                began.append(now)
                let verdict = queue.answered(1, answer, renewed: false, atMs: now)
                if let outcome = verdict.outcome { return (began, outcome) }
            }
            guard let due = queue.nextDueMs(atMs: now) else { break }
            now = due
            if let late = queue.expire(atMs: now).ended.first { return (began, late.outcome) }
        }
        return (began, nil)
    }

    /// The pauses for a deadline of one minute: 500, 2000, 5000 ms, twice the one before, half of the rest, 5000 ms.
    @Test(arguments: [("InternalServerError", 500), ("ServiceUnavailable", 503), ("", 502)])
    func `a busy answer is tried again after growing pauses until the deadline`(name: String, status: Int) throws {
        var queue = queue()
        queue.submit(1, try push(), deadlineMs: 60_000)
        let (began, outcome) = tries(of: &queue, answer: answer(status, name))
        #expect(began == [0, 500, 2_500, 7_500, 17_500, 37_500, 48_750, 54_375, 59_375])
        #expect(outcome == .rejected(PushRejection(status: status, reason: PushReason(name))))
        #expect(queue.count == 0)
    }

    @Test func `the service's own push is tried for 15 minutes, and not more than 25 times in a day`() throws {
        for (minutes, atMost) in [(15, 20), (24 * 60, 25)] as [(Int64, Int)] {
            var queue = queue()
            queue.submit(1, try push(.serverAsked), deadlineMs: minutes * 60_000)
            let (began, outcome) = tries(of: &queue, answer: answer(503, "ServiceUnavailable"))
            #expect(began.count <= atMost)
            if minutes == 15 { #expect(try #require(began.last) > 14 * 60_000) }
            #expect(zip(began, began.dropFirst()).allSatisfy { $1 - $0 >= 500 && $1 - $0 <= 120_000 })
            #expect(outcome == .rejected(PushRejection(status: 503, reason: .serviceUnavailable)))
        }
    }

    @Test func `too many requests to a device hold that device alone`() throws {
        func push(_ device: UInt8) throws -> LocationPushRequest {
            try LocationPushRequest(
                deviceToken: [device], bundleID: "a.b", environment: .development, priority: .userAsked,
                expirationSeconds: 0, apnsID: "00000000-0000-0000-0000-000000000001", payload: [0x7B, 0x7D],
                deadlineMs: 0)
        }
        var queue = queue()
        let busy = answer(429, "TooManyRequests")
        queue.submit(1, try push(7), deadlineMs: 600_000)
        queue.submit(2, try push(7), deadlineMs: 600_000)
        queue.submit(3, try push(8), deadlineMs: 600_000)
        #expect(queue.next(atMs: 0) == 1)
        #expect(queue.answered(1, busy, renewed: false, atMs: 0) == PushQueue.Verdict())
        #expect(queue.next(atMs: 0) == 3)
        #expect(queue.next(atMs: 499) == nil)
        _ = queue.expire(atMs: 500)
        // Whichever of the two goes first: when it is refused again, the hold is twice as long.
        let next = queue.next(atMs: 500)
        let first = try #require(next)
        _ = queue.answered(first, answer(429, "TooManyRequests", retryAfter: 3), renewed: false, atMs: 500)
        queue.submit(4, try push(7), deadlineMs: 600_000)
        _ = queue.expire(atMs: 3_499)
        #expect(queue.next(atMs: 3_499) == nil)
        _ = queue.expire(atMs: 3_500)
        let later = queue.next(atMs: 3_500)
        let second = try #require(later)
        _ = queue.answered(second, answer(200), renewed: false, atMs: 3_500)
        // The hold is over.
        queue.submit(5, try push(7), deadlineMs: 600_000)
        var sent: [UInt64] = []
        while let next = queue.next(atMs: 3_500) { sent.append(next) }
        #expect(Set(sent + [second]) == [1, 2, 4, 5])
    }

    @Test func `a push held for its device ends at its deadline with that reason`() throws {
        var queue = queue()
        queue.submit(1, try push(), deadlineMs: 600_000)
        _ = queue.next(atMs: 0)
        _ = queue.answered(1, answer(429, "TooManyRequests", retryAfter: 30), renewed: false, atMs: 0)
        queue.submit(2, try push(), deadlineMs: 10_000)
        #expect(queue.next(atMs: 0) == nil)
        #expect(queue.expire(atMs: 10_000).ended.map(\.outcome) == [.failed(.held(.tooManyRequests))])
    }

    @Test func `Retry-After lengthens the pause, and one beyond the deadline ends the push at once`() throws {
        var queue = queue()
        queue.submit(1, try push(), deadlineMs: 60_000)
        queue.submit(2, try push(), deadlineMs: 60_000)
        _ = (queue.next(atMs: 0), queue.next(atMs: 0))
        let patient = queue.answered(1, answer(503, "ServiceUnavailable", retryAfter: 10), renewed: false, atMs: 0)
        #expect(patient == PushQueue.Verdict(outcome: nil, needsNewConnection: true))
        #expect(queue.nextDueMs(atMs: 0) == 10_000)
        let late = queue.answered(2, answer(429, "TooManyRequests", retryAfter: 60), renewed: false, atMs: 0)
        #expect(late.outcome == .rejected(PushRejection(status: 429, reason: .tooManyRequests)))
    }

    @Test func `an unknown end counts as a try, a certain one does not`() throws {
        var queue = queue()
        queue.submit(1, try push(), deadlineMs: 1_000_000)
        var now: Int64 = 0
        for _ in 0..<20 {
            while queue.next(atMs: now) == nil {
                now = queue.nextDueMs(atMs: now) ?? now
                _ = queue.expire(atMs: now)
            }
            #expect(queue.broken(1, notProcessed: true, why: "", atMs: now).outcome == nil)
        }
        for expected in [nil, nil, nil, PushOutcome.failed(.connectionLost("cut"))] {
            while queue.next(atMs: now) == nil {
                now = queue.nextDueMs(atMs: now) ?? now
                _ = queue.expire(atMs: now)
            }
            #expect(queue.broken(1, notProcessed: false, why: "cut", atMs: now).outcome == expected)
        }
    }

    @Test func `an unprocessed push goes again at once, but not in a tight loop`() throws {
        var queue = queue()
        queue.submit(1, try push(), deadlineMs: 60_000)
        _ = queue.next(atMs: 0)
        _ = queue.broken(1, notProcessed: true, why: "", atMs: 0)
        #expect(queue.next(atMs: 0) == 1)
        _ = queue.broken(1, notProcessed: true, why: "", atMs: 0)
        #expect(queue.next(atMs: 0) == nil)
        #expect(queue.nextDueMs(atMs: 0) == 200)
    }

    @Test func `an expired provider token is worth one more try, at once`() throws {
        var queue = queue()
        queue.submit(1, try push(), deadlineMs: 60_000)
        let expired = answer(403, "ExpiredProviderToken")
        _ = queue.next(atMs: 0)
        #expect(queue.answered(1, expired, renewed: true, atMs: 0) == PushQueue.Verdict())
        #expect(queue.next(atMs: 0) == 1)
        let second = queue.answered(1, expired, renewed: false, atMs: 0)
        #expect(second.outcome == .rejected(PushRejection(status: 403, reason: .expiredProviderToken)))
        #expect(second.alarm == .expiredProviderToken)
    }

    @Test func `an alarm holds the queue, then one push at a time goes until one is accepted`() throws {
        var queue = queue()
        for number in 1...5 as ClosedRange<UInt64> { queue.submit(number, try push(), deadlineMs: 600_000) }
        _ = (queue.next(atMs: 0), queue.next(atMs: 0))
        let wrong = answer(403, "InvalidProviderToken")
        #expect(queue.answered(1, wrong, renewed: false, atMs: 0).alarm == .invalidProviderToken)
        // The second one was on its way with the same fault: it does not lengthen the hold.
        #expect(queue.answered(2, wrong, renewed: false, atMs: 10).outcome != nil)
        #expect(queue.next(atMs: 59_999) == nil)
        #expect(queue.nextDueMs(atMs: 100) == 60_000)
        #expect(queue.next(atMs: 60_000) == 3)
        #expect(queue.next(atMs: 60_000) == nil)
        // The probe fails: twice the hold.
        _ = queue.answered(3, wrong, renewed: false, atMs: 60_000)
        #expect(queue.next(atMs: 179_999) == nil)
        #expect(queue.next(atMs: 180_000) == 4)
        #expect(queue.heldBecause == .invalidProviderToken)
        _ = queue.answered(4, answer(200), renewed: false, atMs: 180_000)
        #expect(queue.heldBecause == nil)
        #expect(queue.next(atMs: 180_000) == 5)
    }

    @Test func `a forbidden topic is held alone`() throws {
        var queue = queue()
        queue.submit(1, try push(bundle: "bad.app"), deadlineMs: 600_000)
        queue.submit(2, try push(bundle: "bad.app"), deadlineMs: 600_000)
        queue.submit(3, try push(bundle: "good.app"), deadlineMs: 600_000)
        _ = queue.next(atMs: 0)
        #expect(queue.answered(1, answer(400, "TopicDisallowed"), renewed: false, atMs: 0).alarm == .topicDisallowed)
        #expect(queue.next(atMs: 0) == 3)
        #expect(queue.next(atMs: 0) == nil)
        _ = queue.expire(atMs: 60_000)
        #expect(queue.next(atMs: 60_000) == 2)
    }

    @Test func `a deadline ends a push wherever it is, with the reason it is late`() throws {
        var queue = queue()
        queue.submit(1, try push(), deadlineMs: 100)
        queue.submit(2, try push(), deadlineMs: 200)
        _ = queue.next(atMs: 0)
        let late = queue.expire(atMs: 100)
        #expect(late.ended.isEmpty && late.flying == [1])
        // The try is abandoned, and its outcome ends the push.
        let verdict = queue.broken(1, notProcessed: false, why: "", atMs: 100)
        #expect(verdict.outcome == .failed(.deadlinePassed))
        queue.connectFault = TransportFault("connect: refused")
        #expect(queue.expire(atMs: 200).ended.map(\.outcome) == [.failed(.unreachable("connect: refused"))])
        #expect(queue.count == 0 && queue.inFlightCount == 0)
    }

    @Test func `an answer to a push that has ended changes nothing`() throws {
        var queue = queue()
        queue.submit(1, try push(), deadlineMs: 100)
        _ = queue.next(atMs: 0)
        _ = queue.fail(1, .deadlinePassed)
        #expect(queue.answered(1, answer(200), renewed: false, atMs: 101) == PushQueue.Verdict())
        #expect(queue.broken(1, notProcessed: false, why: "", atMs: 101) == PushQueue.Verdict())
        #expect(queue.inFlightCount == 0)
    }

    @Test(arguments: 0..<20)
    func `whatever happens, every push ends exactly once`(seed: UInt64) throws {
        var random = SplitMix(seed)
        var queue = queue()
        var ended: [UInt64: Int] = [:]
        var flying: [UInt64] = []
        var now: Int64 = 0
        let reasons = PushReason.table
        for number in 1...300 as ClosedRange<UInt64> {
            queue.submit(number, try push(), deadlineMs: now + Int64.random(in: 1...200_000, using: &random))
            now += Int64.random(in: 0...500, using: &random)
            let late = queue.expire(atMs: now)
            for (number, _) in late.ended { ended[number, default: 0] += 1 }
            for number in late.flying {
                if queue.broken(number, notProcessed: false, why: "", atMs: now).outcome != nil {
                    ended[number, default: 0] += 1
                }
            }
            while let next = queue.next(atMs: now) { flying.append(next) }
            flying.shuffle(using: &random)
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                guard let landed = flying.popLast() else { break }
                let verdict: PushQueue.Verdict
                switch Int.random(in: 0..<4, using: &random) {
                case 0: verdict = queue.broken(landed, notProcessed: true, why: "", atMs: now)
                case 1: verdict = queue.broken(landed, notProcessed: false, why: "", atMs: now)
                case 2: verdict = queue.answered(landed, answer(200), renewed: false, atMs: now)
                default:
                    let row = reasons.randomElement(using: &random)!
                    verdict = queue.answered(
                        landed, answer(row.status, row.name), renewed: Bool.random(using: &random), atMs: now)
                }
                if verdict.outcome != nil { ended[landed, default: 0] += 1 }
            }
        }
        let late = queue.expire(atMs: now + 200_000)
        for (number, _) in late.ended { ended[number, default: 0] += 1 }
        for number in late.flying where queue.fail(number, .deadlinePassed).outcome != nil {
            ended[number, default: 0] += 1
        }
        #expect(ended.count == 300 && ended.values.allSatisfy { $0 == 1 })
        #expect(queue.count == 0 && queue.inFlightCount == 0)
    }
}
