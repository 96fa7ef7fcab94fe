/// Keys were destroyed because they sealed reports older than the rule allows.
enum RetentionApplied: Fact {
    static let kind = EventKind.retentionApplied
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .thing
    static let concerns: FactConcerns = [.current, .timeline, .envelopes]

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (applied: AppliedRetention, kept: Part<KeptNewest>?)?
        if case .retentionApplied(let applied, let kept)? = event { given = (applied, kept) }
        let rule = try visitRule(given?.applied, &fact.clear)
        let destroyed = try fact.clear.shape(
            given.map { DestroyedKeys(keys: $0.applied.keys, numbers: $0.applied.numbers) })
        let applied = AppliedRetention(
            keyClass: rule.keyClass, days: rule.days, before: rule.before, keys: destroyed.keys,
            numbers: destroyed.numbers)
        return .retentionApplied(applied, try fact.optionalPart(.track, given?.kept))
    }

    /// The fields that the person sees.
    private static func visitRule<V: FieldVisitor>(
        _ given: AppliedRetention?, _ fields: inout V
    ) throws(V.Failure) -> (keyClass: RetentionClass, days: Int64, before: Timestamp) {
        let keyClass = try fields.required(1, "class", given?.keyClass)
        let days = try fields.required(2, Label("days", .range(Limits.retentionDays)), given?.days)
        let before = try fields.required(
            3, Label("before", note: "earlier records are gone"), given?.before)
        return (keyClass, days, before)
    }

    /// Only the rule and the moment. The ids and numbers would show counts of the whole house, and a later
    /// `RetentionApplied` destroys the sealed part, which must not change the person's log.
    static func prove(_ event: Event, in proven: inout ProvenFields) {
        guard case .retentionApplied(let applied, _) = event else { return }
        _ = visitRule(applied, &proven.clear)
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .retentionApplied(let applied, _) = recorded.event else { return .nothing }
        return .change(
            SettingChange(
                item: recorded.stream.person?.rawValue ?? 0, name: "before \(CalendarDay(utc: applied.before).text)"))
    }
}

extension RetentionClass {
    /// The keys that seal it.
    package var keyClass: KeyClass {
        switch self {
        case .track: .track
        }
    }
}

/// The destroyed keys and the events that they sealed, as flat lists.
package struct DestroyedKeys: FieldShape {
    package let keys: [Int64]
    package let numbers: NumberSet

    package init(keys: [Int64], numbers: NumberSet) { (self.keys, self.numbers) = (keys, numbers) }

    package static let forms: [[ShapeField]] = [
        [
            ShapeField(4, .shape("[+ ordinal]"), "the ids of the destroyed keys, ascending"),
            ShapeField(5, .shape("[+ event-number]"), "the events before: from, to, from, to …"),
        ]
    ]

    package func write(to fields: inout FieldWriter) {
        fields.integers(4, keys)
        fields.integers(5, numbers.stored)
    }

    package static func read(from fields: inout FieldReader) throws(CBORError) -> DestroyedKeys? {
        let keys = try fields.integers(4)
        if keys.isEmpty { return nil }
        return DestroyedKeys(keys: keys, numbers: try NumberSet(stored: try fields.integers(5)))
    }

    package func show(in shown: inout ShownFields) {
        shown.add("keys", .texts(keys.map { "\($0)" }))
        shown.add("events", .texts(numbers.ranges.map { "\($0.lowerBound)-\($0.upperBound)" }))
    }
}

// In one part: the devices, four numbers each and then their silences, and the newest fixes as the standing saves them.
extension KeptNewest: SealedContent, FieldShape {
    package static let rule = "kept-newest"

    package static let forms: [[ShapeField]] = [
        [
            ShapeField(
                1, .shape("[+ int]"),
                "of each device: number, newest time in ms, time in ms and event of the newest usable fix, last heard in "
                    + "ms (the least integer for none), the count of silences, these in seconds"),
            .optional(2, .moment, "the newest fix"), .optional(3, .eventNumber, "its event"),
            .optional(4, .shape("[3*3 degrees]"), "its cell: center and width"),
            .optional(5, .moment, "the last fix in that cell"),
            .optional(6, .moment, "the newest fix before the last pause"), .optional(7, .eventNumber, "its event"),
            .optional(8, .shape("[3*3 degrees]"), "its cell"),
        ]
    ]

    package static func visit<V: FieldVisitor>(_ given: Self?, _ fields: inout V) throws(V.Failure) -> Self {
        try fields.shape(given)
    }

    package func write(to fields: inout FieldWriter) {
        var numbers: [Int64] = []
        for device in devices {
            numbers.append(device.id.rawValue)
            numbers.append(device.newest?.milliseconds ?? Int64.min)
            numbers.append(device.usable?.timestamp.milliseconds ?? Int64.min)
            numbers.append(device.usable?.number ?? 0)
            numbers.append(device.heardAt?.milliseconds ?? Int64.min)
            numbers.append(Int64(device.silences.count))
            numbers += device.silences
        }
        fields.integers(1, numbers)
        fields.timestamp(2, newest.fix?.timestamp)
        fields.integer(3, newest.fix?.number)
        fields.cell(4, newest.fix?.cell)
        fields.timestamp(5, newest.inCellAt)
        fields.timestamp(6, newest.beforePause?.timestamp)
        fields.integer(7, newest.beforePause?.number)
        fields.cell(8, newest.beforePause?.cell)
    }

    package static func read(from fields: inout FieldReader) throws(CBORError) -> KeptNewest? {
        var numbers = try fields.integers(1)[...]
        if numbers.isEmpty { return nil }
        var devices: [Device] = []
        func time(_ number: Int64) -> Timestamp? { number == .min ? nil : Timestamp(milliseconds: number) }
        while !numbers.isEmpty {
            let device = Array(numbers.prefix(6))
            guard device.count == 6, (0...Int64(numbers.count - 6)).contains(device[5]) else { throw .unexpected }
            numbers = numbers.dropFirst(6)
            devices.append(
                Device(
                    id: DeviceID(rawValue: device[0]), newest: time(device[1]),
                    usable: time(device[2]).map { UsableFix(timestamp: $0, number: device[3]) },
                    heardAt: time(device[4]), silences: Array(numbers.prefix(Int(device[5])))))
            numbers = numbers.dropFirst(Int(device[5]))
        }
        var newest = NewestFixes()
        newest.fix = try fix(try fields.timestamp(2), try fields.integer(3), try fields.cell(4))
        newest.inCellAt = try fields.timestamp(5)
        newest.beforePause = try fix(try fields.timestamp(6), try fields.integer(7), try fields.cell(8))
        return KeptNewest(devices: devices, newest: newest)
    }

    private static func fix(
        _ time: Timestamp?, _ number: Int64?, _ cell: HeldCell?
    ) throws(CBORError) -> NewestFix? {
        guard let time else { return nil }
        return NewestFix(timestamp: time, number: try require(number), cell: try require(cell))
    }

    /// Nothing: it repeats what other events say.
    package func show(in _: inout ShownFields) {}
}
