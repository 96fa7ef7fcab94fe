import Cryptography
import JSON
package import Log
package import Projections

/// The result of a verification, as `GET /v1/verify` and the tool show it.
package struct VerificationReport {
    /// A projection, or the standing, compared with a refold from zero.
    package struct Projection {
        /// For example `timeline`, or `standing`.
        package let name: String
        /// The version of its rules.
        package let version: Int64
        /// 1 for the first file of the projection; 1 for the standing.
        package let generation: Int64
        /// The number of the newest event folded; `nil` if the file does not open.
        package let place: Int64?
        /// The fingerprint in the file; `nil` if the file does not open.
        package let fingerprint: Fingerprint?
        /// `ok`, or the fault of the rows.
        package let rows: String
        /// A `RefoldCheck.Result`, or the error that prevented the refold.
        package let refold: String

        package init(
            name: String, version: Int64, generation: Int64, place: Int64?, fingerprint: Fingerprint?, rows: String,
            refold: String
        ) {
            self.name = name
            self.version = version
            self.generation = generation
            self.place = place
            self.fingerprint = fingerprint
            self.rows = rows
            self.refold = refold
        }

        /// Whether the rows fit the fingerprint, and a refold has the same one.
        package var isGood: Bool { rows == "ok" && refold == RefoldCheck.Result.equal.rawValue }
    }

    /// The log's hashes, and its erased and lost keys.
    package let log: LogVerification
    /// Durable events that the log lacks.
    var loss: LogLoss?
    /// The index of fixes compared with the log; `nil` for the files alone, where no service keeps it.
    package var fixes: FixIdentities.Check?
    /// The active projections, then the standing.
    package var projections: [Projection] = []

    package init(
        log: LogVerification, loss: LogLoss? = nil, fixes: FixIdentities.Check? = nil, projections: [Projection] = []
    ) {
        self.log = log
        self.loss = loss
        self.fixes = fixes
        self.projections = projections
    }

    private var problem: String? { log.problem?.sentence ?? loss?.description }

    /// The report as JSON: `log`, `keys`, `fixes`, `projections` and `ok`.
    package var json: [UInt8] {
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
