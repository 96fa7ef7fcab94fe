import Geodesy
import Projections
import SQLite
import Whereabouts

// The rows as two generations compare them, in their stored form.

extension TimelineTable {
    /// Gives every row of one person, or of all, in its stored form.
    ///
    /// - Parameter person: `nil` for all persons. The rows come table by table, each in the order of its primary key.
    ///
    /// Cost: reads each row once and hashes it.
    func eachRow(
        of person: PersonID?, _ body: (ProjectionRow) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        try eachFix(of: person, body)
        try eachReported(of: person, body)
        try eachVisit(of: person, body)
        try eachCrossing(of: person, body)
        try eachRegion(of: person, body)
        try eachLead(of: person, body)
        try eachReceipt(of: person, body)
    }

    /// - Parameters:
    ///   - sql: A query whose two parameters are the least and the greatest person, and whose first column is the
    ///     person.
    ///   - read: Makes the row from the present columns.
    private func each(
        _ person: PersonID?, _ sql: StaticString, _ body: (ProjectionRow) throws(SQLiteError) -> Void,
        _ read: (borrowing Statement, PersonID) throws(SQLiteError) -> ProjectionRow
    ) throws(SQLiteError) {
        try file.connection.cached(sql) { (statement) throws(SQLiteError) in
            try statement.bind(person?.rawValue ?? .min, at: 1)
            try statement.bind(person?.rawValue ?? .max, at: 2)
            while try statement.step() {
                try body(try read(statement, PersonID(rawValue: statement.int(at: 0))))
            }
        }
    }

    /// The fixes, their twins, and the withdrawn ones.
    ///
    /// The key has the first eight digits of the hash, because twins have the same person, time, device and place.
    private func eachFix(
        of person: PersonID?, _ body: (ProjectionRow) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        func compared(_ fix: FixRow, isWithdrawn: Bool = false) -> ProjectionRow {
            let (columns, hash) = (fix.columns, isWithdrawn ? withdrawnHash(fix) : hash(fix))
            return ProjectionRow(
                table: isWithdrawn ? "withdrawn" : "fix", person: fix.person,
                key: "person \(fix.person.rawValue) \(columns.timestamp.milliseconds) ms "
                    + "device \(fix.device.rawValue) "
                    + "\(columns.latitude.value) \(columns.longitude.value) \(hash.hex.prefix(8))",
                summary: columns.summary, columns: columns.compared, hash: hash)
        }
        func each(_ sql: StaticString, isWithdrawn: Bool = false) throws(SQLiteError) {
            try file.connection.cached(sql) { (statement) throws(SQLiteError) in
                try statement.bind(person?.rawValue ?? .min, at: 1)
                try statement.bind(person?.rawValue ?? .max, at: 2)
                while try statement.step() {
                    let person = PersonID(rawValue: statement.int(at: 9))
                    try FixBlocks.eachFix(statement, of: person) { (fix) throws(SQLiteError) in
                        try body(compared(fix, isWithdrawn: isWithdrawn))
                        return true
                    }
                }
            }
        }
        if let person { try blocks.write(person) } else { try blocks.write() }
        try each(
            """
            SELECT timestamp_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters, details, number,
                received_after_ms, device, following, person
            FROM fix
            WHERE person BETWEEN ? AND ?
            ORDER BY person, timestamp_ms, device, latitude_degrees, longitude_degrees
            """)
        try each(
            """
            SELECT timestamp_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters, details, number,
                received_after_ms, device, NULL, person
            FROM twin
            WHERE person BETWEEN ? AND ?
            ORDER BY person, timestamp_ms, device, latitude_degrees, longitude_degrees, content
            """)
        try each(
            """
            SELECT timestamp_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters, details, number,
                received_after_ms, device, NULL, person
            FROM withdrawn
            WHERE person BETWEEN ? AND ?
            ORDER BY person, timestamp_ms, device, latitude_degrees, longitude_degrees, content
            """, isWithdrawn: true)
    }

    /// The moments of visits that devices reported, and which of them are withdrawn. −1 in the accuracy means that the device
    /// gave none.
    private func eachReported(
        of person: PersonID?, _ body: (ProjectionRow) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        func row(_ statement: borrowing Statement, isWithdrawn: Bool) throws(SQLiteError) -> ProjectionRow {
            let person = PersonID(rawValue: statement.int(at: 0))
            guard let kind = ReportedMoment.Kind(rawValue: statement.int(at: 3)),
                let coordinate = try? Coordinate(latitude: statement.double(at: 5), longitude: statement.double(at: 6))
            else { throw .damagedProjection }
            let accuracy = statement.double(at: 7)
            let moment = StoredFix(
                device: DeviceID(rawValue: statement.int(at: 1)),
                timestamp: Timestamp(milliseconds: statement.int(at: 2)), coordinate: coordinate,
                horizontalAccuracy: accuracy == -1 ? nil : accuracy, receivedAt: nil,
                report: ReportedMoment(kind: kind, until: Timestamp(milliseconds: statement.int(at: 4))))
            let hash = isWithdrawn ? withdrawnHash(person, moment) : hash(person, moment)
            return ProjectionRow(
                table: isWithdrawn ? "withdrawn reported" : "reported", person: person,
                key: "person \(person.rawValue) \(moment.timestamp.milliseconds) ms device \(moment.device.rawValue) "
                    + "\(kind) \(hash.hex.prefix(8))",
                summary: "\(coordinate.latitude) \(coordinate.longitude)",
                columns: [
                    .init("latitude_degrees", coordinate.latitude), .init("longitude_degrees", coordinate.longitude),
                ], hash: hash)
        }
        try each(
            person,
            """
            SELECT DISTINCT person, device, timestamp_ms, kind, until_ms, latitude_degrees, longitude_degrees,
                horizontal_accuracy_meters
            FROM reported
            WHERE person BETWEEN ? AND ?
            ORDER BY person, timestamp_ms, device, kind, until_ms, latitude_degrees, longitude_degrees,
                horizontal_accuracy_meters
            """, body
        ) { statement, _ throws(SQLiteError) in try row(statement, isWithdrawn: false) }
        try each(
            person,
            """
            SELECT DISTINCT person, device, timestamp_ms, kind, until_ms, latitude_degrees, longitude_degrees,
                horizontal_accuracy_meters
            FROM withdrawn_reported
            WHERE person BETWEEN ? AND ?
            ORDER BY person, timestamp_ms, device, kind, until_ms, latitude_degrees, longitude_degrees,
                horizontal_accuracy_meters
            """, body
        ) { statement, _ throws(SQLiteError) in try row(statement, isWithdrawn: true) }
    }

    /// The visits.
    ///
    /// `summary` has the departure and the place, so that a comparison shows which visit grew or moved.
    private func eachVisit(
        of person: PersonID?, _ body: (ProjectionRow) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        try each(
            person,
            """
            SELECT person, id, arrival_ms, departure_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters,
                fixes, first_reported_ms, departure_reported_ms, last_seen_ms, tellable_from_ms
            FROM visit
            WHERE person BETWEEN ? AND ?
            ORDER BY person, arrival_ms
            """, body
        ) { statement, person throws(SQLiteError) in
            let visit = try Visit(statement, from: 1)
            let departure = visit.departure.map { "\($0.milliseconds) ms" } ?? "still there"
            return ProjectionRow(
                table: "visit", person: person, key: "person \(person.rawValue) \(visit.arrival.milliseconds) ms",
                summary: "to \(departure), \(visit.coordinate.latitude) \(visit.coordinate.longitude) "
                    + "±\(visit.horizontalAccuracy) m, \(visit.fixes) fixes",
                columns: [
                    .init("departure_ms", visit.departure), .init("latitude_degrees", visit.coordinate.latitude),
                    .init("longitude_degrees", visit.coordinate.longitude),
                    .init("horizontal_accuracy_meters", visit.horizontalAccuracy), .init("fixes", visit.fixes),
                    .init("last_seen_ms", visit.lastSeen), .init("tellable_from_ms", visit.tellableFrom),
                ],
                hash: hash(person, visit))
        }
    }

    /// The crossings of regions.
    private func eachCrossing(
        of person: PersonID?, _ body: (ProjectionRow) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        try each(
            person,
            """
            SELECT person, region, kind, time_ms, confirmed_ms, reported_ms
            FROM crossing
            WHERE person BETWEEN ? AND ?
            ORDER BY person, time_ms, region, kind
            """, body
        ) { statement, person throws(SQLiteError) in
            let crossing = try Crossing(statement, from: 1)
            return ProjectionRow(
                table: "crossing", person: person,
                key: "person \(person.rawValue) \(crossing.time.milliseconds) ms region \(crossing.region.rawValue) "
                    + crossing.kind.word,
                summary: "confirmed \(crossing.confirmed.milliseconds) ms",
                columns: [.init("confirmed_ms", crossing.confirmed)], hash: hash(person, crossing))
        }
    }

    /// The regions, also removed ones.
    ///
    /// - Throws: A damaged projection if a column differs from the encoded region.
    private func eachRegion(
        of person: PersonID?, _ body: (ProjectionRow) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        try each(
            person,
            """
            SELECT person, region, content, removed_at_ms, identifier, tells_entries, tells_exits
            FROM region
            WHERE person BETWEEN ? AND ?
            ORDER BY person, region
            """, body
        ) { statement, person throws(SQLiteError) in
            let region = try Self.region(statement, from: 1)
            // The columns that answers search must agree with the content.
            guard statement.text(at: 4) == region.region.identifier,
                statement.int(at: 5) == (region.region.notifyOnEntry ? 1 : 0),
                statement.int(at: 6) == (region.region.notifyOnExit ? 1 : 0)
            else { throw .damagedProjection }
            let removed = region.removedAt.map { ", removed \($0.milliseconds) ms" } ?? ""
            return ProjectionRow(
                table: "region", person: person, key: "person \(person.rawValue) region \(region.id.rawValue)",
                summary: "\(region.region.summary)\(removed)",
                columns: [.init("area", region.region.summary), .init("removed_at_ms", region.removedAt)],
                hash: hash(person, region))
        }
    }

    /// The devices that lead, with the time from which each does.
    private func eachLead(
        of person: PersonID?, _ body: (ProjectionRow) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        try each(
            person,
            "SELECT person, from_ms, device FROM lead WHERE person BETWEEN ? AND ? ORDER BY person, from_ms, device",
            body
        ) {
            statement, person throws(SQLiteError) in
            let lead = Lead(statement, from: 1)
            return ProjectionRow(
                table: "lead", person: person,
                key: "person \(person.rawValue) \(lead.from.milliseconds) ms device \(lead.device.rawValue)",
                summary: "leads", columns: [], hash: hash(person, lead))
        }
    }

    /// When the newest fix was received.
    private func eachReceipt(
        of person: PersonID?, _ body: (ProjectionRow) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        try each(person, "SELECT person, newest_ms FROM receipt WHERE person BETWEEN ? AND ? ORDER BY person", body) {
            statement, person throws(SQLiteError) in
            let newest = Timestamp(milliseconds: statement.int(at: 1))
            return ProjectionRow(
                table: "receipt", person: person, key: "person \(person.rawValue)",
                summary: "newest \(newest.milliseconds) ms", columns: [.init("newest_ms", newest)],
                hash: hash(person, receipt: newest))
        }
    }
}

extension Region {
    /// The row's text in a comparison of two generations.
    fileprivate var summary: String {
        switch area {
        case .circle(let circle): "circle of \(circle.radiusMeters) m"
        case .polygon(let polygon): "polygon of \(polygon.vertices.count) vertices"
        }
    }
}
