import Testing
import Whereabouts

@Suite struct GrantDecisionTests {
    private static let walker = House.handle("walker")

    private static func ends(_ id: QueryID, _ scene: Scene) -> QueryEnd? { scene.house.standing.queries[id]?.end }

    /// Asks as the friend, who holds a grant.
    private static func ask(_ scene: inout Scene, _ id: UInt64, maxAge: Int64 = 0) -> QueryID {
        let question = scene.house.question(id, about: "walker", maxAge: maxAge)
        #expect(scene.house.submit(.queryLocation(question), by: scene.friend) == .success(.query(question.id)))
        return question.id
    }

    private static func refusal(_ result: Result<CommandReply, Refusal>) -> Bool {
        if case .failure(.invalid) = result { true } else { false }
    }

    // MARK: Limits

    @Test func `a grant without a named end lasts a month, and none lasts longer than a year`() throws {
        var scene = Scene()
        let id = scene.house.grant("walker", to: "friend", by: scene.walker)
        #expect(scene.house.standing.grants[id]?.until == House.start.adding(seconds: 30 * 86_400))
        let later = scene.house.grant(
            "walker", to: "friend", from: House.start.adding(seconds: 100), by: scene.walker)
        #expect(scene.house.standing.grants[later]?.until == House.start.adding(seconds: 100 + 30 * 86_400))
        for (from, until, isFine) in [
            (nil, 366 * 86_400, true), (nil, 366 * 86_400 + 1, false), (nil, 0, false), (nil, -5, false),
            (100, 100, false), (100, 101, true), (-86_400, 60, true), (367 * 86_400, nil, false),
        ] as [(Int64?, Int64?, Bool)] {
            let terms = GrantTerms(
                precision: .exact, from: from.map { House.start.adding(seconds: $0) },
                until: until.map { House.start.adding(seconds: $0) })
            let result = scene.house.submit(
                .giveGrant(subject: Self.walker, requester: House.handle("friend"), terms), by: scene.walker)
            #expect(Self.refusal(result) == !isFine, "\(from ?? 0) \(until ?? 0)")
        }
    }

    @Test func `asking each time and history exclude one another`() {
        var scene = Scene()
        let terms = GrantTerms(precision: .exact, includesHistory: true, asksEachTime: true)
        #expect(
            Self.refusal(
                scene.house.submit(
                    .giveGrant(subject: Self.walker, requester: House.handle("friend"), terms), by: scene.walker)))
    }

    // MARK: Open queries

    @Test func `a revocation ends what is under way by the grant, and nothing else`() throws {
        var scene = Scene()
        let grant = scene.house.grant("walker", to: "friend", by: scene.walker)
        _ = scene.house.grant("walker", to: "stranger", by: scene.walker)
        let friends = Self.ask(&scene, 1)
        let strangers = scene.house.question(2, about: "walker", maxAge: 0)
        scene.house.submit(.queryLocation(strangers), by: scene.stranger)
        scene.house.submit(.revokeGrant(grant), by: scene.walker)
        #expect(Self.ends(friends, scene) == .refused)
        #expect(Self.ends(strangers.id, scene) == nil)
        guard case .locationQueryEnded(friends, .refused, nil)? = scene.house.log.last?.event else {
            Issue.record("The end is no event.")
            return
        }
        #expect(scene.house.log.last?.cause == scene.house.log.dropLast().last?.number)
        // No push leaves for it any more.
        #expect(
            scene.house.submit(.startPushes(friends, to: [scene.phoneID]), by: .house) == .success(.pushes([])))
    }

    // MARK: Pausing

    @Test func `a pause ends what others have under way, and what they ask in it is refused on record`() {
        var scene = Scene()
        _ = scene.house.grant("walker", to: "friend", by: scene.walker)
        let open = Self.ask(&scene, 1)
        let own = scene.house.question(2, about: "walker", maxAge: 0)
        scene.house.submit(.queryLocation(own), by: scene.walker)
        scene.house.submit(.pauseSharing(Self.walker, until: nil), by: scene.walker)
        #expect(Self.ends(open, scene) == .refused)
        #expect(Self.ends(own.id, scene) == nil)
        #expect(Self.ends(Self.ask(&scene, 3), scene) == .refused)
        scene.house.submit(.resumeSharing(Self.walker), by: scene.walker)
        #expect(Self.ends(Self.ask(&scene, 4), scene) == nil)
    }

    @Test func `a pause looks like a phone that was switched off when it began`() {
        var scene = Scene()
        _ = scene.house.grant("walker", to: "friend", by: scene.walker)
        _ = scene.house.report([scene.house.fix(atSecond: 0)], by: scene.phone)
        scene.house.now = House.start.adding(seconds: 5)
        scene.house.submit(.pauseSharing(Self.walker, until: nil), by: scene.walker)
        scene.house.now = House.start.adding(seconds: 10)
        _ = scene.house.report([scene.house.fix(atSecond: 10)], by: scene.phone)
        // The fix from before is known and young enough; the one from the pause is not shown.
        let before = Self.ask(&scene, 1, maxAge: 60)
        #expect(Self.ends(before, scene) == .answeredFromLastKnown)
        let number = scene.house.log.first { if case .fixReported = $0.event { true } else { false } }?.number
        #expect(scene.house.standing.queries[before]?.fix == number)
        scene.house.now = House.start.adding(seconds: 65)
        #expect(Self.ends(Self.ask(&scene, 2, maxAge: 60), scene) == .refused)
        scene.house.submit(.resumeSharing(Self.walker), by: scene.walker)
        // Data of the pause stay hidden after it.
        #expect(Self.ends(Self.ask(&scene, 3, maxAge: 60), scene) == nil)
        _ = scene.house.report([scene.house.fix(atSecond: 66)], by: scene.phone)
        scene.house.now = House.start.adding(seconds: 70)
        #expect(Self.ends(Self.ask(&scene, 4, maxAge: 60), scene) == .answeredFromLastKnown)
    }

    @Test func `a pause with an end is over then, and can be made longer or ended before`() throws {
        var scene = Scene()
        _ = scene.house.grant("walker", to: "friend", by: scene.walker)
        func pauses() -> [Pause] { scene.house.standing.persons[scene.walkerID]?.sharing.pauses ?? [] }
        let end = House.start.adding(seconds: 100)
        scene.house.submit(.pauseSharing(Self.walker, until: end), by: scene.walker)
        scene.house.submit(.pauseSharing(Self.walker, until: end), by: scene.walker)
        #expect(pauses() == [Pause(from: House.start, until: end)])
        let count = scene.house.log.count
        scene.house.submit(.pauseSharing(Self.walker, until: end.adding(seconds: 50)), by: scene.walker)
        #expect(scene.house.log.count == count + 1)
        scene.house.now = end
        #expect(Self.ends(Self.ask(&scene, 1), scene) == .refused)
        scene.house.submit(.resumeSharing(Self.walker), by: scene.walker)
        scene.house.submit(.resumeSharing(Self.walker), by: scene.walker)
        #expect(pauses() == [Pause(from: House.start, until: end)])
        scene.house.submit(.pauseSharing(Self.walker, until: end.adding(seconds: 10)), by: scene.walker)
        scene.house.now = end.adding(seconds: 10)
        #expect(Self.ends(Self.ask(&scene, 2), scene) == nil)
        #expect(Self.refusal(scene.house.submit(.pauseSharing(Self.walker, until: end), by: scene.walker)))
    }

    // MARK: Being asked each time

    private static func askedEachTime() -> (Scene, QueryID) {
        var scene = Scene()
        _ = scene.house.grant("walker", to: "friend", asksEachTime: true, by: scene.walker)
        let token = LocationPushToken(bytes: [1, 2, 3, 4], bundleID: "org.example")
        scene.house.submit(.registerPushToken(device: House.handle("phone"), token, .production), by: scene.phone)
        _ = scene.house.report([scene.house.fix(atSecond: 0)], by: scene.phone)
        let id = ask(&scene, 1, maxAge: 60)
        return (scene, id)
    }

    private static func orders(_ scene: inout Scene, _ id: QueryID) -> [PushOrder] {
        guard
            case .success(.pushes(let orders)) = scene.house.submit(
                .startPushes(id, to: [scene.phoneID]), by: .house)
        else { return [] }
        return orders
    }

    @Test func `nothing is pushed, and nothing answers, before the subject has said yes`() {
        var (scene, id) = Self.askedEachTime()
        guard case .consentAsked(id)? = scene.house.log.last?.event else {
            Issue.record("The subject is not asked.")
            return
        }
        #expect(Self.orders(&scene, id).isEmpty)
        _ = scene.house.report([scene.house.fix(atSecond: -1)], answering: id, by: scene.phone)
        #expect(Self.ends(id, scene) == nil)
        scene.house.submit(.answerConsent(id, of: Self.walker, isGiven: true), by: scene.walker)
        #expect(Self.ends(id, scene) == .answered, "the fix of the moment of asking answers")
    }

    @Test(arguments: ["walker", "phone"]) func `a yes lets the push go and the fix answer`(who: String) {
        var (scene, id) = Self.askedEachTime()
        let caller = who == "walker" ? scene.walker : scene.phone
        scene.house.now = House.start.adding(seconds: 30)
        let later = Self.ask(&scene, 2, maxAge: 60)
        let answer = Command.answerConsent(later, of: Self.walker, isGiven: true)
        for stranger in [scene.friend, scene.stranger, scene.admin, .house] {
            guard case .failure = scene.house.submit(answer, by: stranger) else {
                Issue.record("Somebody else said yes.")
                return
            }
        }
        #expect(scene.house.submit(answer, by: caller) == .success(.done))
        #expect(Self.ends(later, scene) == nil)
        let orders = Self.orders(&scene, later)
        #expect(orders.map(\.device) == [scene.phoneID] && orders.map(\.what) == [.send])
        #expect(scene.house.submit(answer, by: caller) == .failure(.notFound), "one answer to one question")
        _ = scene.house.report([scene.house.fix(atSecond: 31)], answering: later, by: scene.phone)
        #expect(Self.ends(later, scene) == .answered)
        // Consent is for one question.
        #expect(Self.ends(id, scene) == nil)
    }

    @Test func `a no ends the query as refused, silence as timed out`() {
        var (scene, id) = Self.askedEachTime()
        let ignored = Self.ask(&scene, 2)
        #expect(
            scene.house.submit(.answerConsent(id, of: Self.walker, isGiven: false), by: scene.walker) == .success(.done)
        )
        #expect(Self.ends(id, scene) == .refused)
        #expect(
            scene.house.submit(.answerConsent(id, of: Self.walker, isGiven: true), by: scene.walker)
                == .failure(.notFound))
        scene.house.now = House.start.adding(seconds: 60)
        let late = Command.answerConsent(ignored, of: Self.walker, isGiven: true)
        #expect(scene.house.submit(late, by: scene.walker) == .failure(.notFound))
        scene.house.submit(.endOverdueQueries, by: .house)
        #expect(Self.ends(ignored, scene) == .timedOut)
    }

    @Test func `who pauses is not asked`() {
        var scene = Scene()
        _ = scene.house.grant("walker", to: "friend", asksEachTime: true, by: scene.walker)
        scene.house.submit(.pauseSharing(Self.walker, until: nil), by: scene.walker)
        let id = Self.ask(&scene, 1)
        #expect(Self.ends(id, scene) == .refused)
        #expect(scene.house.standing.queries[id]?.consent == nil)
    }

    // MARK: Invitations

    private static let code = Hash256(words: (6, 6, 6, 6))

    private static func invited(_ terms: GrantTerms = GrantTerms(precision: .exact)) -> Scene {
        var scene = Scene()
        let made = scene.house.submit(
            .invite(subject: walker, terms, hash: code, expires: House.start.adding(seconds: 3600)), by: scene.walker)
        #expect(made == .success(.invitation(InvitationID(rawValue: 1))))
        return scene
    }

    private static func isRefused(_ result: Result<CommandReply, Refusal>) -> Bool {
        result == .failure(.noSuchInvitation)
    }

    @Test func `a code gives its grant to whoever shows it first, and to nobody else`() throws {
        var scene = Self.invited(GrantTerms(precision: .kilometer, until: House.start.adding(seconds: 9000)))
        scene.house.now = House.start.adding(seconds: 100)
        let redeem = Command.redeemInvitation(Self.code)
        guard case .success(.grant(let id)) = scene.house.submit(redeem, by: scene.friend) else {
            Issue.record("The code opens nothing.")
            return
        }
        let grant = try #require(scene.house.standing.grants[id])
        #expect(grant.subject == scene.walkerID && grant.requester == scene.friendID)
        #expect(grant.precision == .kilometer && grant.until == House.start.adding(seconds: 9000))
        #expect(grant.invitation == InvitationID(rawValue: 1))
        #expect(Self.isRefused(scene.house.submit(redeem, by: scene.stranger)))
        #expect(Self.isRefused(scene.house.submit(redeem, by: scene.friend)))
    }

    @Test func `a grant by invitation lasts a month from when it is taken up`() {
        var scene = Self.invited()
        scene.house.now = House.start.adding(seconds: 3599)
        guard case .success(.grant(let id)) = scene.house.submit(.redeemInvitation(Self.code), by: scene.friend) else {
            Issue.record("The code opens nothing.")
            return
        }
        #expect(scene.house.standing.grants[id]?.until == scene.house.now.adding(seconds: 30 * 86_400))
    }

    @Test(arguments: ["too late", "withdrawn", "wrong", "its grant is over"])
    func `a code that opens nothing says no more than that`(what: String) {
        var scene = Self.invited(GrantTerms(precision: .exact, until: House.start.adding(seconds: 1000)))
        var code = Self.code
        switch what {
        case "too late": scene.house.now = House.start.adding(seconds: 3600)
        case "its grant is over": scene.house.now = House.start.adding(seconds: 1000)
        case "withdrawn": scene.house.submit(.withdrawInvitation(InvitationID(rawValue: 1)), by: scene.walker)
        default: code = Hash256(words: (6, 6, 6, 7))
        }
        #expect(Self.isRefused(scene.house.submit(.redeemInvitation(code), by: scene.friend)))
        guard case .invitationRefused(by: scene.friend.principal)? = scene.house.log.last?.event else {
            Issue.record("It is on no record.")
            return
        }
    }

    @Test func `guessing costs: after ten wrong codes in a minute no code opens anything`() {
        var scene = Self.invited()
        for guess in 0..<Limits.refusalsRecordedAMinute {
            let wrong = Hash256(words: (UInt64(guess), 0, 0, 0))
            #expect(Self.isRefused(scene.house.submit(.redeemInvitation(wrong), by: scene.friend)))
        }
        let count = scene.house.log.count
        #expect(Self.isRefused(scene.house.submit(.redeemInvitation(Self.code), by: scene.friend)))
        #expect(scene.house.log.count == count, "counted, not recorded one by one")
        // Not for others, and not for ever.
        scene.house.now = House.start.adding(seconds: 60)
        guard case .success = scene.house.submit(.redeemInvitation(Self.code), by: scene.friend) else {
            Issue.record("The code opens nothing in the next minute.")
            return
        }
    }

    @Test func `who asked in vain too often cannot find a code by it`() {
        var scene = Self.invited()
        for id in 0..<UInt64(Limits.refusalsRecordedAMinute) {
            scene.house.submit(.queryLocation(scene.house.question(id, about: "nobody")), by: scene.stranger)
        }
        #expect(Self.isRefused(scene.house.submit(.redeemInvitation(Self.code), by: scene.stranger)))
    }

    @Test func `nobody takes up the own invitation, and only a person takes up one`() {
        var scene = Self.invited()
        #expect(Self.refusal(scene.house.submit(.redeemInvitation(Self.code), by: scene.walker)))
        for caller in [scene.admin, scene.phone] {
            #expect(scene.house.submit(.redeemInvitation(Self.code), by: caller) == .failure(.notFound))
        }
        #expect(scene.house.standing.invitations.all.count == 1)
    }

    @Test func `open invitations are bounded, and last a week at most`() {
        var scene = Scene()
        func invite(_ number: Int, _ seconds: Int64) -> Result<CommandReply, Refusal> {
            scene.house.submit(
                .invite(
                    subject: Self.walker, GrantTerms(precision: .exact),
                    hash: Hash256(words: (UInt64(number), 1, 1, 1)),
                    expires: scene.house.now.adding(seconds: seconds)), by: scene.walker)
        }
        #expect(Self.refusal(invite(0, 7 * 86_400 + 1)))
        #expect(Self.refusal(invite(0, 0)))
        for number in 0..<Limits.invitationsPerPerson { #expect(!Self.refusal(invite(number, 60))) }
        #expect(Self.refusal(invite(99, 60)))
        scene.house.now = House.start.adding(seconds: 60)
        #expect(!Self.refusal(invite(99, 60)))
        #expect(scene.house.standing.invitations.all.count == 1, "what is over is forgotten")
    }

    // MARK: Existence of people

    @Test func `a person learns nothing from granting to a name that nobody has; the operator does`() throws {
        var scene = Scene()
        func give(_ name: String, by caller: Caller) -> Result<CommandReply, Refusal> {
            scene.house.submit(
                .giveGrant(subject: Self.walker, requester: House.handle(name), GrantTerms(precision: .exact)),
                by: caller)
        }
        #expect(give("friend", by: scene.walker) == .success(.grant(GrantID(rawValue: 1))))
        #expect(give("nobody-at-all", by: scene.walker) == .success(.grant(GrantID(rawValue: 2))))
        #expect(give("nobody-at-all", by: scene.admin) == .failure(.noSuchPerson))
        let void = try #require(scene.house.standing.grants[GrantID(rawValue: 2)])
        #expect(void.requester == nil && void.detail?.content?.name?.text == "nobody-at-all")
    }

    @Test func `a person names devices after themselves, so that no other device's name is found out`() {
        var scene = Scene()
        for (name, isFine) in [
            ("walker.phone", true), ("tablet", false), ("walker.", false), ("walker.a.b", false), ("friend.x", false),
            ("walkers.x", false),
        ] {
            let result = scene.house.submit(.addDevice(House.handle(name), of: Self.walker), by: scene.walker)
            #expect(Self.refusal(result) == !isFine, "\(name)")
        }
        // The operator's choice is free.
        #expect(!Self.refusal(scene.house.submit(.addDevice(House.handle("tablet"), of: Self.walker), by: scene.admin)))
    }
}
