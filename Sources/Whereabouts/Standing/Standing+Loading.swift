import Geodesy

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
        personByHandle.reserveCapacity(persons)
        deviceByHandle.reserveCapacity(devices)
    }

    /// Takes over the devices of a standing into which only devices were loaded, on another thread.
    package mutating func takeDevices(of other: Standing) {
        devices = other.devices
        deviceByHandle = other.deviceByHandle
    }

    /// Makes the indexes that were not made with the loaded entries.
    ///
    /// - Parameter heads: The newest event of each stream; `nil` if entries had their versions.
    package mutating func finishLoading(place: Int64, heads: StreamHeads?) {
        self.place = place
        if let heads {
            for (stream, head) in heads.table { versions.load(stream, head.version) }
        }
        for (id, token) in tokens where !token.isRevoked { tokenByHash[token.issued.hash] = id }
        for (id, invitation) in invitations { invitationByHash[invitation.hash] = id }
        for (id, invitation) in accountInvitations { accountInvitationByHash[invitation.hash] = id }
        for (id, grant) in grants {
            if let requester = grant.requester { grantsByRequester[requester, default: []].insert(id) }
        }
        for id in queryOrder {
            if let query = queries[id], query.end == nil { openQueries[query.subject, default: []].append(id) }
        }
        openQueryCount = openQueries.values.reduce(0) { $0 + $1.count }
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

    private mutating func load(
        _ kind: StandingEntry.Kind, _ id: Int64, _ fields: inout FieldReader
    ) throws(CBORError) {
        switch kind {
        case .counters:
            nextPrincipal = try require(try fields.integer(1))
            nextToken = try require(try fields.integer(2))
            nextGrant = try require(try fields.integer(3))
            nextRegion = try require(try fields.integer(4))
            if let time = try fields.timestamp(5) { lastRecordedAt = time }
            nextInvitation = try fields.integer(6) ?? 1
            if let key = try fields.integer(7) { note(key: key) }
        case .person:
            var person = Person(handle: try fields.text(1).flatMap { Handle($0) })
            person.isErased = try fields.bool(2) ?? false
            person.devices = try fields.integers(3).map(DeviceID.init(rawValue:))
            person.regions = try fields.integers(4).map(RegionID.init(rawValue:))
            person.grants = try fields.integers(5).map(GrantID.init(rawValue:))
            let newest = (at: try fields.timestamp(6), number: try fields.integer(7))
            let pauses = try fields.integers(8)
            guard pauses.count % 2 == 0 else { throw .unexpected }
            person.pauses = stride(from: 0, to: pauses.count, by: 2).map {
                Pause(
                    from: Timestamp(milliseconds: pauses[$0]),
                    until: pauses[$0 + 1] == .max ? nil : Timestamp(milliseconds: pauses[$0 + 1]))
            }
            let before = (at: try fields.timestamp(9), number: try fields.integer(10))
            person.invitations = try fields.integers(11).map(InvitationID.init(rawValue:))
            person.schedules = try fields.integers(12).map(ScheduleID.init(rawValue:))
            person.newestFix = try Self.newestFix(newest, try fields.cell(13))
            person.newestFixBeforePause = try Self.newestFix(before, try fields.cell(14))
            person.inCellAt = try fields.timestamp(15)
            person.root = try fields.integer(16).map(PersonID.init(rawValue:))
            person.accountInvitations.fullAt = try fields.timestamp(17)
            person.accountInvitationsOfTree.fullAt = try fields.timestamp(18)
            person.withdrawn = try NumberSet(stored: try fields.integers(19))
            person.withdrawnThrough = try fields.integer(20) ?? 0
            if let handle = person.handle { personByHandle[handle] = PersonID(rawValue: id) }
            persons.load(PersonID(rawValue: id), person)
        case .device:
            var device = Device(
                person: PersonID(rawValue: try require(try fields.integer(1))),
                handle: try fields.text(2).flatMap { Handle($0) })
            device.isRemoved = try fields.bool(3) ?? false
            device.newestTimestamp = try fields.timestamp(4)
            if let bytes = try fields.bytes(5) {
                device.pushToken = PushToken(
                    token: LocationPushToken(bytes: bytes, bundleID: try require(try fields.text(6))),
                    environment: try require(PushEnvironment(rawValue: try require(try fields.integer(7)))),
                    registeredAt: try require(try fields.timestamp(8)))
            }
            let hashes = try fields.bytes(9) ?? []
            device.kept = stride(from: 0, to: hashes.count, by: 32).compactMap {
                Hash256(bytes: Array(hashes[$0..<min($0 + 32, hashes.count)]))
            }
            device.pushes.fullAt = try fields.timestamp(10)
            device.lastPushAt = try fields.timestamp(11)
            if let timestamp = try fields.timestamp(12) {
                let report = AuthorizationReport(
                    timestamp: timestamp,
                    status: try require(AuthorizationStatus(rawValue: try require(try fields.integer(13)))),
                    accuracy: try fields.integer(14).flatMap(AccuracyAuthorization.init(rawValue:)))
                device.authorization = AuthorizationHeld(report: report, since: try require(try fields.timestamp(15)))
            }
            device.sightings = try fields.integers(16)
            device.testUnderWay = try fields.identifier(17)
            device.wokenAt = try fields.timestamp(18)
            if !device.isRemoved, let handle = device.handle { deviceByHandle[handle] = DeviceID(rawValue: id) }
            devices.load(DeviceID(rawValue: id), device)
        case .token:
            var token = Token(
                issued: AccessToken(
                    id: TokenID(rawValue: id), principal: PrincipalID(rawValue: try require(try fields.integer(1))),
                    scopes: Scopes(rawValue: try require(try fields.integer(2))),
                    hash: try require(try fields.hash(3)), until: try fields.timestamp(4),
                    madeFrom: try fields.integer(6).map(TokenID.init(rawValue:))))
            token.isRevoked = try fields.bool(5) ?? false
            tokens.load(token.issued.id, token)
        case .grant:
            grants[GrantID(rawValue: id)] = Grant(
                id: GrantID(rawValue: id), subject: PersonID(rawValue: try require(try fields.integer(1))),
                requester: try fields.integer(2).map(PersonID.init(rawValue:)),
                precision: try require(Precision(rawValue: try require(try fields.integer(3)))),
                includesHistory: try require(try fields.bool(4)), from: try fields.timestamp(5),
                until: try fields.timestamp(6), asksEachTime: try fields.mark(7),
                invitation: try fields.integer(8).map(InvitationID.init(rawValue:)),
                detail: try detail(try fields.bytes(9)) { (fields) throws(CBORError) in
                    let name = try fields.text(1)
                    return Grant.Detail(name: name.flatMap { Handle($0) }, hours: try WeeklyHours.read(from: &fields))
                })
        case .invitation:
            invitations[InvitationID(rawValue: id)] = Invitation(
                id: InvitationID(rawValue: id), subject: PersonID(rawValue: try require(try fields.integer(1))),
                hash: try require(try fields.hash(2)), expires: try require(try fields.timestamp(3)),
                terms: GrantTerms(
                    precision: try require(Precision(rawValue: try require(try fields.integer(4)))),
                    includesHistory: try require(try fields.bool(5)), asksEachTime: try require(try fields.bool(6)),
                    from: try fields.timestamp(7), until: try fields.timestamp(8)),
                detail: try detail(try fields.bytes(9)) { (fields) throws(CBORError) in
                    try require(try WeeklyHours.read(from: &fields))
                })
        case .region: regions[RegionID(rawValue: id)] = try Region(from: &fields)
        case .schedule:
            var schedule = Schedule(
                person: PersonID(rawValue: try require(try fields.integer(1))),
                everySeconds: try require(try fields.integer(2)), until: try fields.timestamp(3),
                setAt: try require(try fields.timestamp(4)))
            schedule.askedAt = try fields.timestamp(5)
            schedules[ScheduleID(rawValue: id)] = schedule
        case .link: try links.load(LinkID(rawValue: id), &fields)
        case .webhook: webhooks[WebhookID(rawValue: id)] = try Webhook(from: &fields)
        case .correction:
            let correction = try Correction.visit(nil, &fields)
            // Persons come before their corrections.
            let person = PersonID(rawValue: try require(try fields.integer(7)))
            guard persons[person] != nil else { throw .unexpected }
            persons[person]?.corrections[CorrectionID(rawValue: id)] = correction
        case .query:
            let query = try require(try fields.identifier(1))
            var known = Query(
                subject: PersonID(rawValue: try require(try fields.integer(2))),
                requester: PrincipalID(rawValue: try require(try fields.integer(3))),
                verdict: try require(Verdict(code: try require(try fields.integer(4)))),
                initiation: try require(LocationQuery.Initiation(rawValue: try require(try fields.integer(5)))),
                number: try require(try fields.integer(6)), askedAt: try require(try fields.timestamp(7)),
                deadline: try require(try fields.timestamp(8)),
                end: try fields.integer(9).flatMap(QueryEnd.init(rawValue:)), fix: try fields.integer(10))
            known.pushes = try Query.Push.stored(try fields.integers(11))
            let withheld = try fields.integers(12)
            guard withheld.count % 2 == 0 else { throw .unexpected }
            for index in stride(from: 0, to: withheld.count, by: 2) {
                known.withheld.append(
                    Query.Withheld(
                        device: DeviceID(rawValue: withheld[index]),
                        reason: try require(PushWithheld(rawValue: withheld[index + 1]))))
            }
            known.consent = try fields.integer(13).flatMap(Standing.Query.Consent.init(rawValue:))
            known.isDisclosed = try fields.bool(14) ?? false
            known.commanded = try fields.integers(15).map(DeviceID.init(rawValue:))
            known.hasNoDevice = try fields.bool(16) ?? false
            known.shownWhenAsked = try fields.timestamp(17)
            known.cell = try fields.cell(18)
            known.endedAt = try fields.timestamp(19)
            queries[query] = known
            queryOrder.append(query)
        case .refusals:
            refusals[PrincipalID(rawValue: id)] = RefusalWindow(
                since: try require(try fields.timestamp(1)), recorded: try require(try fields.integer(2)))
        case .accountInvitation:
            accountInvitations[AccountInvitationID(rawValue: id)] = AccountInvitation(
                hash: try require(try fields.hash(1)), expires: try require(try fields.timestamp(2)),
                inviter: PrincipalID(rawValue: try require(try fields.integer(3))))
        case .keyedRequests:
            keyedRequests[PrincipalID(rawValue: id)] = try KeyedRequest.all(from: &fields)
        case .asks:
            let pair = Asks.Pair(
                asker: PersonID(rawValue: try require(try fields.integer(1))),
                subject: PersonID(rawValue: try require(try fields.integer(2))))
            var asks = Asks()
            asks.pushes.fullAt = try fields.timestamp(3)
            asks.reads.fullAt = try fields.timestamp(4)
            let ids = try Self.identifiers(try fields.bytes(5) ?? [])
            let numbers = try fields.integers(6)
            guard numbers.count == ids.count * 4 else { throw .unexpected }
            for (index, id) in ids.enumerated() {
                let four = numbers[index * 4..<index * 4 + 4].map { $0 }
                asks.begun.append(
                    Asks.Begun(
                        id: id, question: try require(LocationRead.Question(rawValue: four[0])),
                        from: four[1] == .min ? nil : Timestamp(milliseconds: four[1]),
                        to: four[2] == .max ? nil : Timestamp(milliseconds: four[2]),
                        at: Timestamp(milliseconds: four[3])))
            }
            self.asks[pair] = asks
        case .version:
            versions.load(StreamID(rawValue: id), try require(try fields.integer(1)))
        }
    }
}

/// The opposite: `nil` without a map, erased with an empty one.
private func detail<Content: Hashable & Sendable>(
    _ bytes: [UInt8]?, _ read: (inout FieldReader) throws(CBORError) -> Content
) throws(CBORError) -> Part<Content>? {
    guard let bytes else { return nil }
    guard !bytes.isEmpty else { return .erased }
    let result: Result<Content, CBORError> = bytes.withUnsafeBytes { bytes in
        do throws(CBORError) {
            var fields = try FieldReader(bytes)
            let content = try read(&fields)
            try fields.end()
            return .success(content)
        } catch { return .failure(error) }
    }
    return .open(try result.get())
}
