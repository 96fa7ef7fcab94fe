/// The share links of all persons.
package struct ShareLinks: Hashable, Sendable {
    /// One link, open or ended.
    package struct Entry: Hashable, Sendable {
        /// The person whom it shows.
        package let subject: PersonID
        /// 1 for the person's first link, 2 for the second: by this number the person knows it.
        package let ordinal: Int64
        /// The grant of the link's viewers; it may be revoked, and is then gone from the standing.
        package let grant: GrantID
        /// As ``ShareLink/hash``. A link is found by it until it ends.
        let hash: Hash256
        /// As ``ShareLink/hasPassphrase``.
        package let hasPassphrase: Bool
        /// As ``ShareLink/isLive``.
        package let isLive: Bool
        /// At least 1; `nil` for any number of openings.
        package let openingsMax: Int64?
        /// The name that the person gave it; `nil` without one.
        package let name: String?
        /// How often it was opened.
        package internal(set) var opened: Int64 = 0
        /// When it was opened last.
        package internal(set) var lastOpenedAt: Timestamp?
        /// Limits how often it is opened.
        package internal(set) var openings = Allowance()
        /// Whether the person ended it. A link whose grant is over has not ended in this sense; see
        /// ``Standing/isInForce(_:at:)``.
        package internal(set) var hasEnded = false

        /// Whether it can be opened as far as its own state goes; its grant must be in force too.
        package var isOpen: Bool { !hasEnded && openingsMax.map { opened < $0 } ?? true }

        /// The requester's name as the person and the operator read it, for example `link 2` or
        /// `link 2 (for the party)`.
        package var requesterName: String { name.map { "link \(ordinal) (\($0))" } ?? "link \(ordinal)" }
    }

    /// All links of persons who are not erased, also ended ones.
    private var table: [LinkID: Entry] = [:]
    /// The links that have not ended.
    private var byHash: [Hash256: LinkID] = [:]
    /// The ids of a person's links, in the order in which they were added.
    private var ofPerson: [PersonID: [LinkID]] = [:]

    /// A link of a person who is not erased.
    package subscript(id: LinkID) -> Entry? { table[id] }

    /// The link that has not ended with this hash.
    package func link(hash: Hash256) -> LinkID? { byHash[hash] }

    /// The person's links in the order in which they were added, also ended ones.
    package func links(of person: PersonID) -> [LinkID] { ofPerson[person] ?? [] }

    // MARK: Folding

    /// Adds a link to the person of the stream.
    mutating func add(_ link: ShareLink, in stream: StreamID) {
        guard let subject = stream.person else { return }
        let ordinal = Int64(links(of: subject).count) + 1
        insert(
            link.id,
            Entry(
                subject: subject, ordinal: ordinal, grant: link.grant, hash: link.hash,
                hasPassphrase: link.hasPassphrase, isLive: link.isLive, openingsMax: link.openingsMax,
                name: link.name?.content?.text))
    }

    /// Counts an opening.
    mutating func open(_ id: LinkID, at now: Timestamp) {
        table[id]?.opened += 1
        table[id]?.lastOpenedAt = now
        table[id]?.openings.take(at: Limits.linkOpenings, now: now)
    }

    /// Ends a link; its row stays, so that the person's list still has it.
    mutating func end(_ id: LinkID) {
        guard let entry = table[id] else { return }
        table[id]?.hasEnded = true
        byHash[entry.hash] = nil
    }

    /// Forgets the links of an erased person.
    mutating func forget(_ person: PersonID) {
        for id in ofPerson.removeValue(forKey: person) ?? [] {
            if let entry = table.removeValue(forKey: id) { byHash[entry.hash] = nil }
        }
    }

    mutating func follow(clockSteppedBackBy milliseconds: Int64) {
        for id in table.keys { table[id]?.openings.follow(clockSteppedBackBy: milliseconds) }
    }

    private mutating func insert(_ id: LinkID, _ entry: Entry) {
        table[id] = entry
        if !entry.hasEnded { byHash[entry.hash] = id }
        ofPerson[entry.subject, default: []].append(id)
    }
}

extension Standing {
    mutating func add(_ link: ShareLink, in stream: StreamID) {
        persons.next = max(persons.next, link.id.rawValue + 1)
        links.add(link, in: stream)
    }
}

// MARK: - Rows

// Of one link: 1 subject · 2 ordinal · 3 grant · 4 hash · 5 passphrase · 6 live · 7 most openings · 8 name · 9 opened · 10
// last opening · 11 allowance · 12 ended
extension ShareLinks {
    var rows: [StandingEntry] {
        table.map { id, entry in
            StandingEntry(.link, id.rawValue) {
                $0.integer(1, entry.subject.rawValue)
                $0.integer(2, entry.ordinal)
                $0.integer(3, entry.grant.rawValue)
                $0.bytes(4, entry.hash.bytes)
                $0.bool(5, entry.hasPassphrase ? true : nil)
                $0.bool(6, entry.isLive ? true : nil)
                $0.integer(7, entry.openingsMax)
                $0.text(8, entry.name)
                $0.integer(9, entry.opened == 0 ? nil : entry.opened)
                $0.timestamp(10, entry.lastOpenedAt)
                $0.timestamp(11, entry.openings.fullAt)
                $0.bool(12, entry.hasEnded ? true : nil)
            }
        }
    }

    /// Loads an entry. Entries come in the order of their ids.
    mutating func load(_ id: LinkID, _ fields: inout FieldReader) throws(CBORError) {
        var entry = Entry(
            subject: PersonID(rawValue: try require(try fields.integer(1))),
            ordinal: try require(try fields.integer(2)),
            grant: GrantID(rawValue: try require(try fields.integer(3))), hash: try require(try fields.hash(4)),
            hasPassphrase: try fields.mark(5), isLive: try fields.mark(6), openingsMax: try fields.integer(7),
            name: try fields.text(8))
        entry.opened = try fields.integer(9) ?? 0
        entry.lastOpenedAt = try fields.timestamp(10)
        entry.openings.fullAt = try fields.timestamp(11)
        entry.hasEnded = try fields.mark(12)
        insert(id, entry)
    }
}
