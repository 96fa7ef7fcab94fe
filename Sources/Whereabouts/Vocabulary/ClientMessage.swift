/// What a client said that is nothing the house has words for: its battery, its steps, the trip it thinks it made. The
/// client forgets what was acknowledged, so it is kept as it was said.
package struct ClientMessage: Hashable, Sendable {
    /// What kind of message it is, by the client's own name for it.
    package let type: String
    /// Its members as one JSON object of at most ``Limits/remainderBytes``; what may be a secret is left out.
    package let text: String
    /// Of both, by which a message sent again is known.
    package let hash: Hash256

    package init(type: String, text: String, hash: Hash256) {
        (self.type, self.text, self.hash) = (type, text, hash)
    }
}
