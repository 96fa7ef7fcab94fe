import Geodesy
import Glibc
import TestSupport

@testable import Gazetteer

extension Repository {
    static let gazetteerPath = "\(root)/data/places.gazetteer"
    static let zonesPath = "\(root)/data/zones.gazetteer"
    static let manifestPath = "\(root)/data/manifest.json"
}

/// A file in its own temporary folder, removed when the object is released.
final class TemporaryFile {
    private let folder = TemporaryFolder()
    let path: String

    init(_ content: [UInt8]) throws {
        path = folder.file("test.gazetteer")
        try write(content, to: path)
    }
}

extension SplitMix {
    /// Uniform on the sphere.
    mutating func coordinate() throws -> Coordinate {
        try Coordinate(
            latitude: asin(Double.random(in: -1...1, using: &self)) * 180 / .pi,
            longitude: Double.random(in: -180...180, using: &self))
    }
}
