import Log
import PostgreSQLLog
import Reactors
import Service

/// The database that has the log.
extension DoctorCommand {
    /// The server's settings, the log in it, and its standbys; none if the log is a file.
    static func database(_ configuration: ServiceConfiguration) -> [Finding] {
        guard let database = configuration.database else { return [] }
        do throws(LogError) {
            let server = try LogServer(LogServerSettings(database))
            var findings = [try state(of: server)]
            if !database.needsQuorum {
                findings.append(
                    .note(
                        "quorum",
                        "config.json promises none: an acknowledged event may be on the primary alone, and is lost with that machine"
                    ))
            }
            findings += try server.standbys().map { standby in
                let details = "\(standby.state), \(standby.role), \(lag(standby))"
                let isFollowing = standby.state == "streaming"
                return isFollowing
                    ? .good("standby \(standby.name)", details) : .note("standby \(standby.name)", details)
            }
            return findings
        } catch {
            return [.wrong("database", "\(error)")]
        }
    }

    private static func state(of server: LogServer) throws(LogError) -> Finding {
        if let fault = try server.fault() { return .wrong("database", fault) }
        guard let row = try server.row() else {
            return .note("database", "\(server.place) has no log yet; the service begins one, or `log move` brings one")
        }
        let details = "\(server.place): \(Text.count(Int(row.size))) events, epoch \(row.epoch), term \(row.term)"
        return row.isInCharge
            ? .good("database", details)
            : .wrong("database", "\(details); not in charge: remove \"log\" from config.json, or move the log here")
    }

    private static func lag(_ standby: Standby) -> String {
        switch standby.lagBytes {
        case ..<0: "its place is not known to this account"
        case 0: "nothing behind"
        default: "\(Text.count(Int(standby.lagBytes))) bytes behind"
        }
    }
}
