import Geodesy
import Whereabouts

/// A track for a map: at a zoom, points that fall on the same two pixels as the point before are left out.
///
/// The bytes are `WTRK` and the version 1, then variable-length numbers (LEB128):
///
///     total | count | for each point: latitude, longitude, time, accuracy
///
/// - `total` is the number of fixes, `count` that of the points that follow, in order of time.
/// - Latitude and longitude in 1e-6 degrees and time in seconds are differences to the point before, for the first point to
///   0, in zigzag form (0, -1, 1, -2 … as 0, 1, 2, 3 …).
/// - Accuracy is the radius in whole meters plus 1, or 0 if it is unknown.
///
/// For example one point at 48.2° N, 16.3° E, at 1970-01-01T00:00:05Z, ±7 m: `57 54 52 4B 01 · 01 01 · 80 E5 FB 2D ·
/// C0 DF C5 0F · 0A · 08`.
struct TrackPoints {
    /// The media type of the answer.
    static let mediaType = "application/vnd.whereabouts.track"
    /// More are not drawn fast (measured in a browser without a graphics processor).
    static let pointsMax = 150_000

    /// A point of the answer, in its units.
    private struct Point {
        let latitude, longitude: Int64
        let seconds: Int64
        let accuracy: UInt64
    }

    /// The fixes seen, outliers among them.
    private(set) var total: Int64 = 0
    private var points: [Point] = []
    /// The last fix, if it was left out: the track ends with it.
    private var left: Point?
    /// The side of a cell in 1e-6 degrees.
    private var cell: Int64

    /// After a gap of ten minutes a point is kept wherever it is, so that the map can show the gap.
    private static let gapSeconds: Int64 = 600

    /// - Parameter zoom: 0 shows the earth on 256 pixels, and each further one doubles that.
    ///
    /// From 0 to 22. At 22 a cell is smaller than 1e-6 degrees and is taken as one unit.
    init(zoom: Int) {
        let pixel = 360_000_000.0 / Double(256 << zoom)
        cell = max(1, Int64(2 * pixel))
    }

    /// Takes the next fix in order of time.
    ///
    /// An outlier counts in ``total`` and makes no point. Negative accuracies count as 0 m.
    mutating func add(_ fix: StoredFix, isOutlier: Bool) {
        total += 1
        if isOutlier { return }
        let meters = fix.horizontalAccuracy.map { UInt64(min(max($0, 0), 1e7).rounded()) + 1 }
        add(
            Point(
                latitude: Int64((fix.coordinate.latitude * 1e6).rounded()),
                longitude: Int64((fix.coordinate.longitude * 1e6).rounded()),
                seconds: Int64((Double(fix.timestamp.milliseconds) / 1000).rounded(.down)), accuracy: meters ?? 0))
        if points.count > Self.pointsMax { coarsen() }
    }

    /// Keeps the point unless it is in the cell of the last one and within ten minutes of it.
    private mutating func add(_ point: Point) {
        if let last = points.last, isSameCell(last, point), point.seconds - last.seconds < Self.gapSeconds {
            left = point
            return
        }
        // The end of a long stay in one cell: without it, the time there would look like a slow way to the next cell.
        if let left, let last = points.last, left.seconds - last.seconds >= Self.gapSeconds / 2 { points.append(left) }
        left = nil
        points.append(point)
    }

    /// Whether two points are in one cell of the grid.
    private func isSameCell(_ one: Point, _ other: Point) -> Bool {
        func number(_ degrees: Int64) -> Int64 { (degrees + 360_000_000) / cell }
        return number(one.latitude) == number(other.latitude) && number(one.longitude) == number(other.longitude)
    }

    /// Doubles the cells until the points fit.
    private mutating func coarsen() {
        let before = points
        cell *= 2
        (points, left) = ([], nil)
        for point in before { add(point) }
        // Points far apart in space or time stay however large the cell: every second one goes.
        if points.count > Self.pointsMax * 3 / 4 { points = points.indices.filter { $0 % 2 == 0 }.map { points[$0] } }
    }

    /// The bytes of the answer.
    var bytes: [UInt8] {
        let all = points + [left].compactMap { $0 }
        var bytes = Array("WTRK".utf8) + [1]
        bytes.reserveCapacity(16 + 8 * all.count)
        bytes.append(varint: UInt64(total))
        bytes.append(varint: UInt64(all.count))
        var last = Point(latitude: 0, longitude: 0, seconds: 0, accuracy: 0)
        for point in all {
            bytes.append(zigzag: point.latitude - last.latitude)
            bytes.append(zigzag: point.longitude - last.longitude)
            bytes.append(zigzag: point.seconds - last.seconds)
            bytes.append(varint: point.accuracy)
            last = point
        }
        return bytes
    }
}
