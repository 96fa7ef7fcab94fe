package import Geodesy

/// Why a fix is not used as a location of the person. It stays in the log and in the track, with this mark.
package enum Anomaly: Hashable, Sendable {
    /// The device marks the coordinate as invalid (negative accuracy).
    case invalid
    /// Exactly latitude 0, longitude 0: a receiver without a fix.
    case noFix
    /// Its time is more than ``Limits/futureUnusedSeconds`` after its receipt.
    case inTheFuture
    /// Its accuracy is that of a town, not of a place.
    case vague
    /// A jump there and back, faster than people travel, or over a detour many times as long as the way.
    case spike

    /// The word in answers.
    package var word: String { String(describing: self) }

    /// The last good fix of a device, and one after it that is a spike if the next one is not near it.
    private struct Neighbors {
        var last: TrackPoint?
        var suspect: (index: Int, point: TrackPoint)?
    }

    /// The anomaly of each of some neighboring fixes, in order of time; `nil` for a usable one. The rules of visits
    /// compare neighbors of the same device. The fixes before the first and after the last serve only as neighbors.
    package static func marks(
        of fixes: [StoredFix], between before: StoredFix?, and after: StoredFix?, _ transform: GeocentricTransform
    ) -> [Anomaly?] {
        var marks = fixes.map(\.anomaly)
        var others: [DeviceID: Neighbors] = [:]
        if let before { others[before.device] = Neighbors(last: TrackPoint(before, transform)) }
        // Neighboring fixes are usually of the same device, so its state is not in the dictionary.
        var device: DeviceID?
        var state = Neighbors()
        for (index, fix) in (fixes + (after.map { [$0] } ?? [])).enumerated() {
            guard let point = TrackPoint(fix, transform) else {
                if index < marks.count, marks[index] == nil { marks[index] = .vague }
                continue
            }
            if fix.device != device {
                if let device { others[device] = state }
                (device, state) = (fix.device, others[fix.device] ?? Neighbors())
            }
            if let doubtful = state.suspect, doubtful.point.time < point.time {
                if let before = state.last, doubtful.point.isSpike(after: before, before: point) {
                    marks[doubtful.index] = .spike
                } else {
                    state.last = doubtful.point
                }
                state.suspect = nil
            }
            if index < marks.count, let before = state.last, before.time < point.time, point.isFar(from: before) {
                state.suspect = (index, point)
            } else {
                state.last = point
            }
        }
        return marks
    }
}

extension StoredFix {
    /// The fix's anomaly by itself; `nil` if it can be used as a location.
    package var anomaly: Anomaly? {
        Fix.anomaly(
            timestamp: timestamp, coordinate: coordinate, horizontalAccuracy: horizontalAccuracy, receivedAt: receivedAt
        )
    }
}
