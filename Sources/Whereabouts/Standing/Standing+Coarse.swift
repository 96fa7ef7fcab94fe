package import Geodesy

// The view of requesters with a coarse grant: in which cell a fix is, and when it answers a query.

extension Standing {
    /// The newest fix of the subject that the permit shows, of those that can be the newest.
    package func newestFix(under permit: Permit) -> NewestFix? {
        guard let person = persons[permit.subject] else { return nil }
        return person.newest.all.first {
            permit.shows($0.timestamp) && !person.withdrawn.numbers.contains($0.number)
        }
    }

    /// The cell in which a coarse grant shows a fix, as the fold keeps it. A fix older than the newest visible one is
    /// shown in that one's cell if it is in the cell or its margin.
    package func shownCell(of number: Int64, at coordinate: Coordinate, under permit: Permit) -> Coordinate {
        guard let newest = newestFix(under: permit), newest.number == number || newest.cell.keeps(coordinate) else {
            return KilometerCell.center(of: coordinate)
        }
        return newest.cell.center
    }

    /// The permit of a query by a coarse grant; `nil` for any other.
    package func coarsePermit(of verdict: Verdict) -> Permit? {
        guard case .granted(let id) = verdict, let grant = grants[id], grant.precision < .exact,
            let person = persons[grant.subject]
        else { return nil }
        return Permit(grant, pauses: person.sharing.pauses)
    }

    /// The fix that ends a coarse query in its last second: the newest since it was asked, if it shows the requester
    /// another quarter of an hour.
    ///
    /// This moment depends on the query alone, so it does not disclose when the phone reported. At the deadline it is
    /// too late: the requester has been shown that there is no answer.
    func coarseAnswer(to query: Query, at now: Timestamp) -> NewestFix? {
        let seconds = query.deadline.seconds(since: query.askedAt)
        guard query.end == nil, !query.awaitsConsent, now < query.deadline,
            query.deadline.seconds(since: now) <= min(Limits.coarseAnswerSeconds, seconds / 2),
            let permit = coarsePermit(of: query.verdict), let newest = newestFix(under: permit),
            newest.timestamp >= query.askedAt,
            query.shownWhenAsked.map({ $0 < permit.precision.shown(newest.timestamp) }) ?? true
        else { return nil }
        return newest
    }

    /// Whether the deadline of an open query has passed, or is so close that a coarse one is answered.
    package func hasOverdueQuery(_ questionTime: QuestionTime) -> Bool {
        queries.open.values.contains { ids in
            ids.contains { id in
                guard let query = queries[id] else { return false }
                let time = questionTime(id, query)
                return query.isOverdue(at: time) || coarseAnswer(to: query, at: time) != nil
            }
        }
    }
}
