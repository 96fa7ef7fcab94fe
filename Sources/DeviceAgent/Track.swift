internal import Geodesy
package import Whereabouts
internal import WireFormats

/// Where a simulated phone stands: one point of a recorded way, which it reports whenever it is asked.
package struct Track: Sendable, DescribedWithoutContent {
    /// Which point.
    package enum Standing: Sendable, Equatable {
        /// The last one of the file.
        case end
        /// The last one not later than this many seconds after the first.
        case after(seconds: Double)
    }

    /// Radius given for a track that has none: what a phone under the open sky claims.
    private static let usualAccuracyMeters = 8.0

    /// The end of the year 9999: a track is a way, and may have been written for any day.
    private static let anyDay = Timestamp(milliseconds: 253_402_300_799_000)

    private let place: Fix

    /// Reads a GPX file and finds the point. Points without a time, or that are no fixes, are passed over.
    ///
    /// - Throws: ``ScenarioError`` when it is no GPX file or no point is left.
    package init(gpx: [UInt8], standing: Standing) throws(ScenarioError) {
        var reader = GPXReader()
        do throws(GPXError) {
            try reader.feed(gpx)
            try reader.finish()
        } catch {
            throw ScenarioError(error.description)
        }
        var first: Timestamp?
        var found: Fix?
        for point in reader.takePoints() {
            guard case .fix(let fix, _) = point.report(now: Self.anyDay) else { continue }
            let start = first ?? fix.timestamp
            first = start
            if case .after(let seconds) = standing, fix.timestamp.seconds(since: start) > seconds { continue }
            found = fix
        }
        guard let found else { throw ScenarioError("The track has no point with a coordinate and a time.") }
        place = found
    }

    /// What the phone finds when it looks at `now`: the place with the present time, standing still, and marked as made
    /// by software.
    package func fix(at now: Timestamp) -> Fix {
        var fix = Fix(
            timestamp: now, coordinate: place.coordinate,
            horizontalAccuracy: place.horizontalAccuracy ?? Self.usualAccuracyMeters)
        fix.altitude = place.altitude
        fix.verticalAccuracy = place.verticalAccuracy
        fix.speed = 0
        fix.isSimulatedBySoftware = true
        return fix
    }
}
