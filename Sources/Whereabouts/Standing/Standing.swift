package import Geodesy

/// What a decision may look at: who exists, what they may do, what is under way. A fold of the log like any other, kept
/// in memory by the writer, saved in its own projection, and equal to a refold at every number.
package struct Standing: Sendable {
    package struct Person: Hashable, Sendable {
        /// `nil` once the person is erased.
        package internal(set) var handle: Handle?
        package internal(set) var isErased = false
        package internal(set) var devices: [DeviceID] = []
        package internal(set) var regions: [RegionID] = []
        /// In the order set.
        package internal(set) var schedules: [ScheduleID] = []
        /// Those that are not withdrawn.
        package internal(set) var corrections: [CorrectionID: Correction] = [:]
        /// Grants about this person that are not revoked.
        package internal(set) var grants: [GrantID] = []
        package internal(set) var newestFix: NewestFix?
        /// When the last fix was taken that was in the cell of ``newestFix``, or in its margin.
        package internal(set) var inCellAt: Timestamp?
        /// In the order of time; only the last may be without an end.
        package internal(set) var pauses: [Pause] = []
        /// The newest fix when the last pause began.
        package internal(set) var newestFixBeforePause: NewestFix?
        /// Invitations that were neither taken up nor withdrawn.
        package internal(set) var invitations: [InvitationID] = []
    }

    /// The newest fix by the device's own time, and where in the log it stands.
    package struct NewestFix: Hashable, Sendable {
        package let timestamp: Timestamp
        package let number: Int64
        /// What a coarse asker sees of it.
        package let cell: HeldCell
    }

    package struct Device: Hashable, Sendable {
        package let person: PersonID
        package internal(set) var handle: Handle?
        package internal(set) var isRemoved = false
        /// No report of this device is newer than this.
        package internal(set) var newestTimestamp: Timestamp?
        package internal(set) var pushToken: PushToken?
        /// Hashes of the latest rejected reports and messages in the client's own words, oldest first.
        package internal(set) var kept: [Hash256] = []
        /// What is left of ``Limits/pushBudget``.
        package internal(set) var pushes = Allowance()
        package internal(set) var lastPushAt: Timestamp?
        /// The start of the newest push that may have woken it.
        package internal(set) var wokenAt: Timestamp?
        /// The id of a test push that was started and has no recorded outcome.
        package internal(set) var testUnderWay: QueryID?
        /// The newest by ``AuthorizationHeld/since``; `nil` as long as the device never said.
        package internal(set) var authorization: AuthorizationHeld?
        /// The ``Sighting/mark`` of each of the latest, oldest first, by which a repeated one is known.
        package internal(set) var sightings: [Int64] = []

        /// Whether the system would run the app's extension for a push. A device that never said may be able to, as a
        /// client that has no words for it (OwnTracks).
        package var mayBeWoken: Bool { authorization.map { $0.report.status == .authorizedAlways } ?? true }
    }

    package struct AuthorizationHeld: Hashable, Sendable {
        package let report: AuthorizationReport
        /// The report's own time, at most the time it was recorded at: a clock that is ahead must not outvote what comes
        /// later.
        package internal(set) var since: Timestamp
    }

    package struct PushToken: Hashable, Sendable {
        package let token: LocationPushToken
        package let environment: PushEnvironment
        package let registeredAt: Timestamp
    }

    package struct Token: Hashable, Sendable {
        package let issued: AccessToken
        package internal(set) var isRevoked = false
    }

    package struct Query: Hashable, Sendable {
        package let subject: PersonID
        package let requester: PrincipalID
        package let verdict: Verdict
        package let initiation: LocationQuery.Initiation
        /// Number of the `LocationQueried` event.
        package let number: Int64
        package let askedAt: Timestamp
        package let deadline: Timestamp
        package internal(set) var end: QueryEnd?
        /// When ``end`` was recorded.
        package internal(set) var endedAt: Timestamp?
        /// Number of the fix that answered.
        package internal(set) var fix: Int64?
        /// It was shown already: what is shown again is a read.
        package internal(set) var isDisclosed = false
        /// Of each device that a push was started to.
        package internal(set) var pushes: [Push] = []
        /// Devices that were told to report in the answer to a message of theirs.
        package internal(set) var commanded: [DeviceID] = []
        /// Set when the subject is asked first.
        package internal(set) var consent: Consent?
        /// Which pushes were withheld, each once, in the order recorded.
        package internal(set) var withheld: [Withheld] = []

        package enum Consent: Int64, Sendable {
            case asked = 1
            case given = 2
        }

        /// What a coarse asker sees of the fix that answered, if it was the newest then.
        package internal(set) var cell: HeldCell?
        /// Of a coarse question: the quarter of an hour of the newest fix that the asker could be shown when it was asked.
        package internal(set) var shownWhenAsked: Timestamp?

        /// Whether the log records that there is no device to wake.
        package internal(set) var hasNoDevice = false

        /// What is known of the pushes to one device.
        package struct Push: Hashable, Sendable {
            package enum State: Int64, Sendable {
                /// Started, without a recorded outcome.
                case underWay = 1
                /// APNs has accepted it.
                case accepted = 2
                /// Another try may follow the last recorded one: APNs did not answer, or answered 403, 429 or 5xx.
                case unsettled = 3
                /// APNs refused this device or its token.
                case refused = 4
                /// It was withdrawn or given up before another try.
                case unsent = 5
            }
            package let device: DeviceID
            /// The start of the last try.
            package internal(set) var startedAt: Timestamp
            /// The device's ``Device/wokenAt`` before that start.
            package internal(set) var wokenBefore: Timestamp?
            /// Tries so far, those counted that a restart left without a record.
            package internal(set) var tries: Int64 = 0
            package internal(set) var starts: Int64 = 1
            package internal(set) var state = State.underWay
            /// Whether APNs accepted a try, or may have accepted one.
            package internal(set) var mayHaveArrived = false
        }

        /// Whether the subject has yet to say yes: nothing is pushed, and nothing answers, before.
        package var awaitsConsent: Bool { consent == .asked }

        package struct Withheld: Hashable, Sendable {
            package let device: DeviceID
            package let reason: PushWithheld
        }
    }

    /// The service's own question about a person, again and again.
    package struct Schedule: Hashable, Sendable {
        package let person: PersonID
        package let everySeconds: Int64
        /// `nil`: until removed.
        package let until: Timestamp?
        package internal(set) var setAt: Timestamp
        package internal(set) var askedAt: Timestamp?

        /// The next moment at which it is due: whole periods after it was set, and once in each. What fell into a time
        /// without a service is not made up for.
        package var nextAt: Timestamp {
            let period = everySeconds * 1000
            let asked = ((askedAt ?? setAt).milliseconds - setAt.milliseconds) / period
            return Timestamp(milliseconds: setAt.milliseconds + (asked + 1) * period)
        }

        package func isDue(at now: Timestamp) -> Bool { nextAt <= now && (until.map { now < $0 } ?? true) }
    }

    /// A code that nobody has shown yet.
    package struct AccountInvitation: Hashable, Sendable {
        package let hash: Hash256
        package let expires: Timestamp
        /// A person, or the operator.
        package let inviter: PrincipalID

        /// Where it stands in the log.
        var stream: StreamID {
            inviter == .operator ? .house : .audit(PersonID(rawValue: inviter.rawValue))
        }
    }

    /// How often one asker was refused in the present minute.
    package struct RefusalWindow: Hashable, Sendable {
        package let since: Timestamp
        package internal(set) var recorded: Int64
    }

    /// Number of the last event folded in.
    package internal(set) var place: Int64 = 0
    package internal(set) var lastRecordedAt = Timestamp(milliseconds: .min)
    package internal(set) var persons: [PersonID: Person] = [:]
    package internal(set) var devices: [DeviceID: Device] = [:]
    package internal(set) var tokens: [TokenID: Token] = [:]
    package internal(set) var grants: [GrantID: Grant] = [:]
    package internal(set) var regions: [RegionID: Region] = [:]
    package internal(set) var invitations: [InvitationID: Invitation] = [:]
    package internal(set) var accountInvitations: [AccountInvitationID: AccountInvitation] = [:]
    package internal(set) var schedules: [ScheduleID: Schedule] = [:]
    package internal(set) var webhooks: [WebhookID: Webhook] = [:]
    package internal(set) var queries: [QueryID: Query] = [:]
    package internal(set) var refusals: [PrincipalID: RefusalWindow] = [:]
    /// By caller, in the order done; see ``KeyedRequest``.
    package internal(set) var keyedRequests: [PrincipalID: [KeyedRequest]] = [:]
    /// Who asked by a grant; gone with the last grant of the pair.
    package internal(set) var asks: [Asks.Pair: Asks] = [:]
    /// The version of each stream's newest event.
    package internal(set) var versions: [StreamID: Int64] = [:]
    package internal(set) var nextPrincipal = PrincipalID.first.rawValue
    package internal(set) var nextToken: Int64 = 1
    package internal(set) var nextGrant: Int64 = 1
    package internal(set) var nextRegion: Int64 = 1
    package internal(set) var nextInvitation: Int64 = 1
    /// The highest id of a key that the events up to ``place`` name; see ``note(key:)``.
    package private(set) var highestKey: Int64 = 0

    // Look-ups that follow from the above.
    package internal(set) var personByHandle: [Handle: PersonID] = [:]
    package internal(set) var deviceByHandle: [Handle: DeviceID] = [:]
    package internal(set) var tokenByHash: [Hash256: TokenID] = [:]
    package internal(set) var invitationByHash: [Hash256: InvitationID] = [:]
    package internal(set) var accountInvitationByHash: [Hash256: AccountInvitationID] = [:]
    /// Grants that are not revoked, by who holds them.
    package internal(set) var grantsByRequester: [PersonID: Set<GrantID>] = [:]
    /// Queries without an end, by subject.
    package internal(set) var openQueries: [PersonID: [QueryID]] = [:]
    /// Queries in the order their deadlines were set, for the timekeeper and for forgetting.
    package internal(set) var queryOrder: [QueryID] = []

    package init() {}

    /// Notes the id of a key that seals a part of an event. Later keys must have higher ids, whatever `keys.sqlite` says.
    ///
    /// Folded events do not name their keys, so the reader or sealer of an event calls this. An impossible id, as in a
    /// damaged event, is ignored.
    package mutating func note(key id: Int64) {
        if id < Self.firstImpossibleKey { highestKey = max(highestKey, id) }
    }

    /// The ids of an epoch begin at 2²⁴ times the epoch, so 16 million restores stay below this.
    private static let firstImpossibleKey: Int64 = 1 << 48

    /// The person a handle names, unless erased.
    package func person(_ handle: Handle) -> PersonID? { personByHandle[handle] }

    /// The grants of `subject` for `requester` that are not revoked, newest last.
    package func grants(of subject: PersonID, for requester: PersonID) -> [Grant] {
        (persons[subject]?.grants ?? []).compactMap { grants[$0] }.filter { $0.requester == requester }
    }

    /// The newest fix of the subject that the permit shows: of those that can be the newest, the newest.
    package func newestFix(under permit: Permit) -> NewestFix? {
        guard let person = persons[permit.subject] else { return nil }
        return [person.newestFix, person.newestFixBeforePause].compactMap { $0 }.first { permit.shows($0.timestamp) }
    }

    /// What a coarse asker sees of a fix: its cell as the fold held it. An older fix than the newest that may be shown is seen in
    /// that one's cell if it lies in it or in its margin.
    package func shownCell(of number: Int64, at coordinate: Coordinate, under permit: Permit) -> Coordinate {
        guard let newest = newestFix(under: permit), newest.number == number || newest.cell.keeps(coordinate) else {
            return KilometerCell.center(of: coordinate)
        }
        return newest.cell.center
    }

    /// What a question under a coarse grant may show; `nil` for any other.
    package func coarsePermit(of verdict: Verdict) -> Permit? {
        guard case .granted(let id) = verdict, let grant = grants[id], grant.precision < .exact,
            let person = persons[grant.subject]
        else { return nil }
        return Permit(grant, pauses: person.pauses)
    }

    /// The fix by which a coarse question ends in its last second: the newest since it was asked, if the asker sees another
    /// quarter of an hour by it than before.
    ///
    /// The moment is the question's own, so that it tells nothing about when the phone reported. At the deadline it is too
    /// late: the asker was shown that there is no answer.
    func coarseAnswer(to query: Query, at now: Timestamp) -> NewestFix? {
        let seconds = query.deadline.seconds(since: query.askedAt)
        guard query.end == nil, !query.awaitsConsent, now < query.deadline,
            query.deadline.seconds(since: now) <= min(Limits.coarseAnswerSeconds, seconds / 2),
            let permit = coarsePermit(of: query.verdict), let newest = newestFix(under: permit),
            newest.timestamp >= query.askedAt,
            query.shownWhenAsked.map({ $0 < permit.precision.shown(newest.timestamp) }) ?? true
        else { return nil }
        return newest
    }

    /// Queries that were let through after `number`, in the order asked. Cost: as many as there are.
    package func queries(askedAfter number: Int64) -> [QueryID] {
        let first = queryOrder.lastIndex { queries[$0].map { $0.number <= number } ?? false }
        return Array(queryOrder[(first.map { $0 + 1 } ?? 0)...])
    }

    /// Whether the time of an open query is up, or so nearly that a coarse one is answered.
    package func hasOverdueQuery(_ questionTime: QuestionTime) -> Bool {
        openQueries.values.contains { ids in
            ids.contains { id in
                guard let query = queries[id] else { return false }
                let time = questionTime(id, query)
                return query.isOverdue(at: time) || coarseAnswer(to: query, at: time) != nil
            }
        }
    }
}
