import Answers
import HTTPServer
import Log
import Maintenance
import Synchronization
import Whereabouts

extension OperateEndpoints {
    /// `POST /v1/backups`: makes a backup in the data directory. A request cannot choose another place.
    ///
    /// Cost: see ``BackupMaker/make(betweenTheCopies:)``; one answering thread.
    ///
    /// - Throws: 503 while another backup is being made, 500 if this one fails. The failure is on record.
    ///
    /// May call: the operator. Recorded as `OperatorActed(backUp)`, before the first file is written.
    func backUp(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        guard exchange.caller.scopes.contains(.operate) else { throw .notFound }
        guard !work.isBackingUp.exchange(true, ordering: .acquiring) else { throw .busy(10) }
        defer { work.isBackingUp.store(false, ordering: .releasing) }
        return try doing(.backUp, exchange) { () throws(Problem) in
            do throws(LogError) {
                return .reply(try backupMaker.make().reply, status: 201)
            } catch { throw Problem(500, "No backup", "The backup was not made. \(error)") }
        }
    }
}

/// The operator's requests under way.
final class OperatorWork: Sendable {
    /// Whether a backup is being made; only one can be.
    let isBackingUp = Atomic<Bool>(false)
    /// The requests that wait for the log's next event.
    let followers = Atomic<Int>(0)
}
