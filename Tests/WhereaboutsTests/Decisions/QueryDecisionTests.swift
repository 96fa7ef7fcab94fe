import Testing
import Whereabouts

@Suite struct QueryDecisionTests {
    private static let content = Disclosure.Content(
        latitude: 52.5, longitude: 13.4, horizontalAccuracy: 5, timestamp: House.start, placeName: nil,
        answerHash: Hash256(words: (1, 2, 3, 4)))

    private static func ends(_ house: House, _ id: QueryID) -> [QueryEnd] {
        house.log.compactMap { if case .locationQueryEnded(id, let end, _) = $0.event { end } else { nil } }
    }

    /// A granted query about the walker that waits for an answer.
    private static func asked() -> (Scene, QueryID, GrantID) {
        var scene = Scene()
        let grant = scene.house.grant("walker", to: "friend", by: scene.walker)
        let question = scene.house.question(1, about: "walker")
        let reply = scene.house.submit(.queryLocation(question), by: scene.friend)
        precondition(reply == .success(.query(question.id)))
        return (scene, question.id, grant)
    }

    /// The only push for the query is refused.
    private static func fail(_ id: QueryID, _ scene: inout Scene) {
        let token = LocationPushToken(bytes: [1, 2, 3, 4], bundleID: "org.example")
        scene.house.submit(.registerPushToken(device: House.handle("phone"), token, .production), by: scene.phone)
        scene.house.submit(.startPushes(id, to: [scene.phoneID]), by: .house)
        let attempt = LocationPushAttempt(
            query: id, device: scene.phoneID, attempt: 1, apnsID: LocationPushAttempt.apnsID(id, scene.phoneID),
            status: 400, reason: "BadDeviceToken", durationMilliseconds: 1, outcome: .refused)
        scene.house.submit(.recordPushAttempt(attempt), by: .house)
        scene.house.submit(.endFailedQuery(id), by: .house)
    }

    @Test func `a query ends once, whatever comes after`() {
        var (scene, id, _) = Self.asked()
        #expect(Self.ends(scene.house, id).isEmpty)
        scene.house.now = House.start.adding(seconds: 3)
        _ = scene.house.report([scene.house.fix(atSecond: 3)], answering: id, by: scene.phone)
        _ = scene.house.report([scene.house.fix(atSecond: 4)], answering: id, by: scene.phone)
        scene.house.submit(.endFailedQuery(id), by: .house)
        scene.house.submit(.cancelQuery(id), by: scene.friend)
        scene.house.now = House.start.adding(seconds: 3600)
        scene.house.submit(.endOverdueQueries, by: .house)
        #expect(Self.ends(scene.house, id) == [.answered])
    }

    @Test(arguments: [QueryEnd.pushFailed, .timedOut, .cancelled])
    func `each other end is the only one too`(end: QueryEnd) {
        var (scene, id, _) = Self.asked()
        switch end {
        case .timedOut:
            scene.house.now = House.start.adding(seconds: 59)
            scene.house.submit(.endOverdueQueries, by: .house)
            #expect(Self.ends(scene.house, id).isEmpty)
            scene.house.now = House.start.adding(seconds: 60)
            scene.house.submit(.endOverdueQueries, by: .house)
        case .cancelled: scene.house.submit(.cancelQuery(id), by: scene.friend)
        default: Self.fail(id, &scene)
        }
        #expect(Self.ends(scene.house, id) == [end])
        scene.house.now = House.start.adding(seconds: 61)
        scene.house.submit(.endOverdueQueries, by: .house)
        _ = scene.house.report([scene.house.fix(atSecond: 61)], answering: id, by: scene.phone)
        #expect(Self.ends(scene.house, id) == [end])
    }

    @Test func `one fix ends all open queries about a person, each once`() {
        var (scene, first, _) = Self.asked()
        let second = scene.house.question(2, about: "walker")
        scene.house.submit(.queryLocation(second), by: scene.walker)
        scene.house.now = House.start.adding(seconds: 1)
        let fixes = [scene.house.fix(atSecond: 1), scene.house.fix(atSecond: 2)]
        _ = scene.house.report(fixes, answering: first, by: scene.phone)
        #expect(Self.ends(scene.house, first) == [.answered])
        #expect(Self.ends(scene.house, second.id) == [.answered])
    }

    /// The app's own upload may come first, and the extension then sends the same fix as its answer.
    @Test(arguments: [1, 2]) func `a fix known already answers the query it names`(reports: Int) {
        var (scene, id, _) = Self.asked()
        let fix = scene.house.fix(atSecond: -5)
        if reports == 1 {
            #expect(scene.house.report([fix], by: scene.phone) == [.new])
            #expect(scene.house.report([fix], answering: id, by: scene.phone) == [.duplicate])
        } else {
            let both = [DeviceReport.fix(fix, answering: nil), .fix(fix, answering: id)]
            let reply = scene.house.submit(.reportFixes(device: .caller, both), by: scene.phone)
            #expect(reply == .success(.fixes([.new, .duplicate])))
        }
        #expect(Self.ends(scene.house, id) == [.answered])
        let reported = scene.house.log.last { if case .fixReported = $0.event { true } else { false } }
        #expect(scene.house.standing.queries[id]?.fix == reported?.number)
        // Once more: the query is over.
        #expect(scene.house.report([fix], answering: id, by: scene.phone) == [.duplicate])
        #expect(Self.ends(scene.house, id) == [.answered])
    }

    @Test func `a late fix keeps the name of its query, ended or forgotten, and answers nothing`() {
        var (scene, id, _) = Self.asked()
        scene.house.now = House.start.adding(seconds: 61)
        scene.house.submit(.endOverdueQueries, by: .house)
        func link(atSecond second: Int64) -> QueryID? {
            _ = scene.house.report([scene.house.fix(atSecond: second)], answering: id, by: scene.phone)
            guard case .fixReported(_, let query, _)? = scene.house.log.last?.event else { return nil }
            return query
        }
        #expect(link(atSecond: 61) == id)
        scene.house.now = House.start.adding(seconds: 3600)
        scene.house.submit(.addPerson(House.handle("a")), by: scene.admin)
        #expect(scene.house.standing.queries[id] == nil)
        #expect(link(atSecond: 3600) == id)
        #expect(Self.ends(scene.house, id) == [.timedOut])
    }

    @Test(arguments: [(-1.0, Int64(1)), (5.0, 62)])
    func `a fix that folds do not use answers nothing`(accuracy: Double, second: Int64) {
        var (scene, id, _) = Self.asked()
        scene.house.now = House.start.adding(seconds: 1)
        let fix = scene.house.fix(atSecond: second, accuracy: accuracy)
        #expect(scene.house.report([fix], answering: id, by: scene.phone) == [.new])
        #expect(Self.ends(scene.house, id).isEmpty)
    }

    @Test func `a fix young enough answers at once, without a push`() {
        var scene = Scene()
        _ = scene.house.report([scene.house.fix(atSecond: 0)], by: scene.phone)
        scene.house.now = House.start.adding(seconds: 60)
        let young = scene.house.question(1, about: "walker", maxAge: 60)
        scene.house.submit(.queryLocation(young), by: scene.walker)
        #expect(Self.ends(scene.house, young.id) == [.answeredFromLastKnown])
        let strict = scene.house.question(2, about: "walker", maxAge: 59)
        scene.house.submit(.queryLocation(strict), by: scene.walker)
        #expect(Self.ends(scene.house, strict.id).isEmpty)
    }

    @Test func `the answer leaves on record, and not after the grant was revoked`() throws {
        var (scene, id, grant) = Self.asked()
        scene.house.now = House.start.adding(seconds: 1)
        _ = scene.house.report([scene.house.fix(atSecond: 1)], answering: id, by: scene.phone)
        let fix = try #require(scene.house.standing.queries[id]?.fix)
        func disclose(_ caller: Caller, _ precision: Precision = .exact, fix number: Int64? = nil) -> Bool {
            let command = Command.disclose(id, content: Self.content, precision: precision, fix: number ?? fix)
            return (try? scene.house.submit(command, by: caller).get()) != nil
        }
        #expect(!disclose(scene.stranger))
        #expect(!disclose(scene.admin))
        #expect(!disclose(scene.friend, .kilometer))
        #expect(!disclose(scene.friend, fix: fix + 1))
        let before = scene.house.log.count
        #expect(disclose(scene.friend))
        guard case .locationDisclosed(let disclosure) = scene.house.events(after: before).first else {
            Issue.record("Nothing was recorded.")
            return
        }
        #expect(disclosure.subject == scene.walkerID && disclosure.content == .open(Self.content))
        scene.house.submit(.revokeGrant(grant), by: scene.walker)
        #expect(!disclose(scene.friend))
        #expect(scene.house.log.count == before + 2)
    }

    @Test func `nothing leaves while a query is open, nor after it failed`() {
        var (scene, id, _) = Self.asked()
        let command = Command.disclose(id, content: Self.content, precision: .exact, fix: 1)
        #expect(scene.house.submit(command, by: scene.friend) == .failure(.noSuchPerson))
        Self.fail(id, &scene)
        #expect(scene.house.submit(command, by: scene.friend) == .failure(.noSuchPerson))
    }

    @Test func `a reading computed before a revocation is thrown away after it`() throws {
        var (scene, _, grant) = Self.asked()
        let question = ReadQuestion(
            subject: House.handle("walker"), question: .track, from: nil, to: nil, purpose: nil)
        let permit = try scene.house.standing.authorize(scene.friend, toRead: question, at: scene.house.now).get()
        let read = Command.recordRead(
            question, permitted: permit, asOf: 1, count: 1, answerHash: Hash256(words: (1, 1, 1, 1)))
        #expect(scene.house.submit(read, by: scene.friend) == .success(.done))
        scene.house.submit(.revokeGrant(grant), by: scene.walker)
        #expect(scene.house.submit(read, by: scene.friend) == .failure(.noSuchPerson))
        // A new grant is another permit: the old answer may have been computed under a wider one.
        _ = scene.house.grant("walker", to: "friend", .kilometer, by: scene.walker)
        #expect(scene.house.submit(read, by: scene.friend) == .failure(.noSuchPerson))
    }

    @Test func `refusals are told alike and recorded truly`() {
        var scene = Scene()
        let before = scene.house.log.count
        for (id, name) in [(UInt64(1), "walker"), (2, "nobody")] {
            let question = scene.house.question(id, about: name)
            #expect(scene.house.submit(.queryLocation(question), by: scene.stranger) == .failure(.noSuchPerson))
        }
        let codes = scene.house.events(after: before).map { event -> Verdict? in
            if case .locationQueried(let query) = event { query.verdict } else { nil }
        }
        #expect(codes == [.refused(.noGrant), .refused(.unknownPerson)])
    }

    @Test func `beyond ten refusals a minute they are only counted`() throws {
        var scene = Scene()
        let before = scene.house.log.count
        func ask(_ id: UInt64) -> Bool {
            var lookup = scene.house.known
            let question = scene.house.question(id, about: "walker")
            let decision = try? scene.house.standing.decide(
                .queryLocation(question), by: scene.stranger, at: scene.house.now,
                questionTime: { [now = scene.house.now] _, _ in now }, known: &lookup)
            scene.house.submit(.queryLocation(question), by: scene.stranger)
            return decision?.isCountedRefusal ?? false
        }
        for id in 1...10 { #expect(!ask(UInt64(id))) }
        scene.house.now = House.start.adding(seconds: 59)
        for id in 11...15 { #expect(ask(UInt64(id))) }
        #expect(scene.house.log.count == before + 10)
        scene.house.now = House.start.adding(seconds: 60)
        #expect(!ask(16))
        let count = Command.countRefusals(by: scene.stranger.principal, count: 5, since: House.start)
        #expect(scene.house.submit(count, by: .house) == .success(.done))
        #expect(
            scene.house.log.last?.event
                == .refusalsCounted(by: scene.stranger.principal, count: 5, since: House.start))
    }

    @Test func `a query needs a purpose and sensible bounds`() {
        var scene = Scene()
        func ask(_ purpose: String, _ deadline: Int64, _ maxAge: Int64) -> Bool {
            let question = LocationQuestion(
                id: QueryID(high: 1, low: 1), subject: House.handle("walker"), purpose: purpose, initiation: .user,
                deadlineSeconds: deadline, maxAgeSeconds: maxAge)
            var house = scene.house
            return (try? house.submit(.queryLocation(question), by: scene.walker).get()) != nil
        }
        #expect(ask("why", 60, 60))
        #expect(ask(String(repeating: "x", count: 500), 1, 0))
        #expect(!ask("", 60, 60))
        #expect(!ask(String(repeating: "x", count: 501), 60, 60))
        #expect(!ask("why", 0, 60))
        #expect(!ask("why", 3601, 60))
        #expect(!ask("why", 60, -1))
        scene.house.submit(.queryLocation(scene.house.question(5, about: "walker")), by: scene.walker)
        let again = scene.house.submit(.queryLocation(scene.house.question(5, about: "walker")), by: scene.walker)
        #expect(again == .failure(.invalid("This query id is taken; leave it out.")))
    }
}
