extension Standing {
    /// The import of a file into one person's history.
    package struct Import: Hashable, Sendable {
        /// The correlation of its events. An import of several people has one for each of them.
        package let id: Identifier128
        /// The person whose history it is.
        package let person: PersonID
        /// The principal who began it.
        package let actor: PrincipalID
        package let begunAt: Timestamp
        /// Without members if it can no longer be read.
        package let file: ImportedFile
        /// The end; `nil` while it is running, and for ever if its client did not end it.
        package internal(set) var end: End?
        /// Whether its fixes and visits were withdrawn last, and not restored since.
        package internal(set) var isUndone = false

        /// The end of an import.
        package struct End: Hashable, Sendable {
            /// The number of its event.
            package let number: Int64
            package let at: Timestamp
            package let counts: ImportCounts
            /// `nil` if the file was read to its end, or if the reason can no longer be read.
            package let fault: String?
            /// Whether the file was not read to its end.
            package let isFaulty: Bool
        }

        /// The word in answers.
        package var state: String { isUndone ? "undone" : end == nil ? "running" : "ended" }
    }

    /// The imports of all persons who are not erased. Each history keeps its newest ``Limits/importsPerPerson``. Older ones are
    /// only in the log, and only the operator can undo them.
    package struct Imports: TrackedRegister {
        /// By number.
        package internal(set) var all: Tracked<ImportID, Import> = [:]
        private var ofPerson: [PersonID: [ImportID]] = [:]
        private var byID: [Identifier128: [ImportID]] = [:]

        /// An import by the number of the event that began it.
        package subscript(number: ImportID) -> Import? { all[number] }

        /// A person's imports, in the order in which they were begun.
        package func imports(of person: PersonID) -> [ImportID] { ofPerson[person] ?? [] }

        /// The imports with this id, one for each person, in the order in which they were begun.
        package func imports(id: Identifier128) -> [ImportID] { byID[id] ?? [] }

        /// The ids of the newest imports, newest first. Cost: a look at every import.
        package func newest(_ count: Int) -> [Identifier128] {
            var (seen, found): (Set<Identifier128>, [Identifier128]) = ([], [])
            for number in Array(all.keys).reversed() {
                guard found.count < count else { break }
                if let id = all[number]?.id, seen.insert(id).inserted { found.append(id) }
            }
            return found
        }

        /// A person's import with this id.
        package func find(_ id: Identifier128, of person: PersonID) -> ImportID? {
            let (mine, same) = (ofPerson[person] ?? [], byID[id] ?? [])
            return mine.count < same.count
                ? mine.last { all[$0]?.id == id } : same.last { all[$0]?.person == person }
        }

        /// A person's import of the same file that has not ended, the newest first.
        package func unended(_ file: ImportedFile, of person: PersonID) -> ImportID? {
            ofPerson[person]?.last { number in
                all[number].map { $0.end == nil && !$0.isUndone && $0.file.isSame(as: file) } ?? false
            }
        }

        // MARK: Folding

        mutating func begin(_ recorded: RecordedEvent, _ id: Identifier128, _ file: ImportedFile?) {
            guard let person = recorded.stream.person else { return }
            insert(
                ImportID(rawValue: recorded.number),
                Import(
                    id: id, person: person, actor: recorded.actor, begunAt: recorded.recordedAt,
                    file: file ?? ImportedFile()))
        }

        mutating func end(_ recorded: RecordedEvent, _ counts: ImportCounts, _ fault: Part<ImportFault>?) {
            guard let person = recorded.stream.person, let number = find(recorded.correlation, of: person) else {
                return
            }
            all.change(number) {
                $0.end = Import.End(
                    number: recorded.number, at: recorded.recordedAt, counts: counts, fault: fault?.content?.text,
                    isFaulty: fault != nil)
            }
        }

        /// Notes that fixes or visits of the person were withdrawn or restored. The correlation names the import.
        mutating func note(revisedBy recorded: RecordedEvent, isWithdrawal: Bool) {
            guard let person = recorded.stream.person, let number = find(recorded.correlation, of: person) else {
                return
            }
            all.change(number) { $0.isUndone = isWithdrawal }
        }

        /// Forgets the imports of an erased person.
        mutating func forget(_ person: PersonID) {
            for number in ofPerson.removeValue(forKey: person) ?? [] { remove(number) }
        }

        /// Removes an import, but not from ``ofPerson``.
        private mutating func remove(_ number: ImportID) {
            guard let known = all[number] else { return }
            all[number] = nil
            byID[known.id]?.removeAll { $0 == number }
            if byID[known.id]?.isEmpty == true { byID[known.id] = nil }
        }

        private mutating func insert(_ number: ImportID, _ new: Import) {
            all[number] = new
            index(number, new)
            if let oldest = ofPerson[new.person]?.first, imports(of: new.person).count > Limits.importsPerPerson {
                ofPerson[new.person]?.removeFirst()
                remove(oldest)
            }
        }

        private mutating func index(_ number: ImportID, _ new: Import) {
            ofPerson[new.person, default: []].append(number)
            byID[new.id, default: []].append(number)
        }
    }
}

// MARK: - Rows

// Of one import: 1 id · 2 person · 3 actor · 4 begun · 5 name · 6 format · 7 bytes · 8 hash of the beginning · 9 end's
// number · 10 end's time · 11 new · 12 duplicate · 13 visits · 14 rejected · 15 fault · 16 faulty · 17 undone
extension Standing.Imports {
    static let kind = StandingEntry.Kind.importing

    static func write(_ entry: Standing.Import, to fields: inout FieldWriter) {
        fields.identifier(1, entry.id)
        fields.integer(2, entry.person.rawValue)
        fields.integer(3, entry.actor.rawValue)
        fields.timestamp(4, entry.begunAt)
        fields.text(5, entry.file.name)
        fields.text(6, entry.file.format)
        fields.integer(7, entry.file.byteCount)
        fields.bytes(8, entry.file.head?.bytes)
        fields.integer(9, entry.end?.number)
        fields.timestamp(10, entry.end?.at)
        fields.integer(11, entry.end?.counts.new)
        fields.integer(12, entry.end?.counts.duplicate)
        fields.integer(13, entry.end?.counts.visits)
        fields.integer(14, entry.end?.counts.rejected)
        fields.text(15, entry.end?.fault)
        fields.bool(16, entry.end?.isFaulty == true ? true : nil)
        fields.bool(17, entry.isUndone ? true : nil)
    }

    /// Loads an entry. Entries come in the order of their numbers.
    mutating func load(_ number: ImportID, _ fields: inout FieldReader) throws(CBORError) {
        let id = try require(try fields.identifier(1))
        let person = PersonID(rawValue: try require(try fields.integer(2)))
        let actor = PrincipalID(rawValue: try require(try fields.integer(3)))
        let begunAt = try require(try fields.timestamp(4))
        let file = ImportedFile(
            name: try fields.text(5), format: try fields.text(6), byteCount: try fields.integer(7),
            head: try fields.hash(8))
        var entry = Standing.Import(id: id, person: person, actor: actor, begunAt: begunAt, file: file)
        if let last = try fields.integer(9) {
            let at = try require(try fields.timestamp(10))
            let counts = ImportCounts(
                new: try require(try fields.integer(11)), duplicate: try require(try fields.integer(12)),
                visits: try require(try fields.integer(13)), rejected: try require(try fields.integer(14)))
            let fault = try fields.text(15)
            entry.end = Standing.Import.End(
                number: last, at: at, counts: counts, fault: fault, isFaulty: try fields.mark(16))
        }
        entry.isUndone = try fields.mark(17)
        all.load(number, entry)
        index(number, entry)
    }
}
