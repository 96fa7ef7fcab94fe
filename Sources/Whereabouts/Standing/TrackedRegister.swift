/// A register of the standing whose entries are one row each of the saved standing, and of which only the changed rows
/// are written again.
protocol TrackedRegister: Sendable, Equatable {
    associatedtype ID: Numbered
    associatedtype Entry: Sendable

    /// The kind of its rows. A row has the number of its id.
    static var kind: StandingEntry.Kind { get }
    /// The entries, by their ids.
    var all: Tracked<ID, Entry> { get set }
    /// Writes the fields of a row.
    static func write(_ entry: Entry, to fields: inout FieldWriter)
}

extension TrackedRegister {
    private static func row(_ id: ID, _ entry: Entry) -> StandingEntry {
        StandingEntry(kind, id.rawValue) { write(entry, to: &$0) }
    }

    /// All rows, in the order of their ids: a table is filled faster from its beginning to its end.
    var rows: some Sequence<StandingEntry> { all.lazy.map { Self.row($0.key, $0.value) } }

    /// The ids of the rows that may have changed since ``forgetChanges()``, each with the row; `nil` for a removed one.
    var changes: some Sequence<(id: Int64, body: [UInt8]?)> {
        all.changed.lazy.map { id in (id.rawValue, all[id].map { Self.row(id, $0).body }) }
    }

    mutating func forgetChanges() { all.forgetChanges() }
}
