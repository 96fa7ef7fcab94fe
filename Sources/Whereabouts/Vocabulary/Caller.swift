/// The caller of a request, with the rights of the credentials.
package struct Caller: Hashable, Sendable {
    /// The operator, a person, a device or the service itself.
    package let principal: PrincipalID
    /// The rights of the token.
    package let scopes: Scopes
    /// The token that was used; `nil` for the house itself. The writer checks again whether it is still valid.
    package let token: TokenID?

    package init(principal: PrincipalID, scopes: Scopes, token: TokenID?) {
        (self.principal, self.scopes, self.token) = (principal, scopes, token)
    }

    /// The service's own reactors.
    package static let house = Caller(principal: .house, scopes: [], token: nil)
}
