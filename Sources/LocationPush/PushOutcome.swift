/// How a push ended; every push has exactly one.
package enum PushOutcome: Sendable, Equatable {
    /// APNs accepted it, which is not yet delivery. `uniqueID` is given by the development service only.
    case accepted(apnsID: String, uniqueID: String?)
    /// APNs refused it, for good or once too often.
    case rejected(PushRejection)
    /// No answer came. After `connectionLost` and `deadlinePassed` APNs may have accepted it all the same.
    case failed(PushFault)
    /// It became unwanted before an answer settled it. Earlier tries were reported.
    case withdrawn
}

/// Why a push ended without an answer.
package enum PushFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// The sender's queue was full when the push was handed in.
    case queueFull
    /// The sender was stopped first.
    case stopped
    /// The push is for the other APNs service than the sender's.
    case otherEnvironment
    /// The deadline came before an answer.
    case deadlinePassed
    /// The deadline came while the queue was held because of this earlier refusal.
    case held(PushReason)
    /// The deadline came while there was no connection, for this reason.
    case unreachable(String)
    /// The last try was lost with its connection, for this reason.
    case connectionLost(String)
    /// No provider token could be signed.
    case providerToken(ProviderTokenError)

    /// The outcome in words, for an operator.
    package var description: String {
        switch self {
        case .queueFull: "too many pushes are waiting"
        case .stopped: "the sender was stopped"
        case .otherEnvironment: "the device token belongs to the other APNs service"
        case .deadlinePassed: "no answer before the deadline"
        case .held(let reason): "held back after \(reason.name)"
        case .unreachable(let why): "no connection: \(why)"
        case .connectionLost(let why): "connection lost: \(why)"
        case .providerToken(let error): error.description
        }
    }
}

/// One try of a push, for the record: each is reported when it ends.
package struct PushAttempt: Sendable, Equatable {
    /// How the try ended.
    package enum Ending: Sendable, Equatable {
        /// Status 200. `uniqueID` is the development service's `apns-unique-id`.
        case accepted(uniqueID: String?)
        case rejected(PushRejection)
        /// APNs did certainly not process it: refused, above a GOAWAY's last stream, or never written.
        case notProcessed
        /// Written and unanswered: APNs may have accepted it.
        case unknown(String)
    }

    /// 1, 2, 3 … for one push.
    package let number: Int
    /// The connection it went over: 1, 2, 3 … for one sender.
    package let connection: Int
    /// The UUID of the push, the same for all its tries.
    package let apnsID: String
    /// How the try ended.
    package let ending: Ending
    /// The time at which the connection got it, in milliseconds since 1970 UTC by the sender's ``PushClock``.
    package let startedMs: Int64
    /// Milliseconds from handing it to the connection until its end.
    package let durationMs: Int64
}
