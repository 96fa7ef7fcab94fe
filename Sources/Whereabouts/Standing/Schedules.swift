extension Standing {
    /// A query that the service itself asks at intervals.
    package struct Schedule: Hashable, Sendable {
        /// The person to ask for.
        package let person: PersonID
        /// The interval in seconds.
        package let everySeconds: Int64
        /// `nil` until removed.
        package let until: Timestamp?
        /// When the schedule was set; its intervals count from then.
        package internal(set) var setAt: Timestamp
        /// When the schedule last asked; `nil` before the first time.
        package internal(set) var askedAt: Timestamp?

        /// When it is next due: whole intervals after it was set, once in each. Intervals without a running service are
        /// not made up for.
        package var nextAt: Timestamp {
            let period = everySeconds * 1000
            let asked = ((askedAt ?? setAt).milliseconds - setAt.milliseconds) / period
            return Timestamp(milliseconds: setAt.milliseconds + (asked + 1) * period)
        }

        /// Whether it is due at `now`.
        package func isDue(at now: Timestamp) -> Bool { nextAt <= now && (until.map { now < $0 } ?? true) }
    }

    /// The schedules that are not removed. A person's list of them is in ``Person/schedules``.
    package struct Schedules: Sendable, Equatable {
        /// By the number of the event that set it.
        package private(set) var all: [ScheduleID: Schedule] = [:]

        /// A schedule; `nil` once it is removed.
        package subscript(id: ScheduleID) -> Schedule? { all[id] }

        /// The due schedules, at most `count`. Cost: a look at each schedule.
        package func due(at now: Timestamp, count: Int) -> [ScheduleID] {
            Array(all.lazy.filter { $0.value.isDue(at: now) }.map(\.key).prefix(count))
        }

        mutating func add(_ id: ScheduleID, _ schedule: Schedule) { all[id] = schedule }

        mutating func noteAsked(_ id: ScheduleID, at now: Timestamp) { all[id]?.askedAt = now }

        mutating func remove(_ id: ScheduleID) { all[id] = nil }

        mutating func follow(clockSteppedBackBy milliseconds: Int64) {
            for (id, schedule) in all {
                all[id]?.setAt = schedule.setAt.stepped(back: milliseconds)
                all[id]?.askedAt = schedule.askedAt?.stepped(back: milliseconds)
            }
        }
    }

    mutating func set(_ id: ScheduleID, _ schedule: Schedule) {
        schedules.add(id, schedule)
        persons[schedule.person]?.schedules.append(id)
    }

    mutating func remove(_ id: ScheduleID) {
        guard let schedule = schedules[id] else { return }
        schedules.remove(id)
        persons[schedule.person]?.schedules.removeAll { $0 == id }
    }
}

// MARK: - Rows

// Of one schedule: 1 person · 2 interval · 3 until · 4 set at · 5 asked at
extension Standing.Schedules {
    var rows: [StandingEntry] {
        all.map { id, schedule in
            StandingEntry(.schedule, id.rawValue) {
                $0.integer(1, schedule.person.rawValue)
                $0.integer(2, schedule.everySeconds)
                $0.timestamp(3, schedule.until)
                $0.timestamp(4, schedule.setAt)
                $0.timestamp(5, schedule.askedAt)
            }
        }
    }

    mutating func load(_ id: ScheduleID, _ fields: inout FieldReader) throws(CBORError) {
        all[id] = Standing.Schedule(
            person: PersonID(rawValue: try require(try fields.integer(1))),
            everySeconds: try require(try fields.integer(2)), until: try fields.timestamp(3),
            setAt: try require(try fields.timestamp(4)), askedAt: try fields.timestamp(5))
    }
}
