extension Standing {
    /// The grants that are not revoked, by id and by requester. A query may still name a revoked one.
    package struct Grants: TrackedRegister {
        /// By number.
        package internal(set) var all: Tracked<GrantID, Grant> = [:]
        private var byRequester: [PersonID: Set<GrantID>] = [:]
        /// The number of the next grant.
        package internal(set) var next: Int64 = 1

        /// A grant; `nil` if it is revoked, or was never given.
        package subscript(id: GrantID) -> Grant? { all[id] }

        /// The grants that a person holds, in no order.
        package func held(by requester: PersonID) -> Set<GrantID> { byRequester[requester] ?? [] }

        mutating func add(_ grant: Grant) {
            all[grant.id] = grant
            if let requester = grant.requester { byRequester[requester, default: []].insert(grant.id) }
            next = grant.id.rawValue + 1
        }

        mutating func remove(_ id: GrantID) {
            guard let grant = all[id] else { return }
            all[id] = nil
            guard let requester = grant.requester else { return }
            byRequester[requester]?.remove(id)
            if byRequester[requester]?.isEmpty == true { byRequester[requester] = nil }
        }
    }

    /// The grants of `subject` for `requester` that are not revoked, newest last.
    package func grants(of subject: PersonID, for requester: PersonID) -> [Grant] {
        (persons[subject]?.sharing.grants ?? []).compactMap { grants[$0] }.filter { $0.requester == requester }
    }

    mutating func give(_ grant: Grant) {
        grants.add(grant)
        persons[grant.subject]?.sharing.grants.append(grant.id)
        if let invitation = grant.invitation { close(invitation) }
    }

    mutating func revoke(_ id: GrantID) {
        guard let grant = grants[id] else { return }
        grants.remove(id)
        persons[grant.subject]?.sharing.grants.removeAll { $0 == id }
        if let requester = grant.requester, grants(of: grant.subject, for: requester).isEmpty {
            requests.asks[Asks.Pair(asker: requester, subject: grant.subject)] = nil
        }
    }
}

// MARK: - Rows

// Of one grant: 1 subject · 2 requester · 3 precision · 4 history · 5 from · 6 until · 7 asks each time · 8 invitation ·
// 9 detail, a map with 1 name and the hours
extension Standing.Grants {
    static let kind = StandingEntry.Kind.grant

    static func write(_ grant: Grant, to fields: inout FieldWriter) {
        fields.integer(1, grant.subject.rawValue)
        fields.integer(2, grant.requester?.rawValue)
        fields.integer(3, grant.precision.rawValue)
        fields.bool(4, grant.includesHistory)
        fields.timestamp(5, grant.from)
        fields.timestamp(6, grant.until)
        fields.bool(7, grant.asksEachTime ? true : nil)
        fields.integer(8, grant.invitation?.rawValue)
        fields.part(9, grant.detail) { fields, detail in
            fields.text(1, detail.name?.text)
            detail.hours?.write(to: &fields)
        }
    }

    mutating func load(_ id: GrantID, _ fields: inout FieldReader) throws(CBORError) {
        let grant = Grant(
            id: id, subject: PersonID(rawValue: try require(try fields.integer(1))),
            requester: try fields.integer(2).map(PersonID.init(rawValue:)),
            precision: try require(Precision(rawValue: try require(try fields.integer(3)))),
            includesHistory: try require(try fields.bool(4)), from: try fields.timestamp(5),
            until: try fields.timestamp(6), asksEachTime: try fields.mark(7),
            invitation: try fields.integer(8).map(InvitationID.init(rawValue:)),
            detail: try fields.part(9) { (fields) throws(CBORError) in
                let name = try fields.text(1)
                return Grant.Detail(name: name.flatMap { Handle($0) }, hours: try WeeklyHours.read(from: &fields))
            })
        all.load(id, grant)
        if let requester = grant.requester { byRequester[requester, default: []].insert(id) }
    }
}
