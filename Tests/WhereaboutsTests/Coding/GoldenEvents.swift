import Geodesy
import Whereabouts

/// The events of the lines of `Tests/Conformance/events-v1.txt`.
enum GoldenEvents {
    /// The fixes of the lines of `Tests/Conformance/fixes-v1.txt`.
    static let fixes: [String: Fix] = {
        func fix(_ accuracy: Double? = nil, at time: Timestamp = newYear) -> Fix {
            Fix(timestamp: time, coordinate: coordinate(52.5211557, 13.4038584), horizontalAccuracy: accuracy)
        }
        var decimals = fix(12.3)
        (decimals.altitude, decimals.ellipsoidalAltitude, decimals.verticalAccuracy) = (171.2, -12.34, 655.35)
        (decimals.speed, decimals.speedAccuracy, decimals.course) = (1.34, 0.5, 655.36)
        (decimals.courseAccuracy, decimals.batteryLevel) = (1.0 / 3, 0.85)
        var floats = fix(-1)
        (floats.altitude, floats.ellipsoidalAltitude, floats.verticalAccuracy) = (-0.0, 171.25, 0.001)
        (floats.speed, floats.speedAccuracy, floats.course) = (1e300, 655.25, 1000.125)
        (floats.courseAccuracy, floats.batteryLevel) = (-655.35, 0.01)
        return [
            "FixReported-age": fix(5), "FixReported-ahead": fix(), "FixReported-seven-weeks": fix(),
            "FixReported-older": fix(), "FixReported-decimals": decimals, "FixReported-floats": floats,
        ]
    }()

    private static let query = Identifier128(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F)
    private static let apnsID = Identifier128(high: 0x1011_1213_1415_1617, low: 0x1819_1A1B_1C1D_1E1F)
    private static let hash = Hash256(
        words: (0x0001_0203_0405_0607, 0x0809_0A0B_0C0D_0E0F, 0x1011_1213_1415_1617, 0x1819_1A1B_1C1D_1E1F))
    private static let person = PersonID(rawValue: 2)
    private static let device = DeviceID(rawValue: 3)
    private static let friend = PersonID(rawValue: 4)
    private static let newYear = Timestamp(milliseconds: 1_767_225_600_000)
    private static let granted = Verdict.granted(GrantID(rawValue: 1))

    private static let keyID = KeyID(apnsID)
    private static let sealedFix = SealedFix(identity: apnsID, envelope: [0x82, 1, 2])
    private static let envelopes = DisclosedEnvelopes(hashes: hash.bytes, keys: keyID.bytes)

    private static func identityKey(previous: [UInt8]?) -> IdentityKey {
        IdentityKey(id: keyID, key: Array(0...31), signature: Array(0...63), previousSignature: previous)
    }

    private static func later(_ milliseconds: Int64) -> Timestamp {
        Timestamp(milliseconds: newYear.milliseconds + milliseconds)
    }

    private static func coordinate(_ latitude: Double, _ longitude: Double) -> Coordinate {
        (try? Coordinate(latitude: latitude, longitude: longitude)) ?? { preconditionFailure() }()
    }

    private static func region(_ name: String, _ latitude: Double, _ longitude: Double, _ radius: Double) -> Region {
        guard let circle = try? Circle(center: coordinate(latitude, longitude), radiusMeters: radius) else {
            preconditionFailure()
        }
        return Region(identifier: name, circle: circle)
    }

    private static func polygon(_ vertices: [(Double, Double)]) -> Polygon {
        (try? Polygon(vertices: vertices.map { coordinate($0.0, $0.1) })) ?? { preconditionFailure() }()
    }

    private static var fullFix: Fix {
        var fix = Fix(timestamp: later(1), coordinate: coordinate(52.5211557, -13.4038584), horizontalAccuracy: 4.75)
        fix.altitude = -2.5
        fix.ellipsoidalAltitude = 40.125
        fix.verticalAccuracy = 3
        fix.floor = -1
        fix.speed = 1.4
        fix.speedAccuracy = 0.5
        fix.course = 359.5
        fix.courseAccuracy = 10
        fix.isSimulatedBySoftware = true
        fix.isProducedByAccessory = false
        fix.batteryLevel = 0.5
        fix.clientID = "c-1"
        fix.receivedAt = later(2)
        fix.remainder = #"{"conn":"w"}"#
        return fix
    }

    private static func asked(
        _ subject: PersonID?, by requester: PrincipalID, _ verdict: Verdict, _ initiation: LocationQuery.Initiation,
        _ deadline: Int64, _ maxAge: Int64, _ forSubject: Part<String>, _ forRequester: Part<String>?
    ) -> Event {
        .locationQueried(
            LocationQuery(
                id: query, subject: subject, requester: requester, verdict: verdict, initiation: initiation,
                deadline: later(deadline), maxAgeSeconds: maxAge, purposeForSubject: forSubject,
                purposeForRequester: forRequester))
    }

    private static func attempt(
        _ attempt: Int64, _ status: Int64?, _ reason: String?, _ milliseconds: Int64
    ) -> LocationPushAttempt {
        LocationPushAttempt(
            query: query, device: device, attempt: attempt, apnsID: apnsID, status: status, reason: reason,
            durationMilliseconds: milliseconds)
    }

    private static func disclosed(
        _ precision: Precision, _ latitude: Double?, _ longitude: Double?, _ accuracy: Double?, _ place: String?
    ) -> Event {
        .locationDisclosed(
            Disclosure(
                query: query, subject: person, requester: friend.principal, verdict: granted, precision: precision,
                fix: 7,
                content: .open(
                    Disclosure.Content(
                        latitude: latitude, longitude: longitude, horizontalAccuracy: accuracy, timestamp: newYear,
                        placeName: place, answerHash: hash))))
    }

    private static func read(
        _ subject: PersonID?, _ question: LocationRead.Question, _ verdict: Verdict, _ precision: Precision,
        _ count: Int64, continuing: RequestID? = nil, _ content: LocationRead.Content
    ) -> Event {
        .locationRead(
            LocationRead(
                subject: subject, reader: friend.principal, question: question, verdict: verdict,
                precision: precision, asOf: 99, count: count, continuing: continuing, content: .open(content)))
    }

    static let all: [String: Event] = people.merging(reports) { $1 }.merging(sightings) { $1 }.merging(queries) { $1 }
        .merging(house) { $1 }
        .merging(consent) { $1 }

    /// Mo 08:00-18:00 in Vienna in 2026, from the list of the IANA database.
    private static var hours: WeeklyHours {
        let changes = [(1_774_746_000, 7200), (1_792_890_000, 3600)].map { (at: Int64, offset: Int64) in
            ZoneRules.Change(at: Timestamp(milliseconds: at * 1000), offsetSeconds: offset)
        }
        guard let zone = ZoneRules(name: "Europe/Vienna", offsetSeconds: 3600, changes: changes),
            let hours = WeeklyHours(ranges: [480..<1080], zone: zone)
        else { preconditionFailure() }
        return hours
    }

    private static let consent: [String: Event] = [
        "GrantGiven-asking-each-time": .grantGiven(
            Grant(
                id: GrantID(rawValue: 2), subject: person, requester: friend, precision: .exact,
                includesHistory: false, from: nil, until: newYear, asksEachTime: true,
                invitation: InvitationID(rawValue: 3))),
        "GrantGiven-to-nobody-in-hours": .grantGiven(
            Grant(
                id: GrantID(rawValue: 3), subject: person, requester: nil, precision: .kilometer,
                includesHistory: false, from: nil, until: newYear,
                detail: .open(Grant.Detail(name: handle("late"), hours: hours)))),
        "SharingPaused": .sharingPaused(person, until: newYear),
        "SharingPaused-until-resumed": .sharingPaused(person, until: nil),
        "SharingResumed": .sharingResumed(person),
        "InvitationMade": .invitationMade(
            Invitation(
                id: InvitationID(rawValue: 3), subject: person, hash: hash, expires: newYear,
                terms: GrantTerms(precision: .exact, includesHistory: true), detail: nil)),
        "InvitationMade-in-hours": .invitationMade(
            Invitation(
                id: InvitationID(rawValue: 4), subject: person, hash: hash, expires: newYear,
                terms: GrantTerms(precision: .kilometer, asksEachTime: true, from: newYear, until: later(1000)),
                detail: .open(hours))),
        "InvitationWithdrawn": .invitationWithdrawn(InvitationID(rawValue: 4)),
        "InvitationRefused": .invitationRefused(by: friend.principal),
        "ConsentAsked": .consentAsked(query),
        "ConsentGiven": .consentGiven(query),
        "ConsentRefused": .consentRefused(query),
        "LocationRead-consent": .locationRead(
            LocationRead(
                subject: person, reader: person.principal, question: .consent, verdict: .own, precision: .exact,
                asOf: 99, count: 1,
                content: .open(LocationRead.Content(purpose: nil, from: nil, to: nil, answerHash: hash)))),
        "LocationRead-refused-consent-needed": read(
            person, .location, .refused(.consentNeeded), .none, 0,
            LocationRead.Content(purpose: nil, from: nil, to: nil, answerHash: nil)),
    ]

    private static let people: [String: Event] = [
        "PersonAdded": .personAdded(person, handle: .open(handle("walker"))),
        "DeviceAdded": .deviceAdded(device, of: person, handle: .open(handle("walkers-phone"))),
        "DeviceRemoved": .deviceRemoved(device),
        "TokenIssued": .tokenIssued(
            AccessToken(
                id: TokenID(rawValue: 1), principal: .operator, scopes: [.query, .audit, .manage, .operate], hash: hash,
                until: nil)),
        "TokenIssued-until": .tokenIssued(
            AccessToken(
                id: TokenID(rawValue: 2), principal: device.principal, scopes: .report, hash: hash, until: newYear)),
        "TokenIssued-session": .tokenIssued(
            AccessToken(
                id: TokenID(rawValue: 3), principal: person.principal, scopes: [.query, .session], hash: hash,
                until: newYear, madeFrom: TokenID(rawValue: 2))),
        "TokenRevoked": .tokenRevoked(TokenID(rawValue: 2)),
        "GrantGiven": .grantGiven(
            Grant(
                id: GrantID(rawValue: 1), subject: person, requester: friend, precision: .exact, includesHistory: true,
                from: nil, until: nil)),
        "GrantGiven-from-until": .grantGiven(
            Grant(
                id: GrantID(rawValue: 24), subject: person, requester: friend, precision: .kilometer,
                includesHistory: false, from: newYear, until: later(86_400_000))),
        "GrantRevoked": .grantRevoked(GrantID(rawValue: 24)),
        "RegionAdded": .regionAdded(RegionID(rawValue: 1), .open(region("home", 52.5211557, 13.4038584, 150))),
        "RegionAdded-waypoint": .regionAdded(
            RegionID(rawValue: 2),
            .open(
                Region(
                    identifier: "garden", area: region("", 52.5211557, 13.4038584, 150).area, waypoint: newYear))),
        "RegionAdded-uneven": .regionAdded(
            RegionID(rawValue: 2), .open(region("Büro", -33.85678443333333, 151.215297, 99.5))),
        "RegionAdded-polygon": .regionAdded(
            RegionID(rawValue: 3),
            .open(
                Region(
                    identifier: "dateline",
                    area: .polygon(
                        polygon([(-16.5, 179.75), (-16.5, -179.75), (-16.25, -179.8333333333333), (-16, 179.75)])),
                    notifyOnEntry: false))),
        "ScheduleSet": .scheduleSet(everySeconds: 3600, until: nil),
        "ScheduleSet-until": .scheduleSet(everySeconds: 900, until: newYear),
        "ScheduleRemoved": .scheduleRemoved(ScheduleID(rawValue: 41)),
        "WebhookAdded": .webhookAdded(
            token: TokenID(rawValue: 7), FeedTopics.usual, NoticeTerms(),
            .open(WebhookTarget(url: "https://hooks.example.org/a", secret: [1, 2, 3, 255]))),
        "WebhookAdded-ntfy": .webhookAdded(
            token: TokenID(rawValue: 7), [.crossing, .silence], NoticeTerms(kind: .ntfy, silentAfterSeconds: 3600),
            .open(
                WebhookTarget(
                    url: "https://ntfy.example.org/anna", secret: Array("tk_1".utf8), priority: 5,
                    showsDetailInTitle: true))),
        "WebhookAdded-email": .webhookAdded(
            token: TokenID(rawValue: 7), .crossing, NoticeTerms(kind: .email, codeHash: hash),
            .open(WebhookTarget(url: "mailto:anna@example.org", secret: [1, 2, 3, 255]))),
        "WebhookAdded-tracker": .webhookAdded(
            token: TokenID(rawValue: 7), [], NoticeTerms(kind: .homeAssistant),
            .open(WebhookTarget(url: "mqtt:", secret: []))),
        "WebhookAdded-language": .webhookAdded(
            token: TokenID(rawValue: 7), .crossing, NoticeTerms(kind: .ntfy),
            .open(
                WebhookTarget(
                    url: "https://ntfy.example.org/anna", secret: [], wording: NoticeWording(language: .en, zone: nil)))
        ),
        "WebhookAdded-zone": .webhookAdded(
            token: TokenID(rawValue: 7), .crossing, NoticeTerms(kind: .email, codeHash: hash),
            .open(
                WebhookTarget(
                    url: "mailto:anna@example.org", secret: [1, 2, 3, 255],
                    wording: NoticeWording(language: .de, zone: "Europe/Vienna")))),
        "WebhookConfirmed": .webhookConfirmed(WebhookID(rawValue: 41)),
        "PhoneFellSilent": .phoneFellSilent(Silence(device: device, afterSeconds: 3600, since: newYear)),
        "IdentityKeyPublished": .identityKeyPublished(identityKey(previous: nil)),
        "IdentityKeyPublished-rotated": .identityKeyPublished(identityKey(previous: Array(64...127))),
        "RecipientKeyPublished": .recipientKeyPublished(
            RecipientKey(id: keyID, key: Array(0...31), madeAt: newYear, signature: Array(0...63))),
        "RecipientKeyPinned": .recipientKeyPinned(KeyPin(owner: friend, key: keyID, signature: Array(0...63))),
        "RecipientKeyUnpinned": .recipientKeyUnpinned(keyID),
        "SealingKeyWithdrawn": .sealingKeyWithdrawn(keyID, .lost),
        "DeviceSealed": .deviceSealed(device, isSealed: true),
        "DeviceSealed-open": .deviceSealed(device, isSealed: false),
        "SealingRefused": .sealingRefused(device: device, query: query, .recipientNotApproved),
        "WebhookRemoved": .webhookRemoved(WebhookID(rawValue: 41)),
        "WebhookSettled": .webhookSettled(WebhookID(rawValue: 41), .told(upTo: 300)),
        "WebhookSettled-taken": .webhookSettled(WebhookID(rawValue: 41), .taken(DeadLetterID(rawValue: 99))),
        "WebhookSettled-discarded": .webhookSettled(WebhookID(rawValue: 41), .discarded(DeadLetterID(rawValue: 99))),
        "WebhookFailed": .webhookFailed(
            WebhookFailure(
                webhook: WebhookID(rawValue: 41), item: FeedPlace(number: 300, ordinal: 0), tries: 30, status: 500,
                reason: nil, message: .open(WebhookFailure.Message(question: .live, body: Array("{}".utf8))))),
        "OperatorActed-retry": .operatorActed(
            .retryMessage(WebhookID(rawValue: 41), DeadLetterID(rawValue: 99))),
        "OperatorActed-test": .operatorActed(.testWebhook(WebhookID(rawValue: 41))),
        "WebhookFailed-unanswered": .webhookFailed(
            WebhookFailure(
                webhook: WebhookID(rawValue: 41), item: FeedPlace(number: 300, ordinal: 1), tries: 30, status: nil,
                reason: "timeout", message: .open(WebhookFailure.Message(question: .visits, body: [0])))),
        "CorrectionMade-merge": .correctionMade(.open(.merge(newYear..<later(3_600_000)))),
        "CorrectionMade-split": .correctionMade(.open(.split(at: later(1)))),
        "CorrectionMade-not-visit": .correctionMade(.open(.notVisit(newYear..<later(1000)))),
        "CorrectionMade-rename": .correctionMade(.open(.rename(coordinate(52.5211557, 13.4038584), "Büro"))),
        "CorrectionMade-same-place": .correctionMade(
            .open(.samePlace(coordinate(52.5211557, 13.4038584), with: coordinate(52.5221557, 13.4048584)))),
        "CorrectionWithdrawn": .correctionWithdrawn(CorrectionID(rawValue: 41)),
        "FixesWithdrawn": .fixesWithdrawn(
            FixNumbers(device: device, numbers: 41...41),
            .open(FixRevision(time: newYear...newYear, reason: "wrong clock"))),
        "FixesWithdrawn-run": .fixesWithdrawn(
            FixNumbers(device: device, numbers: 41...1040),
            .open(FixRevision(time: newYear...later(3_600_000), reason: "the wrong file"))),
        "FixesRestored": .fixesRestored(
            FixNumbers(device: device, numbers: 41...41),
            .open(FixRevision(time: newYear...newYear, reason: "the clock was right"))),
        "LinkAdded": .linkAdded(
            ShareLink(
                id: LinkID(rawValue: 7), grant: GrantID(rawValue: 3), hash: hash, hasPassphrase: false, isLive: true,
                openingsMax: nil, name: nil)),
        "LinkAdded-all": .linkAdded(
            ShareLink(
                id: LinkID(rawValue: 7), grant: GrantID(rawValue: 3), hash: hash, hasPassphrase: true, isLive: false,
                openingsMax: 3, name: .open(LinkName("for the party")))),
        "LinkOpened": .linkOpened(LinkID(rawValue: 7)),
        "LinkEnded": .linkEnded(LinkID(rawValue: 7)),
        "ImportBegan": .importBegan(
            query, .open(ImportedFile(name: "walk.gpx", format: "gpx", byteCount: 4096, head: hash))),
        "ImportBegan-unknown": .importBegan(query, .open(ImportedFile())),
        "ImportEnded": .importEnded(ImportCounts(new: 90, duplicate: 1), nil),
        "ImportEnded-all": .importEnded(
            ImportCounts(new: 90, duplicate: 1, visits: 2, rejected: 3), .open(ImportFault("The file is damaged."))),
        "VisitsWithdrawn": .visitsWithdrawn(
            FixNumbers(device: device, numbers: 41...41),
            .open(FixRevision(time: newYear...newYear, reason: "the wrong file"))),
        "VisitsRestored": .visitsRestored(
            FixNumbers(device: device, numbers: 41...41),
            .open(FixRevision(time: newYear...newYear, reason: "it was the right file"))),
        "AccountInvitationMade": .accountInvitationMade(hash: hash, expires: newYear),
        "AccountInvitationClosed": .accountInvitationClosed(AccountInvitationID(rawValue: 41)),
        "RegionRemoved": .regionRemoved(RegionID(rawValue: 1)),
    ]

    private static let reports: [String: Event] = [
        "FixReported": .fixReported(
            device: device, answering: nil,
            .open(Fix(timestamp: newYear, coordinate: coordinate(52.5211557, 13.4038584), horizontalAccuracy: 5))),
        "FixReported-full": .fixReported(device: device, answering: query, .open(fullFix)),
        "FixReported-odd": .fixReported(
            device: device, answering: nil,
            .open(
                Fix(
                    timestamp: Timestamp(milliseconds: -1), coordinate: coordinate(-0.0, 13.403858412345678),
                    horizontalAccuracy: -1))),
        "SealedFixReported": .sealedFixReported(device: device, answering: nil, .open(sealedFix)),
        "SealedFixReported-answer": .sealedFixReported(device: device, answering: query, .open(sealedFix)),
        "InputRejected": .inputRejected(
            device: device, reason: .badCoordinate, length: 5,
            .open(RejectedInput(hash: hash, head: Array("hello".utf8)))),
        "AuthorizationReported": .authorizationReported(
            device: device, .open(AuthorizationReport(timestamp: newYear, status: .authorizedAlways, accuracy: .full))),
        "AuthorizationReported-bare": .authorizationReported(
            device: device, .open(AuthorizationReport(timestamp: later(1), status: .notDetermined, accuracy: nil))),
        "LocationPushTokenRegistered": .locationPushTokenRegistered(
            device: device, environment: .development,
            .open(LocationPushToken(bytes: [0xDE, 0xAD, 0xBE, 0xEF], bundleID: "org.example.app"))),
        "LocationPushTokenRetired": .locationPushTokenRetired(device: device, reason: "Unregistered"),
    ]

    private static func sighting(_ sighting: Sighting) -> Event {
        .sightingReported(device: device, sighting.kind, .open(sighting))
    }

    private static let sightings: [String: Event] = [
        "HeadingReported": sighting(
            .heading(
                HeadingReport(timestamp: newYear, magneticHeading: 277.5, trueHeading: 282.697, headingAccuracy: 5))),
        "HeadingReported-magnetic": sighting(
            .heading(
                HeadingReport(timestamp: later(1), magneticHeading: 0, trueHeading: nil, headingAccuracy: nil))),
        "BeaconSighted": sighting(
            .beacon(
                BeaconReport(
                    timestamp: newYear, uuid: query, major: 1, minor: 65_535, proximity: 2, accuracy: 1.5, rssi: -59))),
        "BeaconSighted-unheard": sighting(
            .beacon(
                BeaconReport(
                    timestamp: later(1), uuid: query, major: 0, minor: 0, proximity: 0, accuracy: nil, rssi: 0))),
        "MessageReported": .messageReported(
            device: device, .open(ClientMessage(type: "status", text: #"{"ps":true}"#, hash: hash))),
        "VisitReported": sighting(
            .visit(
                VisitReport(
                    timestamp: newYear, coordinate: coordinate(52.5211557, -13.4038584), horizontalAccuracy: 4.75,
                    arrival: later(-1000), departure: newYear))),
        "VisitReported-unseen": sighting(
            .visit(
                VisitReport(
                    timestamp: later(1), coordinate: coordinate(52.5211557, -13.4038584), horizontalAccuracy: nil,
                    arrival: nil, departure: nil))),
        "CrossingReported": sighting(
            .crossing(CrossingReport(timestamp: newYear, region: "home", isEntry: true))),
        "CrossingReported-exit": sighting(
            .crossing(CrossingReport(timestamp: later(1), region: "büro", isEntry: false))),
    ]

    private static let queries: [String: Event] = [
        "LocationQueried": asked(
            person, by: friend.principal, granted, .user, 60_000, 60, .open("late for dinner"),
            .open("late for dinner")),
        "LocationQueried-operator": asked(
            person, by: .operator, .operatorOnRecord, .server, 900_000, 0, .open("support"), nil),
        "LocationQueried-nobody": asked(
            nil, by: friend.principal, .refused(.unknownPerson), .user, 60_000, 60, .erased, .open("late for dinner")),
        "LocationPushAttempted": .locationPushAttempted(attempt(1, 200, nil, 41)),
        "LocationPushAttempted-failed": .locationPushAttempted(attempt(2, nil, "connection lost", 5000)),
        "LocationPushStarted": .locationPushStarted(query: query, device: device),
        "LocationPushAttempted-withheld": .locationPushAttempted(attempt(0, nil, "coalesced", 0)),
        "LocationPushTested": .locationPushTested(attempt(0, nil, nil, 0)),
        "LocationPushTested-answered": .locationPushTested(attempt(1, 410, "Unregistered", 41)),
        "LocationPushAttempted-accepted": .locationPushAttempted(
            LocationPushAttempt(
                query: query, device: device, attempt: 1, apnsID: apnsID, status: 200, reason: nil,
                durationMilliseconds: 41, outcome: .accepted, startedAt: later(1000), environment: .development,
                priority: 10, tokenHash: PushTokenHash(rawValue: 0x5F3A_09C1),
                uniqueID: "8C61E0A4-0D52-4C1B-9B9E-1E8A0B7A4F10")),
        "LocationPushAttempted-withdrawn": .locationPushAttempted(
            LocationPushAttempt(
                query: query, device: device, attempt: 0, apnsID: apnsID, status: nil, reason: "paused",
                durationMilliseconds: 0, outcome: .withdrawn, environment: .production, priority: 5,
                tokenHash: PushTokenHash(rawValue: 1))),
        "LocationPushAttempted-of-somebody-erased": .locationPushAttempted(
            LocationPushAttempt(
                query: query, device: device, attempt: 1, apnsID: apnsID, status: nil, reason: "connection lost",
                durationMilliseconds: 5000, outcome: .unknown, startedAt: later(1000), environment: .production,
                priority: 10)),
        "LocationPushTested-unknown": .locationPushTested(
            LocationPushAttempt(
                query: query, device: device, attempt: 1, apnsID: apnsID, status: nil, reason: "the service ended",
                durationMilliseconds: 0, outcome: .unknown)),
        "LocationPushWithheld": .locationPushWithheld(query: query, .noDevice),
        "LocationQueryEnded": .locationQueryEnded(query, .answered, fix: 7),
        "LocationQueryEnded-timedOut": .locationQueryEnded(query, .timedOut, fix: nil),
        "LocationDisclosed": disclosed(.exact, 52.5211557, 13.4038584, 5, "Berlin"),
        "LocationDisclosed-bare": disclosed(.kilometer, 52.5, 13.4, nil, nil),
        "LocationDisclosed-name-alone": disclosed(.place, nil, nil, nil, "Home"),
        "LocationDisclosed-sealed": .locationDisclosed(
            Disclosure(
                query: query, subject: person, requester: friend.principal, verdict: granted, precision: .exact,
                fix: 300,
                content: .open(
                    Disclosure.Content(
                        latitude: nil, longitude: nil, horizontalAccuracy: nil, timestamp: newYear, placeName: nil,
                        answerHash: hash, envelopes: envelopes)))),
        "LocationRead-envelopes": read(
            person, .envelopes, granted, .exact, 1,
            LocationRead.Content(purpose: nil, from: nil, to: nil, answerHash: hash, envelopes: envelopes)),
        "LocationRead": read(
            person, .track, granted, .exact, 12,
            LocationRead.Content(purpose: "photos", from: newYear, to: later(1000), answerHash: hash)),
        "LocationReportCommanded": .locationReportCommanded(query: query, device: device),
        "LocationRead-friends": read(
            person, .friends, granted, .exact, 1,
            LocationRead.Content(purpose: nil, from: nil, to: nil, answerHash: hash)),
        "LocationRead-continuing": read(
            person, .track, granted, .exact, 12, continuing: query,
            LocationRead.Content(purpose: nil, from: newYear, to: nil, answerHash: hash)),
        "LocationRead-refused": read(
            person, .visits, .refused(.noGrant), .none, 0,
            LocationRead.Content(purpose: nil, from: nil, to: nil, answerHash: nil)),
        "LocationRead-nobody": read(
            nil, .location, .refused(.unknownPerson), .none, 0,
            LocationRead.Content(purpose: "photos", from: nil, to: nil, answerHash: nil)),
    ]

    private static let house: [String: Event] = [
        "RefusalsCounted": .refusalsCounted(by: friend.principal, count: 31, since: newYear),
        "PersonErased": .personErased(person),
        "RetentionSet": .retentionSet(.track, days: 30),
        "RetentionSet-no-limit": .retentionSet(.track, days: nil),
        "RetentionApplied": .retentionApplied(
            AppliedRetention(
                keyClass: .track, days: 30, before: newYear, keys: [7, 12],
                numbers: firstEvents),
            .open(
                KeptNewest(
                    devices: [
                        KeptNewest.Device(
                            id: device, newest: later(1000),
                            usable: UsableFix(timestamp: later(1000), number: 1041), heardAt: later(2000),
                            silences: [3600])
                    ], newest: NewestFixes()))),
        "RetentionApplied-nothing-kept": .retentionApplied(
            AppliedRetention(
                keyClass: .track, days: 0, before: newYear, keys: [7],
                numbers: firstEvents), nil),
        "ClockSteppedBack": .clockSteppedBack(byMilliseconds: 3_600_000),
        "LogRestored": .logRestored(epoch: 2, mark: nil),
        "LogRestored-marked": .logRestored(epoch: 2, mark: 0x0C_01D5_E2AA_37B4),
        "OperatorActed": .operatorActed(.rebuildProjection("audit", version: 3)),
        "OperatorActed-activate": .operatorActed(.activateProjection("audit")),
        "OperatorActed-roll-back": .operatorActed(.rollBackProjection("audit")),
        "OperatorActed-prune": .operatorActed(.pruneProjections(nil)),
        "OperatorActed-backup": .operatorActed(.backUp),
        "OperatorActed-failed": .operatorActed(.failed(41)),
        "LossAccepted": .lossAccepted(from: 911, to: 1000, epoch: 2, mark: nil),
        "LogMoved": .logMoved(.postgresql),
        "LossAccepted-marked": .lossAccepted(from: 911, to: 1000, epoch: 2, mark: 41),
        "HeadsCommitted": .headsCommitted(
            HeadsCommitment(
                name: "where.example/whereabouts/7f3c", upTo: 41, size: 3, root: hash, commits: hash.bytes + hash.bytes)
        ),
        "HeadsCommitted-none": .headsCommitted(
            HeadsCommitment(name: "localhost/whereabouts/7f3c", upTo: 1, size: 0, root: hash, commits: [])),
        "ShardsWitnessed": .shardsWitnessed(
            ShardSizes([ShardSize(shard: shard, log: query, epoch: 1, size: 41, root: hash)])),
        "PersonPlaced": .personPlaced(PersonID(rawValue: 4), shard),
        "DirectoryFollowed": .directoryFollowed(shard, directory: query, upTo: 41),
        "DirectoryFollowed-founded": .directoryFollowed(shard, directory: nil, upTo: 0),
    ]

    private static let shard = ShardNumber(rawValue: 2) ?? { preconditionFailure() }()

    private static let firstEvents: NumberSet = {
        var numbers = NumberSet()
        numbers.insert(1...911)
        return numbers
    }()

    private static func handle(_ text: String) -> Handle { Handle(text) ?? { preconditionFailure() }() }
}
