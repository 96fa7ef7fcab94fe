import HTTPServer
import JSON
import Log
import PostgreSQLLog
import Reactors
import Readers
import Replies
import Service
import WhereaboutsClient

/// The database that has the log.
extension DoctorCommand {
    /// The server's settings, the log in it, and its standbys; none if the log is a file.
    static func database(_ configuration: ServiceConfiguration) -> [Finding] {
        guard let database = configuration.database else { return [] }
        if !database.writers.isEmpty { return reader(database) }
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

    /// What a reader needs: a server to follow, which may be a standby, and a process that writes the log.
    private static func reader(_ database: ServiceConfiguration.Database) -> [Finding] {
        var findings: [Finding] = []
        do throws(LogError) {
            let server = try LogServer(LogServerSettings(database))
            let role = try server.isStandby() ? "a standby" : "the primary"
            if let row = try server.row(), row.isInCharge {
                findings.append(
                    .good(
                        "database", "\(server.place), \(role): \(Text.count(Int(row.size))) events, epoch \(row.epoch)")
                )
            } else {
                findings.append(.wrong("database", "\(server.place), \(role), has no log that a reader can follow"))
            }
        } catch { findings.append(.wrong("database", "\(error)")) }
        let roles = database.writers.map { ("\($0)", role(of: "\($0)", database.writersCAFile)) }
        findings += roles.map { address, role in
            switch role {
            case .writes: .good("writer \(address)", "writes the log, or is on its way to")
            case .waits: .note("writer \(address)", "waits for its turn")
            case .isReader: .wrong("writer \(address)", "is a reader itself; name processes that write")
            case .silent: .note("writer \(address)", "does not answer")
            }
        }
        if !roles.contains(where: { $0.1 == .writes }) {
            findings.append(.wrong("writers", "none writes the log now, so no read can be recorded"))
        }
        return findings
    }

    private enum Role { case writes, waits, isReader, silent }

    /// What the process at an address does, by its answer.
    private static func role(of address: String, _ caFile: String?) -> Role {
        guard let transport = WireTransport(address, trustFile: caFile, seconds: 5),
            let answer = try? transport.answer(
                to: HTTPRequest(method: "GET", path: "/readyz", headers: [(WriterLink.passedHeader, "1")]))
        else { return .silent }
        let problem = try? JSONDocument.parse(answer.body).root.read(ProblemReply.self)
        switch problem?.title {
        case ReaderDoor.title: return .isReader
        case TurnToServe.title: return .waits
        default: return .writes
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
