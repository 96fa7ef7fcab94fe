package import Geodesy

/// The state that decisions read: who exists, what they may do, and what is under way. It is a fold of the log like any
/// other. The writer keeps it in memory, a file saves it between starts, and it equals a refold at every number.
package struct Standing: Sendable, Equatable {
    /// A person, with their settings.
    package struct Person: Hashable, Sendable {
        /// `nil` once the person is erased.
        package internal(set) var handle: Handle?
        /// Whether the person was erased. The entry stays, so that their number never means another person.
        package internal(set) var isErased = false
        /// All devices that the person ever had.
        package internal(set) var devices: [DeviceID] = []
        /// The regions that are not removed.
        package internal(set) var regions: [RegionID] = []
        /// In the order in which they were set.
        package internal(set) var schedules: [ScheduleID] = []
        /// The corrections that are not withdrawn.
        package internal(set) var corrections: [CorrectionID: Correction] = [:]
        /// The numbers of the fixes that are withdrawn.
        package internal(set) var withdrawn = NumberSet()
        /// The number of the last event that withdrew fixes; 0 without one.
        package internal(set) var withdrawnThrough: Int64 = 0
        /// The grants about this person that are not revoked.
        package internal(set) var grants: [GrantID] = []
        /// The newest usable fix of all devices, also if it is withdrawn; `nil` without one.
        package internal(set) var newestFix: NewestFix?
        /// When the last fix was taken that was in the cell of ``newestFix`` or in its margin.
        package internal(set) var inCellAt: Timestamp?
        /// In order of time; only the last may have no end.
        package internal(set) var pauses: [Pause] = []
        /// The newest fix when the last pause began.
        package internal(set) var newestFixBeforePause: NewestFix?
        /// The invitations that were neither redeemed nor withdrawn.
        package internal(set) var invitations: [InvitationID] = []
        /// The root of the invitation tree; `nil` for a person whose account no person invited, who is a root.
        package internal(set) var root: PersonID?
        /// The rest of ``Limits/accountInvitationsPerInviter``.
        package internal(set) var accountInvitations = Allowance()
        /// The rest of ``Limits/accountInvitationsPerTree``, for a root.
        package internal(set) var accountInvitationsOfTree = Allowance()

        /// The newest usable fix; `nil` if it is withdrawn, until a newer one comes.
        package var countedFix: NewestFix? { newestFix.flatMap { withdrawn.contains($0.number) ? nil : $0 } }
    }

    /// The newest fix by the device's time, with its place in the log.
    package struct NewestFix: Hashable, Sendable {
        /// The device's time of the fix.
        package let timestamp: Timestamp
        /// The number of its event.
        package let number: Int64
        /// The cell in which a coarse grant shows it.
        package let cell: HeldCell
    }

    /// A device of a person.
    package struct Device: Hashable, Sendable {
        /// The owner.
        package let person: PersonID
        /// `nil` once the owner is erased.
        package internal(set) var handle: Handle?
        /// Whether the device was removed; its tokens ended with it.
        package internal(set) var isRemoved = false
        /// No report of this device is newer than this.
        package internal(set) var newestTimestamp: Timestamp?
        /// The token that wakes the device; `nil` without one.
        package internal(set) var pushToken: PushToken?
        /// The hashes of the latest rejected reports and messages, oldest first, to recognize repeats.
        package internal(set) var kept: [Hash256] = []
        /// The rest of ``Limits/pushBudget``.
        package internal(set) var pushes = Allowance()
        /// When the last push was started.
        package internal(set) var lastPushAt: Timestamp?
        /// The start of the newest push that may have woken it.
        package internal(set) var wokenAt: Timestamp?
        /// The id of a test push that was started and has no recorded outcome.
        package internal(set) var testUnderWay: QueryID?
        /// The newest by ``AuthorizationHeld/since``; `nil` if the device never reported one.
        package internal(set) var authorization: AuthorizationHeld?
        /// The ``Sighting/mark`` of the latest sightings, oldest first, to recognize repeats.
        package internal(set) var sightings: [Int64] = []

        /// Whether the system would run the app's extension for a push. `true` for a device that never reported it, for
        /// example one with OwnTracks, whose messages have no field for it.
        package var mayBeWoken: Bool { authorization.map { $0.report.status == .authorizedAlways } ?? true }
    }

    /// The authorization that a device reported.
    package struct AuthorizationHeld: Hashable, Sendable {
        package let report: AuthorizationReport
        /// The report's own time, at most the time at which it was recorded: a clock that is ahead must not outrank
        /// later reports.
        package internal(set) var since: Timestamp
    }

    /// The push token that a device registered.
    package struct PushToken: Hashable, Sendable {
        package let token: LocationPushToken
        /// Apple's environment, to which the token belongs.
        package let environment: PushEnvironment
        /// When the device last registered it.
        package let registeredAt: Timestamp
    }

    /// An access token.
    package struct Token: Hashable, Sendable {
        /// The token as the log has it, with the SHA-256 of its secret.
        package let issued: AccessToken
        /// Whether it was revoked. A revoked token is refused like an unknown one.
        package internal(set) var isRevoked = false
    }

    /// A location query that was allowed.
    package struct Query: Hashable, Sendable {
        package let subject: PersonID
        /// The principal who asked, who alone may read the answer.
        package let requester: PrincipalID
        /// Why it was permitted when it was asked.
        package let verdict: Verdict
        package let initiation: LocationQuery.Initiation
        /// The number of the `LocationQueried` event.
        package let number: Int64
        /// When the question was recorded.
        package let askedAt: Timestamp
        /// When it ends unanswered, by the house's clock.
        package let deadline: Timestamp
        /// How the query ended; `nil` while it is open.
        package internal(set) var end: QueryEnd?
        /// When ``end`` was recorded.
        package internal(set) var endedAt: Timestamp?
        /// The number of the fix that answered.
        package internal(set) var fix: Int64?
        /// Whether the answer has been shown: to show it again counts as a read.
        package internal(set) var isDisclosed = false
        /// The pushes to each device for which one was started.
        package internal(set) var pushes: [Push] = []
        /// The devices that were told to report in the answer to a message of theirs.
        package internal(set) var commanded: [DeviceID] = []
        /// The state of consent, if the grant requires it.
        package internal(set) var consent: Consent?
        /// The pushes that were withheld, each once, in the order recorded.
        package internal(set) var withheld: [Withheld] = []

        /// The state of the subject's consent.
        package enum Consent: Int64, Sendable {
            case asked = 1
            case given = 2
        }

        /// The cell in which a coarse grant shows the fix that answered, if it was the newest then.
        package internal(set) var cell: HeldCell?
        /// For a coarse query: the quarter of an hour of the newest fix that the requester could be shown when asking.
        package internal(set) var shownWhenAsked: Timestamp?

        /// Whether the log records that there is no device to wake.
        package internal(set) var hasNoDevice = false

        /// The pushes to one device.
        package struct Push: Hashable, Sendable {
            /// The state of the pushes to one device.
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
            /// The device to wake.
            package let device: DeviceID
            /// The start of the last try.
            package internal(set) var startedAt: Timestamp
            /// The device's ``Device/wokenAt`` before that start.
            package internal(set) var wokenBefore: Timestamp?
            /// The tries so far, including those that a restart left without a record.
            package internal(set) var tries: Int64 = 0
            /// How often the push was started; a restart can start it once more.
            package internal(set) var starts: Int64 = 1
            /// The state after the last recorded try.
            package internal(set) var state = State.underWay
            /// Whether APNs accepted a try, or may have accepted one.
            package internal(set) var mayHaveArrived = false
        }

        /// Whether the subject has yet to consent: before that nothing is pushed, and nothing answers.
        package var awaitsConsent: Bool { consent == .asked }

        /// A push that was withheld, and why.
        package struct Withheld: Hashable, Sendable {
            package let device: DeviceID
            package let reason: PushWithheld
        }
    }

    /// A query that the service itself asks at intervals.
    package struct Schedule: Hashable, Sendable {
        /// The person to ask for.
        package let person: PersonID
        /// The interval in seconds.
        package let everySeconds: Int64
        /// `nil` until removed.
        package let until: Timestamp?
        /// When the schedule was set; its intervals count from then.
        package internal(set) var setAt: Timestamp
        /// When the schedule last asked; `nil` before the first time.
        package internal(set) var askedAt: Timestamp?

        /// When it is next due: whole intervals after it was set, once in each. Intervals without a running service are
        /// not made up for.
        package var nextAt: Timestamp {
            let period = everySeconds * 1000
            let asked = ((askedAt ?? setAt).milliseconds - setAt.milliseconds) / period
            return Timestamp(milliseconds: setAt.milliseconds + (asked + 1) * period)
        }

        /// Whether it is due at `now`.
        package func isDue(at now: Timestamp) -> Bool { nextAt <= now && (until.map { now < $0 } ?? true) }
    }

    /// An invitation to an account whose code has not been redeemed.
    package struct AccountInvitation: Hashable, Sendable {
        /// The SHA-256 of the code.
        package let hash: Hash256
        /// The code is refused from this time on.
        package let expires: Timestamp
        /// A person, or the operator.
        package let inviter: PrincipalID

        /// The stream of its events.
        var stream: StreamID {
            inviter == .operator ? .house : .audit(PersonID(rawValue: inviter.rawValue))
        }
    }

    /// The refusals of one requester in the present minute.
    package struct RefusalWindow: Hashable, Sendable {
        /// When the minute began.
        package let since: Timestamp
        /// The refusals recorded one by one.
        package internal(set) var recorded: Int64
    }

    /// The number of the last event folded.
    package internal(set) var place: Int64 = 0
    /// When the newest event was recorded, by the house's clock.
    package internal(set) var lastRecordedAt = Timestamp(milliseconds: .min)
    /// The persons, also erased ones.
    package internal(set) var persons: Tracked<PersonID, Person> = [:]
    /// The devices, also removed ones.
    package internal(set) var devices: Tracked<DeviceID, Device> = [:]
    /// The tokens, also revoked ones.
    package internal(set) var tokens: Tracked<TokenID, Token> = [:]
    /// The grants that are not revoked. A query may still name a revoked one.
    package internal(set) var grants: Tracked<GrantID, Grant> = [:]
    package internal(set) var regions: Tracked<RegionID, Region> = [:]
    package internal(set) var invitations: [InvitationID: Invitation] = [:]
    package internal(set) var accountInvitations: [AccountInvitationID: AccountInvitation] = [:]
    package internal(set) var schedules: [ScheduleID: Schedule] = [:]
    package internal(set) var webhooks: [WebhookID: Webhook] = [:]
    package internal(set) var links = ShareLinks()
    /// The queries under way, and those that ended not long ago (``Limits/endedQueryKeptSeconds``).
    package internal(set) var queries: [QueryID: Query] = [:]
    package internal(set) var refusals: [PrincipalID: RefusalWindow] = [:]
    /// The requests with a key by caller, in the order done; see ``KeyedRequest``.
    package internal(set) var keyedRequests: [PrincipalID: [KeyedRequest]] = [:]
    /// The allowances of requesters by grant; removed with the last grant of the pair.
    package internal(set) var asks: [Asks.Pair: Asks] = [:]
    /// The version of each stream's newest event.
    package internal(set) var versions: Tracked<StreamID, Int64> = [:]
    /// The number of the next person or device.
    package internal(set) var nextPrincipal = PrincipalID.first.rawValue
    package internal(set) var nextToken: Int64 = 1
    package internal(set) var nextGrant: Int64 = 1
    package internal(set) var nextRegion: Int64 = 1
    package internal(set) var nextInvitation: Int64 = 1
    /// The highest id of a key that the events up to ``place`` name; see ``note(key:)``.
    package private(set) var highestKey: Int64 = 0

    // Indexes into the above.
    package internal(set) var personByHandle: [Handle: PersonID] = [:]
    package internal(set) var deviceByHandle: [Handle: DeviceID] = [:]
    package internal(set) var tokenByHash: [Hash256: TokenID] = [:]
    package internal(set) var invitationByHash: [Hash256: InvitationID] = [:]
    package internal(set) var accountInvitationByHash: [Hash256: AccountInvitationID] = [:]
    /// The grants that are not revoked, by requester.
    package internal(set) var grantsByRequester: [PersonID: Set<GrantID>] = [:]
    /// The queries without an end, by subject.
    package internal(set) var openQueries: [PersonID: [QueryID]] = [:]
    /// The number of queries in ``openQueries``.
    package internal(set) var openQueryCount = 0
    /// The queries in the order in which they were asked, for the timekeeper and for forgetting.
    package internal(set) var queryOrder: [QueryID] = []

    /// The standing of an empty log.
    package init() {}

    /// Notes the id of a key that seals a part of an event. Later keys must have higher ids, whatever `keys.sqlite`
    /// says.
    ///
    /// Folded events do not name their keys, so the reader or sealer of an event calls this. An impossible id, as in a
    /// damaged event, is ignored.
    package mutating func note(key id: Int64) {
        if id < Self.firstImpossibleKey { highestKey = max(highestKey, id) }
    }

    /// The ids of an epoch begin at 2²⁴ times the epoch, so 16 million restores stay below this.
    private static let firstImpossibleKey: Int64 = 1 << 48

    /// The person with this handle; `nil` also for an erased one.
    package func person(_ handle: Handle) -> PersonID? { personByHandle[handle] }

    /// The persons who were erased. Cost: a look at every person.
    package var erasedPersons: Set<PersonID> { Set(persons.lazy.filter(\.value.isErased).map(\.key)) }

    /// The first people by handle after this one. Cost: a look at every handle, about 20 ms for a million.
    package func handles(after: String?, limit: Int) -> [(handle: Handle, person: PersonID)] {
        var first: [(handle: Handle, person: PersonID)] = []
        for (handle, person) in personByHandle {
            if let after, handle.text <= after { continue }
            if first.count >= limit, let last = first.last, last.handle <= handle { continue }
            var (low, high) = (0, first.count)
            while low < high {
                let middle = (low + high) / 2
                if first[middle].handle < handle { low = middle + 1 } else { high = middle }
            }
            first.insert((handle, person), at: low)
            if first.count > limit { first.removeLast() }
        }
        return first
    }

    /// The grants of `subject` for `requester` that are not revoked, newest last.
    package func grants(of subject: PersonID, for requester: PersonID) -> [Grant] {
        (persons[subject]?.grants ?? []).compactMap { grants[$0] }.filter { $0.requester == requester }
    }

    /// The newest fix of the subject that the permit shows, of those that can be the newest.
    package func newestFix(under permit: Permit) -> NewestFix? {
        guard let person = persons[permit.subject] else { return nil }
        return [person.newestFix, person.newestFixBeforePause].compactMap { $0 }.first {
            permit.shows($0.timestamp) && !person.withdrawn.contains($0.number)
        }
    }

    /// The cell in which a coarse grant shows a fix, as the fold keeps it. A fix older than the newest visible one is
    /// shown in that one's cell if it is in the cell or its margin.
    package func shownCell(of number: Int64, at coordinate: Coordinate, under permit: Permit) -> Coordinate {
        guard let newest = newestFix(under: permit), newest.number == number || newest.cell.keeps(coordinate) else {
            return KilometerCell.center(of: coordinate)
        }
        return newest.cell.center
    }

    /// The permit of a query by a coarse grant; `nil` for any other.
    package func coarsePermit(of verdict: Verdict) -> Permit? {
        guard case .granted(let id) = verdict, let grant = grants[id], grant.precision < .exact,
            let person = persons[grant.subject]
        else { return nil }
        return Permit(grant, pauses: person.pauses)
    }

    /// The fix that ends a coarse query in its last second: the newest since it was asked, if it shows the requester
    /// another quarter of an hour.
    ///
    /// This moment depends on the query alone, so it does not disclose when the phone reported. At the deadline it is
    /// too late: the requester has been shown that there is no answer.
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

    /// The allowed queries after `number`, in the order asked. Cost: linear in their number.
    package func queries(askedAfter number: Int64) -> [QueryID] {
        let first = queryOrder.lastIndex { queries[$0].map { $0.number <= number } ?? false }
        return Array(queryOrder[(first.map { $0 + 1 } ?? 0)...])
    }

    /// Whether the deadline of an open query has passed, or is so close that a coarse one is answered.
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
