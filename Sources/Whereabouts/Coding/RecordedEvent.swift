/// An event with its place in the log.
package struct RecordedEvent: Sendable {
    /// 1, 2, 3 and so on, in commit order.
    package let number: Int64
    /// The stream that it belongs to.
    package let stream: StreamID
    /// 1, 2, 3 and so on, in the stream.
    package let version: Int64
    /// The house's time at which it was numbered.
    package let recordedAt: Timestamp
    /// The principal whose command led to it.
    package let actor: PrincipalID
    /// The request that led to it.
    package let correlation: RequestID
    /// The number of the event that led to this one; 0 without one.
    package let cause: Int64
    /// The event itself.
    package let event: Event

    package init(
        number: Int64, stream: StreamID, version: Int64, recordedAt: Timestamp, actor: PrincipalID,
        correlation: RequestID, cause: Int64, event: consuming Event
    ) {
        (self.number, self.stream, self.version, self.recordedAt) = (number, stream, version, recordedAt)
        (self.actor, self.correlation, self.cause, self.event) = (actor, correlation, cause, event)
    }
}
