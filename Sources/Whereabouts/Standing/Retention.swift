extension Standing {
    /// How long reports are kept: the rules of the house and of persons, the days of the log, and what was destroyed.
    package struct Retention: Sendable, Equatable {
        /// A rule; it holds for the events after the one that set it.
        package struct Rule: Hashable, Sendable {
            /// The number of the event that set it.
            package let from: Int64
            /// `nil` for no limit.
            package let days: Int64?
        }

        /// The last destruction for a person.
        package struct Last: Hashable, Sendable {
            /// Reports recorded before this moment are gone.
            package let before: Timestamp
            /// When it was recorded that it is.
            package let at: Timestamp
            /// The ids of the destroyed keys. A start after a crash destroys them again.
            package let keys: [Int64]
        }

        /// The house's rules, in the order in which they were set.
        package private(set) var house: [Rule] = []
        /// Those of persons.
        package private(set) var persons: [PersonID: [Rule]] = [:]
        /// The last destruction, by person.
        package private(set) var last: [PersonID: Last] = [:]
        /// The first event of each UTC day, and of each day to which the clock stepped back. One entry a day.
        private var days: [(from: Int64, day: Int64)] = []

        package static func == (one: Retention, other: Retention) -> Bool {
            one.house == other.house && one.persons == other.persons && one.last == other.last
                && one.days.elementsEqual(other.days) { $0 == $1 }
        }

        /// Whether there is a rule with a limit.
        package var hasRules: Bool { house.last?.days != nil || persons.values.contains { $0.last?.days != nil } }

        /// The number of rules that the house and the present persons have ever set. It changes with every rule.
        package private(set) var ruleCount = 0

        /// For how many days reports of a person are kept; `nil` for no limit.
        package func days(of person: PersonID) -> Int64? {
            Self.shorter(house.last?.days, persons[person]?.last?.days)
        }

        /// Whether a key of the person's track lasts a day instead of a month. A month's key can only be destroyed as a
        /// whole, so a short rule needs the keys of days.
        package func hasDailyKeys(_ person: PersonID) -> Bool { Self.isDaily(days(of: person)) }

        private static func isDaily(_ days: Int64?) -> Bool { days.map { $0 < Limits.monthlyKeysFromDays } ?? false }

        private static func shorter(_ one: Int64?, _ other: Int64?) -> Int64? {
            guard let one, let other else { return one ?? other }
            return min(one, other)
        }

        mutating func note(_ number: Int64, at recordedAt: Timestamp) {
            let day = CalendarDay(utc: recordedAt).number
            if let newest = days.last, newest.day == day { return }
            days.append((number, day))
        }

        mutating func set(_ days: Int64?, for person: PersonID?, by number: Int64) {
            let rule = Rule(from: number, days: days)
            if let person { persons[person, default: []].append(rule) } else { house.append(rule) }
            ruleCount += 1
        }

        mutating func note(_ applied: AppliedRetention, of person: PersonID, at now: Timestamp) {
            last[person] = Last(before: applied.before, at: now, keys: applied.keys)
        }

        mutating func forget(_ person: PersonID) {
            ruleCount -= persons[person]?.count ?? 0
            persons[person] = nil
            last[person] = nil
        }
    }
}

extension Standing.Retention {
    /// What a person's rule says at a moment.
    package struct Due: Sendable {
        /// The rule.
        package let days: Int64
        /// Reports recorded before this day must go.
        package let before: CalendarDay
        /// The events of the key periods that ended before it.
        package let numbers: NumberSet
        /// The newest day on which each period was in use.
        private let newestDays: [Int64: Int64]

        fileprivate init(days: Int64, before: CalendarDay, numbers: NumberSet, _ newestDays: [Int64: Int64]) {
            (self.days, self.before, self.numbers, self.newestDays) = (days, before, numbers, newestDays)
        }

        /// Whether the key of a period must be destroyed: none of its events is young enough.
        package func isOver(_ period: Int64) -> Bool { newestDays[period].map { $0 < before.number } ?? false }
    }

    /// The part of a person's track that must go at `now`; `nil` without a limit.
    ///
    /// A key goes as a whole, so it goes when the last day on which it sealed is too old: up to a month late for a rule of
    /// ``Limits/monthlyKeysFromDays`` days or more, never for a shorter one. Cost: linear in the days of the log.
    ///
    /// - Parameter place: The number of the newest event.
    package func due(of person: PersonID, at now: Timestamp, through place: Int64) -> Due? {
        guard let kept = self.days(of: person) else { return nil }
        let before = CalendarDay(number: CalendarDay(utc: now).number - kept)
        var pieces: [(numbers: ClosedRange<Int64>, period: Int64)] = []
        var newestDays: [Int64: Int64] = [:]
        let own = persons[person] ?? []
        let cuts = (house + own).map(\.from).sorted()
        for index in days.indices {
            let day = CalendarDay(number: days[index].day)
            let end = index + 1 < days.count ? days[index + 1].from - 1 : place
            var start = days[index].from
            for cut in cuts.filter({ $0 >= start && $0 < end }) + [end] where cut >= start {
                let rule = Self.shorter(Self.rule(house, before: cut), Self.rule(own, before: cut))
                let period = Self.isDaily(rule) ? KeyPeriod.day(day) : KeyPeriod.month(of: day)
                pieces.append((start...cut, period))
                newestDays[period] = max(newestDays[period] ?? .min, day.number)
                start = cut + 1
            }
        }
        var numbers = NumberSet()
        for piece in pieces where newestDays[piece.period].map({ $0 < before.number }) ?? false {
            numbers.insert(piece.numbers)
        }
        return Due(days: kept, before: before, numbers: numbers, newestDays)
    }

    /// The rule under which an event was sealed: the last one set by an earlier event.
    private static func rule(_ rules: [Rule], before number: Int64) -> Int64? {
        rules.last { $0.from < number }?.days
    }
}

extension Standing {
    /// Folds what is kept; everything else that the person's reports left in the standing goes.
    mutating func apply(
        _ applied: AppliedRetention, _ kept: Part<KeptNewest>?, to person: PersonID, at now: Timestamp
    ) {
        retention.note(applied, of: person, at: now)
        let kept = kept?.content
        persons.change(person) { $0.newest = kept?.newest ?? NewestFixes() }
        for device in persons[person]?.devices ?? [] {
            let times = kept?.devices.first { $0.id == device }
            devices.change(device) {
                $0.reports = Device.Reports(
                    newestTimestamp: times?.newest, usable: times?.usable, heardAt: times?.heardAt,
                    silences: times?.silences ?? [])
            }
        }
        queries.forgetPlaces(of: person)
    }

    /// The standing that remains of a person's reports when these events are gone.
    func kept(of person: PersonID, without gone: NumberSet) -> KeptNewest? {
        guard let known = persons[person], !known.devices.isEmpty else { return nil }
        var newest = known.newest
        if let fix = newest.fix, gone.contains(fix.number) { (newest.fix, newest.inCellAt) = (nil, nil) }
        if let fix = newest.beforePause, gone.contains(fix.number) { newest.beforePause = nil }
        return KeptNewest(
            devices: known.devices.sorted { $0.rawValue < $1.rawValue }.map { id in
                let reports = devices[id]?.reports
                return KeptNewest.Device(
                    id: id, newest: reports?.newestTimestamp,
                    usable: reports?.usable.flatMap { gone.contains($0.number) ? nil : $0 }, heardAt: reports?.heardAt,
                    silences: reports?.silences ?? [])
            }, newest: newest)
    }
}

// MARK: - Rows

// 1 rules: from, days or −1 … · 2 the moment before which all is gone · 3 when that was recorded · 4 destroyed keys
// 5 of the house: days: first event, day …
extension Standing.Retention {
    var rows: [StandingEntry] {
        let ids = Set(persons.keys).union(last.keys).map(\.rawValue).sorted()
        var rows = ids.map { id in
            StandingEntry(.retention, id) {
                $0.integers(1, Self.flat(persons[PersonID(rawValue: id)] ?? []))
                let last = last[PersonID(rawValue: id)]
                $0.timestamp(2, last?.before)
                $0.timestamp(3, last?.at)
                $0.integers(4, last?.keys ?? [])
            }
        }
        if !house.isEmpty || !days.isEmpty {
            rows.insert(
                StandingEntry(.retention, 0) {
                    $0.integers(1, Self.flat(house))
                    $0.integers(5, days.flatMap { [$0.from, $0.day] })
                }, at: 0)
        }
        return rows
    }

    private static func flat(_ rules: [Rule]) -> [Int64] { rules.flatMap { [$0.from, $0.days ?? -1] } }

    mutating func load(_ id: Int64, _ fields: inout FieldReader) throws(CBORError) {
        let flat = try fields.integers(1)
        guard flat.count % 2 == 0 else { throw .unexpected }
        let rules = stride(from: 0, to: flat.count, by: 2).map {
            Rule(from: flat[$0], days: flat[$0 + 1] < 0 ? nil : flat[$0 + 1])
        }
        ruleCount += rules.count
        if id == 0 {
            house = rules
            let first = try fields.integers(5)
            guard first.count % 2 == 0 else { throw .unexpected }
            days = stride(from: 0, to: first.count, by: 2).map { (first[$0], first[$0 + 1]) }
            return
        }
        let person = PersonID(rawValue: id)
        if !rules.isEmpty { persons[person] = rules }
        guard let before = try fields.timestamp(2) else { return }
        last[person] = Last(
            before: before, at: try require(try fields.timestamp(3)), keys: try fields.integers(4))
    }
}
