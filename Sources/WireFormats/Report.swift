import Geodesy
import JSON
package import Whereabouts

/// The result of one message of a client. Every message has one, so that no message blocks the client's queue.
package enum Report: Hashable, Sendable, DescribedWithoutContent {
    /// A fix, and the query it answers if the client named one.
    case fix(Fix, answering: QueryID?)
    /// The permission that the device's owner gives the app.
    case authorization(AuthorizationReport)
    /// A visit, crossing, heading or beacon that Core Location reported to the app.
    case sighting(Sighting)
    /// A region that the user created, changed or deleted in the app.
    case waypoint(Waypoint)
    /// A well-formed message of another type, for example a status or a trip: the client's name for the type, and the
    /// members that ``Remainder`` keeps.
    case message(type: String, text: String)
    /// A message that can never become one of the others. It is kept with the reason, and acknowledged. `text` is the
    /// part of the body that it is about; `nil` means all of it.
    case rejected(RejectionReason, text: [UInt8]? = nil)

    /// Without content.
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
    /// A message with the client's own members.
    ///
    /// - Parameter members: All members except for the type.
    static func message(_ type: String, _ members: some Sequence<JSONMember>) -> Report {
        var remainder = Remainder()
        for member in members { remainder.append(member) }
        return .message(type: String(type.prefix(Limits.messageTypeCharacters)), text: remainder.take() ?? "{}")
    }

    /// The same report; a rejection is about this part of the body.
    func about(_ part: JSONValue) -> Report {
        if case .rejected(let reason, _) = self { .rejected(reason, text: part.text) } else { self }
    }
}
