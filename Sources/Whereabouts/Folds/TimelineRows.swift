package import Geodesy

/// The part of a stored fix from which visits are derived.
package struct StoredFix: Sendable {
    /// The device that reported it.
    package let device: DeviceID
    /// The device's time.
    package let timestamp: Timestamp
    /// WGS 84.
    package let coordinate: Coordinate
    /// Meters; `nil` if unknown, negative if the device marks the coordinate as invalid.
    package let horizontalAccuracy: Double?
    /// `nil` for an imported fix without a time of receipt.
    package let receivedAt: Timestamp?
    /// The kind of moment, if a device reported a visit's; `nil` for a fix.
    package let report: ReportedMoment?

    package init(
        device: DeviceID, timestamp: Timestamp, coordinate: Coordinate, horizontalAccuracy: Double?,
        receivedAt: Timestamp?, report: ReportedMoment? = nil
    ) {
        self.device = device
        (self.timestamp, self.coordinate) = (timestamp, coordinate)
        (self.horizontalAccuracy, self.receivedAt) = (horizontalAccuracy, receivedAt)
        self.report = report
    }
}

/// The arrival, departure or presence that a device reported (``VisitReport``).
package struct ReportedMoment: Hashable, Sendable {
    /// The kind of moment that the device reported.
    package enum Kind: Int64, Sendable {
        case arrival = 1
        case departure = 2
        /// The device was still at the place.
        case presence = 3
    }
    /// Which of the three it is.
    package let kind: Kind
    /// The end of the stay that begins at this time, as the device reported it; this time itself without one.
    package let until: Timestamp

    package init(kind: Kind, until: Timestamp) { (self.kind, self.until) = (kind, until) }
}

extension StoredFix {
    /// The reported times of a visit: its arrival and departure, as far as the device knew them.
    ///
    /// A contradictory report, or one about a time after its receipt, has none.
    package static func moments(
        of report: VisitReport, device: DeviceID, receivedAt: Timestamp
    ) -> [StoredFix] {
        let latest = receivedAt.adding(seconds: Limits.futureUnusedSeconds)
        let end = report.departure ?? max(report.timestamp, report.arrival ?? report.timestamp)
        guard report.arrival.map({ $0 <= end }) ?? true, end <= latest else { return [] }
        func moment(_ kind: ReportedMoment.Kind, _ time: Timestamp) -> StoredFix {
            StoredFix(
                device: device, timestamp: time, coordinate: report.coordinate,
                horizontalAccuracy: report.horizontalAccuracy, receivedAt: receivedAt,
                report: ReportedMoment(kind: kind, until: kind == .arrival ? end : time))
        }
        var moments: [StoredFix] = []
        if let arrival = report.arrival { moments.append(moment(.arrival, arrival)) }
        if report.departure != nil || report.arrival != end {
            moments.append(moment(report.departure == nil ? .presence : .departure, end))
        }
        return moments
    }
}

/// The rows that the timeline has written so far. Its fold reads only these.
package protocol TimelineRows {
    associatedtype Failure: Error

    /// The fixes of all devices of a person from `from` on, in the order of time and device, twins included, until `body`
    /// returns `false`.
    func eachFix(of person: PersonID, from: Timestamp?, _ body: (StoredFix) throws(Failure) -> Bool) throws(Failure)
    /// The latest receipt among the person's fixes; `nil` without fixes.
    func newestReceipt(of person: PersonID) throws(Failure) -> Timestamp?
    /// The latest receipt among the person's present rows, as ``TimelineEngine`` counts it. Cost: a look at each row.
    func latestReceipt(of person: PersonID) throws(Failure) -> Timestamp?
    /// The regions that the person ever had, also removed ones, by id.
    func regions(of person: PersonID) throws(Failure) -> [WatchedRegion]
    /// The leads from `from` on, in the order of ``Lead/precedes(_:_:)``.
    func leads(of person: PersonID, from: Timestamp?) throws(Failure) -> [Lead]
    /// The restart point with the greatest ``Restart/closed`` before `moment`; `nil` for the end of time.
    func restart(of person: PersonID, closedBefore moment: Timestamp?) throws(Failure) -> Restart?
    /// The restart point with exactly this ``Restart/closed``.
    func restart(of person: PersonID, closedAt moment: Timestamp) throws(Failure) -> Restart?
    /// The visits that arrive from `arrivingFrom` up to, but not including, `before`, by arrival.
    func visits(of person: PersonID, arrivingFrom: Timestamp?, before: Timestamp?) throws(Failure) -> [Visit]
    /// The crossings from `from` on that were confirmed after `after` and not later than `through`, ordered by
    /// ``Crossing/time``, region and kind.
    func crossings(
        of person: PersonID, from: Timestamp?, confirmedAfter after: Timestamp?, through: Timestamp?
    ) throws(Failure) -> [Crossing]
}

/// A change of the timeline's rows.
package enum TimelineChange: Sendable {
    /// A row changed, was added (`old` is `nil`) or removed (`new` is `nil`). The key is the arrival.
    case visit(PersonID, old: Visit?, new: Visit?)
    /// As for visits; the key is time, region and kind.
    case crossing(PersonID, old: Crossing?, new: Crossing?)
    /// A region was added or removed; a removed one keeps its row.
    case region(PersonID, WatchedRegion)
    /// A row was added or removed; the key is all of it.
    case lead(PersonID, Lead, isThere: Bool)
    /// A restart point, which replaces one with the same ``Restart/closed``.
    case restart(PersonID, Restart)
    /// Removes the restart points closed after the first time and not after the second; `nil` means without limit.
    case restartsVoid(PersonID, closedAfter: Timestamp?, through: Timestamp?)
    /// The latest receipt among the person's fixes changed; `nil` if there are none any more.
    case newestReceipt(PersonID, Timestamp?)
}
