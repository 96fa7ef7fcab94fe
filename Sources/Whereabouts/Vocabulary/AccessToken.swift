/// An access token in the log: never the secret itself, only its SHA-256.
package struct AccessToken: Hashable, Sendable {
    /// The number of the token.
    package let id: TokenID
    /// The principal who acts with it: the operator, a person or a device.
    package let principal: PrincipalID
    /// Its rights.
    package let scopes: Scopes
    /// The SHA-256 of the token.
    package let hash: Hash256
    /// When the token ends; `nil` until revoked.
    package let until: Timestamp?
    /// For a session or a one-time code: the token that it goes back to, and is revoked with. `nil` if there is none,
    /// for example if the house itself made the code.
    package let madeFrom: TokenID?

    package init(
        id: TokenID, principal: PrincipalID, scopes: Scopes, hash: Hash256, until: Timestamp?,
        madeFrom: TokenID? = nil
    ) {
        (self.id, self.principal, self.scopes, self.hash, self.until) = (id, principal, scopes, hash, until)
        self.madeFrom = madeFrom
    }
}
