extension Standing {
    /// The persons by id and by handle, also erased ones.
    package struct Persons: TrackedRegister {
        /// By number.
        package internal(set) var all: Tracked<PersonID, Person> = [:]
        /// The imports into the persons' histories.
        package internal(set) var imports = Imports()
        /// How long the persons' reports are kept.
        package internal(set) var retention = Retention()
        /// The persons' keys for sealed fixes.
        package internal(set) var sealingKeys = SealingKeys()
        /// Where people's logs are.
        package internal(set) var places = Places()
        private var byHandle: [Handle: PersonID] = [:]
        /// The number of the next person or device: they share their numbers.
        package internal(set) var next = PrincipalID.first.rawValue

        /// A person, changed in place; `nil` for a number that no person has.
        package subscript(id: PersonID) -> Person? {
            @inline(__always) get { all[id] }
            _modify { yield &all[id] }
        }

        /// The person with this handle; `nil` also for an erased one.
        package func named(_ handle: Handle) -> PersonID? { byHandle[handle] }

        /// The handles in use, in no order.
        package var handles: some Collection<Handle> { byHandle.keys }

        /// The persons who were erased. Cost: a look at every person.
        package var erased: Set<PersonID> { Set(all.lazy.filter(\.value.isErased).map(\.key)) }

        /// The first people by handle after this one. Cost: a look at every handle, about 20 ms for a million.
        package func handles(after: String?, limit: Int) -> [(handle: Handle, person: PersonID)] {
            var first: [(handle: Handle, person: PersonID)] = []
            for (handle, person) in byHandle {
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

        mutating func add(_ id: PersonID, _ handle: Handle?, root: PersonID?) {
            all[id] = Person(handle: handle, inviting: Person.Inviting(root: root))
            if let handle { byHandle[handle] = id }
            noteNumber(of: id.principal)
        }

        /// Notes that a number is in use.
        mutating func noteNumber(of principal: PrincipalID) { next = max(next, principal.rawValue + 1) }

        /// Changes a person in place, if there is one of this number.
        mutating func change(_ id: PersonID, _ body: (inout Person) -> Void) { all.change(id, body) }

        /// Leaves a number without a name, rights or settings, and its devices.
        mutating func erase(_ id: PersonID) {
            guard let known = all[id] else { return }
            if let handle = known.handle, byHandle[handle] == id { byHandle[handle] = nil }
            imports.forget(id)
            all[id] = Person(handle: nil, isErased: true, devices: known.devices)
        }

        mutating func follow(clockSteppedBackBy milliseconds: Int64) {
            for (id, person) in all where person.inviting.own.fullAt != nil || person.inviting.ofTree.fullAt != nil {
                all[id]?.inviting.own.follow(clockSteppedBackBy: milliseconds)
                all[id]?.inviting.ofTree.follow(clockSteppedBackBy: milliseconds)
            }
        }
    }

    /// The person with this handle; `nil` also for an erased one.
    package func person(_ handle: Handle) -> PersonID? { persons.named(handle) }
}

// MARK: - Rows

extension Standing.Persons {
    static let kind = StandingEntry.Kind.person

    static func write(_ person: Standing.Person, to fields: inout FieldWriter) { person.write(to: &fields) }

    /// Reserves capacity for the handles, so that loading them does not grow the dictionary repeatedly.
    mutating func reserve(_ count: Int) { byHandle.reserveCapacity(count) }

    mutating func load(_ id: PersonID, _ fields: inout FieldReader) throws(CBORError) {
        let person = try Standing.Person(from: &fields)
        if let handle = person.handle { byHandle[handle] = id }
        all.load(id, person)
    }

    /// The corrections of all persons. Of one: its fields · 9 person
    var corrections: [StandingEntry] {
        var rows: [StandingEntry] = []
        for (id, person) in all where !person.corrections.isEmpty {
            for (correction, content) in person.corrections {
                rows.append(
                    StandingEntry(.correction, correction.rawValue) {
                        _ = Correction.visit(content, &$0)
                        $0.integer(9, id.rawValue)
                    })
            }
        }
        return rows
    }

    mutating func loadCorrection(_ id: CorrectionID, _ fields: inout FieldReader) throws(CBORError) {
        let correction = try Correction.visit(nil, &fields)
        // Persons come before their corrections.
        let person = PersonID(rawValue: try require(try fields.integer(9)))
        guard all[person] != nil else { throw .unexpected }
        all[person]?.corrections[id] = correction
    }
}
