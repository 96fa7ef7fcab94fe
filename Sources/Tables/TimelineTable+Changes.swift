import Cryptography
import Geodesy
import Projections
import SQLite
import Whereabouts

/// The rows that the fold's changes write. Each change updates a row, the fingerprint and the news together.
extension TimelineTable {
    /// Writes one change. `old` is the row as it was written before, by which the fingerprint is reduced.
    ///
    /// A visit's key is its arrival: a change that moves the arrival deletes the old row. A crossing's key is time,
    /// region and kind, so its row is deleted only if the crossing is gone.
    func apply(_ given: TimelineChange) throws(SQLiteError) {
        var change = given
        if case .crossing(let person, nil, let new?) = given, let there = try crossing(like: new, of: person) {
            // The fold did not look at this row again, because it was confirmed before the point from which it derives.
            guard !there.saysTheSame(as: new) else { return }
            change = .crossing(person, old: there, new: new)
        }
        news.note(change)
        switch change {
        case .visit(let person, let old, let new):
            if let old {
                file.fingerprint.subtract(hash(person, old))
                if new?.arrival != old.arrival { try delete(old, of: person) }
            }
            guard let new else { return }
            file.fingerprint.add(hash(person, new))
            try write(new, of: person)
        case .crossing(let person, let old, let new):
            if let old {
                file.fingerprint.subtract(hash(person, old))
                if new == nil { try delete(old, of: person) }
            }
            guard let new else { return }
            file.fingerprint.add(hash(person, new))
            try write(new, of: person)
        case .region(let person, let region):
            var before = region
            before.removedAt = nil
            if region.removedAt != nil { file.fingerprint.subtract(hash(person, before)) }
            file.fingerprint.add(hash(person, region))
            try write(region, of: person)
        case .lead(let person, let lead, let isThere):
            // The fold may give the lead at the moment from which it derives again, which has a row already.
            if isThere {
                if try run("INSERT OR IGNORE INTO lead (person, from_ms, device) VALUES (?, ?, ?)", lead, of: person) {
                    file.fingerprint.add(hash(person, lead))
                }
            } else if try run("DELETE FROM lead WHERE person = ? AND from_ms = ? AND device = ?", lead, of: person) {
                file.fingerprint.subtract(hash(person, lead))
            }
        case .restart(let person, let restart):
            try file.connection.cached(
                "INSERT OR REPLACE INTO restart (person, closed_ms, seed_ms, state) VALUES (?, ?, ?, ?)"
            ) { (statement) throws(SQLiteError) in
                try statement.bind(person.rawValue, at: 1)
                try statement.bind(restart.closed.milliseconds, at: 2)
                try statement.bind(restart.seed.milliseconds, at: 3)
                try statement.bind(restart.state + checksum(of: restart, person), at: 4)
                try statement.run()
            }
        case .restartsVoid(let person, let after, let through):
            try file.connection.cached(
                "DELETE FROM restart WHERE person = ? AND closed_ms > ? AND closed_ms <= ?"
            ) { (statement) throws(SQLiteError) in
                try statement.bind(person.rawValue, at: 1)
                try statement.bind(after?.milliseconds ?? .min, at: 2)
                try statement.bind(through?.milliseconds ?? .max, at: 3)
                try statement.run()
            }
        case .newestReceipt(let person, let moment):
            if let before = try newestReceipt(of: person) { file.fingerprint.subtract(hash(person, receipt: before)) }
            guard let moment else {
                return try file.connection.cached("DELETE FROM receipt WHERE person = ?") {
                    (statement) throws(SQLiteError) in
                    try statement.bind(person.rawValue, at: 1)
                    try statement.run()
                }
            }
            file.fingerprint.add(hash(person, receipt: moment))
            try file.connection.cached("INSERT OR REPLACE INTO receipt (person, newest_ms) VALUES (?, ?)") {
                (statement) throws(SQLiteError) in
                try statement.bind(person.rawValue, at: 1)
                try statement.bind(moment.milliseconds, at: 2)
                try statement.run()
            }
        }
    }

    /// Inserts or deletes the row of a lead. Returns `false` if nothing changed: the row was there already, or was
    /// not there.
    private func run(_ sql: StaticString, _ lead: Lead, of person: PersonID) throws(SQLiteError) -> Bool {
        try file.connection.cached(sql) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(lead.from.milliseconds, at: 2)
            try statement.bind(lead.device.rawValue, at: 3)
            try statement.run()
        }
        return file.connection.changes > 0
    }

    /// Deletes the row at the visit's arrival.
    private func delete(_ visit: Visit, of person: PersonID) throws(SQLiteError) {
        try file.connection.cached("DELETE FROM visit WHERE person = ? AND arrival_ms = ?") {
            (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(visit.arrival.milliseconds, at: 2)
            try statement.run()
        }
    }

    /// Writes the visit over the row at the same arrival.
    private func write(_ visit: Visit, of person: PersonID) throws(SQLiteError) {
        try file.connection.cached(
            """
            INSERT OR REPLACE INTO visit
                (person, id, arrival_ms, departure_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters,
                fixes, first_reported_ms, departure_reported_ms, last_seen_ms, tellable_from_ms)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try visit.bind(to: statement, from: 2)
            try statement.run()
        }
    }

    /// The row that has the same key as a crossing.
    ///
    /// `nil` without such a row. One search by the primary key.
    private func crossing(like wanted: Crossing, of person: PersonID) throws(SQLiteError) -> Crossing? {
        try file.connection.cached(
            """
            SELECT region, kind, time_ms, confirmed_ms, reported_ms
            FROM crossing
            WHERE person = ? AND time_ms = ? AND region = ? AND kind = ?
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(wanted.time.milliseconds, at: 2)
            try statement.bind(wanted.region.rawValue, at: 3)
            try statement.bind(wanted.kind.rawValue, at: 4)
            return try statement.step() ? try Crossing(statement, from: 0) : nil
        }
    }

    /// Deletes the row with the crossing's time, region and kind.
    private func delete(_ crossing: Crossing, of person: PersonID) throws(SQLiteError) {
        try file.connection.cached(
            "DELETE FROM crossing WHERE person = ? AND time_ms = ? AND region = ? AND kind = ?"
        ) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(crossing.time.milliseconds, at: 2)
            try statement.bind(crossing.region.rawValue, at: 3)
            try statement.bind(crossing.kind.rawValue, at: 4)
            try statement.run()
        }
    }

    /// Writes the crossing over the row with the same key.
    private func write(_ crossing: Crossing, of person: PersonID) throws(SQLiteError) {
        try file.connection.cached(
            """
            INSERT OR REPLACE INTO crossing (person, region, kind, time_ms, confirmed_ms, reported_ms)
            VALUES (?, ?, ?, ?, ?, ?)
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try crossing.bind(to: statement, from: 2)
            try statement.run()
        }
    }

    /// Writes the region over its earlier row. The name and the two settings have separate columns, because
    /// answers join and filter by them.
    private func write(_ region: WatchedRegion, of person: PersonID) throws(SQLiteError) {
        try file.connection.cached(
            """
            INSERT OR REPLACE INTO region
                (person, region, identifier, content, tells_entries, tells_exits, removed_at_ms)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(region.id.rawValue, at: 2)
            try statement.bind(region.region.identifier, at: 3)
            try statement.bind(region.region.encoded, at: 4)
            try statement.bind(region.region.notifyOnEntry ? 1 : 0, at: 5)
            try statement.bind(region.region.notifyOnExit ? 1 : 0, at: 6)
            try statement.bind(region.removedAt?.milliseconds, at: 7)
            try statement.run()
        }
    }

    // MARK: Hashes

    /// The hash of a visit, without the times at which it was reported.
    ///
    /// Eleven items: the name of the table and the content columns in the order of the schema.
    func hash(_ person: PersonID, _ visit: Visit) -> Fingerprint {
        file.hasher.hash { writer in
            writer.array(11)
            writer.text("visit")
            writer.integer(person.rawValue)
            writer.integer(visit.arrival.milliseconds)
            writer.optional(visit.departure?.milliseconds)
            writer.unsigned(visit.id)
            writer.real(visit.coordinate.latitude)
            writer.real(visit.coordinate.longitude)
            writer.real(visit.horizontalAccuracy)
            writer.integer(visit.fixes)
            writer.optional(visit.lastSeen?.milliseconds)
            writer.optional(visit.tellableFrom?.milliseconds)
        }
    }

    /// The hash of a reported moment.
    ///
    /// A moment without a kind cannot be stored; its hash has 0 for kind and end.
    func hash(_ person: PersonID, _ moment: StoredFix) -> Fingerprint {
        file.hasher.hash { writer in
            writer.array(9)
            writer.text("reported")
            write(person, moment, to: &writer)
        }
    }

    /// Writes the columns of a reported moment.
    func write(_ person: PersonID, _ moment: StoredFix, to writer: inout CBORWriter) {
        writer.integer(person.rawValue)
        writer.integer(moment.device.rawValue)
        writer.integer(moment.timestamp.milliseconds)
        writer.integer(moment.report?.kind.rawValue ?? 0)
        writer.integer(moment.report?.until.milliseconds ?? 0)
        writer.real(moment.coordinate.latitude)
        writer.real(moment.coordinate.longitude)
        writer.real(moment.horizontalAccuracy ?? -1)
    }

    /// The hash of a crossing, without the time at which it was reported.
    func hash(_ person: PersonID, _ crossing: Crossing) -> Fingerprint {
        file.hasher.hash { writer in
            writer.array(6)
            writer.text("crossing")
            writer.integer(person.rawValue)
            writer.integer(crossing.time.milliseconds)
            writer.integer(crossing.region.rawValue)
            writer.integer(crossing.kind.rawValue)
            writer.integer(crossing.confirmed.milliseconds)
        }
    }

    /// The hash of a region, removed or not.
    ///
    /// The name and the two settings are in `content` and are not counted again.
    func hash(_ person: PersonID, _ region: WatchedRegion) -> Fingerprint {
        file.hasher.hash { writer in
            writer.array(5)
            writer.text("region")
            writer.integer(person.rawValue)
            writer.integer(region.id.rawValue)
            writer.byteString(region.region.encoded)
            writer.optional(region.removedAt?.milliseconds)
        }
    }

    /// The hash of a person's newest receipt.
    func hash(_ person: PersonID, receipt: Timestamp) -> Fingerprint {
        file.hasher.hash { writer in
            writer.array(3)
            writer.text("receipt")
            writer.integer(person.rawValue)
            writer.integer(receipt.milliseconds)
        }
    }

    /// The checksum stored with a restart, which reveals a damaged one when it is used.
    ///
    /// 16 bytes. The restart points are outside the fingerprint, so a changed one would show only in the visits
    /// derived from it.
    func checksum(of restart: Restart, _ person: PersonID) -> [UInt8] {
        file.hasher.hash { writer in
            writer.array(5)
            writer.text("restart")
            writer.integer(person.rawValue)
            writer.integer(restart.closed.milliseconds)
            writer.integer(restart.seed.milliseconds)
            writer.byteString(restart.state)
        }.bytes
    }

    /// The hash of a lead.
    func hash(_ person: PersonID, _ lead: Lead) -> Fingerprint {
        file.hasher.hash { writer in
            writer.array(4)
            writer.text("lead")
            writer.integer(person.rawValue)
            writer.integer(lead.from.milliseconds)
            writer.integer(lead.device.rawValue)
        }
    }
}
