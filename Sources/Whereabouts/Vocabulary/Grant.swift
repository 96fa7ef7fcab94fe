/// How much of a subject's location a requester may see.
package enum Precision: Int64, Sendable, CaseIterable, Comparable {
    case none = 0
    /// The middle of the city, town or village it lies in; nothing else of the fix.
    case city = 3
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
        case .city: "city"
        case .kilometer: "kilometer"
        case .exact: "exact"
        }
    }

    /// The less is seen, the lower; the numbers in events follow the order of their invention.
    private var rank: Int {
        switch self {
        case .none: 0
        case .city: 1
        case .kilometer: 2
        case .exact: 3
        }
    }

    package static func < (a: Precision, b: Precision) -> Bool { a.rank < b.rank }
}

/// What a grant lets its requester see, and when.
package struct GrantTerms: Hashable, Sendable {
    package let precision: Precision
    /// Whether the past may be read too, not only where the subject is now.
    package let includesHistory: Bool
    /// Whether the subject answers each question before it is passed on.
    package let asksEachTime: Bool
    /// In force from this moment on; history before it stays closed. `nil`: from the time it was recorded at, and history
    /// before it is open where history is included at all.
    package let from: Timestamp?
    /// No longer in force at this moment. `nil`: until revoked.
    package let until: Timestamp?
    /// In force in these hours only; nothing from outside them is shown. `nil`: at all hours.
    package let hours: WeeklyHours?

    package init(
        precision: Precision, includesHistory: Bool = false, asksEachTime: Bool = false, from: Timestamp? = nil,
        until: Timestamp? = nil, hours: WeeklyHours? = nil
    ) {
        (self.precision, self.includesHistory, self.asksEachTime) = (precision, includesHistory, asksEachTime)
        (self.from, self.until, self.hours) = (from, until, hours)
    }
}

/// A subject's permission for one requester. Grants are never edited: a change is a new grant, an end a revocation.
package struct Grant: Hashable, Sendable {
    /// What of a grant is personal, sealed under the subject's key.
    package struct Detail: Hashable, Sendable {
        /// The name the subject gave when nobody of that name existed.
        package let name: Handle?
        package let hours: WeeklyHours?

        package init(name: Handle?, hours: WeeklyHours?) { (self.name, self.hours) = (name, hours) }
    }

    package let id: GrantID
    package let subject: PersonID
    /// `nil` when nobody of the name given existed: the grant stands, and is nobody's for ever.
    package let requester: PersonID?
    package let precision: Precision
    package let includesHistory: Bool
    package let asksEachTime: Bool
    package let from: Timestamp?
    package let until: Timestamp?
    /// The invitation that was taken up with it.
    package let invitation: InvitationID?
    /// `nil` when there is none to say. Once it cannot be read the grant is in force no more.
    package let detail: Part<Detail>?

    package init(
        id: GrantID, subject: PersonID, requester: PersonID?, precision: Precision, includesHistory: Bool,
        from: Timestamp?, until: Timestamp?, asksEachTime: Bool = false, invitation: InvitationID? = nil,
        detail: Part<Detail>? = nil
    ) {
        (self.id, self.subject, self.requester, self.precision) = (id, subject, requester, precision)
        (self.includesHistory, self.asksEachTime, self.invitation) = (includesHistory, asksEachTime, invitation)
        (self.from, self.until, self.detail) = (from, until, detail)
    }

    /// A grant of these terms.
    package init(
        id: GrantID, subject: PersonID, requester: PersonID?, name: Handle? = nil, _ terms: GrantTerms,
        invitation: InvitationID? = nil
    ) {
        let hasDetail = terms.hours != nil || name != nil
        self.init(
            id: id, subject: subject, requester: requester, precision: terms.precision,
            includesHistory: terms.includesHistory, from: terms.from, until: terms.until,
            asksEachTime: terms.asksEachTime, invitation: invitation,
            detail: hasDetail ? .open(Detail(name: name, hours: terms.hours)) : nil)
    }

    package var hours: WeeklyHours? { detail?.content?.hours }

    package func isInForce(at now: Timestamp) -> Bool {
        if let detail {
            guard case .open(let detail) = detail, detail.hours?.contains(now) ?? true else { return false }
        }
        return (from.map { $0 <= now } ?? true) && (until.map { now < $0 } ?? true)
    }
}

/// A stretch in which a person shared nothing with anybody: what is from it is never shown, as if every phone of theirs
/// had been switched off.
package struct Pause: Hashable, Sendable {
    package let from: Timestamp
    /// `nil`: until resumed.
    package var until: Timestamp?

    package init(from: Timestamp, until: Timestamp?) { (self.from, self.until) = (from, until) }

    package func contains(_ moment: Timestamp) -> Bool { from <= moment && (until.map { moment < $0 } ?? true) }
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
