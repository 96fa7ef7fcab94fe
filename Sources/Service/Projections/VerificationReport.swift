import Cryptography
import JSON
import Log
import Synchronization

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
        /// A ``RefoldCheck/Result``, or the error that prevented the refold.
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

/// The progress of a verification, for a thread that shows it.
package final class VerificationProgress: Sendable {
    private struct State {
        var part = ""
        var done: Int64 = 0
        var all: Int64 = 0
    }

    private let state = Mutex(State())

    /// No progress yet.
    package init() {}

    /// - Parameter part: The part that is verified, for example `log` or `projection timeline`.
    func report(_ part: String, _ done: Int64, of all: Int64) {
        state.withLock { $0 = State(part: part, done: done, all: all) }
    }

    /// For example `log, 40 %`; empty before the first report.
    package var text: String {
        state.withLock { state in
            state.part.isEmpty || state.all < 1
                ? state.part : "\(state.part), \(min(100, state.done * 100 / state.all)) %"
        }
    }
}
