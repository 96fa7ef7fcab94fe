import Geodesy
import TestSupport
import Whereabouts

/// Random events of every kind, with their streams.
struct AnyEvent {
    var random: SplitMix

    mutating func next(_ kind: EventKind) -> (event: Event, stream: StreamID)? {
        let person = PersonID(rawValue: .random(in: 2...5000, using: &random))
        let device = DeviceID(rawValue: .random(in: 2...5000, using: &random))
        let audit = StreamID.audit(person)
        switch kind {
        case .personAdded: return (.personAdded(person, handle: .open(handle())), audit)
        case .deviceAdded: return (.deviceAdded(device, of: person, handle: .open(handle())), audit)
        case .deviceRemoved: return (.deviceRemoved(device), audit)
        case .tokenIssued:
            let token = AccessToken(
                id: TokenID(rawValue: ordinal()), principal: device.principal,
                scopes: Scopes(rawValue: .random(in: 1...127, using: &random)), hash: hash(), until: maybe { $0.time() },
                madeFrom: maybe { TokenID(rawValue: $0.ordinal()) })
            return (.tokenIssued(token), Bool.random(using: &random) ? audit : .house)
        case .tokenRevoked: return (.tokenRevoked(TokenID(rawValue: ordinal())), audit)
        case .grantGiven:
            let grant = Grant(
                id: GrantID(rawValue: ordinal()), subject: person,
                requester: maybe { PersonID(rawValue: $0.ordinal()) }, name: maybe { $0.handle() }, terms(),
                invitation: maybe { InvitationID(rawValue: $0.ordinal()) })
            return (.grantGiven(grant), audit)
        case .sharingPaused: return (.sharingPaused(person, until: maybe { $0.time() }), audit)
        case .sharingResumed: return (.sharingResumed(person), audit)
        case .invitationMade:
            let invitation = Invitation(
                id: InvitationID(rawValue: ordinal()), subject: person, hash: hash(), expires: time(),
                terms: terms(withHours: false), detail: maybe { .open($0.hours()) })
            return (.invitationMade(invitation), audit)
        case .invitationWithdrawn: return (.invitationWithdrawn(InvitationID(rawValue: ordinal())), audit)
        case .invitationRefused: return (.invitationRefused(by: PrincipalID(rawValue: ordinal())), .house)
        case .accountInvitationMade: return (.accountInvitationMade(hash: hash(), expires: time()), audit)
        case .accountInvitationClosed:
            return (.accountInvitationClosed(AccountInvitationID(rawValue: ordinal())), .house)
        case .consentAsked: return (.consentAsked(identifier()), audit)
        case .consentGiven: return (.consentGiven(identifier()), audit)
        case .consentRefused: return (.consentRefused(identifier()), audit)
        case .grantRevoked: return (.grantRevoked(GrantID(rawValue: ordinal())), audit)
        case .regionAdded: return (.regionAdded(RegionID(rawValue: ordinal()), .open(region())), audit)
        case .regionRemoved: return (.regionRemoved(RegionID(rawValue: ordinal())), audit)
        case .fixReported:
            return (
                .fixReported(device: device, answering: maybe { $0.identifier() }, .open(fix())), .track(person)
            )
        case .inputRejected:
            let input = RejectedInput(hash: hash(), head: bytes(upTo: 300))
            return (
                .inputRejected(
                    device: device, reason: pick(RejectionReason.allCases), length: ordinal(), .open(input)),
                .track(person)
            )
        case .scheduleSet: return (.scheduleSet(everySeconds: ordinal(), until: maybe { $0.time() }), audit)
        case .webhookAdded:
            let target = WebhookTarget(url: text(), secret: bytes(upTo: 64))
            let topics = FeedTopics(rawValue: .random(in: 0...FeedTopics.all.rawValue, using: &random))
            return (.webhookAdded(token: TokenID(rawValue: ordinal()), topics, .open(target)), audit)
        case .webhookRemoved: return (.webhookRemoved(WebhookID(rawValue: ordinal())), audit)
        case .webhookSettled: return (.webhookSettled(WebhookID(rawValue: ordinal()), settlement()), audit)
        case .webhookFailed:
            let message = WebhookFailure.Message(question: pick([.live, .visits, .crossings]), body: bytes(upTo: 300))
            let failure = WebhookFailure(
                webhook: WebhookID(rawValue: ordinal()),
                item: FeedPlace(number: ordinal(), ordinal: .random(in: 0...9, using: &random)), tries: ordinal(),
                status: maybe { .random(in: 100...599, using: &$0.random) }, reason: maybe { $0.text() },
                message: .open(message))
            return (.webhookFailed(failure), audit)
        case .correctionMade: return (.correctionMade(.open(correction())), audit)
        case .correctionWithdrawn: return (.correctionWithdrawn(CorrectionID(rawValue: ordinal())), audit)
        case .scheduleRemoved: return (.scheduleRemoved(ScheduleID(rawValue: ordinal())), audit)
        case .authorizationReported:
            let report = AuthorizationReport(
                timestamp: time(), status: pick(AuthorizationStatus.allCases),
                accuracy: maybe { $0.pick(AccuracyAuthorization.allCases) })
            return (.authorizationReported(device: device, .open(report)), audit)
        case .headingReported, .beaconSighted, .visitReported, .crossingReported:
            let sighting = sighting(kind)
            return (.sightingReported(device: device, sighting.kind, .open(sighting)), .track(person))
        case .messageReported:
            let message = ClientMessage(type: text(), text: text(), hash: hash())
            return (.messageReported(device: device, .open(message)), .track(person))
        case .locationReportCommanded:
            return (.locationReportCommanded(query: identifier(), device: device), audit)
        case .locationPushTokenRegistered:
            let token = LocationPushToken(bytes: bytes(upTo: 100), bundleID: text())
            let environment: PushEnvironment = Bool.random(using: &random) ? .production : .development
            return (.locationPushTokenRegistered(device: device, environment: environment, .open(token)), audit)
        case .locationPushTokenRetired: return (.locationPushTokenRetired(device: device, reason: text()), audit)
        case .locationQueried: return query(person, audit)
        case .locationPushStarted: return (.locationPushStarted(query: identifier(), device: device), audit)
        case .locationPushAttempted, .locationPushTested:
            let attempt = LocationPushAttempt(
                query: identifier(), device: device, attempt: ordinal(), apnsID: identifier(),
                status: maybe { .random(in: 100...599, using: &$0.random) }, reason: maybe { $0.text() },
                durationMilliseconds: .random(in: 0...90_000, using: &random),
                outcome: maybe { $0.pick(LocationPushAttempt.Outcome.allCases) }, startedAt: maybe { $0.time() },
                environment: maybe { $0.pick([.production, .development]) }, priority: maybe { $0.pick([5, 10]) },
                tokenHash: maybe { PushTokenHash(rawValue: UInt32.random(in: 0...UInt32.max, using: &$0.random)) },
                uniqueID: maybe { $0.text() })
            return (kind == .locationPushTested ? .locationPushTested(attempt) : .locationPushAttempted(attempt), audit)
        case .locationPushWithheld:
            return (.locationPushWithheld(query: identifier(), pick(PushWithheld.allCases)), audit)
        case .locationQueryEnded:
            let end = pick([QueryEnd.answered, .answeredFromLastKnown, .refused, .pushFailed, .timedOut, .cancelled])
            return (.locationQueryEnded(identifier(), end, fix: maybe { $0.ordinal() }), audit)
        case .locationDisclosed:
            let content = Disclosure.Content(
                latitude: degrees(90), longitude: degrees(180), horizontalAccuracy: maybe { $0.real() },
                timestamp: time(), placeName: maybe { $0.text() }, answerHash: hash())
            let disclosure = Disclosure(
                query: identifier(), subject: person, requester: PrincipalID(rawValue: ordinal()), verdict: verdict(),
                precision: pick(Precision.allCases), fix: ordinal(), content: .open(content))
            return (.locationDisclosed(disclosure), audit)
        case .locationRead:
            let subject = maybe { _ in person }
            let content = LocationRead.Content(
                purpose: maybe { $0.text() }, from: maybe { $0.time() }, to: maybe { $0.time() },
                answerHash: maybe { $0.hash() })
            let read = LocationRead(
                subject: subject, reader: PrincipalID(rawValue: ordinal()),
                question: pick([
                    .location, .track, .visits, .crossings, .audit, .events, .settings, .consent, .live, .trips,
                    .places, .summary, .friends,
                ]),
                verdict: verdict(), precision: pick(Precision.allCases), asOf: ordinal(), count: ordinal(),
                continuing: maybe { $0.identifier() }, content: .open(content))
            return (.locationRead(read), subject.map(StreamID.audit) ?? .house)
        case .refusalsCounted:
            return (
                .refusalsCounted(by: PrincipalID(rawValue: ordinal()), count: ordinal(), since: time()), .house
            )
        case .personErased: return (.personErased(person), audit)
        case .clockSteppedBack: return (.clockSteppedBack(byMilliseconds: ordinal()), .house)
        case .lossAccepted: return (.lossAccepted(from: ordinal(), to: ordinal(), epoch: ordinal()), .house)
        case .logRestored: return (.logRestored(epoch: ordinal()), .house)
        case .operatorActed:
            let act = pick([
                OperatorAct.rebuildProjection("audit", version: ordinal()), .activateProjection("timeline"),
                .rollBackProjection("current"), .pruneProjections(nil), .pruneProjections("audit"), .backUp,
                .retryMessage(WebhookID(rawValue: ordinal()), DeadLetterID(rawValue: ordinal())), .failed(ordinal()),
            ])
            if case .retryMessage = act { return (.operatorActed(act), audit) }
            return (.operatorActed(act), .house)
        case .sealedFixReported, .retentionApplied:
            return nil
        }
    }

    private mutating func query(_ person: PersonID, _ audit: StreamID) -> (Event, StreamID) {
        let subject = maybe { _ in person }
        let query = LocationQuery(
            id: identifier(), subject: subject, requester: PrincipalID(rawValue: .random(in: 2...99, using: &random)),
            verdict: verdict(), initiation: Bool.random(using: &random) ? .user : .server, deadline: time(),
            maxAgeSeconds: .random(in: 0...3600, using: &random),
            purposeForSubject: subject == nil ? .erased : .open(text()),
            purposeForRequester: maybe { .open($0.text()) })
        return (.locationQueried(query), subject == nil ? .house : audit)
    }

    private mutating func settlement() -> WebhookSettlement {
        let number = ordinal()
        return pick([
            .told(upTo: number), .taken(DeadLetterID(rawValue: number)), .discarded(DeadLetterID(rawValue: number)),
        ])
    }

    mutating func correction() -> Correction {
        let from = time()
        let time = from..<from.adding(seconds: .random(in: 1...100_000, using: &random))
        switch pick(Correction.Kind.allCases) {
        case .merge: return .merge(time)
        case .split: return .split(at: from)
        case .notVisit: return .notVisit(time)
        case .rename:
            guard let coordinate = try? Coordinate(latitude: degrees(90), longitude: degrees(180)) else {
                preconditionFailure()
            }
            return .rename(coordinate, text())
        }
    }

    mutating func terms(withHours: Bool = true) -> GrantTerms {
        GrantTerms(
            precision: pick(Precision.allCases), includesHistory: .random(using: &random),
            asksEachTime: .random(using: &random), from: maybe { $0.time() }, until: maybe { $0.time() },
            hours: withHours ? maybe { $0.hours() } : nil)
    }

    /// Some stretches of a week in a zone whose clock is changed now and then.
    mutating func hours() -> WeeklyHours {
        var minutes = Set<Int64>()
        for _ in 0..<2 * Int.random(in: 1...6, using: &random) {
            minutes.insert(.random(in: 0...10_080, using: &random))
        }
        if minutes.count % 2 == 1 { minutes.remove(minutes.max() ?? 0) }
        let ends = minutes.sorted()
        let ranges = stride(from: 0, to: ends.count, by: 2).map { ends[$0]..<ends[$0 + 1] }
        var at: Int64 = .random(in: 0...28_000_000, using: &random) * 60
        let changes = (0..<Int.random(in: 0...5, using: &random)).map { _ in
            at += .random(in: 1...300_000, using: &random) * 60
            return ZoneRules.Change(
                at: Timestamp(milliseconds: at * 1000), offsetSeconds: .random(in: -48...56, using: &random) * 900)
        }
        guard let zone = ZoneRules(name: text(), offsetSeconds: 3600, changes: changes),
            let hours = WeeklyHours(ranges: ranges.isEmpty ? [0..<60] : ranges, zone: zone)
        else { preconditionFailure() }
        return hours
    }

    // MARK: Small things

    mutating func maybe<T>(_ make: (inout AnyEvent) -> T) -> T? { Bool.random(using: &random) ? make(&self) : nil }
    mutating func pick<T>(_ choices: [T]) -> T { choices[Int.random(in: 0..<choices.count, using: &random)] }
    mutating func ordinal() -> Int64 {
        Int64(bitPattern: random.next() >> UInt64.random(in: 11...62, using: &random)) | 1
    }
    mutating func time() -> Timestamp {
        Timestamp(milliseconds: .random(in: -1_000_000_000...4_102_444_800_000, using: &random))
    }
    mutating func identifier() -> Identifier128 { Identifier128(random: random.next(), random.next()) }
    mutating func hash() -> Hash256 { Hash256(words: (random.next(), random.next(), random.next(), random.next())) }
    mutating func text() -> String { pick(["", "late for dinner", "Straße 7", "東京", "a\0b", "😀"]) }
    mutating func handle() -> Handle {
        Handle(pick(["walker", "a", "friend-2", "x.y_z"])) ?? { preconditionFailure() }()
    }

    mutating func bytes(upTo limit: Int) -> [UInt8] {
        (0..<Int.random(in: 0...limit, using: &random)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    /// As receivers give them, to seven decimals, and as computers do, to the last bit; the corners too.
    mutating func degrees(_ limit: Double) -> Double {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: pick([0, -0.0, limit, -limit, 1e-7, -1e-7, 0.1, .leastNonzeroMagnitude])
        case 1...3: (Double.random(in: -limit...limit, using: &random) * 1e7).rounded() / 1e7
        default: .random(in: -limit...limit, using: &random)
        }
    }

    mutating func real() -> Double {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: pick([0, -0.0, -1, 2_147_483_647, 2_147_483_648, 1e300, -1e-300, .infinity])
        case 1: Double(Int.random(in: -500...9000, using: &random))
        case 2: Double(Float.random(in: 0...100, using: &random))
        default: .random(in: -1000...10_000, using: &random)
        }
    }

    mutating func verdict() -> Verdict {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: .own
        case 1: .operatorOnRecord
        case 2: .granted(GrantID(rawValue: ordinal()))
        default:
            .refused(
                pick([
                    .unknownPerson, .noGrant, .notInForce, .precisionNone, .historyNotGranted, .missingScope, .erased,
                    .consentNeeded,
                    .tooOften,
                ]))
        }
    }

    mutating func coordinate() -> Coordinate {
        (try? Coordinate(latitude: degrees(90), longitude: degrees(180))) ?? { preconditionFailure() }()
    }

    mutating func region() -> Region {
        let radius = abs(degrees(180)) * 100 + 0.5
        guard let circle = try? Circle(center: coordinate(), radiusMeters: radius) else { preconditionFailure() }
        guard Bool.random(using: &random) else {
            return Region(identifier: text(), area: .circle(circle), waypoint: maybe { $0.time() })
        }
        // A ring round a place, wherever it is: the corners of a small box, away from the poles.
        let place = coordinate()
        let (south, west) = (min(80, max(-80, place.latitude)), place.longitude)
        let corners = [(0.0, 0.0), (0, 0.5), (0.5, 0.75), (0.5, 0)].compactMap { north, east in
            let longitude = west + east > 180 ? west + east - 360 : west + east
            return try? Coordinate(latitude: south + north, longitude: longitude)
        }
        guard let polygon = try? Polygon(vertices: corners) else { preconditionFailure() }
        return Region(
            identifier: text(), area: .polygon(polygon), notifyOnEntry: .random(using: &random),
            notifyOnExit: .random(using: &random))
    }

    mutating func fix() -> Fix {
        var fix = Fix(timestamp: time(), coordinate: coordinate(), horizontalAccuracy: maybe { $0.real() })
        fix.altitude = maybe { $0.real() }
        fix.ellipsoidalAltitude = maybe { $0.real() }
        fix.verticalAccuracy = maybe { $0.real() }
        fix.floor = maybe { .random(in: -5...200, using: &$0.random) }
        fix.speed = maybe { $0.real() }
        fix.speedAccuracy = maybe { $0.real() }
        fix.course = maybe { $0.real() }
        fix.courseAccuracy = maybe { $0.real() }
        fix.isSimulatedBySoftware = maybe { .random(using: &$0.random) }
        fix.isProducedByAccessory = maybe { .random(using: &$0.random) }
        fix.batteryLevel = maybe { $0.real() }
        fix.clientID = maybe { $0.text() }
        fix.receivedAt = maybe { $0.time() }
        fix.remainder = maybe { $0.text() }
        return fix
    }

    private mutating func sighting(_ kind: EventKind) -> Sighting {
        let fix = fix()
        switch kind {
        case .headingReported:
            return .heading(
                HeadingReport(
                    timestamp: time(), magneticHeading: .random(in: 0..<360, using: &random),
                    trueHeading: maybe { Double.random(in: 0..<360, using: &$0.random) },
                    headingAccuracy: fix.courseAccuracy))
        case .beaconSighted:
            return .beacon(
                BeaconReport(
                    timestamp: time(), uuid: identifier(), major: .random(in: 0...65_535, using: &random),
                    minor: .random(in: 0...65_535, using: &random), proximity: .random(in: 0...3, using: &random),
                    accuracy: fix.horizontalAccuracy, rssi: .random(in: -120...0, using: &random)))
        case .visitReported:
            return .visit(
                VisitReport(
                    timestamp: time(), coordinate: fix.coordinate, horizontalAccuracy: fix.horizontalAccuracy,
                    arrival: maybe { $0.time() }, departure: maybe { $0.time() }))
        default:
            return .crossing(CrossingReport(timestamp: time(), region: text(), isEntry: .random(using: &random)))
        }
    }
}
