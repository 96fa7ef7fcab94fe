/// The right of a caller to see data of a subject, with its conditions.
package struct Permit: Hashable, Sendable {
    /// The person whose data it is.
    package let subject: PersonID
    /// Why it may be seen.
    package let verdict: Verdict
    /// How exactly the location may be shown.
    package let precision: Precision
    /// The beginning of the visible time; `nil` shows everything before.
    package let notBefore: Timestamp?
    /// The weekly hours to show; `nil` shows all hours.
    package let hours: WeeklyHours?
    /// The pauses, from which nothing is shown; no question is passed on during one.
    package let pauses: [Pause]
    /// Whether the subject must consent to each question.
    package let asksEachTime: Bool

    /// A permit without a grant.
    init(subject: PersonID, _ verdict: Verdict) {
        (self.subject, self.verdict, precision) = (subject, verdict, .exact)
        (notBefore, hours, pauses, asksEachTime) = (nil, nil, [], false)
    }

    /// The permit of people who read their own data, or have derived it themselves: nothing is hidden.
    package static func own(_ subject: PersonID) -> Permit { Permit(subject: subject, .own) }

    init(_ grant: Grant, pauses: [Pause]) {
        (subject, verdict, precision) = (grant.subject, .granted(grant.id), grant.precision)
        (notBefore, hours, asksEachTime) = (grant.from, grant.hours, grant.asksEachTime)
        self.pauses = pauses
    }

    /// Whether no time is hidden.
    package var showsEveryMoment: Bool { notBefore == nil && hours == nil && pauses.isEmpty }

    /// Whether sharing is paused at `now`.
    package func isPaused(at now: Timestamp) -> Bool { pauses.contains { $0.contains(now) } }

    /// Whether a fact of `moment` may be shown.
    package func shows(_ moment: Timestamp) -> Bool {
        (notBefore.map { $0 <= moment } ?? true) && (hours?.contains(moment) ?? true) && !isPaused(at: moment)
    }

    /// Whether a fact from `start` to `end` may be shown. All of it must be visible: a part would disclose the rest.
    package func shows(from start: Timestamp, to end: Timestamp) -> Bool {
        (notBefore.map { $0 <= start } ?? true) && (hours?.hold(from: start, to: end) ?? true)
            && !pauses.contains { $0.from <= end && ($0.until.map { start < $0 } ?? true) }
    }

    /// The latest visible moment, at or before `moment`.
    package func latestShown(atOrBefore moment: Timestamp) -> Timestamp? {
        var moment = moment
        while true {
            if let hours {
                guard let held = hours.latest(atOrBefore: moment) else { return nil }
                moment = held
            }
            if let notBefore, moment < notBefore { return nil }
            guard let pause = pauses.first(where: { $0.contains(moment) }) else { return moment }
            moment = Timestamp(milliseconds: pause.from.milliseconds - 1)
        }
    }
}
