/// A generation of a projection: one file, folded by one version of the rules.
package struct GenerationItem: Reply, Hashable {
    package var name: String
    /// Of the rules.
    package var version: Int64
    package var generation: Int64
    /// For example `active`.
    package var role: String

    package init(name: String, version: Int64, generation: Int64, role: String) {
        (self.name, self.version, self.generation, self.role) = (name, version, generation, role)
    }

    /// Whether it answers.
    package var isActive: Bool { role == Self.active }

    /// The role of the generation that answers.
    package static let active = "active"

    package static let schema: String? = "Generation"

    package static var invented: Self {
        Self(name: .invented, version: .invented, generation: .invented, role: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("name", &name)
        try members.required("version", &version)
        try members.required("generation", &generation)
        try members.required("role", &role)
    }
}

/// A generation of a projection with its place in the log.
package struct ProjectionItem: Reply, Hashable {
    package var generation: GenerationItem
    /// The number of the newest event that it has folded.
    package var place: Int64
    /// The number of the newest event of the log.
    package var head: Int64
    /// `loading`, `ready`, or `outdated`: another version of the program made it, it answers until the new one is
    /// folded, and its place no longer moves.
    package var state: String
    /// Of its content, without the numbers of events; hexadecimal.
    package var fingerprint: String
    /// While it is loading: the events that it folds in a second.
    package var eventsPerSecond: Double?
    /// While it is loading: the seconds until it has reached the head at this rate.
    package var secondsLeft: Double?
    /// When the background check last found that its rows give its fingerprint.
    package var checkedAt: Moment?

    package init(generation: GenerationItem, place: Int64, head: Int64, state: String, fingerprint: String) {
        (self.generation, self.place, self.head) = (generation, place, head)
        (self.state, self.fingerprint) = (state, fingerprint)
    }

    package static var invented: Self {
        Self(
            generation: .invented, place: .invented, head: .invented, state: .invented, fingerprint: .invented)
    }

    /// The states of a projection.
    package static let (loading, ready, outdated) = ("loading", "ready", "outdated")

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try generation.visit(&members)
        try members.required("place", &place)
        try members.required("head", &head)
        try members.required("state", .words([Self.loading, Self.ready, Self.outdated]), &state)
        try members.required("fingerprint", &fingerprint)
        try members.optional("eventsPerSecond", &eventsPerSecond)
        try members.optional("secondsLeft", &secondsLeft)
        try members.optional("checkedAt", &checkedAt)
    }
}

/// The new generations that are folded beside the active ones.
package struct RebuildingGenerations: Reply, Hashable {
    package var items: [GenerationItem]

    package init(items: [GenerationItem]) { self.items = items }

    package static var invented: Self { Self(items: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("items", &items)
    }
}

/// The generations that a request has deleted.
package struct PrunedGenerations: Reply, Hashable {
    package var items: [GenerationItem]

    package init(items: [GenerationItem]) { self.items = items }

    package static var invented: Self { Self(items: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("items", &items)
    }
}

/// The difference between the rebuilt generation of a projection and the active one.
package struct ProjectionDifference: Reply, Hashable {
    package var isEqual: Bool
    /// The rows that only the rebuilt generation has.
    package var added: Int64
    /// The rows that only the active generation has.
    package var removed: Int64
    /// The rows with the same key and different content.
    package var changed: Int64
    /// The place at which the two were compared.
    package var asOf: Reference
    package var active: GenerationItem
    package var other: GenerationItem
    /// The first of the differing rows.
    package var rows: [DifferingRow]

    package init(
        isEqual: Bool, added: Int64, removed: Int64, changed: Int64, asOf: Reference, active: GenerationItem,
        other: GenerationItem, rows: [DifferingRow]
    ) {
        (self.isEqual, self.added, self.removed, self.changed) = (isEqual, added, removed, changed)
        (self.asOf, self.active, self.other, self.rows) = (asOf, active, other, rows)
    }

    package static var invented: Self {
        Self(
            isEqual: .invented, added: .invented, removed: .invented, changed: .invented, asOf: .invented,
            active: .invented, other: .invented, rows: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("equal", &isEqual)
        try members.required("added", &added)
        try members.required("removed", &removed)
        try members.required("changed", &changed)
        try members.required("asOf", &asOf)
        try members.required("active", &active)
        try members.required("other", &other)
        try members.required("rows", &rows)
    }
}

/// A row in which two generations of a projection differ.
package struct DifferingRow: Reply, Hashable {
    /// The handle of the person whose data the row has; absent for a row of no person.
    package var person: String?
    package var table: String
    /// The row's name, unique in its table.
    package var key: String
    /// The content in the active generation; `nil` for an added row.
    package var old: String?
    /// The content in the rebuilt generation; `nil` for a removed row.
    package var new: String?
    /// `added`, `removed` or `changed`.
    package var change: String
    /// The columns that differ; all columns of an added or removed row.
    package var columns: [DifferingColumn]

    package init(
        person: String?, table: String, key: String, change: String, old: String?, new: String?,
        columns: [DifferingColumn]
    ) {
        (self.person, self.table, self.key, self.change) = (person, table, key, change)
        (self.old, self.new, self.columns) = (old, new, columns)
    }

    package static var invented: Self {
        Self(
            person: nil, table: .invented, key: .invented, change: "added", old: nil, new: nil, columns: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("table", &table)
        try members.required("key", &key)
        try members.required("change", .words(["added", "removed", "changed"]), &change)
        try members.optional("person", &person)
        try members.optional("old", &old)
        try members.optional("new", &new)
        try members.required("columns", &columns)
    }
}

/// A column in which a row of two generations differs, with its values as text.
package struct DifferingColumn: Reply, Hashable {
    package var name: String
    /// The value in the active generation; absent for NULL, and for an added row.
    package var old: String?
    /// The value in the rebuilt generation; absent for NULL, and for a removed row.
    package var new: String?

    package init(name: String, old: String?, new: String?) { (self.name, self.old, self.new) = (name, old, new) }

    package static var invented: Self { Self(name: .invented, old: nil, new: nil) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("name", &name)
        try members.optional("old", &old)
        try members.optional("new", &new)
    }
}
