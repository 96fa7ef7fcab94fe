package import JSON

/// A location query about a person, with everything that followed.
package struct AuditQueryItem: Reply, Hashable {
    /// `query`.
    package var kind: String
    /// The event, as the caller sees it; the same in every answer.
    package var number: Reference
    /// The query's UUID.
    package var id: String
    /// When the question was recorded.
    package var at: Moment
    /// `nil` for an erased person.
    package var requester: String?
    /// `nil` if it is erased.
    package var purpose: String?
    package var verdict: VerdictItem
    /// `user` for a person who waits, `server` for a schedule.
    package var initiation: String
    /// The end of a query without an answer.
    package var deadline: Moment
    /// `asked`, `given` or `refused`; `nil` if the grant does not ask each time.
    package var consent: String?
    package var consentAt: Moment?
    /// The attempts, then the pushes under way, then a query without a device.
    package var pushes: [AuditPushItem]
    /// `nil` while it is open.
    package var end: String?
    package var endedAt: Moment?
    /// `nil` unless a fix answered it.
    package var fix: AuditFixItem?
    /// `nil` if nothing followed the question.
    package var latency: AuditLatencyItem?
    /// The answers that showed the location, oldest first.
    package var disclosed: [AuditDisclosureItem]
    /// `nil` in answers of older services, as in the other items.
    package var proof: AuditProofItem?

    package init(
        kind: String, number: Reference, id: String, at: Moment, requester: String? = nil, purpose: String? = nil,
        verdict: VerdictItem, initiation: String, deadline: Moment, consent: String? = nil, consentAt: Moment? = nil,
        pushes: [AuditPushItem], end: String? = nil, endedAt: Moment? = nil, fix: AuditFixItem? = nil,
        latency: AuditLatencyItem? = nil, disclosed: [AuditDisclosureItem]
    ) {
        (self.kind, self.number, self.id, self.at) = (kind, number, id, at)
        (self.requester, self.purpose, self.verdict, self.initiation) = (requester, purpose, verdict, initiation)
        (self.deadline, self.consent, self.consentAt, self.pushes) = (deadline, consent, consentAt, pushes)
        (self.end, self.endedAt, self.fix, self.latency) = (end, endedAt, fix, latency)
        self.disclosed = disclosed
    }

    package static var invented: Self {
        Self(
            kind: .invented, number: .invented, id: .invented, at: .invented, verdict: .invented, initiation: .invented,
            deadline: .invented, pushes: .invented, disclosed: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("kind", &kind)
        try members.required("number", &number)
        try members.required("id", .uuid, &id)
        try members.required("at", &at)
        try members.nullable("requester", &requester)
        try members.optional("purpose", &purpose)
        try verdict.visit(&members)
        try members.required("initiation", .words(["user", "server"]), &initiation)
        try members.required("deadline", &deadline)
        try members.optional("consent", &consent)
        try members.optional("consentAt", &consentAt)
        try members.required("pushes", &pushes)
        try members.optional("end", &end)
        try members.optional("endedAt", &endedAt)
        try members.optional("fix", &fix)
        try members.optional("latency", &latency)
        try members.required("disclosed", &disclosed)
        try members.optional("proof", &proof)
    }
}

/// A read of a person's stored data.
package struct AuditReadItem: Reply, Hashable {
    /// `read`.
    package var kind: String
    package var number: Reference
    package var at: Moment
    /// `nil` for an erased person.
    package var reader: String?
    /// The data, for example `track`.
    package var question: String
    package var purpose: String?
    package var verdict: VerdictItem
    /// `exact`, `kilometer`, `city`, `place` or `none`.
    package var precision: String
    /// The requested range.
    package var from: Moment?
    package var to: Moment?
    /// The place in the log up to which the answer was folded.
    package var asOf: Reference
    /// The number of rows in the answer.
    package var count: Int64
    package var proof: AuditProofItem?

    package init(
        kind: String, number: Reference, at: Moment, reader: String? = nil, question: String, purpose: String? = nil,
        verdict: VerdictItem, precision: String, from: Moment? = nil, to: Moment? = nil, asOf: Reference,
        count: Int64
    ) {
        (self.kind, self.number, self.at, self.reader) = (kind, number, at, reader)
        (self.question, self.purpose, self.verdict, self.precision) = (question, purpose, verdict, precision)
        (self.from, self.to, self.asOf, self.count) = (from, to, asOf, count)
    }

    package static var invented: Self {
        Self(
            kind: .invented, number: .invented, at: .invented, question: .invented, verdict: .invented,
            precision: .invented, asOf: .invented, count: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("kind", &kind)
        try members.required("number", &number)
        try members.required("at", &at)
        try members.nullable("reader", &reader)
        try members.required("question", &question)
        try members.optional("purpose", &purpose)
        try verdict.visit(&members)
        try members.required("precision", .named("Precision"), &precision)
        try members.optional("from", &from)
        try members.optional("to", &to)
        try members.required("asOf", &asOf)
        try members.required("count", &count)
        try members.optional("proof", &proof)
    }
}

/// A change of a person's settings or of a right to their data.
package struct AuditChangeItem: Reply, Hashable {
    /// `change`.
    package var kind: String
    package var number: Reference
    package var at: Moment
    /// `nil` for an erased person.
    package var actor: String?
    /// For example `GrantGiven`.
    package var event: String
    /// The changed thing, as in the list of its kind.
    package var item: Reference
    /// The handle of a person or device, the name of a region, and so on; `nil` if it is erased.
    package var name: String?
    /// The requester of a grant, or the holder of a token.
    package var other: PersonName?
    /// Of a grant or an invitation, as the next ones.
    package var precision: String?
    package var history: Bool?
    /// Of a token, for example `["query", "audit"]`.
    package var scopes: [String]?
    package var from: Moment?
    /// The end of a grant, an invitation, a token or a pause.
    package var until: Moment?
    package var asksEachTime: Bool?
    /// For example `Mo-Fr 08:00-18:00, Europe/Vienna`.
    package var hours: String?
    /// The invitation by whose code a grant was made.
    package var invitation: Reference?
    package var proof: AuditProofItem?

    package init(
        kind: String, number: Reference, at: Moment, actor: String? = nil, event: String, item: Reference,
        name: String? = nil, other: PersonName? = nil, precision: String? = nil, history: Bool? = nil,
        scopes: [String]? = nil, from: Moment? = nil, until: Moment? = nil, asksEachTime: Bool? = nil,
        hours: String? = nil, invitation: Reference? = nil
    ) {
        (self.kind, self.number, self.at, self.actor) = (kind, number, at, actor)
        (self.event, self.item, self.name, self.other) = (event, item, name, other)
        (self.precision, self.history, self.scopes, self.from) = (precision, history, scopes, from)
        (self.until, self.asksEachTime, self.hours, self.invitation) = (until, asksEachTime, hours, invitation)
    }

    package static var invented: Self {
        Self(kind: .invented, number: .invented, at: .invented, event: .invented, item: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("kind", &kind)
        try members.required("number", &number)
        try members.required("at", &at)
        try members.nullable("actor", &actor)
        try members.required("event", &event)
        try members.required("item", &item)
        try members.optional("name", &name)
        try members.optional("other", &other)
        try members.optional("precision", .named("Precision"), &precision)
        try members.optional("history", &history)
        try members.optional("scopes", &scopes)
        try members.optional("from", &from)
        try members.optional("until", &until)
        try members.optional("asksEachTime", &asksEachTime)
        try members.optional("hours", &hours)
        try members.optional("invitation", &invitation)
        try members.optional("proof", &proof)
    }
}

/// An act of the operator that concerns everyone. It has no number, because people do not learn it.
package struct AuditActItem: Reply, Hashable {
    /// `act`.
    package var kind: String
    package var at: Moment
    package var actor: String?
    /// For example `projectionsRebuilt`.
    package var act: String
    /// Of an act about a projection, for example `timeline`.
    package var projection: String?
    /// The version of the projection's rules.
    package var version: Int64?
    /// Of a restore or an accepted loss: the log's epoch after it.
    package var epoch: Int64?
    /// When its failure was recorded; `nil` if it succeeded.
    package var failedAt: Moment?

    package init(
        kind: String, at: Moment, actor: String? = nil, act: String, projection: String? = nil,
        version: Int64? = nil, epoch: Int64? = nil, failedAt: Moment? = nil
    ) {
        (self.kind, self.at, self.actor, self.act) = (kind, at, actor, act)
        (self.projection, self.version, self.epoch, self.failedAt) = (projection, version, epoch, failedAt)
    }

    package static var invented: Self {
        Self(kind: .invented, at: .invented, act: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("kind", &kind)
        try members.required("at", &at)
        try members.nullable("actor", &actor)
        try members.required("act", &act)
        try members.optional("projection", &projection)
        try members.optional("version", &version)
        try members.optional("epoch", &epoch)
        try members.optional("failedAt", &failedAt)
    }
}

/// A push of a location query to one device.
package struct AuditPushItem: Reply, Hashable {
    /// `nil` for a query without a device to wake.
    package var device: String?
    /// 0 if nothing was sent.
    package var attempt: Int64
    /// The header `apns-id`, a UUID: the same for all tries of one query and device.
    package var apnsID: String?
    /// When the event was recorded, after the end of the try.
    package var at: Moment
    /// Older services give none.
    package var outcome: String?
    /// Of APNs' answer.
    package var status: Int64?
    package var reason: String?
    package var startedAt: Moment?
    package var endedAt: Moment?
    /// From sending to the end of the try.
    package var durationMilliseconds: Int64?
    /// `production` or `development`.
    package var environment: String?
    /// `apns-priority`: 10 for a person's question, 5 for the service's own.
    package var priority: Int64?
    /// The first 8 hexadecimal digits of the token's SHA-256.
    package var tokenHash: String?
    /// `apns-unique-id`, which Apple's development service gives.
    package var apnsUniqueID: String?

    package init(
        device: String? = nil, attempt: Int64, apnsID: String? = nil, at: Moment, outcome: String? = nil,
        status: Int64? = nil, reason: String? = nil, startedAt: Moment? = nil, endedAt: Moment? = nil,
        durationMilliseconds: Int64? = nil, environment: String? = nil, priority: Int64? = nil,
        tokenHash: String? = nil, apnsUniqueID: String? = nil
    ) {
        (self.device, self.attempt, self.apnsID, self.at) = (device, attempt, apnsID, at)
        (self.outcome, self.status, self.reason, self.startedAt) = (outcome, status, reason, startedAt)
        (self.endedAt, self.durationMilliseconds, self.environment, self.priority) = (
            endedAt, durationMilliseconds, environment, priority
        )
        (self.tokenHash, self.apnsUniqueID) = (tokenHash, apnsUniqueID)
    }

    package static var invented: Self {
        Self(attempt: .invented, at: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.optional("device", &device)
        try members.required("attempt", &attempt)
        try members.optional("apnsID", &apnsID)
        try members.required("at", &at)
        try members.optional("outcome", &outcome)
        try members.optional("status", &status)
        try members.optional("reason", &reason)
        try members.optional("startedAt", &startedAt)
        try members.optional("endedAt", &endedAt)
        try members.optional("durationMilliseconds", &durationMilliseconds)
        try members.optional("environment", &environment)
        try members.optional("priority", &priority)
        try members.optional("tokenHash", &tokenHash)
        try members.optional("apnsUniqueID", &apnsUniqueID)
    }
}

/// The fix that answered a location query.
package struct AuditFixItem: Reply, Hashable {
    package var number: Reference
    /// When the service got it.
    package var receivedAt: Moment?
    /// `nil` if the fix is erased.
    package var timestamp: Moment?
    package var device: String?

    package init(number: Reference, receivedAt: Moment? = nil, timestamp: Moment? = nil, device: String? = nil) {
        (self.number, self.receivedAt, self.timestamp, self.device) = (number, receivedAt, timestamp, device)
    }

    package static var invented: Self {
        Self(number: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("number", &number)
        try members.optional("receivedAt", &receivedAt)
        try members.optional("timestamp", &timestamp)
        try members.optional("device", &device)
    }
}

/// How long each step of a location query took, in milliseconds.
package struct AuditLatencyItem: Reply, Hashable {
    /// From the question to the acceptance of the push by APNs.
    package var pushAccepted: Int64?
    /// From the step before to the receipt of the fix.
    package var fixReceived: Int64?
    /// From the step before to the first showing.
    package var disclosed: Int64?

    package init(pushAccepted: Int64? = nil, fixReceived: Int64? = nil, disclosed: Int64? = nil) {
        (self.pushAccepted, self.fixReceived, self.disclosed) = (pushAccepted, fixReceived, disclosed)
    }

    package static var invented: Self {
        Self()
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.optional("pushAccepted", &pushAccepted)
        try members.optional("fixReceived", &fixReceived)
        try members.optional("disclosed", &disclosed)
    }
}

/// A location that was shown in answer to a location query.
package struct AuditDisclosureItem: Reply, Hashable {
    package var at: Moment
    package var number: Reference
    package var precision: String
    /// `nil` if it is erased.
    package var place: MapPoint?
    /// Meters.
    package var horizontalAccuracy: Double?
    /// The device's time of the fix, as it was shown.
    package var timestamp: Moment?
    /// The name that was shown beside it.
    package var placeName: String?

    package init(
        at: Moment, number: Reference, precision: String, place: MapPoint? = nil, horizontalAccuracy: Double? = nil,
        timestamp: Moment? = nil, placeName: String? = nil
    ) {
        (self.at, self.number, self.precision, self.place) = (at, number, precision, place)
        (self.horizontalAccuracy, self.timestamp, self.placeName) = (horizontalAccuracy, timestamp, placeName)
    }

    package static var invented: Self {
        Self(at: .invented, number: .invented, precision: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("at", &at)
        try members.required("number", &number)
        try members.required("precision", .named("Precision"), &precision)
        try members.optionalPoint(&place)
        try members.optional("horizontalAccuracy", &horizontalAccuracy)
        try members.optional("timestamp", &timestamp)
        try members.optional("place", &placeName)
    }
}

/// An entry of a person's audit. Its member `kind` names the case.
/// For example `{"kind":"read","reader":"ben","question":"visits",…}`.
package enum AuditItem: MemberValue, Hashable {
    case query(AuditQueryItem)
    case read(AuditReadItem)
    case change(AuditChangeItem)
    case act(AuditActItem)
    /// A kind of a later version.
    case other(EntryHead)

    package static var form: MemberForm { .anyObject }

    private var entry: any Reply {
        switch self {
        case .query(let entry): entry
        case .read(let entry): entry
        case .change(let entry): entry
        case .act(let entry): entry
        case .other(let entry): entry
        }
    }

    package func write(into writer: inout MemberWriter) { entry.write(into: &writer) }

    package static func read(_ json: JSONValue) throws(ReplyError) -> AuditItem? {
        guard let head = try EntryHead.read(json) else { return nil }
        switch head.kind {
        case "query": return try AuditQueryItem.read(json).map(AuditItem.query)
        case "read": return try AuditReadItem.read(json).map(AuditItem.read)
        case "change": return try AuditChangeItem.read(json).map(AuditItem.change)
        case "act": return try AuditActItem.read(json).map(AuditItem.act)
        default: return .other(head)
        }
    }
}
