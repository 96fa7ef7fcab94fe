/// Counts of the events appended since the start, for the operator. They contain no persons.
package struct EventTally: Sendable {
    /// The outcome of a push, or the reason why it was not sent.
    package struct PushEnd: Hashable, Comparable, Sendable {
        /// APNs' status; `none` without an answer, `withheld` if nothing was sent.
        package let status: String
        /// APNs' reason; empty without one.
        package let reason: String

        /// By status, then by reason.
        package static func < (one: PushEnd, other: PushEnd) -> Bool {
            (one.status, one.reason) < (other.status, other.reason)
        }
    }

    /// The most distinct outcomes: APNs' reasons are texts from outside. Further ones are counted together.
    private static let pushEndsMax = 64

    /// The number of events of each kind, at the index of the kind's number.
    package private(set) var kinds = [Int64](
        repeating: 0, count: Int(EventKind.allCases.map(\.rawValue).max() ?? 0) + 1)
    /// The number of queries that ended, by their end.
    package private(set) var queryEnds: [QueryEnd: Int64] = [:]
    /// The number of rejected reports, by their reason.
    package private(set) var rejections: [RejectionReason: Int64] = [:]
    /// The number of pushes, by their outcome.
    package private(set) var pushEnds: [PushEnd: Int64] = [:]
    /// From sending a push to its answer, for answered pushes.
    package private(set) var pushSeconds = Histogram()
    /// From a query to its answer by a fix.
    package private(set) var answerSeconds = Histogram()
    /// When the open queries were asked, for those asked since the start.
    private var asked: [QueryID: Timestamp] = [:]

    /// Nothing counted yet.
    package init() {}

    /// Counts an appended event. Called on the writer's thread, so it must be cheap.
    ///
    /// - Parameter kind: The kind of `event`, which the caller knows.
    package mutating func fold(_ event: Event, kind: EventKind, recordedAt: Timestamp) {
        kinds[Int(kind.rawValue)] += 1
        switch event {
        case .inputRejected(_, let reason, _, _): rejections[reason, default: 0] += 1
        case .locationQueried(let query): asked[query.id] = recordedAt
        case .locationQueryEnded(let query, let end, _):
            queryEnds[end, default: 0] += 1
            if let start = asked.removeValue(forKey: query), end == .answered {
                answerSeconds.add(seconds: recordedAt.seconds(since: start))
            }
        case .locationPushAttempted(let attempt): fold(attempt)
        // Counted only by its kind.
        default: event.isPassedOver(by: .tally)
        }
    }

    private mutating func fold(_ attempt: LocationPushAttempt) {
        let status = attempt.status.map { "\($0)" } ?? (attempt.attempt == 0 ? attempt.outcome.word : "none")
        let end = PushEnd(status: status, reason: attempt.reason ?? "")
        let isKept = pushEnds[end] != nil || pushEnds.count < Self.pushEndsMax
        pushEnds[isKept ? end : PushEnd(status: "other", reason: ""), default: 0] += 1
        if attempt.status != nil { pushSeconds.add(seconds: Double(attempt.durationMilliseconds) / 1000) }
    }
}
