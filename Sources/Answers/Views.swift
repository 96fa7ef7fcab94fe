package import Projections

/// The parts that reads of stored data need, besides the context of the answering thread: the gate, the progress of the
/// projections, and the time zone rules.
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
