/// The newest event of a stream.
package struct StreamHead: Hashable, Sendable {
    /// The event's number in the log.
    package let number: Int64
    /// The event's version in its stream, counted from 1.
    package let version: Int64
    /// The event's leaf in the tree of the log.
    package let leafHash: Hash256

    package init(number: Int64, version: Int64, leafHash: Hash256) {
        (self.number, self.version, self.leafHash) = (number, version, leafHash)
    }
}

/// The newest event of each stream.
///
/// A separate type instead of a generic table: the module that uses it most has no specialized code for this module's
/// generic types, so a look-up there would cost a microsecond.
package struct StreamHeads: Sendable, Equatable, Sequence, ExpressibleByDictionaryLiteral {
    private(set) var table: NumberedTable<StreamID, StreamHead> = [:]

    /// No streams.
    package init() {}

    /// These streams, of which the last counts if one is named several times.
    package init(dictionaryLiteral elements: (StreamID, StreamHead)...) {
        for (stream, head) in elements { table[stream] = head }
    }

    /// The number of streams.
    package var count: Int { table.count }

    /// The newest event of a stream; `nil` if it has none.
    package subscript(stream: StreamID) -> StreamHead? {
        get { table[stream] }
        set { table[stream] = newValue }
    }

    /// The newest of all these events; `nil` if there is none. Cost: linear.
    package var newest: StreamHead? {
        var newest: StreamHead?
        for (_, head) in table where head.number > newest?.number ?? 0 { newest = head }
        return newest
    }

    /// The sum of the versions, which is the number of all events; `nil` beyond 64 bits. Cost: linear.
    package var events: Int64? {
        var events: Int64 = 0
        for (_, head) in table {
            let (sum, isTooLarge) = events.addingReportingOverflow(head.version)
            if isTooLarge { return nil }
            events = sum
        }
        return events
    }

    /// Goes through the streams in the order of their ids.
    package struct Iterator: IteratorProtocol {
        private let table: NumberedTable<StreamID, StreamHead>
        private var index: NumberedTable<StreamID, StreamHead>.Index

        init(_ table: NumberedTable<StreamID, StreamHead>) { (self.table, index) = (table, table.startIndex) }

        package mutating func next() -> (key: StreamID, value: StreamHead)? {
            if index == table.endIndex { return nil }
            defer { index = table.index(after: index) }
            return table[index]
        }
    }

    package func makeIterator() -> Iterator { Iterator(table) }
}
