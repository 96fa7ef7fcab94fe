package import Cryptography
package import Whereabouts

extension FixRun {
    /// With more runs than this, all are merged, because a look-up reads every run.
    private static let runsMax = 24

    /// Merges neighboring runs of one log into one, and leaves out the marks of erased persons.
    ///
    /// - Parameters:
    ///   - runs: In order, each beginning where the one before it ends.
    ///   - erased: All persons erased from the log.
    ///   - key: The key of the tags.
    ///   - epoch: The log's epoch now.
    ///   - isStopping: Called once for every 65,536 marks; the work ends when it returns `true`.
    /// - Returns: `nil` for no runs, or if it was stopped; then no file is left.
    /// - Throws: ``FixRunFailure``; ``FixRunFailure/damaged`` does not say which run is damaged.
    package static func merged(
        _ runs: [FixRun], without erased: Set<PersonID>, in folder: String, key: SipHash, epoch: Int64,
        isStopping: () -> Bool
    ) throws(FixRunFailure) -> FixRun? {
        guard let first = runs.first, let last = runs.last else { return nil }
        let header = FixRun.Header(
            log: first.header.log, epoch: epoch, from: first.header.from, to: last.header.to, leaf: last.header.leaf,
            erased: Int64(erased.count), marks: 0)
        var cursors: [FixRun.Cursor] = []
        for run in runs { cursors.append(try FixRun.Cursor(run)) }
        var writer = try FixRun.Writer(folder: folder, header, key: key)
        var count = 0
        while true {
            var smallest: (index: Int, mark: FixMark)?
            for index in cursors.indices {
                guard let mark = cursors[index].mark else { continue }
                if let known = smallest, known.mark < mark { continue }
                smallest = (index, mark)
            }
            guard let (index, mark) = smallest else { return try writer.finish() }
            try cursors[index].advance()
            if !erased.contains(mark.person) { try writer.append(mark) }
            count += 1
            if count & 0xFFFF == 0, isStopping() { return nil }
        }
    }

    /// The runs to merge next: neighbours none of which has more than 2/7 of their marks, so at least four; or all runs
    /// if there are too many. `nil` if there are none.
    ///
    /// Each fix is rewritten about once while the log grows fourfold. For each such step there are up to three runs,
    /// and the small runs that each exit of the process leaves between them.
    package static func mergeable(_ runs: [FixRun]) -> [FixRun]? {
        var best: (range: ClosedRange<Int>, largest: Int64, total: Int64)?
        for start in runs.indices {
            var (largest, total): (Int64, Int64) = (0, 0)
            for end in start..<runs.count {
                if end > start, runs[end - 1].header.to != runs[end].header.from { break }
                let marks = max(1, runs[end].header.marks)
                largest = max(largest, marks)
                total += marks
                let isAll = runs.count > runsMax && end - start + 1 == runs.count
                guard 7 * largest <= 2 * total || isAll else { continue }
                if let best, (best.largest, -best.total) <= (largest, -total) { continue }
                best = (start...end, largest, total)
            }
        }
        return best.map { Array(runs[$0.range]) }
    }
}
