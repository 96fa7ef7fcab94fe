import PushStandIn
import Testing

@testable import struct PushStandIn.FaultScript

@Suite struct FaultScriptTests {
    private func complaint(_ json: String) -> String {
        do throws(FaultScriptError) {
            _ = try PushStandInRule.script(Array(json.utf8))
            return "nothing"
        } catch { return error.description }
    }

    @Test func `a script names faults, what they need and whom they hit`() throws {
        let rules = try PushStandInRule.script(
            Array(
                """
                [{"fault":"answer","status":503,"reason":"ServiceUnavailable","retryAfter":2,"skip":10,"times":3},
                 {"fault":"answer","status":410,"reason":"Unregistered","timestamp":1732147200123},
                 {"fault":"answer","status":500,"reason":"InternalServerError","retryDate":3},
                 {"fault":"reset","errorCode":7,"times":null,"share":0.02}, {"fault":"reset"},
                 {"fault":"goAwayBefore","unprocessed":20}, {"fault":"goAwayAfter","reason":""},
                 {"fault":"maxConcurrentStreams","streams":1}, {"fault":"delay","ms":5},
                 {"fault":"refuseConnection","times":3}, {"fault":"blackHole"}, {"fault":"noAnswer"},
                 {"fault":"expireProviderToken"},
                 {"fault":"noAnswerAfterAcceptance"}, {"fault":"mute"}, {"fault":"mute","answersEvery":3}]
                """.utf8))
        #expect(
            rules == [
                PushStandInRule(
                    .answer(status: 503, reason: "ServiceUnavailable", retryAfterSeconds: 2), skip: 10, times: 3),
                PushStandInRule(.answer(status: 410, reason: "Unregistered", timestampMs: 1_732_147_200_123)),
                PushStandInRule(.answer(status: 500, reason: "InternalServerError", retryDateSeconds: 3)),
                PushStandInRule(.reset(errorCode: 7), times: nil, share: 0.02), PushStandInRule(.reset(errorCode: 2)),
                PushStandInRule(.goAwayBefore(reason: "Shutdown", unprocessed: 20)),
                PushStandInRule(.goAwayAfter(reason: "")), PushStandInRule(.maxConcurrentStreams(1)),
                PushStandInRule(.delay(ms: 5)), PushStandInRule(.refuseConnection, times: 3),
                PushStandInRule(.blackHole), PushStandInRule(.noAnswer),
                PushStandInRule(.expireProviderToken), PushStandInRule(.noAnswerAfterAcceptance),
                PushStandInRule(.mute()), PushStandInRule(.mute(answersEvery: 3)),
            ])
    }

    @Test(arguments: [
        ("{}", "A script is a JSON array of rules."),
        ("[7]", "Rule 1 is no object."),
        (#"[{"fault":"flood"}]"#, "Rule 1: there is no fault \"flood\"."),
        (#"[{"fault":"close"},{"fault":"close","errorCode":2}]"#, "Rule 2: \"errorCode\" is no member of close."),
        (#"[{"fault":"answer","status":99}]"#, "Rule 1: \"status\" must be a whole number from 200 to 599."),
        (#"[{"fault":"answer","status":500}]"#, "Rule 1: \"reason\" must be given."),
        (#"[{"fault":"close","share":1.5}]"#, "Rule 1: \"share\" must be from 0 to 1."),
        (#"[{"fault":"delay","ms":-1}]"#, "Rule 1: \"ms\" must be a whole number from 0 to 600000."),
    ])
    func `a script that cannot be is refused with its rule and member`(script: String, sentence: String) {
        #expect(complaint(script) == sentence)
    }

    @Test func `the first rule that hits takes the push, and a used up one is gone`() {
        var script = FaultScript()
        script.append([
            PushStandInRule(.close, skip: 1, times: 2), PushStandInRule(.delay(ms: 1)), PushStandInRule(.blackHole),
            PushStandInRule(.refuseConnection),
        ])
        // The first push passes the first rule, and meets the second.
        #expect((0..<5).map { _ in script.next() } == [.delay(ms: 1), .close, .close, .blackHole, .none])
        #expect(script.next(ofConnections: true) == .refuseConnection)
        #expect(script.next(ofConnections: true) == .none)
    }

    @Test func `a share hits so many, and the same ones in each run`() {
        func run() -> [Bool] {
            var script = FaultScript()
            script.append([PushStandInRule(.close, times: nil, share: 0.02)])
            return (0..<10_000).map { _ in script.next() == .close }
        }
        let first = run()
        // Of 10,000 with 2 %, six standard deviations around 200.
        #expect((116...284).contains(first.count { $0 }))
        #expect(first == run())
    }
}
