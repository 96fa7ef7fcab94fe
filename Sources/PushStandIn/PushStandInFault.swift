/// A fault that the stand-in applies to a push or a connection, instead of or in addition to the usual treatment.
package enum PushStandInFault: Sendable, Equatable {
    /// Nothing: the push is treated as usual.
    case none
    /// This answer, whatever the push is. `retryAfterSeconds` is sent in `Retry-After` as seconds, `retryDateSeconds`
    /// as a date that many seconds ahead.
    case answer(
        status: Int, reason: String, timestampMs: Int64? = nil, retryAfterSeconds: Int? = nil,
        retryDateSeconds: Int? = nil)
    /// The true answer, later.
    case delay(ms: Int64)
    /// A reset of the stream with this HTTP/2 error code; the push is not processed.
    case reset(errorCode: UInt32)
    /// The push is accepted and handed to the phone, then the stream is reset without an answer.
    case resetAfterAcceptance(errorCode: UInt32)
    /// GOAWAY with a last stream below this push's. It and those after it on its connection, `unprocessed` together,
    /// are not processed; the GOAWAY leaves when the last of them is there, at the latest after
    /// ``PushStandIn/gatheringMs``.
    case goAwayBefore(reason: String, unprocessed: Int = 1)
    /// The push is answered truly, with a GOAWAY that includes its stream.
    case goAwayAfter(reason: String)
    /// The connection is cut; the push is not processed.
    case close
    /// The push is accepted and handed to the phone, then the connection is cut.
    case closeAfterAcceptance
    /// From now on the connection is open and silent.
    case blackHole
    /// The push's provider token counts as expired from now on, whatever its age.
    case expireProviderToken
    /// The push is neither processed nor answered.
    case noAnswer
    /// The phone gets the push, but the sender gets no answer.
    case noAnswerAfterAcceptance
    /// From this push on, the connection answers PING and SETTINGS, but only every `answersEvery`-th push, for example
    /// every third for 3 and none for 0. The other pushes are not processed.
    case mute(answersEvery: Int = 0)
    /// The push is answered truly, and the connection allows this many streams from now on.
    case maxConcurrentStreams(Int)
    /// A new connection is cut before TLS begins.
    case refuseConnection
    /// A new connection stays open, and not a byte comes over it.
    case silentConnection

    /// Whether it befalls connections as they arrive, not pushes.
    var isOfConnections: Bool { self == .refuseConnection || self == .silentConnection }
}

/// When a fault happens: to which of the pushes (or connections) that reach this rule.
package struct PushStandInRule: Sendable, Equatable {
    /// The fault.
    package let fault: PushStandInFault
    /// How many pass before the first one is hit.
    package let skip: Int
    /// How many are hit; nil for no end.
    package let times: Int?
    /// Of those that may be hit, the share that is, from 0 to 1, chosen at random but the same in each run.
    package let share: Double

    /// By default, only the next push.
    package init(_ fault: PushStandInFault, skip: Int = 0, times: Int? = 1, share: Double = 1) {
        (self.fault, self.skip, self.times, self.share) = (fault, skip, times, share)
    }
}

/// The rules in force. Each push meets the first rule that hits it; a rule that has hit often enough is gone.
struct FaultScript {
    private struct Running {
        let rule: PushStandInRule
        var passed = 0
        var hits = 0
    }

    private var running: [Running] = []
    /// SplitMix64, from a fixed beginning: a share hits the same pushes in each run.
    private var random: UInt64 = 0x5EED

    mutating func append(_ rules: [PushStandInRule]) {
        running += rules.map { Running(rule: $0) }
    }

    mutating func clear() { running = [] }

    mutating func next(ofConnections: Bool = false) -> PushStandInFault {
        for index in running.indices where running[index].rule.fault.isOfConnections == ofConnections {
            let rule = running[index].rule
            if running[index].passed < rule.skip {
                running[index].passed += 1
                continue
            }
            guard rule.share >= 1 || chance() < rule.share else { continue }
            running[index].hits += 1
            if let times = rule.times, running[index].hits >= times { running.remove(at: index) }
            return rule.fault
        }
        return .none
    }

    private mutating func chance() -> Double {
        random &+= 0x9E37_79B9_7F4A_7C15
        var z = random
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((z ^ (z >> 31)) >> 11) / Double(1 << 53)
    }
}
