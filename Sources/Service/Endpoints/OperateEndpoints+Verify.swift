import Cryptography
import HTTPServer
import JSON
import SQLite
import Whereabouts

extension OperateEndpoints {
    /// How long a verification waits for projections that are being folded from zero.
    private static let longestLoadingMilliseconds = 600_000

    /// Recomputes the log, counts the rows of every active projection again, and compares each, and the standing, with a
    /// refold from zero.
    ///
    /// Cost: the time of a refold; one answering thread.
    static func verify(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        guard exchange.caller.scopes.contains(.operate) else { throw .notFound }
        // A projection that was lost is on its way back; what counts is what will answer.
        _ = service.host.wait(
            for: service.log.head, in: ProjectionKind.all.map(\.name), milliseconds: longestLoadingMilliseconds)
        let log: LogVerification
        do throws(LogError) {
            log = try LogVerifier(path: service.directory.log, keys: service.log.keys).verify { _, _ in }
        } catch { throw Problem(500, "Damaged", "The log cannot be read: \(error)") }
        var isGood = log.problem == nil && log.lostParts == 0
        var writer = JSONWriter()
        writer.beginObject()
        writer.object("log") { writer in
            writer.field("events", log.events)
            writer.field("root", log.root.hex)
            writer.field("ok", log.problem == nil)
            writer.field("number", log.problem?.number)
            writer.field("problem", log.problem?.sentence)
        }
        writer.object("keys") { writer in
            writer.field("erased", log.erasedParts)
            writer.field("lost", log.lostParts)
        }
        writer.array("projections") { writer in
            for status in service.host.status where status.generation.role == .active {
                guard let kind = ProjectionKind.all.first(where: { $0.name == status.generation.name }) else {
                    continue
                }
                let found = check(status, kind, service, context)
                isGood = isGood && found.rows == "ok" && found.refold == RefoldCheck.Result.equal.rawValue
                writer.beginObject()
                writer.field("name", status.generation.name)
                writer.field("version", status.generation.version)
                writer.field("generation", status.generation.generation)
                writer.field("place", status.place)
                writer.field("fingerprint", status.fingerprint.hex)
                writer.field("rows", found.rows)
                writer.field("refold", found.refold)
                writer.endObject()
            }
            let standing = StandingCheck.run(service.log, context.reader)
            isGood = isGood && standing.refold == RefoldCheck.Result.equal.rawValue
            writer.beginObject()
            writer.field("name", "standing")
            writer.field("version", Int64(StandingFile.version))
            writer.field("generation", Int64(1))
            writer.field("place", standing.place)
            writer.field("fingerprint", standing.fingerprint.hex)
            // It is held in memory; its file is compared with the log when it is loaded.
            writer.field("rows", "ok")
            writer.field("refold", standing.refold)
            writer.endObject()
        }
        writer.field("ok", isGood)
        writer.endObject()
        return .json(writer.bytes)
    }

    private static func check(
        _ status: ProjectionHost.Status, _ kind: ProjectionKind, _ service: Service, _ context: AnswerContext
    ) -> (rows: String, refold: String) {
        let directory = service.directory.projections
        let problem = FingerprintChecker.problem(kind, path: "\(directory)/\(status.generation.fileName)")
        do throws(LogError) {
            let refold = try RefoldCheck.run(status, kind: kind, directory: directory, reader: context.reader)
            return (problem ?? "ok", refold.rawValue)
        } catch {
            return (problem ?? "ok", "\(error)")
        }
    }
}
