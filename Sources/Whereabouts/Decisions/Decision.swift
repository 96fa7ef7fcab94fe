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

        /// Who led to the event: the caller of the command, or the actor of the fact that it repeats.
        package func actor(of caller: Caller) -> PrincipalID { followed?.actor ?? caller.principal }

        /// The request that led to the event.
        package func request(of request: RequestID) -> RequestID { followed?.correlation ?? request }
    }

    /// The events of a decision, in order. The first is stored in place: most commands have one, which needs no array.
    package struct Drafts: RandomAccessCollection, Sendable {
        private var first: Draft?
        private var others: [Draft] = []

        package var startIndex: Int { 0 }
        package var endIndex: Int { first == nil ? 0 : others.count + 1 }
        // Stated here: other modules would call the general code of collections, which is slower.
        package var count: Int { endIndex }
        package var indices: Range<Int> { 0..<endIndex }

        package subscript(index: Int) -> Draft {
            guard index == 0, let first else { return others[index - 1] }
            return first
        }

        mutating func append(_ draft: Draft) { if first == nil { first = draft } else { others.append(draft) } }
    }

    /// The events to append, in order.
    package internal(set) var drafts = Drafts()
    /// The result for the caller.
    package internal(set) var reply: CommandReply = .done
    /// The refusal that the caller gets although the drafts are appended: a recorded refusal.
    package internal(set) var refusal: Refusal?
    /// Whether the refusal is one of many in this minute, and is only counted.
    package internal(set) var isCountedRefusal = false

    mutating func append(
        _ event: Event, to stream: StreamID, cause: Int64 = 0, as followed: DirectoryFacts.Item? = nil
    ) {
        drafts.append(Draft(stream: stream, event: event, cause: cause, followed: followed))
    }
}
