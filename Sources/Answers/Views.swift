package import Projections

/// The parts that reads of stored data need beside the answering thread's own context: the gate, the projections'
/// progress, and the rules of time zones.
package struct Views: Sendable {
    /// The way out for a person's data.
    package let gate: Gate
    /// The host of the projections.
    package let host: ProjectionHost
    /// The rules of the world's time zones.
    package let timeZones: TimeZoneDatabase

    package init(gate: Gate, host: ProjectionHost, timeZones: TimeZoneDatabase) {
        self.gate = gate
        self.host = host
        self.timeZones = timeZones
    }

    /// The log, the clock and the callers' references.
    package var decisions: Decisions { gate.decisions }
}
