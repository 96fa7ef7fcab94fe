extension StreamID: Numbered {}

/// A dictionary from ids that are handed out in order, in the order of the ids.
///
/// The values of 64 numbers in a row are one array, so a table has few allocations, no empty places and no hashes, and a
/// change to a copied table copies one such array. A large `Dictionary` is between 3/8 and 3/4 full.
///
/// Cost: a look-up takes constant time while few runs of 64 numbers are missing between the first and the last, otherwise
/// logarithmic time. A new id is appended in constant time if it is higher than all others. Any number is possible; one far
/// from the others takes the memory of one array.
package struct NumberedTable<Key: Numbered, Value: Sendable>: Sendable, Collection, ExpressibleByDictionaryLiteral {
    /// The values of the keys with the numbers from 64 · `number` up to 64 · `number` + 63.
    private struct Page: Sendable {
        let number: Int64
        /// A bit for each of the 64 keys.
        var present: UInt64 = 0
        /// In the order of the keys. None is `nil` but while it is changed, which moves it out.
        var values: ContiguousArray<Value?> = []

        init(number: Int64) { self.number = number }

        /// The place in ``values`` of the key with this bit.
        func place(_ bit: UInt64) -> Int { (present & (bit &- 1)).nonzeroBitCount }
    }

    /// A position in a table.
    package struct Index: Comparable, Sendable {
        fileprivate let page: Int
        fileprivate let place: Int

        /// Earlier positions have lower ids.
        package static func < (a: Index, b: Index) -> Bool { (a.page, a.place) < (b.page, b.place) }
    }

    /// In the order of their numbers; none is empty.
    private var pages: ContiguousArray<Page> = []
    private var size = 0

    /// An empty table.
    package init() {}

    /// A table of these elements, of which the last counts if several have one key.
    package init(dictionaryLiteral elements: (Key, Value)...) {
        for (key, value) in elements { self[key] = value }
    }

    /// The number of elements. Cost: constant.
    package var count: Int { size }
    package var isEmpty: Bool { size == 0 }

    /// The ids, in ascending order.
    package var keys: some Collection<Key> { lazy.map(\.key) }
    /// The values, in the order of their ids.
    package var values: some Collection<Value> { lazy.map(\.value) }

    /// The first page whose number is not less than this.
    private func lowerBound(_ number: Int64) -> Int {
        guard let first = pages.first, number > first.number else { return 0 }
        // The place if no page is missing before it. There it is, or, as pages are missing, before.
        var high = Int(Swift.min(number - first.number, Int64(pages.count)))
        if high < pages.count, pages[high].number == number { return high }
        if let last = pages.last, last.number < number { return pages.count }
        var low = 0
        while low < high {
            let middle = (low + high) / 2
            if pages[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The place of the key's value, or the one that it would have; whether there is a page, and whether there is a value.
    private func find(_ key: Key) -> (page: Int, place: Int, hasPage: Bool, isPresent: Bool) {
        let number = key.rawValue >> 6
        let bit = UInt64(1) << UInt64(key.rawValue & 63)
        let page = lowerBound(number)
        guard page < pages.count, pages[page].number == number else { return (page, 0, false, false) }
        return (page, pages[page].place(bit), true, pages[page].present & bit != 0)
    }

    /// The value of an id, changed in place.
    package subscript(key: Key) -> Value? {
        get {
            let found = find(key)
            return found.isPresent ? pages[found.page].values[found.place] : nil
        }
        _modify {
            let found = find(key)
            var value: Value?
            if found.isPresent { swap(&value, &pages[found.page].values[found.place]) }
            defer {
                if found.isPresent, value != nil {
                    swap(&value, &pages[found.page].values[found.place])
                } else if found.isPresent {
                    remove(key, found.page, found.place)
                } else if value != nil {
                    insert(&value, key, found.page, found.place, hasPage: found.hasPage)
                }
            }
            yield &value
        }
    }

    /// Changes the value of an id in place, if it has one.
    ///
    /// - Returns: Whether it has one.
    package mutating func change(_ key: Key, _ body: (inout Value) -> Void) -> Bool {
        let found = find(key)
        guard found.isPresent, var value = pages[found.page].values[found.place].take() else { return false }
        body(&value)
        pages[found.page].values[found.place] = value
        return true
    }

    private mutating func insert(
        _ value: inout Value?, _ key: Key, _ page: Int, _ place: Int, hasPage: Bool
    ) {
        if !hasPage { pages.insert(Page(number: key.rawValue >> 6), at: page) }
        pages[page].values.insert(nil, at: place)
        swap(&value, &pages[page].values[place])
        pages[page].present |= 1 << UInt64(key.rawValue & 63)
        size += 1
    }

    private mutating func remove(_ key: Key, _ page: Int, _ place: Int) {
        size -= 1
        pages[page].present &= ~(1 << UInt64(key.rawValue & 63))
        pages[page].values.remove(at: place)
        if pages[page].values.isEmpty { pages.remove(at: page) }
    }

    package var startIndex: Index { Index(page: 0, place: 0) }
    package var endIndex: Index { Index(page: pages.count, place: 0) }

    package func index(after index: Index) -> Index {
        let next = index.place + 1
        return next < pages[index.page].values.count
            ? Index(page: index.page, place: next) : Index(page: index.page + 1, place: 0)
    }

    /// The id and the value at a position. Cost: the place of the id's bit is counted, some nanoseconds.
    package subscript(index: Index) -> (key: Key, value: Value) {
        let page = pages[index.page]
        var left = page.present
        for _ in 0..<index.place { left &= left &- 1 }
        guard let value = page.values[index.place] else {
            preconditionFailure("A value is read while it is changed.")
        }
        return (Key(rawValue: page.number << 6 | Int64(left.trailingZeroBitCount)), value)
    }
}

extension NumberedTable: Equatable where Value: Equatable {
    package static func == (a: Self, b: Self) -> Bool {
        a.count == b.count && a.elementsEqual(b) { $0.key == $1.key && $0.value == $1.value }
    }
}
