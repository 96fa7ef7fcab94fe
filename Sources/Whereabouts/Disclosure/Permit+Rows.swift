package import Geodesy

/// The parts of derived rows that a permit shows, for rows derived from several facts. A row is shown only if it
/// discloses nothing about a hidden moment.
extension Permit {
    /// Whether the person's own names of places are shown. They are private: for example "Grandmother's".
    package var showsOwnNames: Bool { verdict == .own || verdict == .operatorOnRecord }

    /// The person's own name of a place, if it may be shown.
    package func ownName(of place: Coordinate, in corrections: VisitCorrections) -> String? {
        showsOwnNames ? corrections.name(at: place) : nil
    }

    /// Whether a visit may be shown: all of it, because a part would disclose the rest. A visit that still lasts ends
    /// at `now`.
    package func shows(_ visit: Visit, at now: Timestamp) -> Bool {
        shows(from: visit.arrival, to: visit.departure ?? now)
    }

    /// Whether a fix may be shown: the time of the device counts, whenever it arrived.
    package func shows(_ fix: Fix) -> Bool { shows(fix.timestamp) }

    /// The requested range, cut to the permitted times and, on further pages, to the data that existed when the read
    /// began.
    ///
    /// - Parameter begun: When the read began that a further page continues.
    package func range(
        from: Timestamp?, to: Timestamp?, begun: Timestamp?
    ) -> (from: Timestamp?, to: Timestamp?) {
        var (from, to) = (from, to)
        if let notBefore { from = max(from ?? notBefore, notBefore) }
        if let begun { to = min(to ?? begun, begun) }
        return (from, to)
    }

    /// How many stretches of hidden rows are skipped in search of a row that may be shown.
    private static let stretchesLookedBack = 100

    /// The newest row that may be shown; `nil` if there is none, or none within 100 stretches of hidden rows.
    ///
    /// - Parameters:
    ///   - newest: The newest row.
    ///   - time: The time of a row.
    ///   - latest: Finds the newest row at or before a moment.
    package func newestShown<Row, Failure: Error>(
        _ newest: Row, time: (Row) -> Timestamp, latest: (Timestamp) throws(Failure) -> Row?
    ) throws(Failure) -> Row? {
        var row = newest
        for _ in 0..<Self.stretchesLookedBack where !shows(time(row)) {
            guard let moment = latestShown(atOrBefore: time(row)), let older = try latest(moment) else { return nil }
            row = older
        }
        return shows(time(row)) ? row : nil
    }

    /// Whether a crossing rests on fixes that may be shown. Its time was found between the fix before it and the fix
    /// after it: if one of them is hidden, the crossing would disclose where the person was at a hidden time.
    ///
    /// - Parameters:
    ///   - before: The time of the last fix before the crossing; `nil` if there is none.
    ///   - after: The time of the first fix after it; `nil` if there is none.
    package func showsCrossing(between before: Timestamp?, and after: Timestamp?) -> Bool {
        [before, after].allSatisfy { $0.map { shows($0) } ?? true }
    }

    /// The time of the entry before an exit, if it may be shown. The length of a stay would disclose a hidden part of
    /// it.
    package func shownEntry(_ entered: Timestamp?, before exit: Timestamp) -> Timestamp? {
        guard let entered, shows(entered) && shows(from: entered, to: exit) else { return nil }
        return entered
    }
}
