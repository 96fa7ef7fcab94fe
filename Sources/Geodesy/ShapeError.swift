/// Why numbers do not describe a circle, polygon or box. The sentences contain no values, because the values may be a
/// place.
package enum ShapeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The radius of a circle is not a finite number above 0 and at most half the equator.
    case radiusOutOfRange
    /// Fewer than three distinct vertices.
    case tooFewVertices
    /// More vertices than ``Polygon/mostVertices``.
    case tooManyVertices
    /// An edge spans exactly 180° of longitude, so that neither way round is the shorter one.
    case edgeOfHalfTurn
    /// The boundary crosses, touches or retraces itself.
    case crossesItself
    /// The ring winds round the earth along the equator, so that neither pole is the one it encloses.
    case poleUndecided
    /// The southern edge of a box is north of its northern edge.
    case southAboveNorth

    /// One sentence without values.
    package var description: String {
        switch self {
        case .radiusOutOfRange:
            "The radius must be above 0 and at most half the length of the equator, in meters."
        case .tooFewVertices:
            "A polygon needs at least three distinct vertices."
        case .tooManyVertices:
            "A polygon may have at most \(Polygon.mostVertices) vertices."
        case .edgeOfHalfTurn:
            "An edge spans 180 degrees of longitude; add a vertex between to say which way it goes."
        case .crossesItself:
            "The boundary of the polygon crosses or touches itself."
        case .poleUndecided:
            "The polygon winds round the earth along the equator, so that it is unclear which pole it contains."
        case .southAboveNorth:
            "The southern edge of a box must not be north of its northern edge."
        }
    }
}
