extension Standing {
    /// An access token.
    package struct Token: Hashable, Sendable {
        /// The token as the log has it, with the SHA-256 of its secret.
        package let issued: AccessToken
        /// Whether it was revoked. A revoked token is refused like an unknown one.
        package internal(set) var isRevoked = false

        /// Whether the token is neither revoked nor over at `now`.
        package func isValid(at now: Timestamp) -> Bool { !isRevoked && (issued.until.map { now < $0 } ?? true) }
    }

    /// The tokens by id and by hash, also revoked ones.
    package struct Tokens: TrackedRegister {
        /// By number.
        package internal(set) var all: Tracked<TokenID, Token> = [:]
        /// The tokens that are not revoked.
        private var byHash: [Hash256: TokenID] = [:]
        /// The number of the next token.
        package internal(set) var next: Int64 = 1

        /// A token; `nil` for a number that no token has.
        package subscript(id: TokenID) -> Token? { @inline(__always) get { all[id] } }

        /// The token whose secret has this hash; `nil` also for a revoked one.
        package func hashed(_ hash: Hash256) -> TokenID? { byHash[hash] }

        /// The token of this number, if it is neither revoked nor over.
        func valid(_ id: TokenID, at now: Timestamp) -> AccessToken? {
            all[id].flatMap { $0.isValid(at: now) ? $0.issued : nil }
        }

        mutating func add(_ token: AccessToken) {
            all[token.id] = Token(issued: token)
            byHash[token.hash] = token.id
            next = max(next, token.id.rawValue + 1)
        }

        mutating func revoke(_ id: TokenID) {
            guard let known = all[id] else { return }
            all[id]?.isRevoked = true
            byHash[known.issued.hash] = nil
        }

        /// Revokes all tokens of these principals. Cost: a look at every token.
        mutating func revoke(of principals: [PrincipalID]) {
            for (id, token) in all where principals.contains(token.issued.principal) { revoke(id) }
        }
    }
}

// MARK: - Rows

// Of one token: 1 principal · 2 scopes · 3 hash · 4 end · 5 revoked · 6 the token that it was made from
extension Standing.Tokens {
    static let kind = StandingEntry.Kind.token

    static func write(_ token: Standing.Token, to fields: inout FieldWriter) {
        fields.integer(1, token.issued.principal.rawValue)
        fields.integer(2, token.issued.scopes.rawValue)
        fields.bytes(3, token.issued.hash.bytes)
        fields.timestamp(4, token.issued.until)
        fields.bool(5, token.isRevoked ? true : nil)
        fields.integer(6, token.issued.madeFrom?.rawValue)
    }

    mutating func load(_ id: TokenID, _ fields: inout FieldReader) throws(CBORError) {
        let principal = PrincipalID(rawValue: try require(try fields.integer(1)))
        let scopes = Scopes(rawValue: try require(try fields.integer(2)))
        let hash = try require(try fields.hash(3))
        let until = try fields.timestamp(4)
        let isRevoked = try fields.bool(5) ?? false
        let token = AccessToken(
            id: id, principal: principal, scopes: scopes, hash: hash, until: until,
            madeFrom: try fields.integer(6).map(TokenID.init(rawValue:)))
        all.load(id, Standing.Token(issued: token, isRevoked: isRevoked))
        if !isRevoked { byHash[hash] = id }
    }
}
