/// A failure of PROJ or its data. It contains PROJ's own text, never a coordinate.
package enum GeodesyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// PROJ refused; `number` is its error number, `message` its text for that number.
    case proj(doing: String, number: Int32, message: String)
    /// No reference system of that code in PROJ's database (`proj.db`).
    case unknownReferenceSystem(code: String)
    /// The place is outside the area in which the reference system (or the geoid grid) is defined.
    case outsideAreaOfUse(of: String)
    /// The numbers to convert are NaN or infinite.
    case notFinite

    /// One sentence without coordinates.
    package var description: String {
        switch self {
        case .proj(let doing, let number, let message):
            "PROJ could not \(doing): \(message) (error \(number))."
        case .unknownReferenceSystem(let code):
            "PROJ's database has no coordinate reference system \(code)."
        case .outsideAreaOfUse(let name):
            "The place is outside the area of use of \(name)."
        case .notFinite:
            "The coordinates to convert must be finite numbers."
        }
    }
}
