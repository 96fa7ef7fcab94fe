import AuditTables
package import Projections

extension ProjectionKind {
    /// All projections except for the standing, which the writer keeps.
    package static let all: [ProjectionKind] = [
        ProjectionKind(CurrentTable.self), ProjectionKind(TimelineTable.self), ProjectionKind(AuditTable.self),
        ProjectionKind(StreamIndexTable.self), ProjectionKind(EnvelopeTable.self),
    ]

    /// The projection with this name; `nil` if there is none.
    package static func named(_ name: String) -> ProjectionKind? { all.first { $0.name == name } }
}
