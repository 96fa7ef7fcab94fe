import Log
import Projections
import Whereabouts

/// What reads of stored data need beside the answering thread's own context: the gate, the projections' progress, and
/// the rules of time zones.
struct Views: Sendable {
    /// The way out for a person's data.
    let gate: Gate
    /// The host of the projections.
    let host: ProjectionHost
    /// The rules of the world's time zones.
    let timeZones: TimeZoneDatabase

    /// The log, the clock and the callers' references.
    var decisions: Decisions { gate.decisions }
}
