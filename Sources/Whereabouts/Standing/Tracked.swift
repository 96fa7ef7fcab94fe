/// A table that notes the keys whose values may have changed since ``forgetChanges()``, so that only those need to be saved.
package struct Tracked<Key: Numbered, Value: Sendable>: Sendable, Collection, ExpressibleByDictionaryLiteral {
    private var all: NumberedTable<Key, Value> = [:]
    /// The keys whose value may have changed since ``forgetChanges()``, or may have been removed.
    private(set) var changed: Set<Key> = []

    /// A table of these elements, all of them changed.
    package init(dictionaryLiteral elements: (Key, Value)...) {
        for (key, value) in elements { self[key] = value }
    }

    /// The ids, in ascending order.
    package var keys: some Collection<Key> { all.keys }
    /// The values, in the order of their ids.
    package var values: some Collection<Value> { all.values }
    package var count: Int { all.count }
    package var isEmpty: Bool { all.isEmpty }

    /// Reading changes nothing. Writing, also in place, marks the key as changed.
    package subscript(key: Key) -> Value? {
        get { all[key] }
        _modify {
            changed.insert(key)
            yield &all[key]
        }
    }

    /// Changes the value of a key in place, if it has one.
    mutating func change(_ key: Key, _ body: (inout Value) -> Void) {
        if all.change(key, body) { changed.insert(key) }
    }

    /// Sets a value without marking it as changed.
    mutating func load(_ key: Key, _ value: Value) { all[key] = value }

    mutating func forgetChanges() { changed = [] }

    package var startIndex: NumberedTable<Key, Value>.Index { all.startIndex }
    package var endIndex: NumberedTable<Key, Value>.Index { all.endIndex }
    package func index(after index: NumberedTable<Key, Value>.Index) -> NumberedTable<Key, Value>.Index {
        all.index(after: index)
    }
    package subscript(index: NumberedTable<Key, Value>.Index) -> (key: Key, value: Value) { all[index] }
}

extension Tracked: Equatable where Value: Equatable {
    /// Whether the tables have the same values, whatever changed in them.
    package static func == (a: Self, b: Self) -> Bool { a.all == b.all }
}
