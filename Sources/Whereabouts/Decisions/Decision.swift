/// The events of a command. Draft `i` gets the number `standing.place + 1 + i`, because nothing comes between a
/// decision and its numbers.
package struct Decision: Sendable {
    /// One event without its number.
    package struct Draft: Sendable {
        /// The stream that the event continues.
        package let stream: StreamID
        /// What happens.
        package let event: Event
        /// The number of the event that led to this one; 0 without one.
        package let cause: Int64
        /// The fact of the directory that it repeats; `nil` for an event of the command's own actor and request.
        package let followed: DirectoryFacts.Item?
    }
    /// The events to append, in order.
    package internal(set) var drafts: [Draft] = []
    /// The result for the caller.
    package internal(set) var reply: CommandReply = .done
    /// The refusal that the caller gets although the drafts are appended: a recorded refusal.
    package internal(set) var refusal: Refusal?
    /// Whether the refusal is one of many in this minute, and is only counted.
    package internal(set) var isCountedRefusal = false

    /// Who led to an event: the caller of the command, or the actor of the fact that it repeats.
    package func actor(_ index: Int, of caller: Caller) -> PrincipalID {
        drafts[index].followed?.actor ?? caller.principal
    }

    /// The request that led to an event.
    package func request(_ index: Int, of request: RequestID) -> RequestID {
        drafts[index].followed?.correlation ?? request
    }

    mutating func append(
        _ event: Event, to stream: StreamID, cause: Int64 = 0, as followed: DirectoryFacts.Item? = nil
    ) {
        drafts.append(Draft(stream: stream, event: event, cause: cause, followed: followed))
    }
}
