import Log

// The tables of the log on a server, in the schema `whereabouts` of the database. `event` has the columns of `log.sqlite` in
// the same form, so the leaves and the Merkle root are the same. `log` has one row:
//
//     term      raised whenever a process takes the log; a commit of a process with a lower term changes nothing
//     in_charge whether the log's place is this database; false while a log is moved here, and after it moved away
//     key_check the value by which the key-encryption key is recognized
//
// The other columns are those of `log.sqlite`. `key` and `destroyed` are the tables of `keys.sqlite`.

enum LogTables {
    /// Raised when an older program could misread the tables.
    static let format: Int64 = 1

    /// One statement each.
    static let creation = [
        "CREATE SCHEMA whereabouts",
        """
        CREATE TABLE whereabouts.event (
            number bigint PRIMARY KEY,
            stream bigint NOT NULL,
            version bigint NOT NULL,
            kind bigint NOT NULL,
            recorded_at_ms bigint NOT NULL,
            actor bigint NOT NULL,
            correlation bytea NOT NULL,
            cause bigint NOT NULL,
            body bytea NOT NULL,
            leaf bytea NOT NULL
        )
        """,
        // Bodies are ciphertext, which does not compress.
        "ALTER TABLE whereabouts.event ALTER COLUMN body SET STORAGE EXTERNAL",
        """
        CREATE TABLE whereabouts.log (
            one smallint PRIMARY KEY CHECK (one = 1),
            id bytea NOT NULL,
            format bigint NOT NULL,
            term bigint NOT NULL,
            in_charge boolean NOT NULL,
            epoch bigint NOT NULL,
            size bigint NOT NULL,
            compact_range bytea NOT NULL,
            head bytea NOT NULL,
            key_check bytea NOT NULL
        )
        """,
        """
        CREATE TABLE whereabouts.key (
            id bigint PRIMARY KEY,
            person bigint NOT NULL,
            class bigint NOT NULL,
            period bigint NOT NULL,
            wrapped bytea NOT NULL,
            UNIQUE (person, class, period)
        )
        """,
        "CREATE TABLE whereabouts.destroyed (id bigint PRIMARY KEY)",
        """
        CREATE FUNCTION whereabouts.event_is_final() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'events are never changed or deleted'; END $$
        """,
        """
        CREATE TRIGGER event_is_final BEFORE UPDATE OR DELETE OR TRUNCATE ON whereabouts.event
            EXECUTE FUNCTION whereabouts.event_is_final()
        """,
    ]

    static let insertion = """
        INSERT INTO whereabouts.event
            (number, stream, version, kind, recorded_at_ms, actor, correlation, cause, body, leaf)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        """

    /// Fails with `not_null_violation`, and so ends the transaction, unless the process still has the log and the log ends
    /// where the batch begins. Parameters: term, size before, size, compact range, head, epoch.
    static let end = """
        UPDATE whereabouts.log SET
            size = CASE WHEN term = $1 AND size = $2 AND in_charge THEN $3::bigint END,
            compact_range = $4, head = $5, epoch = $6
        """

    static let events = """
        SELECT number, stream, version, kind, recorded_at_ms, actor, correlation, cause, body, leaf
        FROM whereabouts.event WHERE number > $1 ORDER BY number LIMIT $2
        """

    /// The newest event that is not of the newest transaction. Reads the index backwards up to there.
    static let vouchedFor = """
        SELECT number FROM whereabouts.event
        WHERE xmin <> (SELECT xmin FROM whereabouts.event ORDER BY number DESC LIMIT 1)
        ORDER BY number DESC LIMIT 1
        """

    static let row = """
        SELECT id, format, term, in_charge, epoch, size, compact_range, head, key_check FROM whereabouts.log
        """
}
