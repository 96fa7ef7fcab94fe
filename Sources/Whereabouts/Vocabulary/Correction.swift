package import Geodesy

/// A person's correction of their derived visits and places.
///
/// It names times and places, never a visit's id or edges, so that it holds under every version of the rules and with
/// late fixes.
package enum Correction: Hashable, Sendable {
    /// The visits of this time are one visit.
    case merge(Range<Timestamp>)
    /// The visit at this time is two visits, and the second began then.
    case split(at: Timestamp)
    /// The person stayed nowhere in this time.
    case notVisit(Range<Timestamp>)
    /// The person's name for a place.
    case rename(Coordinate, String)
    /// The places at these two coordinates are one place. The first one gives the name, unless the
    /// person has named only the second.
    case samePlace(Coordinate, with: Coordinate)

    /// The kind of a correction, as it is stored.
    package enum Kind: Int64, Sendable, CaseIterable {
        case merge = 1
        case split = 2
        case notVisit = 3
        case rename = 4
        case samePlace = 5
        /// The word in requests and answers.
        package var word: String { String(describing: self) }
    }

    /// The kind of this correction.
    package var kind: Kind {
        switch self {
        case .merge: .merge
        case .split: .split
        case .notVisit: .notVisit
        case .rename: .rename
        case .samePlace: .samePlace
        }
    }
}
