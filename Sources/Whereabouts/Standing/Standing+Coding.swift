// The saved standing: which register has which rows. Their bytes are specified with each register.

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

    /// The next ids of the registers, with what is known of the log.
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
