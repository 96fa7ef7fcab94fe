import Gazetteer
import SQLite

/// The rows that an import has read so far, on disk beside the gazetteer, so that an interrupted import can continue.
///
/// Rows are appended in the order of the input, and SQLite sorts them when they are written, in separate files. Memory
/// is that of the page cache, however long the input.
final class SupplementStaging {
    private let connection: Connection
    private let fold: StreetFold

    /// Opens or makes the staging database.
    init(path: String, fold: StreetFold) throws(ToolError) {
        self.fold = fold
        connection = try Self.sql { () throws(SQLiteError) in try Self.connection(path: path) }
    }

    private static func connection(path: String) throws(SQLiteError) -> Connection {
        let connection = try Connection(path: path, access: .readWrite)
        try connection.execute(
            """
            PRAGMA journal_mode=WAL;
            PRAGMA synchronous=NORMAL;
            PRAGMA cache_size=-16384;
            PRAGMA temp_store=FILE;
            CREATE TABLE IF NOT EXISTS input (
                number INTEGER PRIMARY KEY, path TEXT NOT NULL, bytes INTEGER NOT NULL,
                modified_ns INTEGER NOT NULL, offset_bytes INTEGER NOT NULL, line INTEGER NOT NULL
            ) STRICT;
            CREATE TABLE IF NOT EXISTS rejected (
                input INTEGER NOT NULL, reason TEXT NOT NULL, count INTEGER NOT NULL, first_line INTEGER NOT NULL,
                PRIMARY KEY (input, reason)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE IF NOT EXISTS address (
                key TEXT NOT NULL, street TEXT NOT NULL, locality TEXT NOT NULL, postal_code TEXT NOT NULL,
                number_value INTEGER NOT NULL, number TEXT NOT NULL, latitude INTEGER NOT NULL,
                longitude INTEGER NOT NULL
            ) STRICT;
            CREATE TABLE IF NOT EXISTS postal_code (
                key TEXT NOT NULL, code TEXT NOT NULL, town_key TEXT NOT NULL, town TEXT NOT NULL,
                country TEXT NOT NULL, accuracy INTEGER NOT NULL, latitude INTEGER NOT NULL,
                longitude INTEGER NOT NULL
            ) STRICT;
            CREATE TABLE IF NOT EXISTS spot (
                of_interest INTEGER NOT NULL, band INTEGER NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL,
                division TEXT NOT NULL, geonameid INTEGER NOT NULL, population INTEGER NOT NULL,
                kind INTEGER NOT NULL, country TEXT NOT NULL, latitude INTEGER NOT NULL, longitude INTEGER NOT NULL
            ) STRICT;
            CREATE TABLE IF NOT EXISTS division (
                code TEXT PRIMARY KEY, name TEXT NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE TEMP TABLE point (
                band INTEGER NOT NULL, latitude INTEGER NOT NULL, longitude INTEGER NOT NULL, house INTEGER NOT NULL
            ) STRICT;
            CREATE TEMP TABLE town (key TEXT NOT NULL, code INTEGER NOT NULL) STRICT;
            CREATE TEMP TABLE named (key TEXT NOT NULL, population INTEGER NOT NULL, spot INTEGER NOT NULL) STRICT;
            """)
        return connection
    }

    /// A file of the import, with its progress.
    struct Input: Equatable {
        let path: String
        let identity: InputLines.Identity
        var offset = 0
        var line = 0
    }

    /// The files in the order in which they were given.
    func inputs() throws(ToolError) -> [Input] {
        var found: [Input] = []
        try each("SELECT path, bytes, modified_ns, offset_bytes, line FROM input ORDER BY number") { row in
            found.append(
                Input(
                    path: row.text(at: 0),
                    identity: InputLines.Identity(
                        byteCount: Int(row.int(at: 1)), modifiedNanoseconds: Int(row.int(at: 2))),
                    offset: Int(row.int(at: 3)), line: Int(row.int(at: 4))))
        }
        return found
    }

    func begin(_ inputs: [Input]) throws(ToolError) {
        try transaction { () throws(SQLiteError) in
            for (number, input) in inputs.enumerated() {
                try connection.cached("INSERT INTO input VALUES (?, ?, ?, ?, ?, ?)") { insert throws(SQLiteError) in
                    try insert.bind(number, at: 1)
                    try insert.bind(input.path, at: 2)
                    try insert.bind(input.identity.byteCount, at: 3)
                    try insert.bind(input.identity.modifiedNanoseconds, at: 4)
                    try insert.bind(input.offset, at: 5)
                    try insert.bind(input.line, at: 6)
                    try insert.run()
                }
            }
        }
    }

    /// Stores the rows of some lines together with the progress, in one transaction.
    func add(
        _ rows: [SupplementRow], _ rejected: [LineRejection: (count: Int, first: Int)], of number: Int,
        upTo input: Input
    ) throws(ToolError) {
        try transaction { () throws(SQLiteError) in
            for row in rows {
                switch row {
                case .address(let address): try add(address)
                case .postalCode(let code): try add(code)
                case .spot(let spot): try add(spot)
                case .division(let code, let name): try add(division: code, name)
                }
            }
            for (reason, (count, first)) in rejected {
                try connection.cached(
                    """
                    INSERT INTO rejected VALUES (?1, ?2, ?3, ?4)
                    ON CONFLICT DO UPDATE SET count = count + ?3
                    """
                ) { insert throws(SQLiteError) in
                    try insert.bind(number, at: 1)
                    try insert.bind(reason.rawValue, at: 2)
                    try insert.bind(count, at: 3)
                    try insert.bind(first, at: 4)
                    try insert.run()
                }
            }
            try connection.cached("UPDATE input SET offset_bytes = ?, line = ? WHERE number = ?") {
                update throws(SQLiteError) in
                try update.bind(input.offset, at: 1)
                try update.bind(input.line, at: 2)
                try update.bind(number, at: 3)
                try update.run()
            }
        }
    }

    private func add(_ row: AddressRow) throws(SQLiteError) {
        try connection.cached("INSERT INTO address VALUES (?, ?, ?, ?, ?, ?, ?, ?)") { insert throws(SQLiteError) in
            try insert.bind(String(decoding: fold.streetKey(row.street), as: UTF8.self), at: 1)
            try insert.bind(row.street, at: 2)
            try insert.bind(row.locality, at: 3)
            try insert.bind(row.postalCode, at: 4)
            try insert.bind(HouseNumber.value(row.number.utf8), at: 5)
            try insert.bind(row.number, at: 6)
            try insert.bind(row.place.latitude, at: 7)
            try insert.bind(row.place.longitude, at: 8)
            try insert.run()
        }
    }

    private func add(_ row: PostalCodeRow) throws(SQLiteError) {
        try connection.cached("INSERT INTO postal_code VALUES (?, ?, ?, ?, ?, ?, ?, ?)") {
            insert throws(SQLiteError) in
            try insert.bind(String(decoding: fold.key(row.code), as: UTF8.self), at: 1)
            try insert.bind(row.code, at: 2)
            try insert.bind(String(decoding: fold.key(row.town), as: UTF8.self), at: 3)
            try insert.bind(row.town, at: 4)
            try insert.bind(row.country, at: 5)
            try insert.bind(row.accuracy, at: 6)
            try insert.bind(row.place.latitude, at: 7)
            try insert.bind(row.place.longitude, at: 8)
            try insert.run()
        }
    }

    private func add(_ row: SpotRow) throws(SQLiteError) {
        try connection.cached("INSERT INTO spot VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)") {
            insert throws(SQLiteError) in
            try insert.bind(row.kind == .interest ? 1 : 0, at: 1)
            try insert.bind(Supplement.band(ofLatitude: row.place.latitude), at: 2)
            try insert.bind(String(decoding: fold.key(row.name), as: UTF8.self), at: 3)
            try insert.bind(row.name, at: 4)
            try insert.bind(row.division, at: 5)
            try insert.bind(row.geonameID, at: 6)
            try insert.bind(row.population, at: 7)
            try insert.bind(Int(row.kind.rawValue), at: 8)
            try insert.bind(row.country, at: 9)
            try insert.bind(row.place.latitude, at: 10)
            try insert.bind(row.place.longitude, at: 11)
            try insert.run()
        }
    }

    private func add(division code: String, _ name: String) throws(SQLiteError) {
        // The first of two names of one code by their order, so that the order of the lines does not matter.
        try connection.cached(
            "INSERT INTO division VALUES (?1, ?2) ON CONFLICT DO UPDATE SET name = min(name, ?2)"
        ) { insert throws(SQLiteError) in
            try insert.bind(code, at: 1)
            try insert.bind(name, at: 2)
            try insert.run()
        }
    }

    /// By input and reason, the most frequent first.
    func rejected() throws(ToolError) -> [(input: Int, reason: String, count: Int, first: Int)] {
        var found: [(Int, String, Int, Int)] = []
        try each("SELECT input, reason, count, first_line FROM rejected ORDER BY input, count DESC, reason") { row in
            found.append((Int(row.int(at: 0)), row.text(at: 1), Int(row.int(at: 2)), Int(row.int(at: 3))))
        }
        return found
    }

    // MARK: SQLite's errors as sentences

    private func transaction(_ body: () throws(SQLiteError) -> Void) throws(ToolError) {
        try Self.sql { () throws(SQLiteError) in try connection.transaction(body) }
    }

    private func each(
        _ query: StaticString, _ body: (borrowing Statement) throws(ToolError) -> Void
    ) throws(ToolError) {
        let statement = try Self.sql { () throws(SQLiteError) in try connection.prepare(query) }
        while try Self.sql({ () throws(SQLiteError) in try statement.step() }) { try body(statement) }
    }

    private static func sql<R: ~Copyable>(_ body: () throws(SQLiteError) -> R) throws(ToolError) -> R {
        do throws(SQLiteError) { return try body() } catch { throw .data("The import stopped: \(error).") }
    }
}

// MARK: - The staged rows, in order

/// An address to write, with the key of its street.
struct StagedAddress: Equatable {
    let key, street, locality, postalCode, number: String
    let latitude, longitude: Int
}

/// A postal code to write, with its keys.
struct StagedPostalCode: Equatable {
    let key, code, townKey, town, country: String
    let accuracy, latitude, longitude: Int
}

/// A place to write, with its key and the name of its division.
struct StagedSpot: Equatable {
    let key, name, division: String
    let geonameID, population: Int
    let latitude, longitude: Int
    let kind: Int
    let country: String
}

extension SupplementStaging {
    /// Runs `body`, which writes the file, with temporary tables for points and towns.
    func writing<R>(_ body: () throws(ToolError) -> R) throws(ToolError) -> R {
        try Self.sql { () throws(SQLiteError) in try connection.begin() }
        defer { try? connection.rollback() }
        return try body()
    }

    /// The addresses in the order of the file, each once.
    func eachAddress(_ body: (StagedAddress) throws(ToolError) -> Void) throws(ToolError) {
        var last: StagedAddress?
        try each(
            """
            SELECT key, street, locality, postal_code, number, latitude, longitude FROM address
            ORDER BY key, street, locality, postal_code, number_value, number, latitude, longitude
            """
        ) { row throws(ToolError) in
            let address = StagedAddress(
                key: row.text(at: 0), street: row.text(at: 1), locality: row.text(at: 2), postalCode: row.text(at: 3),
                number: row.text(at: 4), latitude: Int(row.int(at: 5)), longitude: Int(row.int(at: 6)))
            if address != last { try body(address) }
            last = address
        }
    }

    /// Stores the position of a house in the file, for ``eachPoint(_:)``.
    func add(point house: Int, of address: StagedAddress) throws(ToolError) {
        try Self.sql { () throws(SQLiteError) in
            try connection.cached("INSERT INTO point VALUES (?, ?, ?, ?)") { insert throws(SQLiteError) in
                try insert.bind(Supplement.band(ofLatitude: address.latitude), at: 1)
                try insert.bind(address.latitude, at: 2)
                try insert.bind(address.longitude, at: 3)
                try insert.bind(house, at: 4)
                try insert.run()
            }
        }
    }

    func eachPoint(
        _ body: (_ latitude: Int, _ longitude: Int, _ house: Int) throws(ToolError) -> Void
    ) throws(ToolError) {
        try each("SELECT latitude, longitude, house FROM point ORDER BY band, longitude, latitude, house") {
            row throws(ToolError) in
            try body(Int(row.int(at: 0)), Int(row.int(at: 1)), Int(row.int(at: 2)))
        }
    }

    /// The postal codes in the order of the file, each once.
    func eachPostalCode(_ body: (StagedPostalCode) throws(ToolError) -> Void) throws(ToolError) {
        var last: StagedPostalCode?
        try each(
            """
            SELECT key, code, town_key, town, country, accuracy, latitude, longitude FROM postal_code
            ORDER BY key, code, country, town_key, town, accuracy, latitude, longitude
            """
        ) { row throws(ToolError) in
            let code = StagedPostalCode(
                key: row.text(at: 0), code: row.text(at: 1), townKey: row.text(at: 2), town: row.text(at: 3),
                country: row.text(at: 4), accuracy: Int(row.int(at: 5)), latitude: Int(row.int(at: 6)),
                longitude: Int(row.int(at: 7)))
            if code != last { try body(code) }
            last = code
        }
    }

    /// Stores the number of a postal code in the file, for ``eachTown(_:)``.
    func add(town key: String, code: Int) throws(ToolError) {
        try Self.sql { () throws(SQLiteError) in
            try connection.cached("INSERT INTO town VALUES (?, ?)") { insert throws(SQLiteError) in
                try insert.bind(key, at: 1)
                try insert.bind(code, at: 2)
                try insert.run()
            }
        }
    }

    /// The places in the order of the file, each once.
    func eachSpot(_ body: (StagedSpot) throws(ToolError) -> Void) throws(ToolError) {
        var last: StagedSpot?
        try each(
            """
            SELECT key, spot.name, coalesce(division.name, ''), geonameid, population, latitude, longitude, kind, country
            FROM spot LEFT JOIN division ON division.code = spot.division
            ORDER BY of_interest, band, longitude, latitude, geonameid, key, spot.name, 3, population, kind, country
            """
        ) { row throws(ToolError) in
            let spot = StagedSpot(
                key: row.text(at: 0), name: row.text(at: 1), division: row.text(at: 2), geonameID: Int(row.int(at: 3)),
                population: Int(row.int(at: 4)), latitude: Int(row.int(at: 5)), longitude: Int(row.int(at: 6)),
                kind: Int(row.int(at: 7)), country: row.text(at: 8))
            if spot != last { try body(spot) }
            last = spot
        }
    }

    /// Stores the number of a place in the file, for ``eachNamed(_:)``.
    func add(named number: Int, of spot: StagedSpot) throws(ToolError) {
        try Self.sql { () throws(SQLiteError) in
            try connection.cached("INSERT INTO named VALUES (?, ?, ?)") { insert throws(SQLiteError) in
                try insert.bind(spot.key, at: 1)
                try insert.bind(spot.population, at: 2)
                try insert.bind(number, at: 3)
                try insert.run()
            }
        }
    }

    func eachNamed(_ body: (_ spot: Int) throws(ToolError) -> Void) throws(ToolError) {
        try each("SELECT spot FROM named ORDER BY key, population DESC, spot") { row throws(ToolError) in
            try body(Int(row.int(at: 0)))
        }
    }

    func eachTown(_ body: (_ code: Int) throws(ToolError) -> Void) throws(ToolError) {
        try each("SELECT code FROM town ORDER BY key, code") { row throws(ToolError) in try body(Int(row.int(at: 0))) }
    }
}
