internal import Foundation
internal import Gazetteer
internal import Geodesy

/// The names of places that a device's geocoder answers from: a file of the gazetteer and those beside it, mapped once
/// for any number of devices.
public final class SimulatedGeocoding: Sendable {
    let gazetteer: Gazetteer
    /// The language of simulated devices.
    let english: [Language]

    /// - Throws: an error that says in a sentence why the file cannot be used.
    public init(gazetteerPath: String) throws {
        gazetteer = try Gazetteer(path: gazetteerPath)
        english = gazetteer.languages(["en"])
    }
}

extension GeocentricTransform {
    /// One for a device or a model.
    static func make() -> GeocentricTransform {
        do {
            return try GeocentricTransform()
        } catch {
            preconditionFailure("PROJ cannot convert to geocentric coordinates: \(error)")
        }
    }
}
