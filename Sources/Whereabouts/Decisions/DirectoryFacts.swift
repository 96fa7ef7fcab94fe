/// What a shard takes over from the directory.
package struct DirectoryFacts: Sendable {
    /// A fact of the directory's log: a person, a device, a token, or the end of one.
    package struct Item: Sendable {
        package let event: Event
        package let stream: StreamID
        package let actor: PrincipalID
        package let correlation: RequestID

        package init(event: Event, stream: StreamID, actor: PrincipalID, correlation: RequestID) {
            (self.event, self.stream, self.actor, self.correlation) = (event, stream, actor, correlation)
        }
    }

    /// The id of the directory's log.
    package let directory: Identifier128
    /// The shard has all facts up to this event of the directory.
    package let after: Int64
    /// With these facts, it has all up to this one.
    package let upTo: Int64
    package let items: [Item]

    package init(directory: Identifier128, after: Int64, upTo: Int64, items: [Item]) {
        (self.directory, self.after, self.upTo, self.items) = (directory, after, upTo, items)
    }

    /// The kinds of events that shards take over.
    package static let kinds: Set<EventKind> = [
        .personAdded, .personPlaced, .deviceAdded, .deviceRemoved, .tokenIssued, .tokenRevoked, .personErased,
    ]
}
