import Cryptography
import JSON
import Log
import Projections

/// The result of a verification, as `GET /v1/verify` and the tool show it.
struct VerificationReport {
    /// A projection, or the standing, compared with a refold from zero.
    struct Projection {
        let name: String
        let version: Int64
        let generation: Int64
        /// The number of the newest event folded; `nil` if the file does not open.
        let place: Int64?
        let fingerprint: Fingerprint?
        /// `ok`, or the fault of the rows.
        let rows: String
        /// A `RefoldCheck.Result`, or the error that prevented the refold.
        let refold: String

        var isGood: Bool { rows == "ok" && refold == RefoldCheck.Result.equal.rawValue }
    }

    let log: LogVerification
    /// Durable events that the log lacks.
    var loss: LogLoss?
    /// The index of fixes compared with the log; `nil` for the files alone, where no service keeps it.
    var fixes: FixIdentities.Check?
    var projections: [Projection] = []

    private var problem: String? { log.problem?.sentence ?? loss?.description }

    /// The report as JSON: `log`, `keys`, `fixes`, `projections` and `ok`.
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.object("log") { writer in
            writer.field("events", log.events)
            writer.field("root", log.root.hex)
            writer.field("ok", problem == nil)
            writer.field("number", log.problem?.number ?? loss?.from)
            writer.field("problem", problem)
        }
        writer.object("keys") { writer in
            writer.field("erased", log.erasedParts)
            writer.field("lost", log.lostParts)
        }
        if let fixes {
            writer.object("fixes") { writer in
                writer.field("events", fixes.events)
                writer.field("fixes", fixes.fixes)
                writer.field("ok", fixes.problem == nil)
                writer.field("problem", fixes.problem)
            }
        }
        writer.array("projections") { writer in
            for projection in projections {
                writer.beginObject()
                writer.field("name", projection.name)
                writer.field("version", projection.version)
                writer.field("generation", projection.generation)
                writer.field("place", projection.place)
                writer.field("fingerprint", projection.fingerprint?.hex)
                writer.field("rows", projection.rows)
                writer.field("refold", projection.refold)
                writer.endObject()
            }
        }
        let isWhole = problem == nil && log.lostParts == 0 && fixes?.problem == nil
        writer.field("ok", isWhole && projections.allSatisfy(\.isGood))
        writer.endObject()
        return writer.bytes
    }
}
