import Geodesy
import Testing
import Whereabouts

/// Laws of rights: the owner of a thing decides, not the name by which a path calls it; an answer leaves only under the
/// rights for which it was computed; a right does not hold at the moment at which it ends.
@Suite struct RightsLawTests {
    // MARK: Whose thing it is

    /// A walker with one of everything, and others who know all its ids.
    private struct Street {
        var scene = Scene()
        let strangersPhone, removedPhone: Caller
        let grant, friendsGrant: GrantID
        let openQuery = QueryID(high: 9, low: 1), consentQuery = QueryID(high: 9, low: 2)
        let answeredQuery = QueryID(high: 9, low: 3)
        private(set) var commands: [(name: String, of: (Handle) -> Command)] = []

        init() throws {
            let (walker, friend) = (House.handle("walker"), House.handle("friend"))
            func made<T>(_ reply: Result<CommandReply, Refusal>, _ read: (CommandReply) -> T?) throws -> T {
                try #require(try read(reply.get()))
            }
            for name in ["strangers-phone", "removed-phone"] {
                scene.house.submit(
                    .addDevice(House.handle(name), of: House.handle("stranger")), by: scene.admin)
            }
            strangersPhone = scene.house.token(for: .device(House.handle("strangers-phone")), .report, by: scene.admin)
            // Of the walker's own, and no longer.
            scene.house.submit(.addDevice(House.handle("old-phone"), of: walker), by: scene.admin)
            removedPhone = scene.house.token(for: .device(House.handle("old-phone")), .report, by: scene.admin)
            scene.house.submit(.removeDevice(House.handle("old-phone")), by: scene.admin)
            let token = scene.house.token(for: .person(walker), [.query], by: scene.walker)
            grant = scene.house.grant("walker", to: "friend", by: scene.walker)
            // The friend knows a question about the walker that waits for her word.
            friendsGrant = scene.house.grant("walker", to: "stranger", asksEachTime: true, by: scene.walker)
            let code = Hash256(words: (8, 8, 8, 8))
            let invitation: InvitationID = try made(
                scene.house.submit(
                    .invite(
                        subject: walker, GrantTerms(precision: .exact), hash: code,
                        expires: House.start.adding(seconds: 3600)), by: scene.walker)
            ) { if case .invitation(let id) = $0 { id } else { nil } }
            let account: AccountInvitationID = try made(
                scene.house.submit(
                    .inviteToAccount(
                        by: walker, hash: Hash256(words: (8, 8, 8, 9)), expires: House.start.adding(seconds: 3600)),
                    by: scene.walker)
            ) { if case .accountInvitation(let id) = $0 { id } else { nil } }
            scene.house.submit(.addRegion(AnyRegion.home, of: walker), by: scene.walker)
            let correction: CorrectionID = try made(
                scene.house.submit(.correct(.split(at: House.start), of: walker), by: scene.walker)
            ) { if case .correction(let id) = $0 { id } else { nil } }
            let schedule: ScheduleID = try made(
                scene.house.submit(.setSchedule(of: walker, everySeconds: 900, until: nil), by: scene.walker)
            ) { if case .schedule(let id) = $0 { id } else { nil } }
            let webhook: WebhookID = try made(
                scene.house.submit(
                    .addWebhook(of: walker, WebhookTarget(url: "https://example.org/", secret: [1]), .usual),
                    by: scene.walker)
            ) { if case .webhook(let id) = $0 { id } else { nil } }
            let failure = WebhookFailure(
                webhook: webhook, item: FeedPlace(number: 5, ordinal: 0), tries: 34, status: 500, reason: nil,
                message: .open(WebhookFailure.Message(question: .live, body: [1])))
            scene.house.submit(.failWebhook(failure), by: .house)
            let letter = DeadLetterID(rawValue: scene.house.standing.place)
            // One of the walker's own, one of the friend's that was answered, one of the stranger's that waits for her
            // word.
            _ = scene.house.report([scene.house.fix(atSecond: -5)], by: scene.phone)
            _ = try scene.house.submit(
                .queryLocation(scene.house.question(3, about: "walker", maxAge: 60)), by: scene.friend
            ).get()
            _ = try scene.house.submit(
                .queryLocation(scene.house.question(1, about: "walker", maxAge: 0)), by: scene.walker
            ).get()
            _ = try scene.house.submit(
                .queryLocation(scene.house.question(2, about: "walker", maxAge: 0)), by: scene.stranger
            ).get()
            let answer = scene.house.standing.queries[answeredQuery]?.fix ?? 0
            let content = Disclosure.Content(
                latitude: 52.5, longitude: 13.4, horizontalAccuracy: 5, timestamp: House.start, placeName: nil,
                answerHash: Hash256(words: (1, 2, 3, 4)))
            let (open, consent, answered) = (openQuery, consentQuery, answeredQuery)
            let push = LocationPushToken(bytes: [1, 2, 3, 4], bundleID: "org.example")
            let grant = self.grant
            commands = [
                ("remove the device", { _ in .removeDevice(House.handle("phone")) }),
                ("revoke the token", { _ in .revokeToken(token.token ?? TokenID(rawValue: 0)) }),
                ("revoke the grant", { _ in .revokeGrant(grant) }),
                ("withdraw the invitation", { _ in .withdrawInvitation(invitation) }),
                ("withdraw the account invitation", { _ in .withdrawAccountInvitation(account) }),
                ("say yes", { .answerConsent(consent, of: $0, isGiven: true) }),
                ("say no", { .answerConsent(consent, of: $0, isGiven: false) }),
                ("remove the region", { .removeRegion(identifier: AnyRegion.home.identifier, of: $0) }),
                ("withdraw the correction", { .withdrawCorrection(correction, of: $0) }),
                ("remove the schedule", { .removeSchedule(schedule, of: $0) }),
                ("remove the webhook", { .removeWebhook(webhook, of: $0) }),
                ("discard the letter", { .discardDeadLetter(letter, of: webhook, $0) }),
                ("post the letter again", { .retryDeadLetter(letter, of: webhook, $0) }),
                ("test the webhook", { .testWebhook(webhook, of: $0) }),
                (
                    "register a push token",
                    { _ in .registerPushToken(device: House.handle("phone"), push, .production) }
                ),
                ("test a push", { _ in .testPush(QueryID(high: 9, low: 99), to: House.handle("phone")) }),
                ("cancel the open question", { _ in .cancelQuery(open) }),
                ("cancel the answered question", { _ in .cancelQuery(answered) }),
                ("see the answer", { _ in .disclose(answered, content: content, precision: .exact, fix: answer) }),
            ]
            _ = friend
        }
    }

    /// Each caller and their rights: no handle in a path gives a right to the walker's things.
    @Test(arguments: ["friend", "stranger", "strangers-phone", "removed-phone", "phone", "walker"])
    func `nobody does anything with another's thing by its id`(who: String) throws {
        let rights: [String: Set<String>] = [
            "friend": ["cancel the answered question", "see the answer"],
            "stranger": [], "strangers-phone": [], "removed-phone": [],
            "phone": ["say yes", "say no", "register a push token"],
            "walker": [
                "remove the device", "revoke the token", "revoke the grant", "withdraw the invitation",
                "withdraw the account invitation", "say yes", "say no", "remove the region", "withdraw the correction",
                "remove the schedule", "remove the webhook", "discard the letter", "post the letter again",
                "test the webhook", "cancel the open question",
            ],
        ]
        let own =
            ["friend": "friend", "phone": "walker", "walker": "walker", "removed-phone": "walker"][who] ?? "stranger"
        let names = try Street().commands.map(\.name)
        for name in names {
            for handle in ["walker", "friend", "stranger"] {
                var street = try Street()
                let callers = [
                    "friend": street.scene.friend, "stranger": street.scene.stranger, "phone": street.scene.phone,
                    "strangers-phone": street.strangersPhone, "removed-phone": street.removedPhone,
                    "walker": street.scene.walker,
                ]
                let caller = try #require(callers[who])
                let command = try #require(street.commands.first { $0.name == name })
                let before = street.scene.house.log.count
                let result = street.scene.house.submit(command.of(House.handle(handle)), by: caller)
                let events = street.scene.house.events(after: before)
                // The handle counts only where the command has one; under another's name there is no such thing.
                let hasHandle =
                    name.hasPrefix("say") || name.hasSuffix("region") || name.hasSuffix("correction")
                    || name.hasSuffix("schedule") || name.hasSuffix("webhook") || name.hasSuffix("letter")
                    || name.hasSuffix("again")
                let may = rights[who]?.contains(name) == true && (!hasHandle || handle == own)
                if may {
                    #expect(throws: Never.self) { _ = try result.get() }
                } else {
                    #expect(throws: Refusal.self, "\(who), \(name) of \(handle)") { _ = try result.get() }
                    let isUnchanged = events.allSatisfy(Self.isRefusal)
                    #expect(isUnchanged, "\(who), \(name) of \(handle): \(events)")
                }
            }
        }
    }

    private static func isRefusal(_ event: Event) -> Bool {
        switch event {
        case .locationRead(let read): read.verdict.isRefused
        case .locationQueried(let query): query.verdict.isRefused
        default: false
        }
    }

    @Test func `a phone answers its own person's questions only, with a new fix and with a known one`() throws {
        var street = try Street()
        street.scene.house.now = House.start.adding(seconds: 5)
        let fix = street.scene.house.fix(atSecond: 4)
        #expect(street.scene.house.report([fix], by: street.strangersPhone) == [.new])
        for (answer, outcome) in [(fix, FixOutcome.duplicate), (street.scene.house.fix(atSecond: 5), .new)] {
            for query in [street.openQuery, street.consentQuery] {
                let before = street.scene.house.log.count
                let found = street.scene.house.report([answer], answering: query, by: street.strangersPhone)
                #expect(found == [outcome] || query == street.consentQuery)
                let queries = street.scene.house.standing.queries
                #expect(queries[query]?.end == nil && queries[query]?.fix == nil)
                for case .fixReported(_, let answering, _) in street.scene.house.events(after: before) {
                    #expect(answering == nil)
                }
            }
        }
        // The same from the walker's own phone does end the walker's question.
        #expect(
            street.scene.house.report(
                [street.scene.house.fix(atSecond: 5)], answering: street.openQuery, by: street.scene.phone) == [.new])
        #expect(street.scene.house.standing.queries[street.openQuery]?.end == .answered)
    }

    // MARK: Rights at the moment of the answer

    /// Changes between the computation of an answer and its leaving. `true`: the answer does not depend on it.
    private static let changes: [(what: String, leaves: Bool, change: @Sendable (inout Scene, GrantID) -> Void)] = [
        ("nothing", true, { _, _ in }),
        (
            "a grant to somebody else", true,
            { scene, _ in
                _ = scene.house.grant("walker", to: "stranger", .city, history: false, by: scene.walker)
            }
        ),
        ("a fix", true, { scene, _ in _ = scene.house.report([scene.house.fix(atSecond: 9)], by: scene.phone) }),
        (
            "a grant of less", false,
            { scene, _ in
                _ = scene.house.grant("walker", to: "friend", .kilometer, history: false, by: scene.walker)
            }
        ),
        ("a grant of the same", false, { scene, _ in _ = scene.house.grant("walker", to: "friend", by: scene.walker) }),
        (
            "a grant from now on", false,
            { scene, _ in
                _ = scene.house.grant("walker", to: "friend", from: scene.house.now, by: scene.walker)
            }
        ),
        (
            "a grant that asks each time", false,
            { scene, _ in
                _ = scene.house.grant("walker", to: "friend", asksEachTime: true, by: scene.walker)
            }
        ),
        ("the grant's end", false, { scene, grant in scene.house.submit(.revokeGrant(grant), by: scene.walker) }),
        (
            "an older grant instead", false,
            { scene, grant in
                // An answer for the newer grant is not one for the older grant.
                scene.house.submit(.revokeGrant(grant), by: scene.walker)
            }
        ),
        (
            "a pause", false,
            { scene, _ in
                scene.house.submit(.pauseSharing(House.handle("walker"), until: nil), by: scene.walker)
            }
        ),
        (
            "a pause that is over again", false,
            { scene, _ in
                scene.house.submit(.pauseSharing(House.handle("walker"), until: nil), by: scene.walker)
                scene.house.now = scene.house.now.adding(seconds: 1)
                scene.house.submit(.resumeSharing(House.handle("walker")), by: scene.walker)
            }
        ),
        (
            "the token's end", false,
            { scene, _ in
                scene.house.submit(.revokeToken(scene.friend.token ?? TokenID(rawValue: 0)), by: scene.friend)
            }
        ),
        (
            "the subject's erasure", false,
            { scene, _ in
                scene.house.submit(.erasePerson(House.handle("walker")), by: scene.admin)
            }
        ),
        ("the grant's last moment", false, { scene, _ in scene.house.now = House.start.adding(seconds: 600) }),
    ]

    @Test(arguments: changes.map(\.what)) func `an answer leaves only under what it was computed under`(what: String)
        throws
    {
        let row = try #require(Self.changes.first { $0.what == what })
        for isRead in [true, false] {
            var scene = Scene()
            if what == "an older grant instead" {
                _ = scene.house.grant("walker", to: "friend", .city, by: scene.walker)
            }
            let grant = scene.house.grant(
                "walker", to: "friend", until: House.start.adding(seconds: 600), by: scene.walker)
            scene.house.now = House.start.adding(seconds: 5)
            _ = scene.house.report([scene.house.fix(atSecond: 4)], by: scene.phone)
            let question = ReadQuestion(
                subject: House.handle("walker"), question: isRead ? .visits : .location, from: nil, to: nil,
                purpose: nil)
            let permit = try scene.house.standing.authorize(scene.friend, toRead: question, at: scene.house.now).get()
            let asked = scene.house.question(1, about: "walker")
            _ = try scene.house.submit(.queryLocation(asked), by: scene.friend).get()
            let fix = try #require(scene.house.standing.queries[asked.id]?.fix)
            scene.house.now = House.start.adding(seconds: 10)
            row.change(&scene, grant)
            let hash = Hash256(words: (1, 2, 3, 4))
            let content = Disclosure.Content(
                latitude: 52.5, longitude: 13.4, horizontalAccuracy: 5, timestamp: House.start, placeName: nil,
                answerHash: hash)
            // Nor is it more, or less, exact than the grant says.
            for precision in [Precision.kilometer, .city, .place] {
                let other = Command.disclose(asked.id, content: content, precision: precision, fix: fix)
                #expect(throws: Refusal.self) { _ = try scene.house.submit(other, by: scene.friend).get() }
            }
            let before = scene.house.log.count
            let result = scene.house.submit(
                isRead
                    ? .recordRead(question, permitted: permit, asOf: 1, count: 1, answerHash: hash)
                    : .disclose(asked.id, content: content, precision: permit.precision, fix: fix), by: scene.friend)
            // A pause, or its end, takes nothing from an answered question, whose fix was taken before it; it takes a
            // range from a read. The gate of questions looks at the fix again when the answer is made (`QueryView`).
            let leaves = row.leaves || (!isRead && what.hasPrefix("a pause"))
            #expect((try? result.get()) != nil || !leaves, "\(what), \(isRead)")
            #expect((try? result.get()) == nil || leaves, "\(what), \(isRead)")
            if !leaves {
                let showsNothing = scene.house.events(after: before).allSatisfy(Self.isRefusal)
                #expect(showsNothing)
            }
        }
    }

    @Test(arguments: ["revoked", "paused", "over", "revoked beside another"])
    func `a question does not outlive the grant it was asked under`(what: String) throws {
        var scene = Scene()
        if what == "revoked beside another" { _ = scene.house.grant("walker", to: "friend", by: scene.walker) }
        let grant = scene.house.grant("walker", to: "friend", until: House.start.adding(seconds: 30), by: scene.walker)
        // Another asker's question goes on, except in a pause.
        _ = scene.house.grant("walker", to: "stranger", by: scene.walker)
        let (asked, others) = (scene.house.question(1, about: "walker"), scene.house.question(2, about: "walker"))
        _ = try scene.house.submit(.queryLocation(asked), by: scene.friend).get()
        _ = try scene.house.submit(.queryLocation(others), by: scene.stranger).get()
        scene.house.now = House.start.adding(seconds: 10)
        switch what {
        case "paused": scene.house.submit(.pauseSharing(House.handle("walker"), until: nil), by: scene.walker)
        case "over": scene.house.now = House.start.adding(seconds: 30)
        default: scene.house.submit(.revokeGrant(grant), by: scene.walker)
        }
        if what != "over" { #expect(scene.house.standing.queries[asked.id]?.end == .refused) }
        #expect(scene.house.standing.queries[others.id]?.end == (what == "paused" ? .refused : nil))
        scene.house.now = scene.house.now.adding(seconds: 1)
        let second = what == "over" ? Int64(31) : 11
        _ = scene.house.report([scene.house.fix(atSecond: second)], answering: asked.id, by: scene.phone)
        let fix = scene.house.standing.queries[asked.id]?.fix ?? scene.house.standing.place
        let content = Disclosure.Content(
            latitude: 52.5, longitude: 13.4, horizontalAccuracy: 5, timestamp: House.start, placeName: nil,
            answerHash: Hash256(words: (1, 2, 3, 4)))
        let before = scene.house.log.count
        #expect(throws: Refusal.self) {
            _ = try scene.house.submit(
                .disclose(asked.id, content: content, precision: .exact, fix: fix), by: scene.friend
            )
            .get()
        }
        #expect(scene.house.log.count == before)
    }

    // MARK: When a right ends

    /// Each right holds in the millisecond before its end and not at it.
    @Test func `the moment at which a right ends is not part of it`() throws {
        let end = House.start.adding(seconds: 600)
        let last = Timestamp(milliseconds: end.milliseconds - 1)
        let walker = House.handle("walker")
        let code = Hash256(words: (6, 6, 6, 6)), account = Hash256(words: (6, 6, 6, 7)),
            token = Hash256(words: (6, 6, 6, 8))
        for (now, holds) in [(last, true), (end, false)] {
            var scene = Scene()
            scene.house.submit(
                .invite(subject: walker, GrantTerms(precision: .exact), hash: code, expires: end), by: scene.walker)
            scene.house.submit(.inviteToAccount(by: walker, hash: account, expires: end), by: scene.walker)
            scene.house.submit(
                .issueToken(for: .person(walker), scopes: .query, hash: token, until: end), by: scene.walker)
            _ = scene.house.grant("walker", to: "friend", until: end, by: scene.walker)
            _ = scene.house.grant("walker", to: "stranger", asksEachTime: true, by: scene.walker)
            let asked = scene.house.question(1, about: "walker", deadline: 600)
            _ = try scene.house.submit(.queryLocation(asked), by: scene.stranger).get()
            let expiring = try #require(scene.house.standing.caller(tokenHash: token, at: House.start))
            scene.house.now = now
            #expect((scene.house.standing.caller(tokenHash: token, at: now) != nil) == holds)
            #expect(scene.house.standing.isValid(expiring, at: now) == holds)
            func succeeds(_ command: Command, by caller: Caller) -> Bool {
                (try? scene.house.submit(command, by: caller).get()) != nil
            }
            #expect(succeeds(.queryLocation(scene.house.question(2, about: "walker")), by: scene.friend) == holds)
            #expect(succeeds(.answerConsent(asked.id, of: walker, isGiven: true), by: scene.walker) == holds)
            #expect(succeeds(.redeemInvitation(code), by: scene.friend) == holds)
            #expect(
                succeeds(
                    .openAccount(account, as: House.handle("new-1234"), key: Hash256(words: (1, 1, 1, 1))), by: .house)
                    == holds)
        }
    }

    @Test func `a pause begins at its first moment and ends before its last`() throws {
        var scene = Scene()
        _ = scene.house.grant("walker", to: "friend", by: scene.walker)
        let end = House.start.adding(seconds: 600)
        scene.house.submit(.pauseSharing(House.handle("walker"), until: end), by: scene.walker)
        let permit = try scene.house.standing.authorize(
            scene.friend, to: .readHistory, about: House.handle("walker"), at: House.start
        ).get()
        func moment(_ milliseconds: Int64) -> Timestamp {
            Timestamp(milliseconds: House.start.milliseconds + milliseconds)
        }
        for (milliseconds, isShown) in [(-1, true), (0, false), (599_999, false), (600_000, true)] as [(Int64, Bool)] {
            #expect(permit.shows(moment(milliseconds)) == isShown, "\(milliseconds)")
        }
        // Visits that begin before the pause or in it, are inside it, span it, or only touch it.
        for (from, to, isShown) in [
            (-2000, -1, true), (-2000, 0, false), (-2000, 300_000, false), (300_000, 400_000, false),
            (300_000, 700_000, false), (599_999, 700_000, false), (600_000, 700_000, true), (-2000, 700_000, false),
        ] as [(Int64, Int64, Bool)] {
            #expect(permit.shows(from: moment(from), to: moment(to)) == isShown, "\(from) to \(to)")
        }
    }

    // MARK: Requests with a key

    @Test func `a kept outcome is of one caller, and of a token that holds`() throws {
        var scene = Scene()
        let key = RequestID(ofKeyedRequest: 77, 5)
        let command = Command.issueToken(
            for: .person(House.handle("walker")), scopes: .query, hash: Hash256(words: (1, 1, 1, 1)), until: nil)
        let first = scene.house.submit(command, by: scene.walker, key: key)
        #expect(try scene.house.standing.outcome(of: key, by: scene.walker, at: scene.house.now)?.reply == first.get())
        // Another caller with the very same key has no outcome, and makes their own.
        #expect(try scene.house.standing.outcome(of: key, by: scene.friend, at: scene.house.now) == nil)
        let own = scene.house.submit(
            .issueToken(
                for: .person(House.handle("friend")), scopes: .query, hash: Hash256(words: (1, 1, 1, 2)), until: nil),
            by: scene.friend, key: key)
        #expect(try own.get() != first.get())
        #expect(try scene.house.standing.outcome(of: key, by: scene.walker, at: scene.house.now)?.reply == first.get())
        scene.house.submit(.revokeToken(try #require(scene.walker.token)), by: scene.walker)
        #expect(throws: Refusal.notAuthenticated) {
            _ = try scene.house.standing.outcome(of: key, by: scene.walker, at: scene.house.now)
        }
    }
}
