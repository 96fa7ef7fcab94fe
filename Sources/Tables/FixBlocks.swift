import Projections
import SQLite
import Whereabouts

/// The rows of `fix`, each of which has a block of fixes of one person.
///
/// A block has the fixes from its first one up to the first one of the person's next block, in the order of
/// ``FixIdentity``, one for each identity. The first fix is in the columns of the row and the others are in `following`
/// (``FixPacking``). A row has at most ``bytesMax`` bytes, so that SQLite keeps it in one page, unless its first fix alone
/// has more.
///
/// The blocks that were used last are in memory, one for each person, with the changes that are not in the file yet.
/// Without changes, a block is packed in memory as it is in the file. Call `write(_:)` or `write()` before you read `fix`.
///
/// Cost: a comparison and an array access for a fix that is later than the person's others; for another one, two searches
/// and the decoding of a block of about thirty.
final class FixBlocks {
    /// SQLite keeps at most 1002 bytes of such a row in a page of 4096 bytes, and the rest in overflow pages.
    static let bytesMax = 960
    /// The fixes of a row, however small they are.
    static let fixesMax = 64
    /// The fixes in memory after which a block is written as more than one row.
    private static let fixesInMemoryMax = 96
    /// The memory for blocks between commits, in bytes: some 30,000 of them.
    static let memoryMax = 64 << 20

    private let file: ProjectionFile
    private let memoryMax: Int
    private var blocks: [PersonID: Block] = [:]
    private var changed: [Block] = []
    /// The memory of the blocks when each was last loaded or written, in bytes.
    private var memory = 0

    /// - Parameter memoryMax: The memory for blocks, in bytes. Beyond it, all are written and dropped before the next person's.
    init(_ file: ProjectionFile, memoryMax: Int = memoryMax) { (self.file, self.memoryMax) = (file, memoryMax) }

    // MARK: Fixes

    /// Adds a fix, unless there is one with its identity, which is then returned.
    func insert(_ row: FixRow) throws(SQLiteError) -> FixRow? {
        let identity = row.identity
        let block = try block(of: row.person, covering: identity)
        let (index, isThere) = try block.place(of: identity)
        if isThere { return block.fixes[index] }
        block.insert(row, at: index)
        note(block)
        if block.count > Self.fixesInMemoryMax { try write(block) }
        return nil
    }

    /// Puts a twin in the place of the fix with its identity.
    ///
    /// - Throws: A damaged projection if there is none.
    func replace(with row: FixRow) throws(SQLiteError) {
        let block = try block(of: row.person, covering: row.identity)
        let (index, isThere) = try block.place(of: row.identity)
        guard isThere else { throw .damagedProjection }
        block.replace(at: index, with: row)
        note(block)
    }

    /// Removes the fix with the identity of this one.
    ///
    /// - Throws: A damaged projection if there is none.
    func remove(_ row: FixRow) throws(SQLiteError) {
        let block = try block(of: row.person, covering: row.identity)
        let (index, isThere) = try block.place(of: row.identity)
        guard isThere else { throw .damagedProjection }
        block.remove(at: index)
        note(block)
        // A block without fixes has no place.
        if block.fixes.isEmpty { try write(row.person) }
    }

    /// Deletes all rows of a person.
    func removeAll(of person: PersonID) throws(SQLiteError) {
        forget(person)
        try file.connection.cached("DELETE FROM fix WHERE person = ?") { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.run()
        }
    }

    // MARK: File

    /// Writes all changes.
    func write() throws(SQLiteError) {
        for block in changed { try write(block) }
        changed.removeAll(keepingCapacity: true)
    }

    /// Writes the changes of one person and drops the block.
    func write(_ person: PersonID) throws(SQLiteError) {
        if let block = blocks[person] { try write(block) }
        forget(person)
    }

    /// Drops the changes, because the transaction was rolled back.
    func forget() { (blocks, changed, memory) = ([:], [], 0) }

    private func forget(_ person: PersonID) {
        guard let block = blocks.removeValue(forKey: person) else { return }
        block.isChanged = false
        block.removeAll()
        memory -= block.countedMemory
    }

    private func note(_ block: Block) {
        if block.isChanged { return }
        block.isChanged = true
        changed.append(block)
    }

    /// The block to which a fix belongs, from the memory or the file.
    private func block(of person: PersonID, covering fix: FixIdentity) throws(SQLiteError) -> Block {
        if let block = blocks[person] {
            if block.covers(fix) { return block }
            try write(person)
        } else if memory >= memoryMax {
            try write()
            (blocks, memory) = ([:], 0)
        }
        let block = try load(of: person, covering: fix)
        blocks[person] = block
        countMemory(of: block)
        return block
    }

    private func countMemory(of block: Block) {
        let bytes = block.memory
        memory += bytes - block.countedMemory
        block.countedMemory = bytes
    }

    private func load(of person: PersonID, covering fix: FixIdentity) throws(SQLiteError) -> Block {
        if let content = try read(Self.coveringSQL, of: person, fix) {
            return Block(of: person, isFirst: false, end: try next(of: person, after: fix), content)
        }
        // Before the person's first block, or without any.
        let content = try read(Self.followingSQL, of: person, fix)
        let end = try content?.fixes.first.flatMap { (first) throws(SQLiteError) in
            try next(of: person, after: first.identity)
        }
        return Block(of: person, isFirst: true, end: end, content)
    }

    /// The row that a search finds; `nil` without one.
    private func read(
        _ sql: StaticString, of person: PersonID, _ fix: FixIdentity
    ) throws(SQLiteError) -> Content? {
        try file.connection.cached(sql) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try fix.bind(to: statement, from: 2)
            guard try statement.step() else { return nil }
            let fixes = try Self.fixes(statement, of: person)
            return Content(fixes: fixes, packing: FixPacking(statement.bytes(at: 8), of: fixes))
        }
    }

    private func next(of person: PersonID, after fix: FixIdentity) throws(SQLiteError) -> FixIdentity? {
        try file.connection.cached(Self.nextSQL) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try fix.bind(to: statement, from: 2)
            return try statement.step() ? FixIdentity(statement, from: 0) : nil
        }
    }

    /// Writes a block as one or more rows. The last of these stays in memory.
    private func write(_ block: Block) throws(SQLiteError) {
        guard block.isChanged else { return }
        block.isChanged = false
        if let row = block.row, row != block.first?.identity { try delete(row, of: block.person) }
        let rows = try block.takeRows()
        for row in rows { try write(row) }
        guard let last = rows.last else { return forget(block.person) }
        block.row = last.first.identity
        if rows.count > 1 { block.isFirst = false }
        countMemory(of: block)
    }

    private func write(_ row: Row) throws(SQLiteError) {
        try file.connection.cached(
            """
            INSERT OR REPLACE INTO fix
                (person, device, timestamp_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters, details,
                number, received_after_ms, following)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        ) { (statement) throws(SQLiteError) in
            try row.first.bind(to: statement)
            if !row.following.isEmpty { try statement.bind(row.following, at: 10) }
            try statement.run()
        }
    }

    private func delete(_ fix: FixIdentity, of person: PersonID) throws(SQLiteError) {
        try file.connection.cached(
            """
            DELETE FROM fix
            WHERE person = ?1 AND timestamp_ms = ?2 AND device = ?3 AND latitude_degrees = ?4 AND longitude_degrees = ?5
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try fix.bind(to: statement, from: 2)
            try statement.run()
        }
    }

    // MARK: SQL

    /// Parameters: person, time, device, latitude, longitude. One search backwards in the primary key.
    static let coveringSQL: StaticString = """
        SELECT timestamp_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters, details, number,
            received_after_ms, device, following
        FROM fix
        WHERE person = ?1 AND (timestamp_ms, device, latitude_degrees, longitude_degrees) <= (?2, ?3, ?4, ?5)
        ORDER BY timestamp_ms DESC, device DESC, latitude_degrees DESC, longitude_degrees DESC
        LIMIT 1
        """

    /// As ``coveringSQL``, forwards.
    static let followingSQL: StaticString = """
        SELECT timestamp_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters, details, number,
            received_after_ms, device, following
        FROM fix
        WHERE person = ?1 AND (timestamp_ms, device, latitude_degrees, longitude_degrees) > (?2, ?3, ?4, ?5)
        ORDER BY timestamp_ms, device, latitude_degrees, longitude_degrees
        LIMIT 1
        """

    /// As ``followingSQL``, without the contents.
    static let nextSQL: StaticString = """
        SELECT timestamp_ms, device, latitude_degrees, longitude_degrees
        FROM fix
        WHERE person = ?1 AND (timestamp_ms, device, latitude_degrees, longitude_degrees) > (?2, ?3, ?4, ?5)
        ORDER BY timestamp_ms, device, latitude_degrees, longitude_degrees
        LIMIT 1
        """
}

// MARK: - Reading

extension FixBlocks {
    /// Gives the fixes of a row of `fix` in their order, until `body` returns `false`.
    ///
    /// The row has the columns of ``FixColumns``, number, receipt less device time, device, and `following`.
    ///
    /// - Returns: Whether `body` wants more.
    /// - Throws: A damaged projection for bytes that no packing writes; else what `body` throws.
    @discardableResult
    static func eachFix(
        _ statement: borrowing Statement, of person: PersonID, _ body: (FixRow) throws(SQLiteError) -> Bool
    ) throws(SQLiteError) -> Bool {
        let first = FixRow(statement, of: person, DeviceID(rawValue: statement.int(at: 7)))
        guard try body(first) else { return false }
        var rest = FixUnpacking(statement.lentBytes(at: 8), after: first)
        while let fix = try rest.next() {
            guard try body(fix) else { return false }
        }
        return true
    }

    /// The fixes of a row of `fix` in their order, as ``eachFix(_:of:_:)``.
    private static func fixes(
        _ statement: borrowing Statement, of person: PersonID
    ) throws(SQLiteError) -> [FixRow] {
        var fixes: [FixRow] = []
        try eachFix(statement, of: person) { (fix) throws(SQLiteError) in
            fixes.append(fix)
            return true
        }
        return fixes
    }

    /// Gives the person's fixes with `from` ≤ timestamp ≤ `through` in their order, until `body` returns `false`.
    ///
    /// - Parameters:
    ///   - from: Milliseconds since 1970 UTC, as `through`.
    ///
    /// Cost: one range of the primary key, from the block before `from` on, and about 0.1 µs for each fix of these blocks.
    static func eachFix(
        of person: PersonID, from: Int64 = .min, through: Int64 = .max, in connection: borrowing Connection,
        _ body: (FixRow) throws(SQLiteError) -> Bool
    ) throws(SQLiteError) {
        try connection.cached(rangeSQL) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(from, at: 2)
            try statement.bind(through, at: 3)
            while try statement.step() {
                let wantsMore = try eachFix(statement, of: person) { (fix) throws(SQLiteError) in
                    let time = fix.columns.timestamp.milliseconds
                    if time < from { return true }
                    return time <= through ? try body(fix) : false
                }
                if !wantsMore { return }
            }
        }
    }

    /// Gives the person's fixes with timestamp ≤ `through` from the last to the first, until `body` returns `false`.
    ///
    /// Cost: one range of the primary key, read backwards; each block is decoded as a whole.
    static func eachFixBackwards(
        of person: PersonID, through: Int64 = .max, in connection: borrowing Connection,
        _ body: (FixRow) throws(SQLiteError) -> Bool
    ) throws(SQLiteError) {
        try connection.cached(backwardsSQL) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(through, at: 2)
            while try statement.step() {
                for fix in try fixes(statement, of: person).reversed()
                where fix.columns.timestamp.milliseconds <= through {
                    guard try body(fix) else { return }
                }
            }
        }
    }

    /// The blocks that begin in the range, and those with the last beginning before it, which may reach into it.
    ///
    /// Parameters: person, first and last time.
    static let rangeSQL: StaticString = """
        SELECT timestamp_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters, details, number,
            received_after_ms, device, following
        FROM fix
        WHERE person = ?1 AND timestamp_ms <= ?3
            AND timestamp_ms >= coalesce(
                (SELECT max(timestamp_ms) FROM fix WHERE person = ?1 AND timestamp_ms < ?2), ?2)
        ORDER BY timestamp_ms, device, latitude_degrees, longitude_degrees
        """

    /// Parameters: person and the last time.
    static let backwardsSQL: StaticString = """
        SELECT timestamp_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters, details, number,
            received_after_ms, device, following
        FROM fix
        WHERE person = ?1 AND timestamp_ms <= ?2
        ORDER BY timestamp_ms DESC, device DESC, latitude_degrees DESC, longitude_degrees DESC
        """
}
