import Geodesy
package import Whereabouts

/// What one message of a client came to. There is always an outcome, so that no message blocks the client's queue.
package enum Report: Hashable, Sendable, DescribedWithoutContent {
    /// A fix, and the query it answers if the client named one.
    case fix(Fix, answering: QueryID?)
    /// What the owner of the device lets the app do.
    case authorization(AuthorizationReport)
    /// What Core Location told the app besides.
    case sighting(Sighting)
    /// A message that can never become a fix; it is kept with the reason, and acknowledged.
    case rejected(RejectionReason)
    /// A well-formed message that says something else, as a card or a region event; its type by the client's own name.
    case notAFix(type: String)

    package var description: String {
        switch self {
        case .fix: "fix(…)"
        case .authorization: "authorization(…)"
        case .sighting: "sighting(…)"
        case .rejected(let reason): "rejected(\(reason.word))"
        case .notAFix(let type): "notAFix(\(type))"
        }
    }
}
