/// Finds what a person should know about how others ask for them: not the single question, which the audit shows, but the
/// habit behind many. A fold over the questions, readings and disclosures about one person, in the order of their numbers;
/// the same events give the same findings.
package struct AskPatterns: Sendable {
    /// Something somebody did about the person.
    package struct Step: Hashable, Sendable {
        package enum What: Hashable, Sendable {
            /// A question or a reading, let through or not.
            case ask(isRefused: Bool)
            /// Something was shown.
            case shown(Precision)
        }
        /// Number of its event.
        package let number: Int64
        package let requester: PrincipalID
        package let at: Timestamp
        package let what: What

        package init(number: Int64, requester: PrincipalID, at: Timestamp, what: What) {
            (self.number, self.requester, self.at, self.what) = (number, requester, at, what)
        }

        /// What an event says that somebody else did.
        package static func steps(of recorded: RecordedEvent) -> [Step] {
            func step(_ requester: PrincipalID, _ what: What) -> Step {
                Step(number: recorded.number, requester: requester, at: recorded.recordedAt, what: what)
            }
            switch recorded.event {
            case .locationQueried(let query) where query.verdict != .own:
                return [step(query.requester, .ask(isRefused: query.verdict.isRefused))]
            case .locationDisclosed(let disclosure) where disclosure.verdict != .own:
                return [step(disclosure.requester, .shown(disclosure.precision))]
            // The friend did not ask: the phone reported, and was told. What it saw counts all the same.
            case .locationRead(let read) where read.question == .friends:
                return [step(read.reader, .shown(read.precision))]
            case .locationRead(let read) where read.verdict != .own:
                let asked = step(read.reader, .ask(isRefused: read.verdict.isRefused))
                return read.verdict.isRefused ? [asked] : [asked, step(read.reader, .shown(read.precision))]
            default: return []
            }
        }
    }

    package enum Pattern: Int, Hashable, Sendable, CaseIterable {
        /// Asks far more often than people do.
        case polling
        /// Asks at equal intervals: a program does.
        case clockwork
        /// Asks in one night after the other.
        case nights
        /// Sees so many coarse places that the way between them shows.
        case coarse
        /// Goes on asking though refused.
        case refused

        package var word: String { String(describing: self) }
    }

    /// So many steps within so many seconds make a finding; it goes on while they do.
    package struct Threshold: Sendable {
        package let steps: Int
        package let seconds: Int64
    }

    /// Every threshold, with its reason.
    package static func threshold(_ pattern: Pattern) -> Threshold {
        switch pattern {
        // Whoever waits for somebody looks every few minutes for an hour at the most; a dozen times in a day is more than
        // one such wait.
        case .polling: Threshold(steps: 12, seconds: 86_400)
        // Seven steps are six intervals. Nobody repeats an interval of minutes to a tenth five times over without a clock.
        case .clockwork: Threshold(steps: 7, seconds: 7 * 86_400)
        // One night is an emergency, two a coincidence.
        case .nights: Threshold(steps: 3, seconds: 14 * 86_400)
        // A cell of a kilometer is crossed in a minute by car and in a quarter of an hour on foot: eight cells are a way.
        case .coarse: Threshold(steps: 8, seconds: 4 * 3600)
        // A mistyped name is tried again twice or thrice.
        case .refused: Threshold(steps: 5, seconds: 86_400)
        }
    }

    /// The longest interval of a clockwork is at most so much of the shortest.
    private static let clockworkRatio = 1.1
    /// Intervals below a minute are one impatient person.
    private static let clockworkSecondsMin = 60.0
    /// Midnight to five, by the person's clock.
    private static let nightEndSeconds: Int64 = 5 * 3600

    /// One stretch in which a pattern held.
    package struct Finding: Hashable, Sendable {
        package let pattern: Pattern
        package let requester: PrincipalID
        package let from: Timestamp
        package fileprivate(set) var to: Timestamp
        /// Steps in it.
        package fileprivate(set) var count: Int
        /// Number of the last event that belongs to it.
        package fileprivate(set) var number: Int64
    }

    private struct Key: Hashable {
        let pattern: Pattern
        let requester: PrincipalID
    }

    /// By what clock a night is one.
    private let zone: ZoneRules?
    /// The latest steps that count for a pattern, at most as many as its threshold has.
    private var recent: [Key: [Timestamp]] = [:]
    /// The finding that the next step would go on with.
    private var open: [Key: Int] = [:]
    /// In the order in which they began.
    package private(set) var findings: [Finding] = []

    /// - Parameter zone: `nil` for Greenwich.
    package init(zone: ZoneRules?) { self.zone = zone }

    /// - Returns: the findings that began or went on with this step.
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
        // Of a night the last step counts: one sleepless night is one.
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
