extension Standing {
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
        /// The fixes and reported visits that are withdrawn.
        package internal(set) var withdrawn = Withdrawn()
        /// The rights of others, and the pauses.
        package internal(set) var sharing = Sharing()
        /// The newest fixes.
        package internal(set) var newest = NewestFixes()
        /// The shard in which the person lives; `nil` in a house without shards.
        package internal(set) var home: ShardNumber?
        /// The place in an invitation tree.
        package internal(set) var inviting = Inviting()

        /// The newest usable fix; `nil` if it is withdrawn, until a newer one comes.
        package var countedFix: NewestFix? {
            newest.fix.flatMap { withdrawn.numbers.contains($0.number) ? nil : $0 }
        }
    }
}

extension Standing.Person {
    /// The fixes and reported visits of a person that are withdrawn.
    package struct Withdrawn: Hashable, Sendable {
        /// The numbers of their events.
        package internal(set) var numbers = NumberSet()
        /// The number of the last event that withdrew any; 0 without one.
        package internal(set) var through: Int64 = 0
    }

    /// The grants, invitations and pauses of a person.
    package struct Sharing: Hashable, Sendable {
        /// The grants about this person that are not revoked, in the order given.
        package internal(set) var grants: [GrantID] = []
        /// The invitations that were neither redeemed nor withdrawn.
        package internal(set) var invitations: [InvitationID] = []
        /// In order of time; only the last may have no end.
        package internal(set) var pauses: [Pause] = []
    }

    /// The place of a person in an invitation tree, and the remaining allowance of invitations.
    package struct Inviting: Hashable, Sendable {
        /// The root of the tree; `nil` for a person whose account no person invited, who is a root.
        package internal(set) var root: PersonID?
        /// The rest of ``Limits/accountInvitationsPerInviter``.
        package internal(set) var own = Allowance()
        /// The rest of ``Limits/accountInvitationsPerTree``, for a root.
        package internal(set) var ofTree = Allowance()
    }
}

extension NewestFixes {
    /// Takes a fix that may be the newest; keeps the cell or leaves it (``HeldCell``).
    mutating func note(_ new: Fix, number: Int64) {
        guard fix.map({ $0.timestamp <= new.timestamp }) ?? true else { return }
        var cell = fix?.cell ?? HeldCell(around: new.coordinate)
        if !cell.keeps(new.coordinate), inCellAt.map({ new.timestamp.seconds(since: $0) >= HeldCell.seconds }) ?? true {
            cell = HeldCell(around: new.coordinate)
        }
        if cell.keeps(new.coordinate) { inCellAt = new.timestamp }
        fix = NewestFix(timestamp: new.timestamp, number: number, cell: cell)
    }
}

extension Standing.Person {
    mutating func pause(until: Timestamp?, at now: Timestamp) {
        if let last = sharing.pauses.last, last.contains(now) {
            sharing.pauses[sharing.pauses.count - 1].until = until
        } else {
            sharing.pauses.append(Pause(from: now, until: until))
            newest.beforePause = newest.fix
        }
    }

    mutating func withdraw(_ fixes: FixNumbers, at number: Int64) {
        withdrawn.numbers.insert(fixes.numbers)
        withdrawn.through = number
    }

    mutating func endPause(at now: Timestamp) {
        guard let last = sharing.pauses.last, last.contains(now) else { return }
        sharing.pauses[sharing.pauses.count - 1].until = now
    }
}

// MARK: - Rows

extension Standing.Person {
    func write(to fields: inout FieldWriter) {
        fields.text(1, handle?.text)
        fields.bool(2, isErased ? true : nil)
        fields.integers(3, devices.map(\.rawValue))
        fields.integers(4, regions.map(\.rawValue))
        fields.integers(5, sharing.grants.map(\.rawValue))
        fields.timestamp(6, newest.fix?.timestamp)
        fields.integer(7, newest.fix?.number)
        fields.integers(8, sharing.pauses.flatMap { [$0.from.milliseconds, $0.until?.milliseconds ?? .max] })
        fields.timestamp(9, newest.beforePause?.timestamp)
        fields.integer(10, newest.beforePause?.number)
        fields.integers(11, sharing.invitations.map(\.rawValue))
        fields.integers(12, schedules.map(\.rawValue))
        fields.cell(13, newest.fix?.cell)
        fields.cell(14, newest.beforePause?.cell)
        fields.timestamp(15, newest.inCellAt)
        fields.integer(16, inviting.root?.rawValue)
        fields.timestamp(17, inviting.own.fullAt)
        fields.timestamp(18, inviting.ofTree.fullAt)
        fields.integers(19, withdrawn.numbers.stored)
        fields.integer(20, withdrawn.through == 0 ? nil : withdrawn.through)
        fields.integer(21, home?.rawValue)
    }

    init(from fields: inout FieldReader) throws(CBORError) {
        self.init(handle: try fields.text(1).flatMap { Handle($0) })
        isErased = try fields.bool(2) ?? false
        devices = try fields.integers(3).map(DeviceID.init(rawValue:))
        regions = try fields.integers(4).map(RegionID.init(rawValue:))
        sharing.grants = try fields.integers(5).map(GrantID.init(rawValue:))
        let fix = (at: try fields.timestamp(6), number: try fields.integer(7))
        let pauses = try fields.integers(8)
        guard pauses.count % 2 == 0 else { throw .unexpected }
        sharing.pauses = stride(from: 0, to: pauses.count, by: 2).map {
            Pause(
                from: Timestamp(milliseconds: pauses[$0]),
                until: pauses[$0 + 1] == .max ? nil : Timestamp(milliseconds: pauses[$0 + 1]))
        }
        let before = (at: try fields.timestamp(9), number: try fields.integer(10))
        sharing.invitations = try fields.integers(11).map(InvitationID.init(rawValue:))
        schedules = try fields.integers(12).map(ScheduleID.init(rawValue:))
        newest.fix = try Self.newestFix(fix, try fields.cell(13))
        newest.beforePause = try Self.newestFix(before, try fields.cell(14))
        newest.inCellAt = try fields.timestamp(15)
        inviting.root = try fields.integer(16).map(PersonID.init(rawValue:))
        inviting.own.fullAt = try fields.timestamp(17)
        inviting.ofTree.fullAt = try fields.timestamp(18)
        withdrawn.numbers = try NumberSet(stored: try fields.integers(19))
        withdrawn.through = try fields.integer(20) ?? 0
        home = try fields.integer(21).map { (number) throws(CBORError) in try require(ShardNumber(rawValue: number)) }
    }

    private static func newestFix(
        _ fix: (at: Timestamp?, number: Int64?), _ cell: HeldCell?
    ) throws(CBORError) -> NewestFix? {
        guard let timestamp = fix.at else { return nil }
        return NewestFix(timestamp: timestamp, number: try require(fix.number), cell: try require(cell))
    }
}
