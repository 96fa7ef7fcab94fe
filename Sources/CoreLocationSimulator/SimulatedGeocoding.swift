internal import Foundation
internal import Gazetteer

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
