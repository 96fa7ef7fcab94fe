import Log
package import SQLite

/// The generations of each projection, and which of them answers: `catalog.sqlite`.
///
/// Switching is one row in one transaction; files are never renamed, because a live write-ahead log goes by its name.
/// Only the host's thread writes the catalog. If it is lost, the projections are folded again.
package final class Catalog {
    /// The purpose of a generation. A projection has at most one generation of each role.
    package enum Role: String, Sendable {
        /// Answers questions.
        case active
        /// Built, waits for `activate`.
        case candidate
        /// Answered before the last switch. It is still folded, so that `rollback` is instant.
        case previous
    }

    /// One file of a projection, folded from zero once. A rebuild makes the next one.
    package struct Generation: Hashable, Sendable {
        /// The projection, for example `timeline`.
        package let name: String
        /// The version of the fold that made it.
        package let version: Int64
        /// 1 for the first file of the projection, 2 for the next.
        package let generation: Int64
        /// Whether it answers.
        package var role: Role

        /// A generation with its role; it is in no catalog until `Catalog.add(_:version:role:)` adds it.
        package init(name: String, version: Int64, generation: Int64, role: Role) {
            (self.name, self.version, self.generation, self.role) = (name, version, generation, role)
        }

        /// The name of its file, for example `timeline-v7-1.sqlite`.
        package var fileName: String { "\(name)-v\(version)-\(generation).sqlite" }
    }

    private let connection: Connection
    /// The greatest version or generation; a higher number is damage.
    private static let most: Int64 = 1 << 32

    /// Opens the catalog, or makes an empty one.
    init(path: String) throws(SQLiteError) {
        connection = try Connection(path: path, access: .readWrite)
        try connection.execute(
            """
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = FULL;
            CREATE TABLE IF NOT EXISTS generation (
                name TEXT NOT NULL,
                version INTEGER NOT NULL,
                generation INTEGER NOT NULL,
                role TEXT NOT NULL CHECK (role IN ('active', 'candidate', 'previous')),
                PRIMARY KEY (name, generation)
            ) STRICT;
            CREATE UNIQUE INDEX IF NOT EXISTS one_of_each_role ON generation (name, role);
            """)
    }

    /// Opens an existing catalog for reading.
    package init(path: String, reading access: Connection.Access) throws(SQLiteError) {
        connection = try Connection(path: path, access: access)
    }

    /// All generations, by projection and generation.
    ///
    /// - Throws: A damaged row if the service cannot have written a name or number: the host would delete the file of
    ///   that name.
    package func generations() throws(SQLiteError) -> [Generation] {
        try connection.cached("SELECT name, version, generation, role FROM generation ORDER BY name, generation") {
            (statement) throws(SQLiteError) in
            var rows: [Generation] = []
            while try statement.step() {
                let generation = Generation(
                    name: statement.text(at: 0), version: statement.int(at: 1), generation: statement.int(at: 2),
                    role: Role(rawValue: statement.text(at: 3)) ?? .candidate)
                // These three are the name of a file, which may be deleted.
                guard Role(rawValue: statement.text(at: 3)) != nil, (1...Self.most).contains(generation.version),
                    (1...Self.most).contains(generation.generation), !generation.name.isEmpty,
                    generation.name.utf8.allSatisfy({ UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 })
                else { throw SQLiteError.damagedRow }
                rows.append(generation)
            }
            return rows
        }
    }

    /// Adds a generation in `role`, which must be free; the file does not exist yet.
    func add(_ name: String, version: Int64, role: Role) throws(SQLiteError) -> Generation {
        try connection.transaction { () throws(SQLiteError) in
            let generation = Generation(name: name, version: version, generation: try next(name), role: role)
            try insert(generation, as: role)
            return generation
        }
    }

    /// Replaces a generation by the next one, with its version and role, in one transaction. Files are not touched.
    ///
    /// The number is new, because facts about the old file do not hold for the new one, for example when it was
    /// checked.
    func renew(_ old: Generation) throws(SQLiteError) -> Generation {
        try connection.transaction { () throws(SQLiteError) in
            let generation = Generation(
                name: old.name, version: old.version, generation: try next(old.name), role: old.role)
            try remove(old)
            try insert(generation, as: old.role)
            return generation
        }
    }

    /// One more than the greatest number of a generation of this projection; 1 if there is none.
    private func next(_ name: String) throws(SQLiteError) -> Int64 {
        try connection.cached("SELECT coalesce(max(generation), 0) + 1 FROM generation WHERE name = ?") {
            (statement) throws(SQLiteError) in
            try statement.bind(name, at: 1)
            return try statement.step() ? statement.int(at: 0) : 1
        }
    }

    /// Removes a generation's row; its file is not touched.
    func remove(_ generation: Generation) throws(SQLiteError) {
        try connection.cached("DELETE FROM generation WHERE name = ? AND generation = ?") {
            (statement) throws(SQLiteError) in
            try statement.bind(generation.name, at: 1)
            try statement.bind(generation.generation, at: 2)
            try statement.run()
        }
    }

    /// Removes a generation's row and makes another one active, in one transaction.
    ///
    /// - Parameter new: `nil` to make none active.
    func replace(_ old: Generation, by new: Generation?) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            try remove(old)
            guard let new else { return }
            try remove(new)
            try insert(new, as: .active)
        }
    }

    /// Gives each generation its new role in one transaction.
    func assign(_ roles: [(Generation, Role)]) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            // Two generations may swap roles, and a role is unique: all roles are removed before any is assigned.
            for (generation, _) in roles { try remove(generation) }
            for (generation, role) in roles { try insert(generation, as: role) }
        }
    }

    private func insert(_ generation: Generation, as role: Role) throws(SQLiteError) {
        try connection.cached("INSERT INTO generation (name, version, generation, role) VALUES (?, ?, ?, ?)") {
            (statement) throws(SQLiteError) in
            try statement.bind(generation.name, at: 1)
            try statement.bind(generation.version, at: 2)
            try statement.bind(generation.generation, at: 3)
            try statement.bind(role.rawValue, at: 4)
            try statement.run()
        }
    }
}
