/// How much of a subject's location a requester may see.
package enum Precision: Int64, Sendable, CaseIterable, Comparable {
    case none = 0
    /// The name of the place alone, without a coordinate: the person's own name for it, or its city, town or village.
    case place = 4
    /// The center of the city, town or village that contains it, and nothing else of the fix.
    case city = 3
    /// The center of a cell of about one kilometer, and nothing else of the fix.
    case kilometer = 1
    /// All values of the fix.
    case exact = 2

    /// `nil` for an unknown word. Upper and lower case differ.
    package init?(word: String) {
        guard let match = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = match
    }

    /// The word in requests and answers.
    package var word: String {
        switch self {
        case .none: "none"
        case .place: "place"
        case .city: "city"
        case .kilometer: "kilometer"
        case .exact: "exact"
        }
    }

    /// The less is visible, the lower. The numbers in events are in the order in which the precisions were introduced.
    private var rank: Int {
        switch self {
        case .none: 0
        case .place: 1
        case .city: 2
        case .kilometer: 3
        case .exact: 4
        }
    }

    package static func < (a: Precision, b: Precision) -> Bool { a.rank < b.rank }
}

/// The terms of a grant: the precision and the times of the shown data.
package struct GrantTerms: Hashable, Sendable {
    /// How exactly the location is shown.
    package let precision: Precision
    /// Whether the past is visible, and not only the newest location.
    package let includesHistory: Bool
    /// Whether the subject must consent to each question.
    package let asksEachTime: Bool
    /// When the grant begins; earlier history stays hidden. `nil` begins at the time of recording and, with history,
    /// shows everything before too.
    package let from: Timestamp?
    /// When the grant ends; `nil` until revoked.
    package let until: Timestamp?
    /// The hours in which the grant is valid, and to which history is limited; `nil` for all hours.
    package let hours: WeeklyHours?

    package init(
        precision: Precision, includesHistory: Bool = false, asksEachTime: Bool = false, from: Timestamp? = nil,
        until: Timestamp? = nil, hours: WeeklyHours? = nil
    ) {
        (self.precision, self.includesHistory, self.asksEachTime) = (precision, includesHistory, asksEachTime)
        (self.from, self.until, self.hours) = (from, until, hours)
    }
}

/// A subject's permission for one requester. A grant is never edited: a change is a new grant, an end is a revocation.
package struct Grant: Hashable, Sendable {
    /// The personal part of a grant, sealed under the subject's key.
    package struct Detail: Hashable, Sendable {
        /// The name that the subject gave, if no person had it.
        package let name: Handle?
        /// The hours in which the grant is valid; `nil` for all hours.
        package let hours: WeeklyHours?

        package init(name: Handle?, hours: WeeklyHours?) { (self.name, self.hours) = (name, hours) }
    }

    /// The number of the grant.
    package let id: GrantID
    /// The person whose location it shows.
    package let subject: PersonID
    /// `nil` if no person had the given name: the grant then never gets a holder.
    package let requester: PersonID?
    /// How exactly the location is shown.
    package let precision: Precision
    /// Whether the past is visible, and not only the newest location.
    package let includesHistory: Bool
    /// Whether the subject must consent to each question.
    package let asksEachTime: Bool
    /// When it begins; earlier data stays hidden. `nil` shows everything before too, with history.
    package let from: Timestamp?
    /// When it ends; `nil` until revoked.
    package let until: Timestamp?
    /// The invitation that the requester redeemed.
    package let invitation: InvitationID?
    /// `nil` if there is none. If it can no longer be read, the grant is no longer valid.
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

    /// A grant with these terms.
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

    /// The weekly hours; `nil` for all hours.
    package var hours: WeeklyHours? { detail?.content?.hours }

    /// Whether the grant is valid at `now`: not before its beginning or after its end, within its hours, and readable.
    package func isInForce(at now: Timestamp) -> Bool {
        if let detail {
            guard case .open(let detail) = detail, detail.hours?.contains(now) ?? true else { return false }
        }
        return (from.map { $0 <= now } ?? true) && (until.map { now < $0 } ?? true)
    }
}

/// A time in which a person shared nothing: data from it is never shown, as if all their phones had been switched off.
package struct Pause: Hashable, Sendable {
    /// When it began.
    package let from: Timestamp
    /// `nil` until sharing is resumed.
    package var until: Timestamp?

    package init(from: Timestamp, until: Timestamp?) { (self.from, self.until) = (from, until) }

    /// Whether the pause covers a time.
    package func contains(_ moment: Timestamp) -> Bool { from <= moment && (until.map { moment < $0 } ?? true) }
}

/// The rights of a bearer token, one or several.
package struct Scopes: OptionSet, Hashable, Sendable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    /// Report fixes of one device.
    package static let report = Scopes(rawValue: 1)
    /// Ask for and read locations, as one person.
    package static let query = Scopes(rawValue: 2)
    /// Read the person's own audit.
    package static let audit = Scopes(rawValue: 4)
    /// Make and end persons, devices, grants, regions and tokens.
    package static let manage = Scopes(rawValue: 8)
    /// Run the service; gives no access to persons' data.
    package static let operate = Scopes(rawValue: 16)
    /// Marks a session of the web page: the secret is good only as the page's cookie.
    package static let session = Scopes(rawValue: 32)
    /// Marks a one-time code: good only to open a session with the other scopes.
    package static let signIn = Scopes(rawValue: 64)
    /// Check the log as an appointed auditor: hashes and the clear columns of events, and nothing else.
    package static let inspect = Scopes(rawValue: 128)

    /// Each scope with its word in requests and answers.
    package static let words: [(Scopes, String)] = [
        (.report, "report"), (.query, "query"), (.audit, "audit"), (.manage, "manage"), (.operate, "operate"),
        (.session, "session"), (.signIn, "sign-in"), (.inspect, "inspect"),
    ]

    /// The scopes of these words; `nil` if one is unknown.
    package init?(words: [String]) {
        var scopes: Scopes = []
        for word in words {
            guard let match = Self.words.first(where: { $0.1 == word }) else { return nil }
            scopes.insert(match.0)
        }
        self = scopes
    }

    /// The words of its scopes in requests and answers.
    package var words: [String] { Self.words.filter { contains($0.0) }.map(\.1) }
}
