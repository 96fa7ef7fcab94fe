import Projections
import Whereabouts

// The tables of the programs that had one row for each fix. Their files answer while the present tables are folded.
extension TimelineTable {
    /// A row of a fix is a block without following fixes.
    static let olderForms: [OlderForm] = VisitRules.all.map {
        OlderForm(
            version: $0.version, schema: oneRowForEachFix, indexes: "",
            lift: "CREATE TEMP VIEW fix AS SELECT *, NULL AS following FROM main.fix")
    }

    private static let oneRowForEachFix: StaticString = """
        CREATE TABLE fix (
            person INTEGER NOT NULL,
            timestamp_ms INTEGER NOT NULL,
            device INTEGER NOT NULL,
            latitude_degrees ANY NOT NULL,
            longitude_degrees ANY NOT NULL,
            horizontal_accuracy_meters REAL,
            details BLOB,
            number INTEGER NOT NULL,
            received_after_ms INTEGER,
            PRIMARY KEY (person, timestamp_ms, device, latitude_degrees, longitude_degrees)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE twin (
            person INTEGER NOT NULL,
            timestamp_ms INTEGER NOT NULL,
            device INTEGER NOT NULL,
            latitude_degrees ANY NOT NULL,
            longitude_degrees ANY NOT NULL,
            horizontal_accuracy_meters REAL,
            details BLOB,
            number INTEGER NOT NULL,
            received_after_ms INTEGER,
            content INTEGER NOT NULL,
            PRIMARY KEY (person, timestamp_ms, device, latitude_degrees, longitude_degrees, content)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE withdrawn (
            person INTEGER NOT NULL,
            timestamp_ms INTEGER NOT NULL,
            device INTEGER NOT NULL,
            latitude_degrees ANY NOT NULL,
            longitude_degrees ANY NOT NULL,
            horizontal_accuracy_meters REAL,
            details BLOB,
            number INTEGER NOT NULL,
            received_after_ms INTEGER,
            content INTEGER NOT NULL,
            PRIMARY KEY (person, timestamp_ms, device, latitude_degrees, longitude_degrees, content)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE reported (
            person INTEGER NOT NULL,
            timestamp_ms INTEGER NOT NULL,
            device INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            until_ms INTEGER NOT NULL,
            latitude_degrees REAL NOT NULL,
            longitude_degrees REAL NOT NULL,
            horizontal_accuracy_meters REAL NOT NULL,
            received_after_ms INTEGER NOT NULL,
            number INTEGER NOT NULL,
            PRIMARY KEY (person, timestamp_ms, device, kind, until_ms, latitude_degrees, longitude_degrees,
                horizontal_accuracy_meters, number)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE withdrawn_reported (
            person INTEGER NOT NULL,
            timestamp_ms INTEGER NOT NULL,
            device INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            until_ms INTEGER NOT NULL,
            latitude_degrees REAL NOT NULL,
            longitude_degrees REAL NOT NULL,
            horizontal_accuracy_meters REAL NOT NULL,
            received_after_ms INTEGER NOT NULL,
            number INTEGER NOT NULL,
            PRIMARY KEY (person, timestamp_ms, device, kind, until_ms, latitude_degrees, longitude_degrees,
                horizontal_accuracy_meters, number)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE visit (
            person INTEGER NOT NULL,
            arrival_ms INTEGER NOT NULL,
            departure_ms INTEGER,
            id INTEGER NOT NULL,
            latitude_degrees REAL NOT NULL,
            longitude_degrees REAL NOT NULL,
            horizontal_accuracy_meters REAL NOT NULL,
            fixes INTEGER NOT NULL,
            first_reported_ms INTEGER NOT NULL,
            departure_reported_ms INTEGER,
            last_seen_ms INTEGER,
            tellable_from_ms INTEGER,
            PRIMARY KEY (person, arrival_ms)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE crossing (
            person INTEGER NOT NULL,
            time_ms INTEGER NOT NULL,
            region INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            confirmed_ms INTEGER NOT NULL,
            reported_ms INTEGER NOT NULL,
            PRIMARY KEY (person, time_ms, region, kind)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE region (
            person INTEGER NOT NULL,
            region INTEGER NOT NULL,
            identifier TEXT NOT NULL,
            content BLOB NOT NULL,
            tells_entries INTEGER NOT NULL,
            tells_exits INTEGER NOT NULL,
            removed_at_ms INTEGER,
            PRIMARY KEY (person, region)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE lead (
            person INTEGER NOT NULL,
            from_ms INTEGER NOT NULL,
            device INTEGER NOT NULL,
            PRIMARY KEY (person, from_ms, device)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE restart (
            person INTEGER NOT NULL,
            closed_ms INTEGER NOT NULL,
            seed_ms INTEGER NOT NULL,
            state BLOB NOT NULL,
            PRIMARY KEY (person, closed_ms)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE receipt (
            person INTEGER PRIMARY KEY,
            newest_ms INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE told_visit (
            person INTEGER NOT NULL,
            number INTEGER NOT NULL,
            ordinal INTEGER NOT NULL,
            is_withdrawn INTEGER NOT NULL,
            id INTEGER NOT NULL,
            arrival_ms INTEGER NOT NULL,
            departure_ms INTEGER,
            latitude_degrees REAL NOT NULL,
            longitude_degrees REAL NOT NULL,
            horizontal_accuracy_meters REAL NOT NULL,
            fixes INTEGER NOT NULL,
            first_reported_ms INTEGER NOT NULL,
            departure_reported_ms INTEGER,
            last_seen_ms INTEGER,
            tellable_from_ms INTEGER,
            PRIMARY KEY (person, number, ordinal)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE told_crossing (
            person INTEGER NOT NULL,
            number INTEGER NOT NULL,
            ordinal INTEGER NOT NULL,
            is_withdrawn INTEGER NOT NULL,
            region INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            time_ms INTEGER NOT NULL,
            confirmed_ms INTEGER NOT NULL,
            reported_ms INTEGER NOT NULL,
            PRIMARY KEY (person, number, ordinal)
        ) STRICT, WITHOUT ROWID
        """
}
