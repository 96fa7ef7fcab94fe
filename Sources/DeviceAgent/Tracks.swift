internal import CoreLocation
internal import Foundation

extension SimulatedTrack {
    /// Reads a track file: GPX, NMEA 0183, GeoJSON or JSON lines, detected by the first bytes.
    ///
    /// - Throws: ``ScenarioError`` with the path, and never a place.
    init(file path: String) throws(ScenarioError) {
        let bytes = Data(try readFile(path))
        let first = bytes.first { !([0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D] as Set<UInt8>).contains($0) }
        do {
            switch first {
            case UInt8(ascii: "<"): try self.init(gpx: bytes)
            case UInt8(ascii: "$"): try self.init(nmea: bytes)
            default:
                if let track = try? SimulatedTrack(geoJSON: bytes) {
                    self = track
                } else {
                    try self.init(jsonLines: bytes)
                }
            }
        } catch { throw ScenarioError("\(path): \(error)") }
    }

    /// One fix of `moment`, where this track is: at its end, or so many seconds after its beginning.
    func standing(_ standing: Scenario.Standing, at moment: Date) -> SimulatedTrack {
        let start = fixes.first?.timestamp ?? moment
        let place =
            switch standing {
            case .end: fixes.last
            case .after(let seconds): fixes.last { $0.timestamp.timeIntervalSince(start) <= seconds }
            }
        guard let place else { return SimulatedTrack([]) }
        return SimulatedTrack([
            CLLocation(
                coordinate: place.coordinate, altitude: place.altitude, horizontalAccuracy: place.horizontalAccuracy,
                verticalAccuracy: place.verticalAccuracy, course: -1, courseAccuracy: -1, speed: 0, speedAccuracy: -1,
                timestamp: moment,
                sourceInfo: CLLocationSourceInformation(softwareSimulationState: true, andExternalAccessoryState: false)
            )
        ])
    }
}
