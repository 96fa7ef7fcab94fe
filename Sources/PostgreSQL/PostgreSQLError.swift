/// A failure that the server or libpq reported, in words for the operator. It never contains a parameter.
package struct PostgreSQLError: Error, Sendable, CustomStringConvertible {
    /// The five letters of the SQLSTATE, for example `23505`; empty if the failure is the connection's.
    package let state: String
    /// The server's primary sentence, which names tables and columns, or libpq's sentence about the connection.
    package let message: String

    /// Whether the session has ended. The server may have run statements whose results did not arrive.
    package let isConnectionLost: Bool

    /// A value breaks a constraint, for example a primary key (class 23).
    package var isConstraint: Bool { state.hasPrefix("23") }

    package var description: String { state.isEmpty ? message : "PostgreSQL \(state): \(message)" }

    init(state: String, message: String, isConnectionLost: Bool) {
        // Part of a sentence that goes on; libpq's ends with a question.
        let text = message.reversed().drop { $0 == "." || $0 == "?" }.reversed()
        (self.state, self.message, self.isConnectionLost) = (state, String(text), isConnectionLost)
    }
}

/// A warning that came with a result, for example that a commit was not waited for.
package struct PostgreSQLWarning: Sendable {
    /// The SQLSTATE, for example `01000`.
    package let state: String
    /// The server's sentence.
    package let message: String
}
