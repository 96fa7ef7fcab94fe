import Testing

@testable import DeviceAgent

@Suite struct OutboxTests {
    func message(_ name: String) -> ServiceRequest {
        ServiceRequest(method: "POST", path: "/v1/fixes", bearer: "k", body: Array(name.utf8))
    }

    @Test(arguments: [
        ServiceReply.nothing(reason: "The connection was refused."), .answer(status: 503, body: []),
        .answer(status: 500, body: []), .answer(status: 429, body: []), .answer(status: 408, body: []),
    ])
    func `what is not acknowledged is sent again with the same bytes, each time later`(reply: ServiceReply) {
        var outbox = Outbox()
        _ = outbox.add(.fix(answering: nil), message("a"))
        _ = outbox.add(.fix(answering: nil), message("b"))
        var now: Int64 = 1_000
        for waitMs: Int64 in [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000] {
            #expect(outbox.due(atMs: now) == message("a"))
            guard case .retry(_, waitMs) = outbox.take(reply, atMs: now) else {
                Issue.record("The wait is not \(waitMs) ms.")
                return
            }
            #expect(outbox.due(atMs: now + waitMs - 1) == nil)
            #expect(outbox.waitMs(atMs: now + 1) == waitMs - 1)
            now += waitMs
        }
        guard case .acknowledged(let delivery) = outbox.take(.answer(status: 200, body: []), atMs: now) else {
            Issue.record("It was not acknowledged.")
            return
        }
        #expect(delivery.attempts == 9)
        #expect(outbox.due(atMs: now) == message("b"))
    }

    @Test(arguments: [400, 401, 404, 413])
    func `what the service will never take does not block the rest`(status: Int) {
        var outbox = Outbox()
        _ = outbox.add(.fix(answering: nil), message("a"))
        _ = outbox.add(.fix(answering: nil), message("b"))
        guard case .refused(_, status) = outbox.take(.answer(status: status, body: []), atMs: 0) else {
            Issue.record("It was not refused.")
            return
        }
        #expect(outbox.due(atMs: 0) == message("b"))
    }

    @Test func `one more than a thousand pushes the oldest out`() {
        var outbox = Outbox()
        for number in 0..<1000 {
            #expect(outbox.add(.fix(answering: nil), message("\(number)")) == nil)
        }
        #expect(outbox.add(.fix(answering: nil), message("1000"))?.request == message("0"))
        #expect(outbox.due(atMs: 0) == message("1"))
    }

    @Test func `a new token replaces one still waiting`() {
        var outbox = Outbox()
        _ = outbox.add(.token, message("old"))
        _ = outbox.add(.token, message("new"))
        #expect(outbox.due(atMs: 0) == message("new"))
        _ = outbox.take(.answer(status: 200, body: []), atMs: 0)
        #expect(outbox.waitMs(atMs: 0) == nil)
    }
}
