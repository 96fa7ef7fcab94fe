import Geodesy
package import Whereabouts

/// One track point of a GPX file, its coordinate not yet judged: it may be in another reference system.
package struct GPXPoint: Sendable, DescribedWithoutContent {
    /// The line its element begins in.
    package let line: Int
    /// Whether it is the first of its segment: the recording was interrupted before it.
    package let beginsSegment: Bool
    /// As written, degrees in a proper file; NaN where the attribute is missing or no number.
    package let latitude, longitude: Double
    package var time = ReportedTime.missing
    /// `ele`, meters above mean sea level.
    package var altitude: Double?
    /// Meters per second; `nil` when negative.
    package var speed: Double?
    /// Degrees, 0 ≤ course < 360; `nil` when negative.
    package var course: Double?
    /// Meters; from an extension, because `hdop` has no unit.
    package var horizontalAccuracy: Double?
    package var verticalAccuracy: Double?
    package var floor: Int64?

    init(line: Int, beginsSegment: Bool, latitude: Double, longitude: Double) {
        (self.line, self.beginsSegment) = (line, beginsSegment)
        (self.latitude, self.longitude) = (latitude, longitude)
    }

    /// What the point comes to in WGS 84; `nil` for a point without time, which cannot enter a history.
    ///
    /// - Parameter now: house time, against which a fix is in the future.
    package func report(now: Timestamp) -> Report? {
        report(latitude: latitude, longitude: longitude, now: now)
    }

    /// What the point comes to with a coordinate that has been transformed to WGS 84.
    package func report(latitude: Double, longitude: Double, now: Timestamp) -> Report? {
        guard time != .missing else { return nil }
        var draft = FixDraft()
        (draft.latitude, draft.longitude, draft.time) = (latitude, longitude, time)
        (draft.horizontalAccuracy, draft.verticalAccuracy) = (horizontalAccuracy, verticalAccuracy)
        (draft.altitude, draft.speed, draft.course, draft.floor) = (altitude, speed, course, floor)
        return draft.report(now: now)
    }
}
