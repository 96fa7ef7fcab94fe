package import Cryptography
package import Log
import PostgreSQL
import Transparency
import Whereabouts

/// The log on a PostgreSQL server: one transaction for each batch, sent as a pipeline of prepared statements.
///
/// A process that has lost the log to another one cannot commit: the last statement of a batch compares the term and the
/// size. No lease and no clock is involved.
package final class PostgreSQLLogEngine: LogEngine {
    private let session: Session
    private let term: Int64
    private var parameters = Parameters()

    /// - Parameters:
    ///   - session: Used by the engine alone from now on.
    ///   - term: The term under which the process took the log.
    init(_ session: Session, term: Int64) throws(LogError) {
        (self.session, self.term) = (session, term)
        do throws(PostgreSQLError) {
            try session.prepare("event", LogTables.insertion)
            try session.prepare("end", LogTables.end)
        } catch { throw LogError(error) }
        _ = session.takeWarnings()
    }

    package func begin() throws(LogError) { try queue { () throws(PostgreSQLError) in try session.send("BEGIN") } }

    package func insert(
        _ header: EventHeader, body: UnsafeRawBufferPointer, _ leaf: Digest
    ) throws(LogError) {
        parameters.set(header, body: body, leaf)
        try queue { () throws(PostgreSQLError) in try session.send(prepared: "event", parameters) }
    }

    /// A connection that ends, or warns, after the pipeline was sent leaves the outcome unknown. A warning means for
    /// example that an operator cancelled the wait for the standbys: the batch is on the primary alone.
    package func commit(_ end: LogEnd, after previous: Int64) -> CommitOutcome {
        do throws(PostgreSQLError) {
            parameters.set(end, after: previous, term: term)
            try session.send(prepared: "end", parameters)
            try session.send("COMMIT")
        } catch { return .failed(LogError(error)) }
        do throws(PostgreSQLError) { _ = try session.finish() } catch {
            if error.isConnectionLost { return .unknown(.commitUnknown("the connection ended (\(error))")) }
            session.rollBack()
            return error.isConstraint ? .fenced(.fenced) : .failed(LogError(error))
        }
        if let warning = session.takeWarnings().first {
            return .unknown(.commitUnknown("the database server warned (\(warning.message))"))
        }
        return .committed
    }

    package func confirm() throws(LogError) {
        do throws(PostgreSQLError) {
            let rows = try session.run("SELECT 1 FROM whereabouts.log WHERE term = $1 AND in_charge", [term])
            if rows.count == 1 { return }
        } catch { throw LogError(error) }
        throw .fenced
    }

    package func rollBack() { session.rollBack() }

    private func queue(_ send: () throws(PostgreSQLError) -> Void) throws(LogError) {
        do throws(PostgreSQLError) { try send() } catch { throw LogError(error) }
    }
}

extension Parameters {
    /// The parameters of ``LogTables/insertion``.
    mutating func set(_ header: EventHeader, body: UnsafeRawBufferPointer, _ leaf: Digest) {
        removeAll()
        append(header.number)
        append(header.stream.rawValue)
        append(header.version)
        append(header.kind)
        append(header.recordedAt.milliseconds)
        append(header.actor.rawValue)
        append(header.correlation.bytes)
        append(header.cause)
        append(body)
        leaf.withBytes { append($0) }
    }

    /// The parameters of ``LogTables/end``.
    mutating func set(_ end: LogEnd, after previous: Int64, term: Int64) {
        removeAll()
        append(term)
        append(previous)
        append(end.range.size)
        append(end.range.bytes)
        append(end.head?.bytes ?? [])
        append(end.epoch)
    }
}
