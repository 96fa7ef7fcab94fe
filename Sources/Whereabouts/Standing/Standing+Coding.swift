import Geodesy

/// One row of the saved standing: what it is about and a CBOR map.
package struct StandingEntry: Hashable, Sendable {
    package enum Kind: Int64, Sendable {
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
    }
    package let kind: Kind
    /// The subject's number; for a correction that of its event; for queries their place in the order asked, for asks that of the pairs.
    package let id: Int64
    package let body: [UInt8]

    package init(kind: Kind, id: Int64, body: [UInt8]) { (self.kind, self.id, self.body) = (kind, id, body) }
}

extension Standing {
    /// Everything but ``place``, which is kept beside the rows. Loading these entries gives an equal standing.
    package func forEachEntry<E: Error>(_ body: (StandingEntry) throws(E) -> Void) throws(E) {
        func emit(_ kind: StandingEntry.Kind, _ id: Int64, _ write: (inout FieldWriter) -> Void) throws(E) {
            var fields = FieldWriter()
            write(&fields)
            try body(StandingEntry(kind: kind, id: id, body: fields.finish()))
        }
        try emit(.counters, 0) {
            $0.integer(1, nextPrincipal)
            $0.integer(2, nextToken)
            $0.integer(3, nextGrant)
            $0.integer(4, nextRegion)
            $0.timestamp(5, place == 0 ? nil : lastRecordedAt)
            $0.integer(6, nextInvitation == 1 ? nil : nextInvitation)
            $0.integer(7, highestKey == 0 ? nil : highestKey)
        }
        for (id, person) in persons {
            try emit(.person, id.rawValue) {
                $0.text(1, person.handle?.text)
                $0.bool(2, person.isErased ? true : nil)
                $0.integers(3, person.devices.map(\.rawValue))
                $0.integers(4, person.regions.map(\.rawValue))
                $0.integers(5, person.grants.map(\.rawValue))
                $0.timestamp(6, person.newestFix?.timestamp)
                $0.integer(7, person.newestFix?.number)
                $0.integers(8, person.pauses.flatMap { [$0.from.milliseconds, $0.until?.milliseconds ?? .max] })
                $0.timestamp(9, person.newestFixBeforePause?.timestamp)
                $0.integer(10, person.newestFixBeforePause?.number)
                $0.integers(11, person.invitations.map(\.rawValue))
                $0.integers(12, person.schedules.map(\.rawValue))
                $0.cell(13, person.newestFix?.cell)
                $0.cell(14, person.newestFixBeforePause?.cell)
                $0.timestamp(15, person.inCellAt)
            }
            for (correction, content) in person.corrections {
                try emit(.correction, correction.rawValue) {
                    content.write(to: &$0)
                    $0.integer(7, id.rawValue)
                }
            }
        }
        for (id, device) in devices {
            try emit(.device, id.rawValue) {
                $0.integer(1, device.person.rawValue)
                $0.text(2, device.handle?.text)
                $0.bool(3, device.isRemoved ? true : nil)
                $0.timestamp(4, device.newestTimestamp)
                $0.bytes(5, device.pushToken?.token.bytes)
                $0.text(6, device.pushToken?.token.bundleID)
                $0.integer(7, device.pushToken?.environment.rawValue)
                $0.timestamp(8, device.pushToken?.registeredAt)
                $0.bytes(9, device.kept.isEmpty ? nil : device.kept.flatMap(\.bytes))
                $0.timestamp(10, device.pushes.fullAt)
                $0.timestamp(11, device.lastPushAt)
                $0.timestamp(12, device.authorization?.report.timestamp)
                $0.integer(13, device.authorization?.report.status.rawValue)
                $0.integer(14, device.authorization?.report.accuracy?.rawValue)
                $0.timestamp(15, device.authorization?.since)
                $0.integers(16, device.sightings)
                $0.identifier(17, device.testUnderWay)
                $0.timestamp(18, device.wokenAt)
            }
        }
        for (id, token) in tokens {
            try emit(.token, id.rawValue) {
                $0.integer(1, token.issued.principal.rawValue)
                $0.integer(2, token.issued.scopes.rawValue)
                $0.bytes(3, token.issued.hash.bytes)
                $0.timestamp(4, token.issued.until)
                $0.bool(5, token.isRevoked ? true : nil)
            }
        }
        for (id, grant) in grants {
            try emit(.grant, id.rawValue) {
                $0.integer(1, grant.subject.rawValue)
                $0.integer(2, grant.requester?.rawValue)
                $0.integer(3, grant.precision.rawValue)
                $0.bool(4, grant.includesHistory)
                $0.timestamp(5, grant.from)
                $0.timestamp(6, grant.until)
                $0.bool(7, grant.asksEachTime ? true : nil)
                $0.integer(8, grant.invitation?.rawValue)
                $0.bytes(
                    9,
                    detail(grant.detail) { fields, detail in
                        fields.text(1, detail.name?.text)
                        detail.hours?.write(to: &fields)
                    })
            }
        }
        for (id, invitation) in invitations {
            try emit(.invitation, id.rawValue) {
                $0.integer(1, invitation.subject.rawValue)
                $0.bytes(2, invitation.hash.bytes)
                $0.timestamp(3, invitation.expires)
                $0.integer(4, invitation.terms.precision.rawValue)
                $0.bool(5, invitation.terms.includesHistory)
                $0.bool(6, invitation.terms.asksEachTime)
                $0.timestamp(7, invitation.terms.from)
                $0.timestamp(8, invitation.terms.until)
                $0.bytes(9, detail(invitation.detail) { $1.write(to: &$0) })
            }
        }
        for (id, region) in regions {
            try emit(.region, id.rawValue) { region.write(to: &$0) }
        }
        for (id, schedule) in schedules {
            try emit(.schedule, id.rawValue) {
                $0.integer(1, schedule.person.rawValue)
                $0.integer(2, schedule.everySeconds)
                $0.timestamp(3, schedule.until)
                $0.timestamp(4, schedule.setAt)
                $0.timestamp(5, schedule.askedAt)
            }
        }
        for (id, webhook) in webhooks { try emit(.webhook, id.rawValue) { webhook.write(to: &$0) } }
        for (index, id) in queryOrder.enumerated() {
            guard let query = queries[id] else { continue }
            try emit(.query, Int64(index)) {
                $0.identifier(1, id)
                $0.integer(2, query.subject.rawValue)
                $0.integer(3, query.requester.rawValue)
                $0.integer(4, query.verdict.code)
                $0.integer(5, query.initiation.rawValue)
                $0.integer(6, query.number)
                $0.timestamp(7, query.askedAt)
                $0.timestamp(8, query.deadline)
                $0.integer(9, query.end?.rawValue)
                $0.integer(10, query.fix)
                $0.integers(11, query.pushes.flatMap(\.stored))
                $0.integers(12, query.withheld.flatMap { [$0.device.rawValue, $0.reason.rawValue] })
                $0.integer(13, query.consent?.rawValue)
                $0.bool(14, query.isDisclosed ? true : nil)
                $0.integers(15, query.commanded.map(\.rawValue))
                $0.bool(16, query.hasNoDevice ? true : nil)
                $0.timestamp(17, query.shownWhenAsked)
                $0.cell(18, query.cell)
                $0.timestamp(19, query.endedAt)
            }
        }
        for (principal, window) in refusals {
            try emit(.refusals, principal.rawValue) {
                $0.timestamp(1, window.since)
                $0.integer(2, window.recorded)
            }
        }
        for (id, invitation) in accountInvitations {
            try emit(.accountInvitation, id.rawValue) {
                $0.bytes(1, invitation.hash.bytes)
                $0.timestamp(2, invitation.expires)
                $0.integer(3, invitation.inviter.rawValue)
            }
        }
        for (principal, requests) in keyedRequests {
            try emit(.keyedRequests, principal.rawValue) { KeyedRequest.write(requests, to: &$0) }
        }
        for (index, (pair, asks)) in asks.sorted(by: { $0.key < $1.key }).enumerated() {
            try emit(.asks, Int64(index)) {
                $0.integer(1, pair.asker.rawValue)
                $0.integer(2, pair.subject.rawValue)
                $0.timestamp(3, asks.pushes.fullAt)
                $0.timestamp(4, asks.reads.fullAt)
                $0.bytes(5, asks.begun.isEmpty ? nil : asks.begun.flatMap(\.id.bytes))
                // Four for each: what was asked, the range (the ends of time stand for an open one), when.
                $0.integers(
                    6,
                    asks.begun.flatMap { read in
                        [
                            read.question.rawValue, read.from?.milliseconds ?? .min, read.to?.milliseconds ?? .max,
                            read.at.milliseconds,
                        ]
                    })
            }
        }
        for (stream, version) in versions { try emit(.version, stream.rawValue) { $0.integer(1, version) } }
    }

    /// The opposite of ``forEachEntry(_:)``; entries come ordered by kind, then id.
    ///
    /// - Throws: ``CBORError`` when an entry is not what this version writes; the standing is then refolded.
    package init(place: Int64, entries: [StandingEntry]) throws(CBORError) {
        self.init()
        self.place = place
        for entry in entries { try load(entry) }
        for (id, person) in persons {
            if let handle = person.handle { personByHandle[handle] = id }
        }
        for (id, device) in devices where !device.isRemoved {
            if let handle = device.handle { deviceByHandle[handle] = id }
        }
        for (id, token) in tokens where !token.isRevoked { tokenByHash[token.issued.hash] = id }
        for (id, invitation) in invitations { invitationByHash[invitation.hash] = id }
        for (id, invitation) in accountInvitations { accountInvitationByHash[invitation.hash] = id }
        for (id, grant) in grants {
            if let requester = grant.requester { grantsByRequester[requester, default: []].insert(id) }
        }
        for id in queryOrder {
            guard let query = queries[id], query.end == nil else { continue }
            openQueries[query.subject, default: []].append(id)
        }
    }

    private mutating func load(_ entry: StandingEntry) throws(CBORError) {
        // The reader holds a pointer into the buffer; copying the few entries keeps it in one scope.
        let result: Result<Void, CBORError> = entry.body.withUnsafeBytes { bytes in
            do throws(CBORError) {
                var fields = try FieldReader(bytes)
                try load(entry.kind, entry.id, &fields)
                try fields.end()
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
            persons[PersonID(rawValue: id)] = person
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
            devices[DeviceID(rawValue: id)] = device
        case .token:
            var token = Token(
                issued: AccessToken(
                    id: TokenID(rawValue: id), principal: PrincipalID(rawValue: try require(try fields.integer(1))),
                    scopes: Scopes(rawValue: try require(try fields.integer(2))),
                    hash: try require(try fields.hash(3)), until: try fields.timestamp(4)))
            token.isRevoked = try fields.bool(5) ?? false
            tokens[token.issued.id] = token
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
                    return Grant.Detail(name: name.flatMap { Handle($0) }, hours: try WeeklyHours(from: &fields))
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
                    try require(try WeeklyHours(from: &fields))
                })
        case .region: regions[RegionID(rawValue: id)] = try Region(from: &fields)
        case .schedule:
            var schedule = Schedule(
                person: PersonID(rawValue: try require(try fields.integer(1))),
                everySeconds: try require(try fields.integer(2)), until: try fields.timestamp(3),
                setAt: try require(try fields.timestamp(4)))
            schedule.askedAt = try fields.timestamp(5)
            schedules[ScheduleID(rawValue: id)] = schedule
        case .webhook: webhooks[WebhookID(rawValue: id)] = try Webhook(from: &fields)
        case .correction:
            let correction = try Correction(from: &fields)
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
            versions[StreamID(rawValue: id)] = try require(try fields.integer(1))
        }
    }
}

/// A sealed part in a row of the saved standing: a map, or no bytes when it cannot be read any more.
private func detail<Content>(
    _ part: Part<Content>?, _ write: (inout FieldWriter, Content) -> Void
) -> [UInt8]? {
    part.map { part in
        guard case .open(let content) = part else { return [] }
        var fields = FieldWriter()
        write(&fields, content)
        return fields.finish()
    }
}

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
