import Geodesy
import TestSupport
import Testing
import Whereabouts

@Suite struct StandingTests {
    /// All entries of a standing, sorted.
    private static func rows(_ standing: Standing) -> [[UInt8]] {
        var entries: [StandingEntry] = []
        standing.forEachEntry { entries.append($0) }
        return sorted(entries).map { [UInt8($0.kind.rawValue)] + Array("\($0.id) ".utf8) + $0.body }
    }

    private static func sorted(_ entries: [StandingEntry]) -> [StandingEntry] {
        entries.sorted { ($0.kind.rawValue, $0.id) < ($1.kind.rawValue, $1.id) }
    }

    private static func reloaded(_ standing: Standing) throws(CBORError) -> Standing {
        var entries: [StandingEntry] = []
        standing.forEachEntry { entries.append($0) }
        return try Standing(place: standing.place, entries: sorted(entries))
    }

    /// Whether the derived counts agree with the rest.
    private static func countsItsQueries(_ standing: Standing) -> Bool {
        standing.queries.openCount == standing.queries.open.values.reduce(0) { $0 + $1.count }
            && standing.queries.openCount == standing.queries.all.values.count { $0.end == nil }
    }

    /// Whether both hold the same and are saved as the same rows.
    private static func isEqual(_ a: Standing, _ b: Standing) -> Bool { a == b && rows(a) == rows(b) }

    /// A house in which a few hundred random things happened.
    private static func lived(seed: UInt64, erasing: Bool = false) -> Scene {
        var scene = Scene()
        var random = AnyEvent(random: SplitMix(seed))
        var query: UInt64 = 0
        for step in 0..<400 {
            scene.house.now = scene.house.now.adding(seconds: Int64.random(in: 0...40, using: &random.random))
            let callers = [scene.admin, scene.walker, scene.friend, scene.stranger]
            let caller = random.pick(callers)
            let name = random.pick(["walker", "friend", "stranger", "nobody"])
            switch Int.random(in: 0..<22, using: &random.random) {
            case 0...3:
                let second = Int64.random(in: 0...10_000, using: &random.random)
                let answering = random.maybe { _ in QueryID(high: 9, low: query) }
                let fix = scene.house.fix(atSecond: second, accuracy: random.pick([5, -1]))
                _ = scene.house.report([fix], answering: answering, by: scene.phone)
            case 4:
                let input = RejectedInput(hash: random.hash(), head: [1])
                let authorization = AuthorizationReport(
                    timestamp: scene.house.now, status: random.pick(AuthorizationStatus.allCases),
                    accuracy: random.maybe { $0.pick(AccuracyAuthorization.allCases) })
                scene.house.submit(
                    .reportFixes(
                        device: .caller,
                        [.rejected(.notJSON, input, length: 1), .authorization(authorization)]), by: scene.phone)
                let crossing = CrossingReport(timestamp: random.time(), region: "r", isEntry: true)
                let heading = HeadingReport(
                    timestamp: random.time(), magneticHeading: 7, trueHeading: nil, headingAccuracy: nil)
                let circle: Circle? = if case .circle(let circle) = AnyRegion.home.area { circle } else { nil }
                let waypoint = Waypoint(
                    created: Timestamp(milliseconds: Int64(step % 3)), name: random.pick(["r1", "home"]),
                    circle: random.maybe { _ in circle } ?? nil)
                let message = ClientMessage(type: "status", text: "{}", hash: random.hash())
                scene.house.submit(
                    .reportFixes(
                        device: .caller,
                        [
                            .sighting(.crossing(crossing)), .sighting(.heading(heading)), .waypoint(waypoint),
                            .message(message),
                        ]), by: scene.phone)
                let friends = scene.house.standing.friends(of: scene.walkerID, at: scene.house.now)
                scene.house.submit(
                    .answerDevice(friends: friends, asOf: 1, answerHash: random.hash()), by: scene.phone)
            case 5:
                _ = scene.house.submit(
                    .giveGrant(
                        subject: House.handle(name),
                        requester: House.handle(random.pick(["friend", "walker", "noone"])),
                        GrantTerms(
                            precision: random.pick(Precision.allCases), includesHistory: step % 2 == 0,
                            asksEachTime: step % 4 == 1,
                            until: random.maybe { _ in scene.house.now.adding(seconds: 100) },
                            hours: random.maybe { $0.hours() })), by: caller)
                scene.house.submit(
                    .invite(
                        subject: House.handle(name),
                        GrantTerms(precision: .exact, hours: random.maybe { $0.hours() }),
                        hash: Hash256(words: (UInt64(step), 3, 3, UInt64(step))),
                        expires: scene.house.now.adding(seconds: 300)), by: caller)
            case 6:
                scene.house.submit(
                    .revokeGrant(GrantID(rawValue: Int64.random(in: 1...20, using: &random.random))), by: caller)
            case 7:
                let region = Region(identifier: "r\(step % 7)", area: AnyRegion.home.area)
                scene.house.submit(.addRegion(region, of: House.handle(name)), by: caller)
            case 8: scene.house.submit(.removeRegion(identifier: "r\(step % 5)", of: House.handle(name)), by: caller)
            case 9, 10:
                query += 1
                scene.house.submit(.queryLocation(scene.house.question(query, about: name, maxAge: 0)), by: caller)
                scene.house.submit(.startPushes(QueryID(high: 9, low: query), to: [scene.phoneID]), by: .house)
                let attempt = LocationPushAttempt(
                    query: QueryID(high: 9, low: query), device: scene.phoneID, attempt: Int64(step % 3),
                    apnsID: random.identifier(), status: nil, reason: "r", durationMilliseconds: 1,
                    outcome: random.maybe { $0.pick(LocationPushAttempt.Outcome.allCases) })
                switch step % 5 {
                case 0: scene.house.submit(.settlePushes, by: .house)
                case 1: scene.house.submit(.startPushes(QueryID(high: 9, low: query), to: []), by: .house)
                case 2: break
                default: scene.house.submit(.recordPushAttempt(attempt), by: .house)
                }
                scene.house.submit(.testPush(random.identifier(), to: House.handle("phone")), by: scene.admin)
                scene.house.submit(.endFailedQuery(QueryID(high: 9, low: query)), by: .house)
            case 14:
                let until = random.maybe { _ in scene.house.now.adding(seconds: 50) }
                scene.house.submit(.pauseSharing(House.handle(name), until: until), by: caller)
                scene.house.submit(.resumeSharing(House.handle(random.pick(["walker", "friend"]))), by: caller)
            case 15:
                let guess = UInt64.random(in: 0...UInt64(step), using: &random.random)
                scene.house.submit(.redeemInvitation(Hash256(words: (guess, 3, 3, guess))), by: caller)
                let inviter = random.maybe { _ in House.handle(name) }
                scene.house.submit(
                    .inviteToAccount(
                        by: inviter, hash: Hash256(words: (UInt64(step), 4, 4, UInt64(step))),
                        expires: scene.house.now.adding(seconds: 300)), by: caller)
                scene.house.submit(
                    .openAccount(
                        Hash256(words: (guess, 4, 4, guess)), as: House.handle("new-\(step)"), key: random.hash()),
                    by: .house)
                if let id = scene.house.standing.invitations.toAccounts.keys.max(), step % 3 == 0 {
                    scene.house.submit(.withdrawAccountInvitation(id), by: caller)
                }
                scene.house.submit(
                    .withdrawInvitation(InvitationID(rawValue: Int64.random(in: 1...9, using: &random.random))),
                    by: caller)
            case 16:
                let isGiven = Bool.random(using: &random.random)
                scene.house.submit(
                    .answerConsent(QueryID(high: 9, low: query), of: House.handle(name), isGiven: isGiven), by: caller)
            case 11:
                scene.house.submit(.endOverdueQueries, by: .house)
                scene.house.submit(.startPushes(QueryID(high: 9, low: query), to: [scene.phoneID]), by: .house)
            case 17, 18:
                let question = ReadQuestion(
                    subject: House.handle(name), question: random.pick([.location, .track, .visits]),
                    from: random.maybe { _ in House.start }, to: random.maybe { $0.time() }, purpose: nil)
                let now = scene.house.now
                if case .success(let permit) = scene.house.standing.authorize(caller, toRead: question, at: now) {
                    scene.house.submit(
                        .recordRead(question, permitted: permit, asOf: 1, count: 1, answerHash: random.hash()),
                        by: caller)
                }
                if let fix = scene.house.standing.queries[QueryID(high: 9, low: query)]?.fix {
                    let content = Disclosure.Content(
                        latitude: 1, longitude: 2, horizontalAccuracy: nil, timestamp: now, placeName: nil,
                        answerHash: random.hash())
                    scene.house.submit(
                        .disclose(QueryID(high: 9, low: query), content: content, precision: .exact, fix: fix),
                        by: caller)
                }
            case 19:
                scene.house.submit(
                    .setSchedule(
                        of: House.handle(name), everySeconds: 900,
                        until: random.maybe { _ in scene.house.now.adding(seconds: 5000) }), by: caller)
                for id in scene.house.standing.schedules.due(at: scene.house.now, count: 9).sorted() {
                    query += 1
                    scene.house.submit(.askScheduled(id, query: QueryID(high: 9, low: query)), by: .house)
                }
                if let id = scene.house.standing.schedules.all.keys.min(), step % 5 == 0 {
                    scene.house.submit(.removeSchedule(id, of: House.handle(name)), by: caller)
                }
            case 21:
                let target = WebhookTarget(url: "https://example.org/", secret: [1, 2])
                scene.house.submit(.addWebhook(of: House.handle(name), target, .usual), by: caller)
                for (id, webhook) in scene.house.standing.webhooks.all.sorted(by: { $0.key < $1.key }) {
                    let item = FeedPlace(number: random.ordinal() % 500, ordinal: 1)
                    let failure = WebhookFailure(
                        webhook: id, item: item, tries: 3, status: random.maybe { $0.pick([410, 500]) }, reason: nil,
                        message: .open(WebhookFailure.Message(question: .live, body: [1])))
                    scene.house.submit(
                        step % 3 == 0 ? .failWebhook(failure) : .settleWebhook(id, .told(upTo: item.number)),
                        by: .house)
                    guard step % 4 == 0, let letter = webhook.letters.keys.min() else { continue }
                    scene.house.submit(.settleWebhook(id, .taken(letter)), by: .house)
                    scene.house.submit(.testWebhook(id, of: House.handle(name)), by: caller)
                    scene.house.submit(.discardDeadLetter(letter, of: id, House.handle(name)), by: caller)
                    if step % 16 == 0 { scene.house.submit(.removeWebhook(id, of: House.handle(name)), by: caller) }
                }
            case 20:
                scene.house.submit(.correct(random.correction(), of: House.handle(name)), by: caller)
                if let id = scene.house.standing.corrections(of: scene.walkerID).first?.id, step % 5 == 0 {
                    scene.house.submit(.withdrawCorrection(id, of: House.handle(name)), by: caller)
                }
                let id = Identifier128(high: 7, low: UInt64(step % 7))
                let file = ImportedFile(name: "walk.gpx", byteCount: Int64(step % 3), head: random.hash())
                scene.house.submit(
                    .beginImport(ImportReference(id: id, file: file), of: House.handle(name)), by: caller, key: id)
                if step % 4 == 0 {
                    let fault = random.maybe { _ in ImportFault("cut") }
                    scene.house.submit(
                        .endImport(id, ImportCounts(new: 3), fault: fault, of: House.handle(name)), by: caller, key: id)
                }
                let numbers = 1...max(1, random.ordinal() % scene.house.standing.place)
                let fixes = FixNumbers(device: scene.phoneID, numbers: numbers)
                let why = FixRevision(time: House.start...House.start, reason: "test")
                scene.house.submit(
                    step % 3 == 0
                        ? .restoreFixes(fixes, why, of: House.handle(name))
                        : .withdrawFixes(fixes, why, of: House.handle(name)), by: caller, key: id)
            case 12:
                let token = LocationPushToken(bytes: [1, 2, 3, UInt8(step & 255)], bundleID: "org.example")
                scene.house.submit(
                    .registerPushToken(device: House.handle("phone"), token, .production), by: scene.phone)
            default:
                let device = House.handle("device-\(step % 9)")
                let isThere = scene.house.standing.device(device) != nil
                scene.house.submit(
                    isThere ? .removeDevice(device) : .addDevice(device, of: House.handle(name), key: random.hash()),
                    by: caller, key: RequestID(ofKeyedRequest: UInt64(step % 9), UInt64(step % 2)))
            }
            if erasing, step == 200 { scene.house.submit(.erasePerson(House.handle("walker")), by: scene.admin) }
            if erasing, step == 300 { scene.house.submit(.erasePerson(House.handle("friend")), by: scene.admin) }
        }
        return scene
    }

    @Test(arguments: 1...8) func `what is saved loads equal`(seed: UInt64) throws {
        let standing = Self.lived(seed: seed, erasing: seed % 2 == 0).house.standing
        #expect(Self.isEqual(try Self.reloaded(standing), standing))
    }

    @Test(arguments: 1...4) func `saved and loaded anywhere on the way, the fold comes to the same`(seed: UInt64) throws
    {
        let house = Self.lived(seed: seed, erasing: seed % 2 == 0).house
        for cut in stride(from: 0, to: house.log.count, by: 37) {
            var standing = Standing()
            for event in house.log[..<cut] { standing.fold(event) }
            standing = try Self.reloaded(standing)
            for event in house.log[cut...] {
                standing.fold(event)
                #expect(Self.countsItsQueries(standing), "after \(event.number)")
            }
            #expect(Self.isEqual(standing, house.standing), "cut after \(cut)")
        }
    }

    /// A refold after an erasure sees the person's parts as erased, from the first event on.
    @Test(arguments: 1...8) func `live after an erasure equals a refold after it`(seed: UInt64) throws {
        let scene = Self.lived(seed: seed, erasing: true)
        let erased = Set(scene.house.standing.persons.all.filter(\.value.isErased).map(\.key))
        #expect(erased.count == 2)
        var refolded = Standing()
        for recorded in scene.house.log {
            let encoded = EventCoding.encode(recorded.event, in: recorded.stream)
            let event = try EventCoding.decoded(
                encoded.kind, recorded.stream, clear: encoded.clear, parts: encoded.parts.map(\.plaintext),
                sealed: { erased.contains(encoded.parts[$0].person) ? .erased : nil })
            refolded.fold(
                RecordedEvent(
                    number: recorded.number, stream: recorded.stream, version: recorded.version,
                    recordedAt: recorded.recordedAt, actor: recorded.actor, correlation: recorded.correlation,
                    cause: recorded.cause, event: event))
        }
        #expect(Self.isEqual(refolded, scene.house.standing))
    }

    @Test func `an erased person's handle is free again, for somebody else`() throws {
        var scene = Scene()
        let walker = House.handle("walker")
        #expect(scene.house.submit(.erasePerson(walker), by: scene.walker) == .success(.erased(scene.walkerID)))
        #expect(
            scene.house.submit(.queryLocation(scene.house.question(1, about: "friend")), by: scene.walker)
                == .failure(.notAuthenticated))
        guard case .success(.person(let person)) = scene.house.submit(.addPerson(walker), by: scene.admin) else {
            Issue.record("The handle is still taken.")
            return
        }
        #expect(person != scene.walkerID)
        #expect(scene.house.standing.persons[scene.walkerID]?.isErased == true)
    }

    @Test func `damaged entries are refused, so that the standing is folded again`() throws {
        var entries: [StandingEntry] = []
        Self.lived(seed: 1).house.standing.forEachEntry { entries.append($0) }
        for index in entries.indices {
            var damaged = entries
            damaged[index] = StandingEntry(
                kind: entries[index].kind, id: entries[index].id, body: entries[index].body.dropLast())
            #expect(throws: CBORError.self) { try Standing(place: 1, entries: damaged) }
        }
    }

    @Test func `ended queries are forgotten fifteen minutes after their deadline`() {
        var scene = Scene()
        let question = scene.house.question(1, about: "walker")
        scene.house.submit(.queryLocation(question), by: scene.walker)
        scene.house.submit(.cancelQuery(question.id), by: scene.walker)
        let deadline = House.start.adding(seconds: 60)
        scene.house.now = deadline.adding(seconds: Limits.endedQueryKeptSeconds)
        scene.house.submit(.addPerson(House.handle("a")), by: scene.admin)
        #expect(scene.house.standing.queries[question.id] != nil)
        scene.house.now = scene.house.now.adding(seconds: 1)
        scene.house.submit(.addPerson(House.handle("b")), by: scene.admin)
        #expect(scene.house.standing.queries[question.id] == nil)
    }

    @Test func `a query that ends after the clock was set forward is kept for fifteen minutes`() {
        var scene = Scene()
        let question = scene.house.question(1, about: "walker")
        scene.house.submit(.queryLocation(question), by: scene.walker)
        scene.house.now = House.start.adding(seconds: 86_400)
        scene.house.submit(.cancelQuery(question.id), by: scene.walker)
        scene.house.now = scene.house.now.adding(seconds: Limits.endedQueryKeptSeconds)
        scene.house.submit(.addPerson(House.handle("a")), by: scene.admin)
        #expect(scene.house.standing.queries[question.id] != nil)
        scene.house.now = scene.house.now.adding(seconds: 1)
        scene.house.submit(.addPerson(House.handle("b")), by: scene.admin)
        #expect(scene.house.standing.queries[question.id] == nil)
    }
}
