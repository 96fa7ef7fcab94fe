/// A stream of the log: two for each person, one for the house. The versions in a stream are 1, 2, 3 and so on.
package struct StreamID: Hashable, Sendable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    /// The stream of events that concern no known person.
    package static let house = StreamID(rawValue: 0)
    /// The reports of the person's devices.
    package static func track(_ person: PersonID) -> StreamID { .init(rawValue: 2 * person.rawValue) }
    /// Queries, grants, pushes and disclosures about the person.
    package static func audit(_ person: PersonID) -> StreamID { .init(rawValue: 2 * person.rawValue + 1) }
    /// The person whose stream it is; `nil` for the house's.
    package var person: PersonID? { rawValue < 4 ? nil : .init(rawValue: rawValue / 2) }
    /// Whether it is the audit of a person.
    package var isAudit: Bool { rawValue >= 5 && rawValue % 2 == 1 }
    /// Whether it is the stream of a person's reports.
    package var isTrack: Bool { rawValue >= 4 && rawValue % 2 == 0 }
}
