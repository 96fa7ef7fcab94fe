import Geodesy
package import JSON
package import Whereabouts

/// The JSON form of a correction.
package enum CorrectionJSON {
    /// Writes a correction in the form of its request.
    package static func writeMembers(of correction: Correction, into writer: inout JSONWriter) {
        writer.field("type", correction.kind.word)
        switch correction {
        case .merge(let time), .notVisit(let time):
            writer.field("from", milliseconds: time.lowerBound.milliseconds)
            writer.field("to", milliseconds: time.upperBound.milliseconds)
        case .split(let moment): writer.field("at", milliseconds: moment.milliseconds)
        case .rename(let coordinate, let name):
            writer.field("latitude", coordinate.latitude)
            writer.field("longitude", coordinate.longitude)
            writer.field("name", name)
        }
    }
}
