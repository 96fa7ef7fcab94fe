import Geodesy

/// One row of the saved standing: a kind, an id and a CBOR map.
package struct StandingEntry: Hashable, Sendable {
    /// The kinds of rows, in the order in which they must be loaded.
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
        case link = 16
    }
    package let kind: Kind
    /// The number of the thing; for a correction that of its event, for queries the place in the order asked, for asks
    /// that of the pairs.
    package let id: Int64
    /// A CBOR map.
    package let body: [UInt8]

    package init(kind: Kind, id: Int64, body: [UInt8]) { (self.kind, self.id, self.body) = (kind, id, body) }
}

extension Standing {
    /// Gives everything but ``place``, which is stored beside the rows. Loading these entries gives an equal standing.
    package func forEachEntry<E: Error>(_ body: (StandingEntry) throws(E) -> Void) throws(E) {
        func emit(_ kind: StandingEntry.Kind, _ id: Int64, _ entry: [UInt8]?) throws(E) {
            if let entry { try body(StandingEntry(kind: kind, id: id, body: entry)) }
        }
        // In the order of their ids, because a table is filled faster from its beginning to its end.
        for id in persons.keys { try emit(.person, id.rawValue, entry(of: id)) }
        for id in devices.keys { try emit(.device, id.rawValue, entry(of: id)) }
        for id in tokens.keys { try emit(.token, id.rawValue, entry(of: id)) }
        for id in grants.keys { try emit(.grant, id.rawValue, entry(of: id)) }
        for id in regions.keys { try emit(.region, id.rawValue, entry(of: id)) }
        for stream in versions.keys { try emit(.version, stream.rawValue, entry(of: stream)) }
        try forEachFurtherEntry(body)
    }

    /// Gives the entries that may have changed since ``forgetChanges()``, `nil` for a removed one. Those of
    /// ``forEachFurtherEntry(_:)`` are not among them.
    package func forEachChange<E: Error>(
        _ body: (StandingEntry.Kind, _ id: Int64, [UInt8]?) throws(E) -> Void
    ) throws(E) {
        for id in persons.changed { try body(.person, id.rawValue, entry(of: id)) }
        for id in devices.changed { try body(.device, id.rawValue, entry(of: id)) }
        for id in tokens.changed { try body(.token, id.rawValue, entry(of: id)) }
        for id in grants.changed { try body(.grant, id.rawValue, entry(of: id)) }
        for id in regions.changed { try body(.region, id.rawValue, entry(of: id)) }
    }

    /// The streams that have new events since ``forgetChanges()``.
    package var changedStreams: Set<StreamID> { versions.changed }

    /// Marks the present state as saved.
    package mutating func forgetChanges() {
        persons.forgetChanges()
        devices.forgetChanges()
        tokens.forgetChanges()
        grants.forgetChanges()
        regions.forgetChanges()
        versions.forgetChanges()
    }

    private func entry(of stream: StreamID) -> [UInt8]? {
        versions[stream].map { version in Self.entry { $0.integer(1, version) } }
    }

    private static func entry(_ write: (inout FieldWriter) -> Void) -> [UInt8] {
        var fields = FieldWriter()
        write(&fields)
        return fields.finish()
    }

    private func entry(of id: PersonID) -> [UInt8]? {
        guard let person = persons[id] else { return nil }
        return Self.entry {
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
            $0.integer(16, person.root?.rawValue)
            $0.timestamp(17, person.accountInvitations.fullAt)
            $0.timestamp(18, person.accountInvitationsOfTree.fullAt)
            $0.integers(19, person.withdrawn.stored)
            $0.integer(20, person.withdrawnThrough == 0 ? nil : person.withdrawnThrough)
        }
    }

    private func entry(of id: DeviceID) -> [UInt8]? {
        guard let device = devices[id] else { return nil }
        return Self.entry {
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

    private func entry(of id: TokenID) -> [UInt8]? {
        guard let token = tokens[id] else { return nil }
        return Self.entry {
            $0.integer(1, token.issued.principal.rawValue)
            $0.integer(2, token.issued.scopes.rawValue)
            $0.bytes(3, token.issued.hash.bytes)
            $0.timestamp(4, token.issued.until)
            $0.bool(5, token.isRevoked ? true : nil)
            $0.integer(6, token.issued.madeFrom?.rawValue)
        }
    }

    private func entry(of id: GrantID) -> [UInt8]? {
        guard let grant = grants[id] else { return nil }
        return Self.entry {
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

    private func entry(of id: RegionID) -> [UInt8]? {
        regions[id].map { region in Self.entry { region.write(to: &$0) } }
    }

    /// The kinds of ``forEachFurtherEntry(_:)``.
    package static let furtherKinds: [StandingEntry.Kind] = [
        .counters, .query, .refusals, .invitation, .asks, .schedule, .correction, .keyedRequests, .accountInvitation,
        .webhook, .link,
    ]

    /// All entries of the kinds whose changes are not known: there are few of them, or their ids are places in an order.
    package func forEachFurtherEntry<E: Error>(_ body: (StandingEntry) throws(E) -> Void) throws(E) {
        func emit(_ kind: StandingEntry.Kind, _ id: Int64, _ write: (inout FieldWriter) -> Void) throws(E) {
            try body(StandingEntry(kind: kind, id: id, body: Self.entry(write)))
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
        for (id, person) in persons where !person.corrections.isEmpty {
            for (correction, content) in person.corrections {
                try emit(.correction, correction.rawValue) {
                    _ = Correction.visit(content, &$0)
                    $0.integer(7, id.rawValue)
                }
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
        try links.forEachEntry { (id, entry) throws(E) in
            try body(StandingEntry(kind: .link, id: id.rawValue, body: entry))
        }
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
                // Four numbers for each: the question, the range (extreme values for an open end), and the time.
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
    }
}

/// A sealed part in a row of the saved standing: a map, or no bytes if it can no longer be read.
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
