import Geodesy

extension EventCoding {
    /// The event of `kind` in `stream`: the inverse of ``encode(_:in:)``.
    ///
    /// - Throws: ``CBORError`` if the bytes are not those of this kind. Nothing is guessed.
    package static func decode(
        kind: EventKind, in stream: StreamID, clear bytes: UnsafeRawBufferPointer, parts: [OpenedPart]
    ) throws(CBORError) -> Event {
        // Folds use the clear part without a check of a key or a hash.
        var clear = try FieldReader(bytes, integers: FieldReader.computable)
        let event: Event
        switch kind {
        case .fixReported:
            let device = DeviceID(rawValue: try require(try clear.integer(1)))
            let query = try clear.identifier(2)
            let fix = try open(parts, 0) { (fields) throws(CBORError) in try Fix(from: &fields) }
            event = .fixReported(device: device, answering: query, fix)
        case .personAdded:
            let person = PersonID(rawValue: try require(try clear.integer(1)))
            event = .personAdded(person, handle: try handle(parts))
        case .deviceAdded:
            let device = DeviceID(rawValue: try require(try clear.integer(1)))
            let person = PersonID(rawValue: try require(try clear.integer(2)))
            event = .deviceAdded(device, of: person, handle: try handle(parts))
        case .deviceRemoved: event = .deviceRemoved(DeviceID(rawValue: try require(try clear.integer(1))))
        case .tokenIssued:
            event = .tokenIssued(
                AccessToken(
                    id: TokenID(rawValue: try require(try clear.integer(1))),
                    principal: PrincipalID(rawValue: try require(try clear.integer(2))),
                    scopes: Scopes(rawValue: try require(try clear.integer(3))),
                    hash: try require(try clear.hash(4)), until: try clear.timestamp(5),
                    madeFrom: try clear.integer(6).map(TokenID.init(rawValue:))))
        case .tokenRevoked: event = .tokenRevoked(TokenID(rawValue: try require(try clear.integer(1))))
        case .grantGiven:
            event = .grantGiven(try grant(&clear, in: stream, parts))
        case .grantRevoked: event = .grantRevoked(GrantID(rawValue: try require(try clear.integer(1))))
        case .regionAdded:
            let id = RegionID(rawValue: try require(try clear.integer(1)))
            let region = try open(parts, 0) { (fields) throws(CBORError) in try Region(from: &fields) }
            event = .regionAdded(id, region)
        case .regionRemoved: event = .regionRemoved(RegionID(rawValue: try require(try clear.integer(1))))
        case .scheduleSet:
            event = .scheduleSet(everySeconds: try require(try clear.integer(1)), until: try clear.timestamp(2))
        case .scheduleRemoved: event = .scheduleRemoved(ScheduleID(rawValue: try require(try clear.integer(1))))
        case .correctionMade:
            event = .correctionMade(
                try open(parts, 0) { (fields) throws(CBORError) in try Correction(from: &fields) })
        case .correctionWithdrawn:
            event = .correctionWithdrawn(CorrectionID(rawValue: try require(try clear.integer(1))))
        case .webhookAdded:
            event = .webhookAdded(
                token: TokenID(rawValue: try require(try clear.integer(1))),
                FeedTopics(rawValue: try require(try clear.integer(2))),
                try open(parts, 0) { (fields) throws(CBORError) in
                    WebhookTarget(url: try require(try fields.text(1)), secret: try require(try fields.bytes(2)))
                })
        case .webhookRemoved: event = .webhookRemoved(WebhookID(rawValue: try require(try clear.integer(1))))
        case .webhookSettled:
            let webhook = WebhookID(rawValue: try require(try clear.integer(1)))
            event = .webhookSettled(webhook, try settlement(&clear))
        case .webhookFailed: event = .webhookFailed(try failure(&clear, parts))
        case .inputRejected:
            let device = DeviceID(rawValue: try require(try clear.integer(1)))
            let reason = try require(RejectionReason(rawValue: try require(try clear.integer(2))))
            let length = try require(try clear.integer(3))
            let input = try open(parts, 0) { (fields) throws(CBORError) in
                RejectedInput(hash: try require(try fields.hash(1)), head: try require(try fields.bytes(2)))
            }
            event = .inputRejected(device: device, reason: reason, length: length, input)
        case .authorizationReported:
            let device = DeviceID(rawValue: try require(try clear.integer(1)))
            let report = try open(parts, 0) { (fields) throws(CBORError) in
                AuthorizationReport(
                    timestamp: try require(try fields.timestamp(1)),
                    status: try require(AuthorizationStatus(rawValue: try require(try fields.integer(2)))),
                    accuracy: try fields.integer(3).map { (number) throws(CBORError) in
                        try require(AccuracyAuthorization(rawValue: number))
                    })
            }
            event = .authorizationReported(device: device, report)
        case .headingReported, .beaconSighted, .visitReported, .crossingReported:
            let device = DeviceID(rawValue: try require(try clear.integer(1)))
            let sighted = try require(Sighting.Kind(rawValue: kind.rawValue))
            let sighting = try open(parts, 0) { (fields) throws(CBORError) in try Sighting(sighted, from: &fields) }
            event = .sightingReported(device: device, sighted, sighting)
        case .messageReported:
            let device = DeviceID(rawValue: try require(try clear.integer(1)))
            let message = try open(parts, 0) { (fields) throws(CBORError) in
                let hash = try require(try fields.hash(1))
                return ClientMessage(
                    type: try require(try fields.text(2)), text: try require(try fields.text(3)), hash: hash)
            }
            event = .messageReported(device: device, message)
        case .locationPushTokenRegistered:
            let device = DeviceID(rawValue: try require(try clear.integer(1)))
            let environment = try require(PushEnvironment(rawValue: try require(try clear.integer(2))))
            let token = try open(parts, 0) { (fields) throws(CBORError) in
                LocationPushToken(bytes: try require(try fields.bytes(1)), bundleID: try require(try fields.text(2)))
            }
            event = .locationPushTokenRegistered(device: device, environment: environment, token)
        case .locationPushTokenRetired:
            event = .locationPushTokenRetired(
                device: DeviceID(rawValue: try require(try clear.integer(1))), reason: try require(try clear.text(2)))
        case .locationQueried: event = .locationQueried(try query(&clear, in: stream, parts))
        case .locationPushStarted, .locationReportCommanded:
            let query = try require(try clear.identifier(1))
            let device = DeviceID(rawValue: try require(try clear.integer(2)))
            event =
                kind == .locationPushStarted
                ? .locationPushStarted(query: query, device: device)
                : .locationReportCommanded(query: query, device: device)
        case .locationPushWithheld:
            event = .locationPushWithheld(
                query: try require(try clear.identifier(1)),
                try require(PushWithheld(rawValue: try require(try clear.integer(2)))))
        case .locationPushAttempted, .locationPushTested:
            let attempt = LocationPushAttempt(
                query: try require(try clear.identifier(1)),
                device: DeviceID(rawValue: try require(try clear.integer(2))),
                attempt: try require(try clear.integer(3)), apnsID: try require(try clear.identifier(4)),
                status: try clear.integer(5), reason: try clear.text(6),
                durationMilliseconds: try require(try clear.integer(7)), outcome: try outcome(&clear),
                startedAt: try clear.timestamp(9), environment: try environment(&clear),
                priority: try clear.integer(11), tokenHash: try tokenHash(&clear), uniqueID: try clear.text(13))
            event = kind == .locationPushTested ? .locationPushTested(attempt) : .locationPushAttempted(attempt)
        case .locationQueryEnded:
            event = .locationQueryEnded(
                try require(try clear.identifier(1)),
                try require(QueryEnd(rawValue: try require(try clear.integer(2)))),
                fix: try clear.integer(3))
        case .locationDisclosed: event = .locationDisclosed(try disclosure(&clear, in: stream, parts))
        case .locationRead: event = .locationRead(try read(&clear, in: stream, parts))
        case .refusalsCounted:
            event = .refusalsCounted(
                by: PrincipalID(rawValue: try require(try clear.integer(1))), count: try require(try clear.integer(2)),
                since: try require(try clear.timestamp(3)))
        case .personErased: event = .personErased(PersonID(rawValue: try require(try clear.integer(1))))
        case .clockSteppedBack: event = .clockSteppedBack(byMilliseconds: try require(try clear.integer(1)))
        case .operatorActed: event = .operatorActed(try OperatorAct(&clear))
        case .logRestored: event = .logRestored(epoch: try require(try clear.integer(1)))
        case .lossAccepted:
            event = .lossAccepted(
                from: try require(try clear.integer(1)), to: try require(try clear.integer(2)),
                epoch: try require(try clear.integer(3)))
        case .sharingPaused:
            event = .sharingPaused(
                PersonID(rawValue: try require(try clear.integer(1))), until: try clear.timestamp(2))
        case .sharingResumed: event = .sharingResumed(PersonID(rawValue: try require(try clear.integer(1))))
        case .invitationMade: event = .invitationMade(try invitation(&clear, in: stream, parts))
        case .invitationWithdrawn:
            event = .invitationWithdrawn(InvitationID(rawValue: try require(try clear.integer(1))))
        case .invitationRefused:
            event = .invitationRefused(by: PrincipalID(rawValue: try require(try clear.integer(1))))
        case .accountInvitationMade:
            event = .accountInvitationMade(
                hash: try require(try clear.hash(1)), expires: try require(try clear.timestamp(2)))
        case .accountInvitationClosed:
            event = .accountInvitationClosed(AccountInvitationID(rawValue: try require(try clear.integer(1))))
        case .consentAsked: event = .consentAsked(try require(try clear.identifier(1)))
        case .consentGiven: event = .consentGiven(try require(try clear.identifier(1)))
        case .consentRefused: event = .consentRefused(try require(try clear.identifier(1)))
        case .sealedFixReported, .retentionApplied:
            throw .unexpected
        }
        try clear.end()
        return event
    }

    private static func open<Content>(
        _ parts: [OpenedPart], _ index: Int, _ read: (inout FieldReader) throws(CBORError) -> Content
    ) throws(CBORError) -> Part<Content> {
        guard index < parts.count else { throw .unexpected }
        switch parts[index] {
        case .open(let bytes):
            var fields = try FieldReader(bytes)
            let content = try read(&fields)
            try fields.end()
            return .open(content)
        case .erased: return .erased
        case .keyLost: return .keyLost
        }
    }

    private static func handle(_ parts: [OpenedPart]) throws(CBORError) -> Part<Handle> {
        try open(parts, 0) { (fields) throws(CBORError) in try require(Handle(try require(try fields.text(1)))) }
    }

    private static func grant(
        _ clear: inout FieldReader, in stream: StreamID, _ parts: [OpenedPart]
    ) throws(CBORError) -> Grant {
        let id = GrantID(rawValue: try require(try clear.integer(1)))
        let requester = try require(try clear.integer(2))
        return Grant(
            id: id, subject: try require(stream.person),
            requester: requester == 0 ? nil : PersonID(rawValue: requester),
            precision: try require(Precision(rawValue: try require(try clear.integer(3)))),
            includesHistory: try require(try clear.bool(4)), from: try clear.timestamp(5),
            until: try clear.timestamp(6), asksEachTime: try clear.mark(7),
            invitation: try clear.integer(8).map(InvitationID.init(rawValue:)),
            detail: parts.isEmpty
                ? nil
                : try open(parts, 0) { (fields) throws(CBORError) in
                    let name = try fields.text(1)
                    let handle = name.flatMap { Handle($0) }
                    guard (name == nil) == (handle == nil) else { throw .unexpected }
                    return Grant.Detail(name: handle, hours: try WeeklyHours(from: &fields))
                })
    }

    private static func invitation(
        _ clear: inout FieldReader, in stream: StreamID, _ parts: [OpenedPart]
    ) throws(CBORError) -> Invitation {
        Invitation(
            id: InvitationID(rawValue: try require(try clear.integer(1))), subject: try require(stream.person),
            hash: try require(try clear.hash(2)), expires: try require(try clear.timestamp(3)),
            terms: GrantTerms(
                precision: try require(Precision(rawValue: try require(try clear.integer(4)))),
                includesHistory: try require(try clear.bool(5)), asksEachTime: try require(try clear.bool(6)),
                from: try clear.timestamp(7), until: try clear.timestamp(8)),
            detail: parts.isEmpty
                ? nil
                : try open(parts, 0) { (fields) throws(CBORError) in try require(try WeeklyHours(from: &fields)) })
    }

    private static func outcome(_ clear: inout FieldReader) throws(CBORError) -> LocationPushAttempt.Outcome? {
        guard let code = try clear.integer(8) else { return nil }
        return try require(LocationPushAttempt.Outcome(rawValue: code))
    }

    private static func environment(_ clear: inout FieldReader) throws(CBORError) -> PushEnvironment? {
        guard let code = try clear.integer(10) else { return nil }
        return try require(PushEnvironment(rawValue: code))
    }

    private static func tokenHash(_ clear: inout FieldReader) throws(CBORError) -> PushTokenHash? {
        guard let value = try clear.integer(12) else { return nil }
        return PushTokenHash(rawValue: try require(UInt32(exactly: value)))
    }

    private static func settlement(_ clear: inout FieldReader) throws(CBORError) -> WebhookSettlement {
        if let number = try clear.integer(2) { return .told(upTo: number) }
        if let letter = try clear.integer(3) { return .taken(DeadLetterID(rawValue: letter)) }
        return .discarded(DeadLetterID(rawValue: try require(try clear.integer(4))))
    }

    private static func failure(
        _ clear: inout FieldReader, _ parts: [OpenedPart]
    ) throws(CBORError) -> WebhookFailure {
        let webhook = WebhookID(rawValue: try require(try clear.integer(1)))
        let item = FeedPlace(
            number: try require(try clear.integer(2)), ordinal: try require(try clear.integer(3)))
        return WebhookFailure(
            webhook: webhook, item: item, tries: try require(try clear.integer(4)), status: try clear.integer(5),
            reason: try clear.text(6),
            message: try open(parts, 0) { (fields) throws(CBORError) in
                WebhookFailure.Message(
                    question: try require(LocationRead.Question(rawValue: try require(try fields.integer(1)))),
                    body: try require(try fields.bytes(2)))
            })
    }

    private static func query(
        _ clear: inout FieldReader, in stream: StreamID, _ parts: [OpenedPart]
    ) throws(CBORError) -> LocationQuery {
        let id = try require(try clear.identifier(1))
        let requester = PrincipalID(rawValue: try require(try clear.integer(2)))
        let subject = stream.person
        func purpose(_ index: Int) throws(CBORError) -> Part<String> {
            try open(parts, index) { (fields) throws(CBORError) in try require(try fields.text(1)) }
        }
        let requesterIndex = subject == nil ? 0 : 1
        return LocationQuery(
            id: id, subject: subject, requester: requester,
            verdict: try require(Verdict(code: try require(try clear.integer(3)))),
            initiation: try require(LocationQuery.Initiation(rawValue: try require(try clear.integer(4)))),
            deadline: try require(try clear.timestamp(5)), maxAgeSeconds: try require(try clear.integer(6)),
            purposeForSubject: subject == nil ? .erased : try purpose(0),
            purposeForRequester: requesterIndex < parts.count ? try purpose(requesterIndex) : nil)
    }

    private static func disclosure(
        _ clear: inout FieldReader, in stream: StreamID, _ parts: [OpenedPart]
    ) throws(CBORError) -> Disclosure {
        Disclosure(
            query: try require(try clear.identifier(1)), subject: try require(stream.person),
            requester: PrincipalID(rawValue: try require(try clear.integer(2))),
            verdict: try require(Verdict(code: try require(try clear.integer(3)))),
            precision: try require(Precision(rawValue: try require(try clear.integer(4)))),
            fix: try require(try clear.integer(5)),
            content: try open(parts, 0) { (fields) throws(CBORError) in
                Disclosure.Content(
                    latitude: try require(try fields.degrees(1)), longitude: try require(try fields.degrees(2)),
                    horizontalAccuracy: try fields.double(3), timestamp: try require(try fields.timestamp(4)),
                    placeName: try fields.text(5), answerHash: try require(try fields.hash(6)))
            })
    }

    private static func read(
        _ clear: inout FieldReader, in stream: StreamID, _ parts: [OpenedPart]
    ) throws(CBORError) -> LocationRead {
        LocationRead(
            subject: stream.person, reader: PrincipalID(rawValue: try require(try clear.integer(1))),
            question: try require(LocationRead.Question(rawValue: try require(try clear.integer(2)))),
            verdict: try require(Verdict(code: try require(try clear.integer(3)))),
            precision: try require(Precision(rawValue: try require(try clear.integer(4)))),
            asOf: try require(try clear.integer(5)), count: try require(try clear.integer(6)),
            continuing: try clear.identifier(7),
            content: try open(parts, 0) { (fields) throws(CBORError) in
                LocationRead.Content(
                    purpose: try fields.text(1), from: try fields.timestamp(2), to: try fields.timestamp(3),
                    answerHash: try fields.hash(4))
            })
    }
}
