/// The state that decisions read: persons and devices, their rights, and open questions. It is a fold of the log like
/// any other. The writer keeps it in memory, a file saves it between starts, and it equals a refold at every number.
///
/// It consists of registers, one for each subject. The file of a register has its table and its indexes, its changes by
/// events, its rest after an erasure, and its rows in the saved standing. Registers are changed in place.
package struct Standing: Sendable, Equatable {
    /// How far the log is folded.
    package internal(set) var progress = Progress()
    /// The persons, also erased ones.
    package internal(set) var persons = Persons()
    /// The devices, also removed ones.
    package internal(set) var devices = Devices()
    /// The access tokens, also revoked ones.
    package internal(set) var tokens = Tokens()
    /// The grants that are not revoked.
    package internal(set) var grants = Grants()
    /// The invitations whose codes can be redeemed.
    package internal(set) var invitations = Invitations()
    /// The regions of all persons.
    package internal(set) var regions = Regions()
    /// The queries that the service asks at intervals.
    package internal(set) var schedules = Schedules()
    /// The targets that persons' feeds are posted to.
    package internal(set) var webhooks = Webhooks()
    /// The share links of all persons, also ended ones.
    package internal(set) var links = ShareLinks()
    /// The queries under way, and those that ended not long ago.
    package internal(set) var queries = Queries()
    /// The requests that count against a limit or can be repeated.
    package internal(set) var requests = Requests()

    /// How long reports are kept.
    package internal(set) var retention: Retention {
        get { persons.retention }
        _modify { yield &persons.retention }
    }

    /// The keys with which fixes are sealed end to end.
    package internal(set) var sealingKeys: SealingKeys {
        get { persons.sealingKeys }
        _modify { yield &persons.sealingKeys }
    }

    /// The standing of an empty log.
    package init() {}
}

// MARK: - The fold

extension Standing {
    /// Folds one event. Events must come in the order of their numbers, without gaps.
    package mutating func fold(_ recorded: RecordedEvent) {
        progress.note(recorded)
        retention.note(recorded.number, at: recorded.recordedAt)
        keep(keyed: recorded)
        let now = recorded.recordedAt
        let (number, person) = (recorded.number, recorded.stream.person)
        switch recorded.event {
        case .personAdded(let id, let handle):
            persons.add(id, handle.content, root: root(causedBy: recorded.cause))
        case .personErased(let id): erase(id)
        case .retentionSet(_, let days): retention.set(days, for: person, by: number)
        case .retentionApplied(let applied, let kept):
            if let person { apply(applied, kept, to: person, at: now) }
        case .deviceAdded(let id, let owner, let handle): add(id, of: owner, handle.content)
        case .deviceRemoved(let id): remove(id)
        case .tokenIssued(let token): tokens.add(token)
        case .tokenRevoked(let id): tokens.revoke(id)
        case .grantGiven(let grant): give(grant)
        case .grantRevoked(let id): revoke(id)
        case .sharingPaused(let id, let until): persons[id]?.pause(until: until, at: now)
        case .sharingResumed(let id): persons[id]?.endPause(at: now)
        case .invitationMade(let invitation): make(invitation)
        case .invitationWithdrawn(let id): close(id)
        case .invitationRefused(let caller): requests.countRefusal(by: caller, at: now)
        case .accountInvitationMade(let hash, let expires):
            make(AccountInvitationID(rawValue: number), hash: hash, expires: expires, by: person, at: now)
        case .accountInvitationClosed(let id): invitations.remove(id)
        case .regionAdded(let id, let region): add(id, region.content, of: person)
        case .regionRemoved(let id): remove(id, of: person)
        case .scheduleSet(let seconds, let until):
            guard let person else { break }
            set(
                ScheduleID(rawValue: number),
                Schedule(person: person, everySeconds: seconds, until: until, setAt: now, askedAt: nil))
        case .scheduleRemoved(let id): remove(id)
        case .webhookAdded(let token, let topics, let terms, _): addWebhook(recorded, token, topics, terms)
        case .webhookConfirmed(let id): webhooks[id]?.confirm(by: number)
        case .webhookRemoved(let id): webhooks.remove(id)
        case .webhookSettled(let id, let settlement): webhooks[id]?.settle(settlement)
        case .webhookFailed(let failure): webhooks[failure.webhook]?.note(failure, as: DeadLetterID(rawValue: number))
        case .phoneFellSilent(let silence): devices.change(silence.device) { $0.reports.note(silence) }
        case .linkAdded(let link): add(link, in: recorded.stream)
        case .linkOpened(let id): links.open(id, at: now)
        case .linkEnded(let id): links.end(id)
        case .correctionMade(let correction):
            guard let person, let correction = correction.content else { break }
            persons[person]?.corrections[CorrectionID(rawValue: number)] = correction
        case .correctionWithdrawn(let id): if let person { persons[person]?.corrections[id] = nil }
        case .fixesWithdrawn(let fixes, _), .visitsWithdrawn(let fixes, _):
            if let person { persons[person]?.withdraw(fixes, at: number) }
            persons.imports.note(revisedBy: recorded, isWithdrawal: true)
        case .fixesRestored(let fixes, _), .visitsRestored(let fixes, _):
            if let person { persons[person]?.withdrawn.numbers.remove(fixes.numbers) }
            persons.imports.note(revisedBy: recorded, isWithdrawal: false)
        case .importBegan(let id, let file): persons.imports.begin(recorded, id, file.content)
        case .importEnded(let counts, let fault): persons.imports.end(recorded, counts, fault)
        case .fixReported(let device, _, let part): foldFix(recorded, device: device, part)
        case .sealedFixReported(let device, _, _): foldSealed(recorded, device: device)
        case .inputRejected(let device, _, _, let input): devices[device]?.reports.keep(input.content?.hash)
        case .messageReported(let device, let message): devices[device]?.reports.keep(message.content?.hash)
        case .sightingReported(let device, _, let sighting):
            if let sighting = sighting.content { devices[device]?.reports.remember(sighting) }
        case .authorizationReported(let device, let report):
            if let report = report.content { devices[device]?.note(report, at: now) }
        case .locationPushTokenRegistered(let device, let environment, let token):
            devices[device]?.push.token = token.content.map {
                PushToken(token: $0, environment: environment, registeredAt: now)
            }
        case .locationPushTokenRetired(let device, _): devices[device]?.push.token = nil
        case .locationQueried(let query): foldQuery(recorded, query)
        case .consentAsked(let query): queries.change(query) { $0.consent = .asked }
        case .consentGiven(let query): queries.change(query) { $0.consent = .given }
        case .locationPushStarted(let query, let device): startPush(query, device, at: now)
        case .locationPushAttempted(let attempt): note(attempt)
        case .locationPushWithheld(let query, let reason):
            if reason == .noDevice { queries.change(query) { $0.waking.hasNoDevice = true } }
        case .locationPushTested(let attempt): devices.note(attempt, at: now)
        case .locationReportCommanded(let query, let device):
            queries.change(query) { $0.waking.commanded.append(device) }
        case .locationQueryEnded(let id, let end, let fix): self.end(id, end, fix: fix, at: now)
        case .locationDisclosed(let disclosure): fold(disclosure)
        case .locationRead(let read): foldRead(recorded, read)
        case .refusalsCounted(let caller, _, _): requests.forgetRefusals(of: caller)
        case .clockSteppedBack(let milliseconds): follow(clockSteppedBackBy: milliseconds)
        // A restored log is a file.
        case .logRestored(_, let mark): (progress.mark, progress.logPlace) = (mark, .sqlite)
        case .lossAccepted(_, _, _, let mark): progress.mark = mark
        case .logMoved(let place): progress.logPlace = place
        case .operatorActed(.testWebhook(let id)): webhooks[id]?.beginTest(by: recorded.number, at: now)
        case .identityKeyPublished(let key): keys(of: person) { $0.publish(key, at: now) }
        case .recipientKeyPublished(let key): keys(of: person) { $0.publish(key, at: now) }
        case .recipientKeyPinned(let pin): keys(of: person) { $0.pin(pin) }
        case .recipientKeyUnpinned(let key): keys(of: person) { $0.unpin(key) }
        case .sealingKeyWithdrawn(let key, let reason): keys(of: person) { $0.withdraw(key, reason) }
        case .deviceSealed(let device, let isSealed): devices.change(device) { $0.isSealed = isSealed }
        case .shardsWitnessed, .personPlaced, .directoryFollowed: foldPlaces(recorded.event)
        case .consentRefused, .operatorActed, .headsCommitted, .sealingRefused: break
        }
        queries.forgetOld(at: now)
    }

    /// Remaining times stay the same: a corrected clock must not silence a device for a day.
    private mutating func follow(clockSteppedBackBy milliseconds: Int64) {
        persons.follow(clockSteppedBackBy: milliseconds)
        devices.follow(clockSteppedBackBy: milliseconds, to: lastRecordedAt)
        schedules.follow(clockSteppedBackBy: milliseconds)
        links.follow(clockSteppedBackBy: milliseconds)
        webhooks.follow(clockSteppedBackBy: milliseconds)
        queries.follow(clockSteppedBackBy: milliseconds)
        requests.follow(clockSteppedBackBy: milliseconds)
    }

    /// Leaves the same as a refold without the person's keys: a principal without a name, devices or rights.
    private mutating func erase(_ person: PersonID) {
        guard let known = persons[person] else { return }
        for device in known.devices {
            remove(device)
            devices.erase(device)
        }
        for grant in known.sharing.grants { revoke(grant) }
        for grant in grants.all.values where grant.requester == person { revoke(grant.id) }
        tokens.revoke(of: [person.principal] + links.links(of: person).map(\.principal))
        links.forget(person)
        for region in known.regions { regions.remove(region) }
        for invitation in known.sharing.invitations { invitations.remove(invitation) }
        invitations.forget(person)
        for schedule in known.schedules { schedules.remove(schedule) }
        webhooks.forget(person)
        retention.forget(person)
        sealingKeys.forget(person)
        queries.forget(person)
        requests.forget(person, known.devices)
        persons.erase(person)
    }
}

// MARK: - The saved standing

// Which register has which rows. Their bytes are specified with each register.

extension StandingEntry {
    /// The kinds of rows, in the order in which they must be loaded.
    package enum Kind: Int64, Sendable, CaseIterable {
        case counters = 0
        case person = 1
        case device = 2
        case token = 3
        case grant = 4
        case region = 5
        case query = 6
        case refusals = 7
        case version = 8
        case invitation = 9
        case asks = 10
        case schedule = 11
        case correction = 12
        case keyedRequests = 13
        case accountInvitation = 14
        case webhook = 15
        case link = 16
        case importing = 17
        case retention = 18
        case sealingKeys = 19

        /// Whether it is known which of its rows have changed. The others are few, or their ids are places in an order.
        var isTracked: Bool {
            switch self {
            case .person, .device, .token, .grant, .region, .version, .importing: true
            case .counters, .query, .refusals, .invitation, .asks, .schedule, .correction, .keyedRequests,
                .accountInvitation, .webhook, .link, .retention, .sealingKeys:
                false
            }
        }
    }
}

extension Standing {
    /// Gives everything but ``place``, which is stored beside the rows. Loading these entries gives an equal standing.
    package func forEachEntry<E: Error>(_ body: (StandingEntry) throws(E) -> Void) throws(E) {
        for row in persons.rows { try body(row) }
        for row in devices.rows { try body(row) }
        for row in tokens.rows { try body(row) }
        for row in grants.rows { try body(row) }
        for row in regions.rows { try body(row) }
        for row in persons.imports.rows { try body(row) }
        for row in progress.rows { try body(row) }
        try forEachFurtherEntry(body)
    }

    /// Gives the entries that may have changed since ``forgetChanges()``, `nil` for a removed one. Those of
    /// ``forEachFurtherEntry(_:)`` are not among them.
    package func forEachChange<E: Error>(
        _ body: (StandingEntry.Kind, _ id: Int64, [UInt8]?) throws(E) -> Void
    ) throws(E) {
        for row in persons.changes { try body(.person, row.id, row.body) }
        for row in devices.changes { try body(.device, row.id, row.body) }
        for row in tokens.changes { try body(.token, row.id, row.body) }
        for row in grants.changes { try body(.grant, row.id, row.body) }
        for row in regions.changes { try body(.region, row.id, row.body) }
        for row in persons.imports.changes { try body(.importing, row.id, row.body) }
    }

    /// The streams that have new events since ``forgetChanges()``.
    package var changedStreams: Set<StreamID> { progress.changedStreams }

    /// Marks the present state as saved.
    package mutating func forgetChanges() {
        persons.forgetChanges()
        devices.forgetChanges()
        tokens.forgetChanges()
        grants.forgetChanges()
        regions.forgetChanges()
        persons.imports.forgetChanges()
        progress.forgetChanges()
    }

    /// The kinds of ``forEachFurtherEntry(_:)``.
    package static let furtherKinds = StandingEntry.Kind.allCases.filter { !$0.isTracked }

    /// All entries of the kinds whose changes are not known: there are few of them, or their ids are places in an order.
    package func forEachFurtherEntry<E: Error>(_ body: (StandingEntry) throws(E) -> Void) throws(E) {
        try body(counters)
        for row in persons.corrections { try body(row) }
        for row in invitations.rows { try body(row) }
        for row in schedules.rows { try body(row) }
        for row in webhooks.rows { try body(row) }
        for row in links.rows { try body(row) }
        for row in retention.rows { try body(row) }
        for row in sealingKeys.rows { try body(row) }
        for row in queries.rows { try body(row) }
        for row in requests.rows { try body(row) }
    }

    private mutating func load(
        _ kind: StandingEntry.Kind, _ id: Int64, _ fields: inout FieldReader
    ) throws(CBORError) {
        switch kind {
        case .counters: try loadCounters(&fields)
        case .person: try persons.load(PersonID(rawValue: id), &fields)
        case .correction: try persons.loadCorrection(CorrectionID(rawValue: id), &fields)
        case .device: try devices.load(DeviceID(rawValue: id), &fields)
        case .token: try tokens.load(TokenID(rawValue: id), &fields)
        case .grant: try grants.load(GrantID(rawValue: id), &fields)
        case .region: try regions.load(RegionID(rawValue: id), &fields)
        case .importing: try persons.imports.load(ImportID(rawValue: id), &fields)
        case .invitation: try invitations.load(InvitationID(rawValue: id), &fields)
        case .accountInvitation: try invitations.load(AccountInvitationID(rawValue: id), &fields)
        case .schedule: try schedules.load(ScheduleID(rawValue: id), &fields)
        case .webhook: try webhooks.load(WebhookID(rawValue: id), &fields)
        case .link: try links.load(LinkID(rawValue: id), &fields)
        case .retention: try retention.load(id, &fields)
        case .sealingKeys: try sealingKeys.load(PersonID(rawValue: id), &fields)
        case .query: try queries.load(&fields)
        case .refusals: try requests.loadRefusals(of: PrincipalID(rawValue: id), &fields)
        case .keyedRequests: try requests.loadKeyed(of: PrincipalID(rawValue: id), &fields)
        case .asks: try requests.loadAsks(&fields)
        case .version: try progress.load(StreamID(rawValue: id), &fields)
        }
    }

    /// One row for the next id of each register and the state of the log.
    private var counters: StandingEntry {
        StandingEntry(.counters, 0) {
            $0.integer(1, persons.next)
            $0.integer(2, tokens.next)
            $0.integer(3, grants.next)
            $0.integer(4, regions.next)
            $0.timestamp(5, place == 0 ? nil : lastRecordedAt)
            $0.integer(6, invitations.next == 1 ? nil : invitations.next)
            $0.integer(7, highestKey == 0 ? nil : highestKey)
            $0.integer(8, mark)
            $0.integer(9, logPlace == .sqlite ? nil : logPlace.rawValue)
            $0.integer(10, places.own?.rawValue)
            $0.identifier(11, places.directory)
            $0.integer(12, places.followed == 0 ? nil : places.followed)
            if !places.witnessed.all.isEmpty { $0.bytes(13, places.witnessed.bytes) }
        }
    }

    private mutating func loadCounters(_ fields: inout FieldReader) throws(CBORError) {
        persons.next = try require(try fields.integer(1))
        tokens.next = try require(try fields.integer(2))
        grants.next = try require(try fields.integer(3))
        regions.next = try require(try fields.integer(4))
        if let time = try fields.timestamp(5) { progress.lastRecordedAt = time }
        invitations.next = try fields.integer(6) ?? 1
        if let key = try fields.integer(7) { note(key: key) }
        progress.mark = try fields.integer(8)
        progress.logPlace = try require(LogPlace(rawValue: try fields.integer(9) ?? 0))
        if let own = try fields.integer(10) { places.own = try require(ShardNumber(rawValue: own)) }
        places.directory = try fields.identifier(11)
        places.followed = try fields.integer(12) ?? 0
        if let bytes = try fields.bytes(13) { places.witnessed = try require(ShardSizes(bytes: bytes)) }
    }
}

// MARK: - Loading

extension Standing {
    /// The inverse of ``forEachEntry(_:)``. Entries must be ordered by kind, then id.
    ///
    /// - Throws: ``CBORError`` if an entry is not one of this version; the standing is then refolded.
    package init(place: Int64, entries: [StandingEntry]) throws(CBORError) {
        self.init()
        for entry in entries { try load(entry) }
        finishLoading(place: place, heads: nil)
    }

    /// Loads one entry. Entries must be ordered by kind, then id, and ``finishLoading(place:heads:)`` must follow.
    ///
    /// - Parameter body: Used only during the call.
    /// - Throws: ``CBORError`` if the entry is not one of this version.
    package mutating func load(
        _ kind: StandingEntry.Kind, id: Int64, body: UnsafeRawBufferPointer
    ) throws(CBORError) {
        var fields = try FieldReader(body)
        try load(kind, id, &fields)
        try fields.end()
    }

    /// Reserves capacity for the handles of people and devices, so that loading them does not grow the dictionaries
    /// repeatedly.
    package mutating func reserve(persons: Int, devices: Int) {
        self.persons.reserve(persons)
        self.devices.reserve(devices)
    }

    /// Takes over the devices of a standing into which only devices were loaded, on another thread.
    package mutating func takeDevices(of other: Standing) { devices = other.devices }

    /// Sets the fields that the entries do not have.
    ///
    /// - Parameter heads: The newest event of each stream; `nil` if entries had their versions.
    package mutating func finishLoading(place: Int64, heads: StreamHeads?) {
        progress.place = place
        if let heads { progress.load(heads) }
        forgetChanges()
    }

    private mutating func load(_ entry: StandingEntry) throws(CBORError) {
        // The reader holds a pointer into the buffer; copying the few entries keeps it in one scope.
        let result: Result<Void, CBORError> = entry.body.withUnsafeBytes { bytes in
            do throws(CBORError) {
                try load(entry.kind, id: entry.id, body: bytes)
                return .success(())
            } catch { return .failure(error) }
        }
        try result.get()
    }
}
