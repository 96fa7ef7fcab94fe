/// A message of a client that the service does not interpret, for example its battery, its steps or a trip. The client
/// forgets acknowledged messages, so the service keeps them as they were sent.
package struct ClientMessage: Hashable, Sendable {
    /// The client's name for the kind of message.
    package let type: String
    /// Its members as one JSON object of at most ``Limits/remainderBytes``; possible secrets are left out.
    package let text: String
    /// The hash of both, by which a repeated message is recognized.
    package let hash: Hash256

    package init(type: String, text: String, hash: Hash256) {
        (self.type, self.text, self.hash) = (type, text, hash)
    }
}
