import CPostgreSQL
import Glibc

/// A session on a PostgreSQL server, by libpq.
///
/// Use it on one thread at a time. Every value is in binary form. Statements are sent in a pipeline: ``send(_:_:)`` only
/// queues one, and ``finish()`` sends the queue and reads the results, in one round trip. After an error the server
/// skips the rest of the pipeline.
///
/// TCP notices within ``silenceSeconds`` that a server is cut off. So no statement needs a time limit, and one that waits for a
/// lock or a standby may take long.
package final class Session {
    private let connection: OpaquePointer
    private let warnings = Warnings()
    /// The statements that were sent and not read.
    private var pending = 0
    /// Whether the connection has failed.
    private var isLost = false

    /// The time limit for connecting, and for noticing that a server is cut off.
    package static let silenceSeconds = 5

    /// Warnings arrive by a callback of libpq.
    private final class Warnings {
        var all: [PostgreSQLWarning] = []
    }

    /// Connects to a server.
    ///
    /// - Parameter connectionString: As libpq takes it, `host=… dbname=…` or `postgresql://…`. What it does not say comes
    ///   from the environment and the service file. Several hosts are tried in turn.
    /// - Throws: With libpq's sentence, which names hosts and users and no password.
    package init(_ connectionString: String) throws(PostgreSQLError) {
        // Later ones win, so the connection string may set them.
        let defaults = [
            ("connect_timeout", "\(Self.silenceSeconds)"), ("tcp_user_timeout", "\(Self.silenceSeconds * 1000)"),
            ("keepalives_idle", "2"), ("keepalives_interval", "1"), ("keepalives_count", "3"),
            ("fallback_application_name", "whereabouts"), ("dbname", connectionString),
        ]
        let opened = Self.withCStrings(defaults.map(\.0)) { names in
            Self.withCStrings(defaults.map(\.1)) { PQconnectdbParams(names, $0, 1) }
        }
        guard let opened else {
            throw PostgreSQLError(state: "", message: "libpq has no memory", isConnectionLost: true)
        }
        connection = opened
        guard PQstatus(opened) == CONNECTION_OK else {
            // The deinitializer frees it.
            throw PostgreSQLError(
                state: "", message: Self.sentence(PQerrorMessage(opened)), isConnectionLost: true)
        }
        PQsetNoticeReceiver(
            opened, Self.receive, Unmanaged.passUnretained(warnings).toOpaque())
        PQsetnonblocking(opened, 1)
        PQenterPipelineMode(opened)
    }

    deinit { PQfinish(connection) }

    private static let receive: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?) -> Void = { context, result in
        guard let context else { return }
        let severity = field(result, "V")
        guard severity == "WARNING" else { return }
        Unmanaged<Warnings>.fromOpaque(context).takeUnretainedValue().all.append(
            PostgreSQLWarning(state: field(result, "C"), message: field(result, "M")))
    }

    /// The version of the server, for example 150018.
    package var serverVersion: Int { Int(PQserverVersion(connection)) }

    /// The host or directory of sockets that the session is connected to.
    package var host: String { PQhost(connection).map { String(cString: $0) } ?? "" }

    /// The port that the session is connected to.
    package var port: String { PQport(connection).map { String(cString: $0) } ?? "" }

    /// The warnings since the last call.
    package func takeWarnings() -> [PostgreSQLWarning] {
        defer { warnings.all = [] }
        return warnings.all
    }

    // MARK: Statements

    /// Runs one statement and waits for its result.
    @discardableResult
    package func run(_ sql: String, _ parameters: Parameters = []) throws(PostgreSQLError) -> Rows {
        try send(sql, parameters)
        let rows = try finish()
        guard let last = rows.last else {
            throw PostgreSQLError(state: "", message: "the server gave no result", isConnectionLost: true)
        }
        return last
    }

    /// Queues one statement, which need not be prepared.
    package func send(_ sql: String, _ parameters: Parameters = []) throws(PostgreSQLError) {
        try check(
            parameters.withPointers { values, lengths, formats in
                PQsendQueryParams(
                    connection, sql, Int32(parameters.ends.count), nil, values, lengths, formats, 1)
            })
    }

    /// Prepares a statement under a name, for the rest of the session.
    package func prepare(_ name: String, _ sql: String) throws(PostgreSQLError) {
        try check(PQsendPrepare(connection, name, sql, 0, nil))
        _ = try finish()
    }

    /// Queues a prepared statement.
    package func send(prepared name: StaticString, _ parameters: Parameters = []) throws(PostgreSQLError) {
        let name = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
        try check(
            parameters.withPointers { values, lengths, formats in
                PQsendQueryPrepared(
                    connection, name, Int32(parameters.ends.count), values, lengths, formats, 1)
            })
        // So that the server works while more is queued. What does not fit into the socket stays in memory.
        if pending % Self.statementsPerFlush == 0 { _ = PQflush(connection) }
    }

    private static let statementsPerFlush = 64

    private func check(_ isQueued: Int32) throws(PostgreSQLError) {
        guard isQueued == 1 else { throw lost() }
        pending += 1
    }

    /// Sends the queued statements and waits for their results.
    ///
    /// - Returns: The results of all statements, in their order.
    /// - Throws: The first error. Its statement and those after it changed nothing; statements before it stay part of an open
    ///   transaction. If the connection was lost, any of them may have been run.
    package func finish() throws(PostgreSQLError) -> [Rows] {
        guard PQpipelineSync(connection) == 1 else { throw lost() }
        var results: [Rows] = []
        var failure: PostgreSQLError?
        results.reserveCapacity(pending)
        while true {
            guard let result = try next() else {
                // The end of one statement's results.
                if isLost { throw lost() }
                continue
            }
            switch PQresultStatus(result) {
            case PGRES_PIPELINE_SYNC:
                PQclear(result)
                pending = 0
                if let failure { throw failure }
                return results
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: results.append(Rows(result))
            case PGRES_PIPELINE_ABORTED: PQclear(result)
            default:
                if failure == nil { failure = error(of: result) }
                PQclear(result)
                if PQstatus(connection) != CONNECTION_OK, let failure {
                    isLost = true
                    throw PostgreSQLError(state: failure.state, message: failure.message, isConnectionLost: true)
                }
            }
        }
    }

    /// Drops the queued statements and ends the transaction, if there is one. A lost session has none.
    package func rollBack() {
        if isLost { return }
        do throws(PostgreSQLError) { _ = try finish() } catch { if error.isConnectionLost { return } }
        if PQtransactionStatus(connection) == PQTRANS_IDLE { return }
        _ = try? run("ROLLBACK")
    }

    // MARK: Waiting

    /// The next result of libpq; `nil` at the end of a statement's results. Waits for the server.
    private func next() throws(PostgreSQLError) -> OpaquePointer? {
        while true {
            let flushed = PQflush(connection)
            if flushed < 0 { throw lost() }
            if flushed == 0, PQisBusy(connection) == 0 {
                let result = PQgetResult(connection)
                if result == nil, PQstatus(connection) != CONNECTION_OK { isLost = true }
                return result
            }
            var descriptor = pollfd(
                fd: PQsocket(connection), events: Int16(flushed == 0 ? POLLIN : POLLIN | POLLOUT), revents: 0)
            if poll(&descriptor, 1, -1) < 0, errno != EINTR { throw lost() }
            if descriptor.revents & ~Int16(POLLOUT) != 0, PQconsumeInput(connection) == 0 {
                // A server that ends the session says why before it does.
                if PQisBusy(connection) == 0, let result = PQgetResult(connection) { return result }
                throw lost()
            }
        }
    }

    /// The failure of the connection, which is noted.
    private func lost() -> PostgreSQLError {
        isLost = true
        return PostgreSQLError(
            state: "", message: Self.sentence(PQerrorMessage(connection)), isConnectionLost: true)
    }

    private func error(of result: OpaquePointer) -> PostgreSQLError {
        let message = Self.field(result, "M")
        return PostgreSQLError(
            state: Self.field(result, "C"),
            message: message.isEmpty ? Self.sentence(PQresultErrorMessage(result)) : message, isConnectionLost: false)
    }

    /// A field of a message, by its letter in the protocol: `V` the severity in English, `C` the SQLSTATE, `M` the primary
    /// sentence.
    private static func field(_ result: OpaquePointer?, _ letter: Unicode.Scalar) -> String {
        PQresultErrorField(result, Int32(letter.value)).map { String(cString: $0) } ?? ""
    }

    /// libpq's message without its line breaks.
    private static func sentence(_ message: UnsafePointer<CChar>?) -> String {
        let text = message.map { String(cString: $0) } ?? ""
        let lines = text.split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " || $0 == "\t" } }
        return lines.isEmpty ? "the connection ended" : lines.joined(separator: "; ")
    }

    private static func withCStrings<R>(
        _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> R
    ) -> R {
        let pointers = UnsafeMutablePointer<UnsafePointer<CChar>?>.allocate(capacity: texts.count + 1)
        for (index, text) in texts.enumerated() { pointers[index] = UnsafePointer(strdup(text)) }
        pointers[texts.count] = nil
        defer {
            for index in texts.indices { free(UnsafeMutablePointer(mutating: pointers[index])) }
            pointers.deallocate()
        }
        return body(pointers)
    }
}
