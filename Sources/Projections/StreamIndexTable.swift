package import SQLite
package import Whereabouts

/// The number of each event of a stream by its version.
///
/// The numbers are in blocks of 128 versions: the first number and then the differences, each as a LEB128 varint. For
/// example, stream 4 with its versions 1, 2 and 3 in events 7, 9 and 300: `(4, 1, x'07 02 A3 02')`. The open blocks of
/// recent streams are in memory and written before a commit.
///
/// `stream` is the raw value of `StreamID`: two streams for each person and stream 0 for the house. `first_version`
/// is 1, 129, 257 and so on. A full block is never written again.
package final class StreamIndexTable: Projection {
    package static let name = "streamIndex"
    package static let versions: [Int64] = [1]
    /// `numbers` is the block as described at the type.
    package static let schema: StaticString = """
        CREATE TABLE block (
            stream INTEGER NOT NULL,
            first_version INTEGER NOT NULL,
            numbers BLOB NOT NULL,
            PRIMARY KEY (stream, first_version)
        ) STRICT, WITHOUT ROWID
        """
    /// None: blocks are found by their primary key.
    package static let indexes: StaticString = ""

    /// The versions in a block. Larger blocks save key bytes; smaller ones are cheaper to read and rewrite.
    package static let blockVersions: Int64 = 128
    /// The open blocks kept in memory between commits.
    ///
    /// Past this number all are dropped after a commit, and loaded again when needed.
    private static let mostTails = 65_536

    /// The open block of a stream, which its next event continues.
    private final class Tail {
        /// The version of its first event: a multiple of ``blockVersions`` plus 1.
        var firstVersion: Int64
        /// The events in the block, up to ``blockVersions``.
        var count: Int64 = 0
        /// The number from which the next difference counts; 0 in an empty block.
        var lastNumber: Int64 = 0
        /// The block's numbers as they are stored.
        var numbers: [UInt8] = []
        var isDirty = false

        init(firstVersion: Int64) { self.firstVersion = firstVersion }
    }

    private let file: ProjectionFile
    /// The open blocks by stream; a stream without an entry is loaded from the file.
    private var tails: [Int64: Tail] = [:]
    /// The open blocks that are not written.
    private var dirty: [(stream: Int64, tail: Tail)] = []

    package init(file: ProjectionFile, version: Int64) { self.file = file }

    /// Cost: a dictionary access and a few bytes per event; the file is written per block and commit.
    package func fold(_ batch: [RecordedEvent]) throws(SQLiteError) {
        // By index: a loop over the events would copy each of them.
        for index in batch.indices {
            let (stream, version, number) = (batch[index].stream.rawValue, batch[index].version, batch[index].number)
            let tail: Tail
            if let known = tails[stream] {
                tail = known
            } else {
                tail = try load(stream)
                tails[stream] = tail
            }
            try append(number, version, of: stream, to: tail)
            file.fingerprint.add(hash(stream, version, number))
        }
    }

    /// Adds an event to the open block; a full one is written, and the next one begun.
    ///
    /// - Throws: A damaged projection if the file's block does not end right before the event.
    private func append(
        _ number: Int64, _ version: Int64, of stream: Int64, to tail: Tail
    ) throws(SQLiteError) {
        guard version - tail.count == tail.firstVersion, number > tail.lastNumber else { throw .damagedProjection }
        if tail.count == Self.blockVersions {
            if tail.isDirty { try write(stream, tail) }
            (tail.firstVersion, tail.count, tail.lastNumber) = (version, 0, 0)
            tail.numbers.removeAll(keepingCapacity: true)
        }
        if !tail.isDirty {
            tail.isDirty = true
            dirty.append((stream, tail))
        }
        tail.numbers.append(varint: UInt64(number - tail.lastNumber))
        tail.lastNumber = number
        tail.count += 1
    }

    /// Writes each open block that changed, over its earlier form.
    package func flush() throws(SQLiteError) {
        for (stream, tail) in dirty {
            try write(stream, tail)
            tail.isDirty = false
        }
        dirty.removeAll(keepingCapacity: true)
        if tails.count > Self.mostTails { tails = [:] }
    }

    /// Drops the open blocks; the next fold loads them again.
    package func forget() {
        tails = [:]
        dirty = []
    }

    /// Deletes nothing: numbers and versions contain no personal data, and a refold makes them again.
    package func erase(_ person: PersonID) throws(SQLiteError) {}

    /// - Throws: A damaged projection for a block at a wrong version, an empty one, or one that does not continue the
    ///   block before.
    package func eachRow(_ body: (ProjectionRow) throws(SQLiteError) -> Void) throws(SQLiteError) {
        try flush()
        try file.connection.cached("SELECT stream, first_version, numbers FROM block ORDER BY stream, first_version") {
            (statement) throws(SQLiteError) in
            var previous = (stream: Int64.min, next: Int64(1))
            while try statement.step() {
                let stream = statement.int(at: 0)
                var version = statement.int(at: 1)
                // Readers find a block by its first version, so a wrong or empty block is damage.
                guard version >= 1, version % Self.blockVersions == 1, !statement.withBytes(at: 2, { $0.isEmpty })
                else {
                    throw .damagedProjection
                }
                if stream == previous.stream, version != previous.next { throw .damagedProjection }
                defer { previous = (stream, version) }
                for number in try Self.numbers(statement.bytes(at: 2)) {
                    try body(
                        ProjectionRow(
                            table: "event", person: nil, key: "stream \(stream) version \(version)",
                            summary: "number \(number)", columns: [.init("number", number)],
                            hash: hash(stream, version, number)))
                    version += 1
                }
            }
        }
    }

    /// The hash of one event's row. Rows of the fingerprint are events, not blocks.
    private func hash(_ stream: Int64, _ version: Int64, _ number: Int64) -> Fingerprint {
        file.hasher.hash { writer in
            writer.array(4)
            writer.text("event")
            writer.integer(stream)
            writer.integer(version)
            writer.integer(number)
        }
    }

    // MARK: SQL

    /// The last block of a stream; an empty one for a stream without events.
    private func load(_ stream: Int64) throws(SQLiteError) -> Tail {
        try file.connection.cached(
            """
            SELECT first_version, numbers
            FROM block
            WHERE stream = ?
            ORDER BY first_version DESC
            LIMIT 1
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(stream, at: 1)
            guard try statement.step() else { return Tail(firstVersion: 1) }
            let tail = Tail(firstVersion: statement.int(at: 0))
            tail.numbers = statement.bytes(at: 1)
            let numbers = try Self.numbers(tail.numbers)
            tail.count = Int64(numbers.count)
            tail.lastNumber = numbers.last ?? 0
            return tail
        }
    }

    /// Writes an open block over its earlier form.
    private func write(_ stream: Int64, _ tail: Tail) throws(SQLiteError) {
        try file.connection.cached("INSERT OR REPLACE INTO block (stream, first_version, numbers) VALUES (?, ?, ?)") {
            (statement) throws(SQLiteError) in
            try statement.bind(stream, at: 1)
            try statement.bind(tail.firstVersion, at: 2)
            try statement.bind(tail.numbers, at: 3)
            try statement.run()
        }
    }

    // MARK: Blocks

    /// The numbers in a block; throws a damaged projection if the bytes are not rising varints.
    package static func numbers(_ bytes: [UInt8]) throws(SQLiteError) -> [Int64] {
        var numbers: [Int64] = []
        var number: Int64 = 0
        var (rest, shift) = (UInt64(0), UInt64(0))
        for byte in bytes {
            guard shift < 63 else { throw .damagedProjection }
            rest |= UInt64(byte & 0x7F) << shift
            shift += 7
            if byte & 0x80 == 0 {
                let (sum, overflows) = number.addingReportingOverflow(Int64(truncatingIfNeeded: rest))
                guard !overflows, sum > number else { throw .damagedProjection }
                number = sum
                numbers.append(number)
                (rest, shift) = (0, 0)
            }
        }
        guard shift == 0 else { throw .damagedProjection }
        return numbers
    }
}
