import SQLite
import Whereabouts

extension FixBlocks {
    /// What a row has.
    struct Content {
        let fixes: [FixRow]
        let packing: FixPacking
    }

    /// A row to be written.
    struct Row {
        let first: FixRow
        let following: [UInt8]
    }

    /// A block in memory.
    final class Block {
        let person: PersonID
        /// The first fix of the row in the file; `nil` for a block that has no row, which is the person's only one.
        var row: FixIdentity?
        /// The person has no earlier block, so this one takes fixes before its first.
        var isFirst: Bool
        /// The first fix of the next block; `nil` if there is none.
        let end: FixIdentity?
        /// In the order of ``FixIdentity``, without the first `omitted` ones.
        private(set) var fixes: [FixRow]
        /// The number of fixes that only `packing` has, which then has no others. The first of them is `omittedFirst`.
        private var omitted = 0
        private var omittedFirst: FixRow?
        /// The first fixes in their packed form, as many as it counts; `nil` after any change but an addition at the end.
        private var packing: FixPacking?
        var isChanged = false
        /// ``memory`` when it was last counted.
        var countedMemory = 0

        /// A block as it is in the file.
        init(of person: PersonID, isFirst: Bool, end: FixIdentity?, _ content: Content?) {
            (self.person, self.isFirst, self.end) = (person, isFirst, end)
            (fixes, packing) = (content?.fixes ?? [], content?.packing)
            row = fixes.first?.identity
        }

        var count: Int { omitted + fixes.count }

        /// About the bytes that it takes.
        var memory: Int {
            256 + (packing?.memory ?? 0) + (omittedFirst?.memory ?? 0) + fixes.reduce(0) { $0 + $1.memory }
        }

        var first: FixRow? { omittedFirst ?? fixes.first }

        func covers(_ fix: FixIdentity) -> Bool {
            if let end, fix >= end { return false }
            return isFirst || row.map { fix >= $0 } ?? false
        }

        /// The place of a fix in `fixes`, or the one where it belongs. No fixes are omitted afterwards, unless it
        /// belongs at the end.
        func place(of fix: FixIdentity) throws(SQLiteError) -> (index: Int, isThere: Bool) {
            guard let last = fixes.last ?? (omitted > 0 ? packing?.last : nil), last.identity >= fix else {
                return (fixes.count, false)
            }
            try unpack()
            var (low, high) = (0, fixes.count)
            while low < high {
                let middle = (low + high) / 2
                if fixes[middle].identity < fix { low = middle + 1 } else { high = middle }
            }
            return (low, low < fixes.count && fixes[low].identity == fix)
        }

        /// Adds a fix at its place.
        func insert(_ fix: FixRow, at index: Int) {
            if index == fixes.count { return fixes.append(fix) }
            fixes.insert(fix, at: index)
            packing = nil
        }

        /// - Precondition: No fixes are omitted.
        func replace(at index: Int, with fix: FixRow) {
            fixes[index] = fix
            packing = nil
        }

        /// - Precondition: No fixes are omitted.
        func remove(at index: Int) {
            fixes.remove(at: index)
            packing = nil
        }

        func removeAll() {
            (fixes, packing, omitted, omittedFirst) = ([], nil, 0, nil)
        }

        /// Divides the fixes into rows; those of the last row stay, packed.
        ///
        /// Cost: packs the fixes that were added since the last call, or all after another change.
        func takeRows() throws(SQLiteError) -> [Row] {
            if end != nil { try unpack() }
            guard let first else { return [] }
            var packing = packing.take() ?? FixPacking(after: first)
            let rows =
                end == nil
                ? FixBlocks.filledRows(after: first, fixes[(packing.count - omitted)...], &packing)
                : FixBlocks.halvedRows(fixes[...], &packing)
            self.packing = packing
            (fixes, omitted, omittedFirst) = ([], packing.count, rows.last?.first)
            return rows
        }

        /// Brings the omitted fixes back.
        private func unpack() throws(SQLiteError) {
            guard let omittedFirst, let packing else { return }
            let unpacked = packing.bytes.withUnsafeBytes { bytes in
                Result { () throws(SQLiteError) in try FixUnpacking.all(bytes, after: omittedFirst) }
            }
            fixes = try unpacked.get() + fixes
            (omitted, self.omittedFirst) = (0, nil)
        }
    }

    /// The bytes that the fixes after the first may take in a row. The columns of the first one without its details have about
    /// 64 bytes.
    private static func room(after first: FixRow) -> Int { bytesMax - 64 - (first.columns.details?.count ?? 0) }

    /// Divides a person's newest fixes into rows, each of which is filled before the next.
    ///
    /// - Parameters:
    ///   - fixes: Those that follow the packed ones.
    ///   - packing: The fixes after `first`; afterwards, those of the last row.
    fileprivate static func filledRows(
        after first: FixRow, _ fixes: ArraySlice<FixRow>, _ packing: inout FixPacking
    ) -> [Row] {
        var rows: [Row] = []
        var (first, room) = (first, room(after: first))
        for next in fixes.indices {
            let (count, bytes) = (packing.count, packing.bytes.count)
            packing.append(fixes[next])
            guard packing.bytes.count > room || count == fixesMax else { continue }
            rows.append(Row(first: first, following: Array(packing.bytes[..<bytes])))
            first = fixes[next]
            (room, packing) = (Self.room(after: first), FixPacking(after: first))
        }
        return rows + [Row(first: first, following: packing.bytes)]
    }

    /// Divides fixes between others into rows, in halves, so that each has room for further late fixes.
    ///
    /// - Parameter packing: The first of the fixes; afterwards, those of the last row.
    fileprivate static func halvedRows(_ fixes: ArraySlice<FixRow>, _ packing: inout FixPacking) -> [Row] {
        guard let first = fixes.first else { return [] }
        let room = room(after: first)
        while packing.count < fixes.count {
            let count = packing.count
            packing.append(fixes[fixes.startIndex + count])
            guard packing.bytes.count > room || count == fixesMax else { continue }
            let middle = fixes.startIndex + fixes.count / 2
            var half = FixPacking(after: first)
            packing = FixPacking(after: fixes[middle])
            return halvedRows(fixes[..<middle], &half) + halvedRows(fixes[middle...], &packing)
        }
        return [Row(first: first, following: packing.bytes)]
    }
}
