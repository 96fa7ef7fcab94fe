/// Finds patterns in how others ask for a person: not single questions, which the audit shows, but habits. A fold over
/// the queries, reads and disclosures about one person, in the order of their numbers; the same events give the same
/// findings.
package struct AskPatterns: Sendable {
    /// One thing that another person did about the person.
    package struct Step: Hashable, Sendable {
        /// The kind of act.
        package enum What: Hashable, Sendable {
            /// A query or a read, allowed or not.
            case ask(isRefused: Bool)
            /// A disclosure.
            case shown(Precision)
        }
        /// The number of its event.
        package let number: Int64
        /// The principal who asked or was shown something.
        package let requester: PrincipalID
        /// When the step was recorded.
        package let at: Timestamp
        /// The kind of step.
        package let what: What

        package init(number: Int64, requester: PrincipalID, at: Timestamp, what: What) {
            (self.number, self.requester, self.at, self.what) = (number, requester, at, what)
        }

        /// The steps of another person that an event records.
        package static func steps(of recorded: RecordedEvent) -> [Step] {
            func step(_ requester: PrincipalID, _ what: What) -> Step {
                Step(number: recorded.number, requester: requester, at: recorded.recordedAt, what: what)
            }
            switch recorded.event {
            case .locationQueried(let query) where query.verdict != .own:
                return [step(query.requester, .ask(isRefused: query.verdict.isRefused))]
            case .locationDisclosed(let disclosure) where disclosure.verdict != .own:
                return [step(disclosure.requester, .shown(disclosure.precision))]
            // The friend's phone reported and did not ask. The location that it was shown counts all the same.
            case .locationRead(let read) where read.question == .friends:
                return [step(read.reader, .shown(read.precision))]
            case .locationRead(let read) where read.verdict != .own:
                let asked = step(read.reader, .ask(isRefused: read.verdict.isRefused))
                return read.verdict.isRefused ? [asked] : [asked, step(read.reader, .shown(read.precision))]
            // The person themselves.
            case .locationQueried, .locationDisclosed, .locationRead: return []
            default:
                recorded.event.isPassedOver(by: .patterns)
                return []
            }
        }
    }

    /// A habit.
    package enum Pattern: Int, Hashable, Sendable, CaseIterable {
        /// Asks far more often than people do.
        case polling
        /// Asks at equal intervals, as programs do.
        case clockwork
        /// Asks in several nights.
        case nights
        /// Sees so many coarse locations that they show a way.
        case coarse
        /// Continues to ask after refusals.
        case refused

        /// The word in answers.
        package var word: String { String(describing: self) }
    }

    /// This many steps within this many seconds are a finding, which lasts as long as they continue.
    package struct Threshold: Sendable {
        /// The number of steps.
        package let steps: Int
        /// The seconds within which the steps must be.
        package let seconds: Int64
    }

    /// Each pattern's threshold, with its reason.
    package static func threshold(_ pattern: Pattern) -> Threshold {
        switch pattern {
        // A person who waits for another looks every few minutes, for at most an hour. A dozen looks in a day are more
        // than one such wait.
        case .polling: Threshold(steps: 12, seconds: 86_400)
        // Seven steps are six intervals. Five repetitions of an interval of minutes, within a tenth, need a clock.
        case .clockwork: Threshold(steps: 7, seconds: 7 * 86_400)
        // One night is an emergency, two a coincidence.
        case .nights: Threshold(steps: 3, seconds: 14 * 86_400)
        // A car crosses a cell of a kilometer in a minute, a pedestrian in a quarter of an hour: eight cells are a way.
        case .coarse: Threshold(steps: 8, seconds: 4 * 3600)
        // A person who mistypes a name tries two or three times.
        case .refused: Threshold(steps: 5, seconds: 86_400)
        }
    }

    /// The longest interval of a clockwork is at most this many times the shortest.
    private static let clockworkRatio = 1.1
    /// Intervals below a minute are those of one impatient person.
    private static let clockworkSecondsMin = 60.0
    /// From midnight to five, local time of the person.
    private static let nightEndSeconds: Int64 = 5 * 3600

    /// A period in which a pattern held.
    package struct Finding: Hashable, Sendable {
        /// The pattern that held.
        package let pattern: Pattern
        /// The principal whose steps make the pattern.
        package let requester: PrincipalID
        /// The time of the first step.
        package let from: Timestamp
        /// The time of the last step.
        package fileprivate(set) var to: Timestamp
        /// The number of its steps.
        package fileprivate(set) var count: Int
        /// The number of its last event.
        package fileprivate(set) var number: Int64
    }

    private struct Key: Hashable {
        let pattern: Pattern
        let requester: PrincipalID
    }

    /// The zone that defines night.
    private let zone: ZoneRules?
    /// The latest steps that count for a pattern, at most as many as its threshold.
    private var recent: [Key: [Timestamp]] = [:]
    /// The finding that the next step would continue.
    private var open: [Key: Int] = [:]
    /// The findings in the order in which they began.
    package private(set) var findings: [Finding] = []

    /// - Parameter zone: The zone that defines night; `nil` for UTC.
    package init(zone: ZoneRules?) { self.zone = zone }

    /// - Returns: The findings that this step began or continued.
    @discardableResult
    package mutating func note(_ step: Step) -> [Finding] {
        var found: [Finding] = []
        switch step.what {
        case .ask(let isRefused):
            if isRefused {
                note(step, .refused, &found)
            } else {
                note(step, .polling, &found)
                note(step, .clockwork, &found)
                if isAtNight(step.at) { note(step, .nights, &found) }
            }
        case .shown(let precision): if precision > .none, precision < .exact { note(step, .coarse, &found) }
        }
        return found
    }

    private mutating func note(_ step: Step, _ pattern: Pattern, _ found: inout [Finding]) {
        let key = Key(pattern: pattern, requester: step.requester)
        let threshold = Self.threshold(pattern)
        var times = recent[key] ?? []
        // Only the last step of a night counts, so a single sleepless night is one step.
        if pattern == .nights, let last = times.last, day(last) == day(step.at) { times.removeLast() }
        times.append(step.at)
        if times.count > threshold.steps { times.removeFirst() }
        recent[key] = times
        guard times.count == threshold.steps, let first = times.first,
            step.at.seconds(since: first) <= Double(threshold.seconds),
            pattern != .clockwork || Self.isClockwork(times)
        else {
            open[key] = nil
            return
        }
        if let index = open[key] {
            findings[index].to = step.at
            findings[index].number = step.number
            findings[index].count += 1
        } else {
            open[key] = findings.count
            findings.append(
                Finding(
                    pattern: pattern, requester: step.requester, from: first, to: step.at, count: times.count,
                    number: step.number))
        }
        if let index = open[key] { found.append(findings[index]) }
    }

    private static func isClockwork(_ times: [Timestamp]) -> Bool {
        let intervals = zip(times.dropFirst(), times).map { $0.seconds(since: $1) }
        guard let shortest = intervals.min(), let longest = intervals.max() else { return false }
        return shortest >= clockworkSecondsMin && longest <= shortest * clockworkRatio
    }

    private func localSeconds(_ moment: Timestamp) -> Int64 {
        let local = zone?.localMilliseconds(moment) ?? moment.milliseconds
        return local >= 0 ? local / 1000 : (local - 999) / 1000
    }

    private func day(_ moment: Timestamp) -> Int64 {
        let seconds = localSeconds(moment)
        return (seconds - (seconds % 86_400 + 86_400) % 86_400) / 86_400
    }

    private func isAtNight(_ moment: Timestamp) -> Bool {
        (localSeconds(moment) % 86_400 + 86_400) % 86_400 < Self.nightEndSeconds
    }
}
