/// How much of a subject's location a requester may see.
package enum Precision: Int64, Sendable, CaseIterable, Comparable {
    case none = 0
    /// The center of a cell of about one kilometer; nothing else of the fix.
    case kilometer = 1
    /// Everything the fix says.
    case exact = 2

    package init?(word: String) {
        guard let match = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = match
    }

    package var word: String {
        switch self {
        case .none: "none"
        case .kilometer: "kilometer"
        case .exact: "exact"
        }
    }

    package static func < (a: Precision, b: Precision) -> Bool { a.rawValue < b.rawValue }
}

/// A subject's permission for one requester. Grants are never edited: a change is a new grant, an end a revocation.
package struct Grant: Hashable, Sendable {
    package let id: GrantID
    package let subject: PersonID
    package let requester: PersonID
    package let precision: Precision
    /// Whether the past may be read too, not only where the subject is now.
    package let includesHistory: Bool
    /// In force from this moment on; history before it stays closed. `nil`: from the time it was recorded at.
    package let from: Timestamp?
    /// No longer in force at this moment. `nil`: until revoked.
    package let until: Timestamp?

    package init(
        id: GrantID, subject: PersonID, requester: PersonID, precision: Precision, includesHistory: Bool,
        from: Timestamp?, until: Timestamp?
    ) {
        (self.id, self.subject, self.requester, self.precision) = (id, subject, requester, precision)
        (self.includesHistory, self.from, self.until) = (includesHistory, from, until)
    }

    package func isInForce(at now: Timestamp) -> Bool {
        (from.map { $0 <= now } ?? true) && (until.map { now < $0 } ?? true)
    }
}

/// What a bearer token may be used for. A token holds one or several.
package struct Scopes: OptionSet, Hashable, Sendable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    /// Report fixes of one device.
    package static let report = Scopes(rawValue: 1)
    /// Ask for and read locations as one person.
    package static let query = Scopes(rawValue: 2)
    /// Read the audit of oneself.
    package static let audit = Scopes(rawValue: 4)
    /// Make and end persons, devices, grants, regions and tokens.
    package static let manage = Scopes(rawValue: 8)
    /// Run the service; reads no person's data.
    package static let operate = Scopes(rawValue: 16)

    package static let words: [(Scopes, String)] = [
        (.report, "report"), (.query, "query"), (.audit, "audit"), (.manage, "manage"), (.operate, "operate"),
    ]

    package init?(words: [String]) {
        var scopes: Scopes = []
        for word in words {
            guard let match = Self.words.first(where: { $0.1 == word }) else { return nil }
            scopes.insert(match.0)
        }
        self = scopes
    }

    package var words: [String] { Self.words.filter { contains($0.0) }.map(\.1) }
}
