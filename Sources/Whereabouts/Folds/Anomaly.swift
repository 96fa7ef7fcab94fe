package import Geodesy

/// Why a fix is not taken for where somebody was. The fix stays in the log and in the track, with this beside it.
package enum Anomaly: Hashable, Sendable {
    /// Its device calls the coordinate invalid (negative accuracy).
    case invalid
    /// Latitude 0, longitude 0 exactly: a receiver without a fix.
    case noFix
    /// It claims a time more than ``Limits/futureUnusedSeconds`` after its receipt.
    case inTheFuture
    /// Its accuracy names a town, not a place.
    case vague
    /// There and back faster than anybody travels, or by a detour of many times the way.
    case spike

    package var word: String { String(describing: self) }

    /// The anomaly of each of some neighbouring fixes, in the order of their time; `nil` for one that counts. By the rules
    /// of visits, which look at neighbours of the same device: the fixes before the first and after the last are for those.
    package static func marks(
        of fixes: [StoredFix], between before: StoredFix?, and after: StoredFix?, _ transform: GeocentricTransform
    ) -> [Anomaly?] {
        var marks = fixes.map(\.anomaly)
        var lasts: [DeviceID: TrackPoint] = [:]
        if let before { lasts[before.device] = TrackPoint(before, transform) }
        var suspects: [DeviceID: (index: Int, point: TrackPoint)] = [:]
        for (index, fix) in (fixes + (after.map { [$0] } ?? [])).enumerated() {
            guard let point = TrackPoint(fix, transform) else {
                if index < marks.count, marks[index] == nil { marks[index] = .vague }
                continue
            }
            if let doubtful = suspects[fix.device], doubtful.point.time < point.time {
                if let before = lasts[fix.device], doubtful.point.isSpike(after: before, before: point, .newest) {
                    marks[doubtful.index] = .spike
                } else {
                    lasts[fix.device] = doubtful.point
                }
                suspects[fix.device] = nil
            }
            if index < marks.count, let before = lasts[fix.device], before.time < point.time, point.isFar(from: before)
            {
                suspects[fix.device] = (index, point)
            } else {
                lasts[fix.device] = point
            }
        }
        return marks
    }
}

extension StoredFix {
    /// What is wrong with the fix by itself; `nil` when it may speak for where somebody is.
    package var anomaly: Anomaly? {
        Fix.anomaly(
            timestamp: timestamp, coordinate: coordinate, horizontalAccuracy: horizontalAccuracy, receivedAt: receivedAt
        )
    }
}
