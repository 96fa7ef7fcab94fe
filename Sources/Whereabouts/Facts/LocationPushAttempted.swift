/// One try to wake one device, with its outcome.
enum LocationPushAttempted: Fact {
    static let kind = EventKind.locationPushAttempted
    /// In the stream of the house if the person was erased meanwhile.
    static let streams: FactStreams = [.audit, .house]
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = .tally

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: LocationPushAttempt?
        if case .locationPushAttempted(let attempt)? = event { given = attempt }
        return .locationPushAttempted(try LocationPushAttempt.visit(given, of: "query", &fact.clear))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .locationPushAttempted(let attempt) = recorded.event else { return .nothing }
        return .attempt(attempt)
    }

    static func show(_ event: Event, in shown: inout ShownFields) {
        _ = visit(event, &shown)
        if case .locationPushAttempted(let attempt) = event { attempt.showOutcome(in: &shown) }
    }

    static func prove(_ event: Event, in proven: inout ProvenFields) {
        _ = visit(event, &proven)
        guard case .locationPushAttempted(let attempt) = event, !attempt.isTestLeaving else { return }
        proven.add("outcome", .text(attempt.outcome.word))
    }
}

extension LocationPushAttempt {
    /// The fields of a try, whether for a query or for a test.
    ///
    /// - Parameter id: What ``query`` identifies.
    static func visit<V: FieldVisitor>(
        _ given: Self?, of id: Label, _ fields: inout V
    ) throws(V.Failure) -> LocationPushAttempt {
        let query = try fields.required(1, id, given?.query)
        let device = try fields.required(2, "device", given?.device)
        let attempt = try fields.required(3, Label("attempt", note: "0: nothing was sent"), given?.attempt)
        let apnsID = try fields.required(4, "apnsID", given?.apnsID)
        let status = try fields.optional(5, Label("status", .status, absent: "no answer"), given?.status)
        let reason = try fields.optional(6, Label("reason", absent: "none"), given?.reason)
        let duration = try fields.required(
            7, Label("durationMilliseconds", .integer), given?.durationMilliseconds)
        let outcome = try fields.optional(
            8, .hidden("outcome", absent: "follows from attempt, status and reason, see Events"),
            given?.recordedOutcome)
        let startedAt = try fields.optional(
            9, Label("startedAt", absent: "nothing was sent, or not recorded"), given?.startedAt)
        let environment = try fields.optional(10, Label("environment", absent: "not recorded"), given?.environment)
        let priority = try fields.optional(
            11, Label("priority", .priority, absent: "not recorded"), given?.priority)
        let tokenHash = try fields.optional(
            12,
            Label(
                "tokenHash", note: "the first four bytes of the device token's SHA-256",
                absent: "not recorded, or erased"), given?.tokenHash)
        let uniqueID = try fields.optional(
            13, Label("apnsUniqueID", absent: "Apple gave none"), given?.uniqueID)
        return LocationPushAttempt(
            query: query, device: device, attempt: attempt, apnsID: apnsID, status: status, reason: reason,
            durationMilliseconds: duration, outcome: outcome, startedAt: startedAt, environment: environment,
            priority: priority, tokenHash: tokenHash, uniqueID: uniqueID)
    }

    /// Adds the outcome, which old events do not have, and puts the time before the duration. While a test push is
    /// leaving, there is no outcome.
    func showOutcome(in shown: inout ShownFields) {
        if !isTestLeaving { shown.add("outcome", .text(outcome.word), after: "apnsID") }
        shown.move("startedAt", before: "durationMilliseconds")
    }
}

extension FieldForm {
    fileprivate static let status = FieldForm("int", .integers(100...599))
    fileprivate static let priority = FieldForm("5 / 10", .codes([5, 10], nil))
}
