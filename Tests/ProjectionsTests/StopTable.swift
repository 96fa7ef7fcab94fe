import Geodesy
import SQLite
import Synchronization
import Whereabouts

@testable import Projections

/// A projection in two versions, as the page about schema changes shows them: one row for each fix.
///
/// Version 1 kept the place as one text and the accuracy in kilometers. Version 2 splits the text into two columns, has
/// meters, and adds the altitude.
enum StopForm {
    static let older = OlderForm(version: 1, form: ProjectionKind(StopTableV1.self).form, lift: lift)

    static let lift: StaticString = """
        CREATE TEMP VIEW stop AS
        SELECT person, number,
            CAST(substr(place, 1, instr(place, ' ') - 1) AS REAL) AS latitude_degrees,
            CAST(substr(place, instr(place, ' ') + 1) AS REAL) AS longitude_degrees,
            accuracy_km * 1000 AS accuracy_meters,
            NULL AS altitude_meters
        FROM main.stop
        """
}

/// The version of the program before the change.
final class StopTableV1: StopFold, Projection {
    static let name = "stop"
    static let versions: [Int64] = [1]
    static let schema: StaticString = """
        CREATE TABLE stop (
            person INTEGER NOT NULL, number INTEGER NOT NULL, place TEXT NOT NULL, accuracy_km REAL,
            PRIMARY KEY (person, number)
        ) STRICT, WITHOUT ROWID
        """
    static let indexes: StaticString = ""

    init(file: ProjectionFile, version: Int64) { super.init(file) }

    override func insert(_ person: PersonID, _ number: Int64, _ fix: Fix) throws(SQLiteError) {
        try file.connection.cached("INSERT INTO stop VALUES (?, ?, ?, ?)") { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(number, at: 2)
            try statement.bind("\(fix.coordinate.latitude) \(fix.coordinate.longitude)", at: 3)
            try statement.bind(fix.horizontalAccuracy.map { $0 / 1000 }, at: 4)
            try statement.run()
        }
    }
}

/// The version after the change, which can read the older form.
class StopTableV2: StopFold, Projection {
    static let name = "stop"
    static let versions: [Int64] = [2]
    static let schema: StaticString = """
        CREATE TABLE stop (
            person INTEGER NOT NULL, number INTEGER NOT NULL, latitude_degrees REAL NOT NULL,
            longitude_degrees REAL NOT NULL, accuracy_meters REAL, altitude_meters REAL,
            PRIMARY KEY (person, number)
        ) STRICT, WITHOUT ROWID
        """
    static let indexes: StaticString = ""
    class var olderForms: [OlderForm] { [StopForm.older] }

    required init(file: ProjectionFile, version: Int64) { super.init(file) }

    override func insert(_ person: PersonID, _ number: Int64, _ fix: Fix) throws(SQLiteError) {
        // SQLITE_BUSY: the follower tries again later.
        if Self.isHeld.withLock({ $0.contains(ObjectIdentifier(type(of: self))) }) {
            throw SQLiteError(code: 5, message: "held")
        }
        try file.connection.cached("INSERT INTO stop VALUES (?, ?, ?, ?, ?, ?)") { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(number, at: 2)
            try statement.bind(fix.coordinate.latitude, at: 3)
            try statement.bind(fix.coordinate.longitude, at: 4)
            try statement.bind(fix.horizontalAccuracy, at: 5)
            try statement.bind(fix.altitude, at: 6)
            try statement.run()
        }
    }

    /// The types whose folds wait.
    static let isHeld = Mutex<Set<ObjectIdentifier>>([])
    class func hold(_ isHeld: Bool) {
        self.isHeld.withLock {
            if isHeld { $0.insert(ObjectIdentifier(self)) } else { $0.remove(ObjectIdentifier(self)) }
        }
    }
}

/// As the new version, without the declaration of the older form.
final class StopTableWithoutForm: StopTableV2 {
    override class var olderForms: [OlderForm] { [] }
}

/// As the new version, with a view that lacks a column.
final class StopTableWithWrongForm: StopTableV2 {
    override class var olderForms: [OlderForm] {
        [
            OlderForm(
                version: 1, form: ProjectionKind(StopTableV1.self).form,
                lift: "CREATE TEMP VIEW stop AS SELECT person, number, 0.0 AS latitude_degrees FROM main.stop")
        ]
    }
}

/// What both versions do alike.
class StopFold {
    let file: ProjectionFile

    init(_ file: ProjectionFile) { self.file = file }

    func insert(_ person: PersonID, _ number: Int64, _ fix: Fix) throws(SQLiteError) {}

    func fold(_ batch: [RecordedEvent]) throws(SQLiteError) {
        for event in batch {
            switch event.event {
            case .fixReported(_, _, .open(let fix)):
                guard let person = event.stream.person else { continue }
                try insert(person, event.number, fix)
                file.fingerprint.add(hash(person.rawValue, event.number))
            case .personErased(let person): try erase(person)
            default: continue
            }
        }
    }

    func flush() throws(SQLiteError) {}
    func forget() {}

    func erase(_ person: PersonID) throws(SQLiteError) {
        try eachRow { (row) throws(SQLiteError) in if row.person == person { file.fingerprint.subtract(row.hash) } }
        try file.connection.cached("DELETE FROM stop WHERE person = ?") { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.run()
        }
    }

    func eachRow(_ body: (ProjectionRow) throws(SQLiteError) -> Void) throws(SQLiteError) {
        let statement = try file.connection.prepare("SELECT person, number FROM stop ORDER BY person, number")
        while try statement.step() {
            let (person, number) = (statement.int(at: 0), statement.int(at: 1))
            try body(
                ProjectionRow(
                    table: "stop", person: PersonID(rawValue: person), key: "\(number)",
                    summary: "number \(number)", columns: [.init("number", number)], hash: hash(person, number)))
        }
    }

    private func hash(_ person: Int64, _ number: Int64) -> Fingerprint {
        file.hasher.hash { writer in
            writer.array(2)
            writer.integer(person)
            writer.integer(number)
        }
    }
}
