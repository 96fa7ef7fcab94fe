public import Foundation
internal import Geodesy
internal import ReferenceSystems
package import Whereabouts
internal import WireFormats

/// Where the device goes: fixes in the order of their time, as its receiver sees them at its best.
///
/// All of them are marked `isSimulatedBySoftware`. A value that the source does not have is −1, not 0.
public struct SimulatedTrack: Sendable {
    public let fixes: [CLLocation]

    /// Any fixes, sorted by time; of two at one millisecond the later one is dropped.
    public init(_ fixes: [CLLocation]) {
        var sorted: [CLLocation] = []
        for (_, fix) in fixes.enumerated().sorted(by: {
            ($0.element.timestamp, $0.offset) < ($1.element.timestamp, $1.offset)
        }) {
            if let last = sorted.last, last.timestamp.milliseconds == fix.timestamp.milliseconds { continue }
            sorted.append(fix)
        }
        self.fixes = sorted
    }

    /// The track points of a GPX file that have a time. Speed and course are derived from the next point where the
    /// file gives neither; the accuracy is `accuracyMeters` where the file gives none.
    ///
    /// - Throws: ``SimulatedTrackError``.
    public init(gpx: Data, accuracyMeters: Double = 8) throws {
        var reader = GPXReader()
        do {
            try reader.feed([UInt8](gpx))
            try reader.finish()
        } catch {
            throw SimulatedTrackError(description: error.description)
        }
        let reported = reader.takePoints().compactMap { point -> Fix? in
            guard case .fix(let fix, _) = point.report(now: .endOfYear9999) else { return nil }
            return fix
        }
        try self.init(reported: reported, accuracyMeters: accuracyMeters, derivesMotion: true)
    }

    /// Fixes as JSON lines, the import format `fixes`. Lines that are no fixes are passed over.
    ///
    /// - Throws: ``SimulatedTrackError`` when no line is a fix.
    public init(jsonLines: Data, accuracyMeters: Double = 8) throws {
        var lines = FixLines(now: .endOfYear9999)
        let items = lines.feed([UInt8](jsonLines)) + lines.finish()
        let reported = items.compactMap { item -> Fix? in
            guard case .fix(let fix, _) = item.report else { return nil }
            return fix
        }
        try self.init(reported: reported, accuracyMeters: accuracyMeters, derivesMotion: false)
    }

    /// The points of a GeoJSON file that have a time: features that are points, and lines with a time for each
    /// coordinate. Speed and course are derived as for GPX.
    ///
    /// - Throws: ``SimulatedTrackError``.
    public init(geoJSON: Data, accuracyMeters: Double = 8) throws {
        guard let reports = GeoJSONTrack.reports(from: [UInt8](geoJSON), now: .endOfYear9999) else {
            throw SimulatedTrackError(description: "The track is no GeoJSON of features.")
        }
        let reported = reports.compactMap { report -> Fix? in
            guard case .fix(let fix, _) = report else { return nil }
            return fix
        }
        try self.init(reported: reported, accuracyMeters: accuracyMeters, derivesMotion: true)
    }

    /// The output of a GNSS receiver: NMEA 0183 sentences with checksums. Damaged sentences are skipped.
    ///
    /// - Throws: ``SimulatedTrackError`` when no epoch is a fix.
    public init(nmea: Data, accuracyMeters: Double = 8) throws {
        var lines = NMEALines()
        let reported = lines.feed(nmea) + lines.finish()
        try self.init(reported: reported, accuracyMeters: accuracyMeters, derivesMotion: false)
    }

    private init(reported: [Fix], accuracyMeters: Double, derivesMotion: Bool) throws {
        guard !reported.isEmpty else { throw SimulatedTrackError(description: "The track has no fix with a time.") }
        var fixes: [CLLocation] = []
        // Where the source gives one height only, the geoid gives the other; without its grid that stays unknown.
        lazy var geoid = try? Geoid()
        for (index, fix) in reported.enumerated() {
            var fix = fix
            if derivesMotion, index + 1 < reported.count {
                let next = reported[index + 1]
                let seconds = next.timestamp.seconds(since: fix.timestamp)
                if seconds > 0 {
                    let way = Geodesic.inverse(from: fix.coordinate, to: next.coordinate)
                    if fix.speed == nil { fix.speed = way.distanceMeters / seconds }
                    if fix.course == nil, way.distanceMeters > 0 { fix.course = way.initialAzimuth.inCircle }
                }
            }
            fix.horizontalAccuracy = fix.horizontalAccuracy ?? accuracyMeters
            if fix.ellipsoidalAltitude == nil, let altitude = fix.altitude {
                fix.ellipsoidalAltitude = (try? geoid?.separation(at: fix.coordinate)).map { altitude + $0 }
            }
            fixes.append(CLLocation(fix))
        }
        self.init(fixes)
    }
}

/// Why a track cannot be read: one sentence, never a place.
public struct SimulatedTrackError: Error, Equatable, Sendable, CustomStringConvertible {
    public let description: String
}

extension Timestamp {
    /// A track may have been written for any day.
    static let endOfYear9999 = Timestamp(milliseconds: 253_402_300_799_000)
}

extension Date {
    var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1000).rounded()) }
}

extension Double {
    /// The same direction, 0 ..< 360.
    var inCircle: Double {
        let rest = truncatingRemainder(dividingBy: 360)
        // A tiny negative rest plus 360 rounds to 360 itself.
        return rest < 0 ? (rest + 360 < 360 ? rest + 360 : 0) : rest
    }
}

extension CLLocation {
    /// A fix of the service's vocabulary in Core Location's form: unknown values are −1, and it is marked as simulated.
    package convenience init(_ fix: Fix) {
        self.init(
            all: CLLocationCoordinate2D(latitude: fix.coordinate.latitude, longitude: fix.coordinate.longitude),
            altitude: fix.altitude ?? 0, ellipsoidalAltitude: fix.ellipsoidalAltitude ?? 0,
            floor: fix.floor.flatMap { Int(exactly: $0) }.map { CLFloor(level: $0) },
            horizontalAccuracy: fix.horizontalAccuracy ?? -1,
            verticalAccuracy: fix.altitude == nil ? -1 : fix.verticalAccuracy ?? -1, course: fix.course ?? -1,
            courseAccuracy: fix.courseAccuracy ?? -1, speed: fix.speed ?? -1, speedAccuracy: fix.speedAccuracy ?? -1,
            timestamp: fix.timestamp.date,
            sourceInformation: CLLocationSourceInformation(
                softwareSimulationState: fix.isSimulatedBySoftware ?? true,
                andExternalAccessoryState: fix.isProducedByAccessory ?? false))
    }
}
