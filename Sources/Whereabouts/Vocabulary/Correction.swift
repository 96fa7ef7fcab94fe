package import Geodesy

/// A person's correction of their derived visits.
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

    /// The kind of a correction, as it is stored.
    package enum Kind: Int64, Sendable, CaseIterable {
        case merge = 1
        case split = 2
        case notVisit = 3
        case rename = 4
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
        }
    }
}

extension Correction {
    // Stored as a map: 1 kind · 2 from, or the time · 3 to · 4, 5 degrees · 6 name
    func write(to fields: inout FieldWriter) {
        fields.integer(1, kind.rawValue)
        switch self {
        case .merge(let time), .notVisit(let time):
            fields.timestamp(2, time.lowerBound)
            fields.timestamp(3, time.upperBound)
        case .split(let moment): fields.timestamp(2, moment)
        case .rename(let coordinate, let name):
            fields.degrees(4, coordinate.latitude)
            fields.degrees(5, coordinate.longitude)
            fields.text(6, name)
        }
    }

    init(from fields: inout FieldReader) throws(CBORError) {
        let kind = try require(Kind(rawValue: try require(try fields.integer(1))))
        switch kind {
        case .merge, .notVisit:
            let (from, to) = (try require(try fields.timestamp(2)), try require(try fields.timestamp(3)))
            guard from < to else { throw .unexpected }
            self = kind == .merge ? .merge(from..<to) : .notVisit(from..<to)
        case .split: self = .split(at: try require(try fields.timestamp(2)))
        case .rename:
            self = .rename(try fields.coordinate(latitude: 4, longitude: 5), try require(try fields.text(6)))
        }
    }
}
