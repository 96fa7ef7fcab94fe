import Log
import Whereabouts

/// Has the keys of old reports destroyed, by the rules in the standing.
///
/// Looks after the start, after each change of a rule, and once when a UTC day begins; a look that finds nothing to do
/// costs one comparison. It keeps no state on disk: a key that should be gone and exists is due.
struct RetentionRounds {
    private let log: EventLog
    /// Called after keys were destroyed.
    private let whenDestroyed: @Sendable () -> Void
    /// The day and the rules of the last complete look.
    private var done: (day: CalendarDay, rules: Int)?
    /// The most commands in the writer's queue at once.
    private static let atOnce = 500

    init(log: EventLog, whenDestroyed: @escaping @Sendable () -> Void) {
        (self.log, self.whenDestroyed) = (log, whenDestroyed)
    }

    /// Destroys what is due at `now`. What the log does not take now is due at the next look.
    ///
    /// Cost of a look: each key of the class `track`, and for each person with a rule the days of the log.
    mutating func look(at now: Timestamp) {
        let day = CalendarDay(utc: now)
        let rules = log.withStanding { $0.retention.ruleCount }
        if let done, done.day == day, done.rules == rules { return }
        guard log.withStanding({ $0.retention.hasRules }) else {
            done = (day, rules)
            return
        }
        guard let due = try? self.due(at: now) else { return }
        for start in stride(from: 0, to: due.count, by: Self.atOnce) {
            let round = due[start..<min(start + Self.atOnce, due.count)]
            for (person, keys) in round.dropLast() {
                log.submit(.applyRetention(to: person, keys: keys), by: .house, correlation: .random()) { _ in }
            }
            guard let (person, keys) = round.last else { continue }
            do throws(AppendFailure) {
                _ = try log.appendAndWait(
                    .applyRetention(to: person, keys: keys), by: .house, correlation: .random())
            } catch { return }
        }
        if !due.isEmpty { whenDestroyed() }
        // A command in the middle of a round may have failed: only a look that finds nothing is the last.
        if due.isEmpty { done = (day, rules) }
    }

    /// The keys to destroy, by person.
    private func due(at now: Timestamp) throws(LogError) -> [(PersonID, [(id: Int64, period: Int64)])] {
        var due: [(PersonID, [(id: Int64, period: Int64)])] = []
        for (person, keys) in try log.keys.periods(of: RetentionClass.track.keyClass) {
            let over = log.withStanding { standing -> [(id: Int64, period: Int64)] in
                guard standing.persons[person]?.isErased == false,
                    let due = standing.retention.due(of: person, at: now, through: standing.place)
                else { return [] }
                return keys.filter { due.isOver($0.period) }
            }
            if !over.isEmpty { due.append((person, over)) }
        }
        return due
    }
}
