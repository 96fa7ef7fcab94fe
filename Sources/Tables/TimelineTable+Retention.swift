import Projections
import SQLite
import Whereabouts

// When the keys of old reports are destroyed, the rows derived from these reports go too.
extension TimelineTable {
    /// Deletes what the person's reports among these events left, and derives the rest again, so that the file equals
    /// a refold, which no longer sees those reports.
    ///
    /// Sends no news: news would repeat the places that have just been deleted.
    ///
    /// Cost: a look at all fixes of the person for each device, and the derivation from the first deleted fix on.
    func retire(_ event: RecordedEvent, _ gone: NumberSet) throws(SQLiteError) {
        guard let person = event.stream.person else { return }
        // News of earlier events of the batch are written first.
        try flush()
        // The derivation in memory, and its restart points, remember the places of old fixes.
        forget(person)
        var taken: [StoredFix] = []
        for numbers in gone.ranges {
            for row in try retireFixes(numbers, of: person) { taken.append(try row.stored) }
            taken += try retireReports(numbers, of: person)
        }
        guard let first = taken.map(\.timestamp).min(), let last = taken.map(\.timestamp).max() else { return }
        try deleteTold(of: person, through: gone.ranges.last?.upperBound ?? 0, until: last)
        try deleteRestarts(of: person, from: first, until: last)
        for change in try refold(taken, of: person, isWithdrawal: true, at: event.recordedAt) { try apply(change) }
        try settle()
        news.forget(person)
    }

    /// Deletes news that came from deleted fixes: those that became known with them, or that are about their time.
    private func deleteTold(
        of person: PersonID, through number: Int64, until last: Timestamp
    ) throws(SQLiteError) {
        for sql: StaticString in [
            "DELETE FROM told_visit WHERE person = ? AND (number <= ? OR arrival_ms <= ?)",
            "DELETE FROM told_crossing WHERE person = ? AND (number <= ? OR time_ms <= ?)",
        ] {
            try file.connection.cached(sql) { (statement) throws(SQLiteError) in
                try statement.bind(person.rawValue, at: 1)
                try statement.bind(number, at: 2)
                try statement.bind(last.milliseconds, at: 3)
                try statement.run()
            }
        }
    }

    /// Deletes the restart points whose state has seen a deleted fix and not yet a later one. Later ones are replaced by
    /// the derivation where they differ.
    private func deleteRestarts(
        of person: PersonID, from first: Timestamp, until last: Timestamp
    ) throws(SQLiteError) {
        try file.connection.cached(
            "DELETE FROM restart WHERE person = ? AND closed_ms >= ? AND seed_ms <= ?"
        ) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(first.milliseconds, at: 2)
            try statement.bind(last.milliseconds, at: 3)
            try statement.run()
        }
    }
}
