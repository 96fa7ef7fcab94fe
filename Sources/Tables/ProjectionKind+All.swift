import AuditTables
package import Projections

extension ProjectionKind {
    /// All projections except for the standing, which the writer keeps.
    package static let all: [ProjectionKind] = [
        ProjectionKind(CurrentTable.self), ProjectionKind(TimelineTable.self), ProjectionKind(AuditTable.self),
        ProjectionKind(StreamIndexTable.self), ProjectionKind(EnvelopeTable.self),
    ]
}
