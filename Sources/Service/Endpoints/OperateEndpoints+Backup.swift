import HTTPServer
import Log
import Synchronization
import Whereabouts

extension OperateEndpoints {
    /// `POST /v1/backups`: makes a backup in the data directory. A request cannot choose another place.
    ///
    /// Cost: see ``Service/makeBackup()``; one answering thread.
    ///
    /// - Throws: 503 while another backup is being made, 500 if this one fails. The failure is on record.
    static func backUp(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        guard exchange.caller.scopes.contains(.operate) else { throw .notFound }
        guard !service.isBackingUp.exchange(true, ordering: .acquiring) else { throw .busy(10) }
        defer { service.isBackingUp.store(false, ordering: .releasing) }
        return try doing(.backUp, service, exchange) { () throws(Problem) in
            do throws(LogError) {
                return .json(try service.makeBackup().json, status: 201)
            } catch { throw Problem(500, "No backup", "The backup was not made. \(error)") }
        }
    }
}
