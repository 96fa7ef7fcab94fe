/// What PROJ or its data could not do. Carries PROJ's own text, never a coordinate.
package enum GeodesyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// PROJ refused; `number` is its error number, `message` its text for that number.
    case proj(doing: String, number: Int32, message: String)
    /// No reference system of that code in PROJ's database (`proj.db`).
    case unknownReferenceSystem(code: String)
    /// The place lies outside the area where the reference system (or the geoid grid) is defined.
    case outsideAreaOfUse(of: String)
    /// The numbers given to the conversion are NaN or infinite.
    case notFinite

    package var description: String {
        switch self {
        case .proj(let doing, let number, let message):
            "PROJ could not \(doing): \(message) (error \(number))."
        case .unknownReferenceSystem(let code):
            "PROJ's database has no coordinate reference system \(code)."
        case .outsideAreaOfUse(let name):
            "The place lies outside the area of use of \(name)."
        case .notFinite:
            "Coordinates to be converted must be finite numbers."
        }
    }
}
