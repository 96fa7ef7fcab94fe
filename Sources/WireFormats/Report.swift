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
    /// A region that the user created, changed or deleted in the app.
    case waypoint(Waypoint)
    /// A well-formed message that says something else, as a status or a trip: its type by the client's own name, and its
    /// members as ``Remainder`` keeps them.
    case message(type: String, text: String)
    /// A message that can never become any of these; it is kept with the reason, and acknowledged. `text` is the part of
    /// the body that it is about; `nil`: all of it.
    case rejected(RejectionReason, text: ArraySlice<UInt8>? = nil)

    package var description: String {
        switch self {
        case .fix: "fix(…)"
        case .authorization: "authorization(…)"
        case .sighting: "sighting(…)"
        case .waypoint: "waypoint(…)"
        case .message: "message(…)"
        case .rejected(let reason, _): "rejected(\(reason.word))"
        }
    }
}

extension Report {
    /// A message in the client's own words.
    ///
    /// - Parameter members: all of its members but the type.
    static func message(_ type: String, _ members: some Sequence<JSONSource.Member>) -> Report {
        var remainder = Remainder()
        for member in members { remainder.append(member) }
        return .message(type: String(type.prefix(Limits.messageTypeCharacters)), text: remainder.text() ?? "{}")
    }

    /// The same, about this part of the body if it is rejected.
    func about(_ text: ArraySlice<UInt8>) -> Report {
        if case .rejected(let reason, _) = self { .rejected(reason, text: text) } else { self }
    }
}
