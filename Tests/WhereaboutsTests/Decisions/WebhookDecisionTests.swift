import Testing
import Whereabouts

/// The right to a webhook, and its progress.
@Suite struct WebhookDecisionTests {
    private static let target = WebhookTarget(url: "https://example.org/", secret: [1])

    private static func add(_ scene: inout Scene, by caller: Caller? = nil) -> WebhookID? {
        let reply = scene.house.submit(
            .addWebhook(of: House.handle("walker"), target, .usual), by: caller ?? scene.walker)
        guard case .success(.webhook(let id)) = reply else { return nil }
        return id
    }

    private static func fail(
        _ scene: inout Scene, _ id: WebhookID, _ number: Int64, status: Int64? = 500
    ) throws -> DeadLetterID {
        let failure = WebhookFailure(
            webhook: id, item: FeedPlace(number: number, ordinal: 0), tries: 34, status: status, reason: nil,
            message: .open(WebhookFailure.Message(question: .live, body: [1])))
        scene.house.submit(.failWebhook(failure), by: .house)
        return DeadLetterID(rawValue: try #require(scene.house.log.last).number)
    }

    @Test func `only the person has one, by a token that may read what it tells`() {
        var scene = Scene()
        #expect(Self.add(&scene) != nil)
        for caller in [scene.friend, scene.admin, scene.phone] { #expect(Self.add(&scene, by: caller) == nil) }
        for scopes: Scopes in [[.manage, .query], [.audit, .query]] {
            let token = scene.house.token(for: .person(House.handle("walker")), scopes, by: scene.admin)
            #expect(Self.add(&scene, by: token) == nil)
        }
        for _ in 1..<Limits.webhooksPerPerson { #expect(Self.add(&scene) != nil) }
        #expect(Self.add(&scene) == nil)
    }

    private static let hash = Hash256(words: (1, 2, 3, 4))

    /// A session of the walker, and the token that it was opened from.
    private static func session(_ scene: inout Scene) throws -> (session: Caller, token: TokenID) {
        let (from, hash) = (Hash256(words: (5, 5, 5, 5)), Hash256(words: (6, 6, 6, 6)))
        scene.house.submit(
            .issueToken(
                for: .person(House.handle("walker")), scopes: [.query, .audit, .manage], hash: from, until: nil),
            by: scene.walker)
        let token = try #require(scene.house.standing.tokens.hashed(from))
        scene.house.submit(.openSession(from: from, hash: hash), by: .house)
        let session = try #require(scene.house.standing.tokens.hashed(hash))
        let issued = try #require(scene.house.standing.tokens[session]?.issued)
        return (Caller(principal: issued.principal, scopes: issued.scopes, token: session), token)
    }

    private static func addFromSession(_ scene: inout Scene, _ session: Caller, _ hash: Hash256?) -> WebhookID? {
        let reply = scene.house.submit(
            .addWebhook(of: House.handle("walker"), target, .usual, ownToken: hash), by: session)
        guard case .success(.webhook(let id)) = reply else { return nil }
        return id
    }

    @Test func `a webhook of a session outlives the session, only reads, and takes its token with it`() throws {
        var scene = Scene()
        let (session, _) = try Self.session(&scene)
        #expect(Self.addFromSession(&scene, session, nil) == nil)
        let id = try #require(Self.addFromSession(&scene, session, Self.hash))
        // The same hash twice would be one token for two webhooks.
        #expect(Self.addFromSession(&scene, session, Self.hash) == nil)
        let webhook = try #require(scene.house.standing.webhooks[id])
        let own = try #require(scene.house.standing.tokens[webhook.token]?.issued)
        #expect(own.scopes == [.query, .audit] && own.principal == scene.walkerID.principal && own.until == nil)
        scene.house.submit(.revokeToken(try #require(session.token)), by: session)
        #expect(scene.house.standing.caller(of: webhook, at: House.start) != nil)
        scene.house.submit(.removeWebhook(id, of: House.handle("walker")), by: scene.walker)
        #expect(scene.house.standing.caller(of: webhook, at: House.start) == nil)
        #expect(scene.house.standing.tokens[webhook.token]?.isRevoked ?? true)
    }

    @Test func `a webhook of a session ends with the token that the session was opened from`() throws {
        var scene = Scene()
        let (session, token) = try Self.session(&scene)
        let webhook = try #require(
            Self.addFromSession(&scene, session, Self.hash).flatMap { scene.house.standing.webhooks[$0] })
        #expect(scene.house.standing.caller(of: webhook, at: House.start) != nil)
        scene.house.submit(.revokeToken(token), by: scene.walker)
        #expect(scene.house.standing.caller(of: webhook, at: House.start) == nil)
    }

    @Test func `a webhook that a token added leaves that token alone when it is removed`() throws {
        var scene = Scene()
        let id = try #require(Self.add(&scene))
        let webhook = try #require(scene.house.standing.webhooks[id])
        scene.house.submit(.removeWebhook(id, of: House.handle("walker")), by: scene.walker)
        #expect(scene.house.standing.caller(of: webhook, at: House.start) != nil)
    }

    @Test func `who has none is not told to remove one when the house has as many as it can look after`() {
        var scene = Scene()
        for number in 0..<Limits.webhooks / Limits.webhooksPerPerson {
            let handle = House.handle("person-\(number)")
            scene.house.submit(.addPerson(handle), by: scene.admin)
            let token = scene.house.token(for: .person(handle), [.query, .audit, .manage], by: scene.admin)
            for _ in 0..<Limits.webhooksPerPerson {
                scene.house.submit(.addWebhook(of: handle, Self.target, .usual), by: token)
            }
        }
        #expect(scene.house.standing.webhooks.all.count == Limits.webhooks)
        let reply = scene.house.submit(.addWebhook(of: House.handle("walker"), Self.target, .usual), by: scene.walker)
        #expect(
            reply == .failure(.invalid("The service has 1000 webhooks, its limit; ask its operator.")))
    }

    @Test func `its place goes forward only, and what failed is known until it is taken or discarded`() throws {
        var scene = Scene()
        let id = try #require(Self.add(&scene))
        #expect(scene.house.standing.webhooks[id]?.place == id.rawValue)
        scene.house.submit(.settleWebhook(id, .told(upTo: 900)), by: .house)
        let before = scene.house.log.count
        for place in [900, 5] as [Int64] {
            scene.house.submit(.settleWebhook(id, .told(upTo: place)), by: .house)
        }
        scene.house.submit(.settleWebhook(id, .told(upTo: 1000)), by: scene.admin)
        #expect(scene.house.log.count == before && scene.house.standing.webhooks[id]?.place == 900)
        // Messages before the failed one were posted; those of the same event perhaps not.
        let first = try Self.fail(&scene, id, 1000)
        #expect(scene.house.standing.webhooks[id]?.place == 999)
        let gone = try Self.fail(&scene, id, 1001, status: 410)
        #expect(scene.house.standing.webhooks[id]?.isStopped == true)
        scene.house.submit(.settleWebhook(id, .taken(gone)), by: .house)
        #expect(scene.house.standing.webhooks[id]?.isStopped == false)
        scene.house.submit(.discardDeadLetter(first, of: id, House.handle("walker")), by: scene.friend)
        #expect(scene.house.standing.webhooks[id]?.letters.count == 1)
        scene.house.submit(.discardDeadLetter(first, of: id, House.handle("walker")), by: scene.walker)
        #expect(scene.house.standing.webhooks[id]?.letters.isEmpty == true)
    }

    @Test func `too many failures stop it until there are fewer`() throws {
        var scene = Scene()
        let id = try #require(Self.add(&scene))
        var letters: [DeadLetterID] = []
        for number in 1...Int64(Limits.deadLettersPerWebhook) {
            letters.append(try Self.fail(&scene, id, 1000 + number))
        }
        #expect(scene.house.standing.webhooks[id]?.isStopped == true)
        scene.house.submit(.discardDeadLetter(letters[3], of: id, House.handle("walker")), by: scene.admin)
        #expect(scene.house.standing.webhooks[id]?.isStopped == false)
    }

    private static func addAddress(_ scene: inout Scene, code: Hash256) -> WebhookID? {
        let target = WebhookTarget(url: "mailto:walker@example.org", secret: [1])
        let reply = scene.house.submit(
            .addWebhook(of: House.handle("walker"), target, .usual, NoticeTerms(kind: .email, codeHash: code)),
            by: scene.walker)
        guard case .success(.webhook(let id)) = reply else { return nil }
        return id
    }

    @Test func `an address waits for its code, within a day, and its messages begin with the confirmation`() throws {
        var scene = Scene()
        let (code, other) = (Hash256(words: (1, 2, 3, 4)), Hash256(words: (1, 2, 3, 5)))
        let id = try #require(Self.addAddress(&scene, code: code))
        let late = try #require(Self.addAddress(&scene, code: code))
        #expect(scene.house.standing.webhooks[id]?.isUnconfirmed == true)
        // The code itself is not posted yet: its item is the webhook.
        #expect(scene.house.standing.webhooks[id]?.place == id.rawValue - 1)
        func confirm(_ scene: inout Scene, _ id: WebhookID, _ hash: Hash256, by caller: Caller) -> Bool {
            let reply = scene.house.submit(
                .confirmWebhook(id, of: House.handle("walker"), codeHash: hash), by: caller)
            if case .success = reply { return true } else { return false }
        }
        #expect(!confirm(&scene, id, other, by: scene.walker) && !confirm(&scene, id, code, by: scene.friend))
        #expect(scene.house.standing.webhooks[id]?.isUnconfirmed == true)
        scene.house.now = scene.house.now.adding(seconds: Limits.codeSeconds - 1)
        #expect(confirm(&scene, id, code, by: scene.walker))
        #expect(scene.house.standing.webhooks[id]?.isUnconfirmed == false)
        let confirmed = try #require(scene.house.log.last)
        #expect(confirmed.event == .webhookConfirmed(id))
        #expect(scene.house.standing.webhooks[id]?.place == confirmed.number)
        // Once more is no event.
        #expect(confirm(&scene, id, code, by: scene.walker) && scene.house.log.last?.number == confirmed.number)
        scene.house.now = scene.house.now.adding(seconds: 1)
        #expect(!confirm(&scene, late, code, by: scene.walker))
    }

    @Test func `a tracker needs the right to locations, and silence a length`() {
        var scene = Scene()
        let tracker = Command.addWebhook(
            of: House.handle("walker"), WebhookTarget(url: "mqtt:", secret: []), [], NoticeTerms(kind: .homeAssistant))
        let auditing = scene.house.token(
            for: .person(House.handle("walker")), [.audit, .manage], by: scene.admin)
        #expect(scene.house.submit(tracker, by: auditing) == .failure(.noSuchPerson))
        guard case .success = scene.house.submit(tracker, by: scene.walker) else {
            Issue.record("The person may have one.")
            return
        }
        for length in [nil, 899, 2_592_001] as [Int64?] {
            let reply = scene.house.submit(
                .addWebhook(
                    of: House.handle("walker"), Self.target, .silence, NoticeTerms(silentAfterSeconds: length)),
                by: scene.walker)
            guard case .failure(.invalid) = reply else {
                Issue.record("A length of \(length ?? 0) seconds is taken.")
                continue
            }
        }
    }

    private static func test(_ scene: inout Scene, _ id: WebhookID, by caller: Caller? = nil) -> Refusal? {
        let reply = scene.house.submit(.testWebhook(id, of: House.handle("walker")), by: caller ?? scene.walker)
        if case .failure(let refusal) = reply { return refusal }
        return nil
    }

    /// Three at once and then one in ten minutes: a mailbox gets at most 147 a day, by its own person.
    @Test func `a test is recorded, ends as its message does, and comes three times at once, then every ten minutes`()
        throws
    {
        var scene = Scene()
        let id = try #require(Self.add(&scene))
        #expect(scene.house.standing.webhooks[id]?.testOutcome == nil)
        for caller in [scene.friend, scene.phone] { #expect(Self.test(&scene, id, by: caller) == .noSuchPerson) }
        let managing = scene.house.token(for: .person(House.handle("walker")), [.manage], by: scene.admin)
        #expect(Self.test(&scene, id, by: managing) == .noSuchPerson)
        for turn in 0..<3 {
            #expect(Self.test(&scene, id, by: turn == 0 ? scene.admin : nil) == nil)
            let asked = try #require(scene.house.log.last)
            #expect(asked.event == .operatorActed(.testWebhook(id)) && asked.stream == .audit(scene.walkerID))
            #expect(scene.house.standing.webhooks[id]?.testOutcome == .waiting)
            // One at a time.
            guard case .invalid? = Self.test(&scene, id) else {
                Issue.record("A second test is taken while the first one waits.")
                continue
            }
            scene.house.submit(.settleWebhook(id, .told(upTo: asked.number)), by: .house)
            #expect(scene.house.standing.webhooks[id]?.testOutcome == .delivered)
        }
        #expect(Self.test(&scene, id) == .tooManyTests(seconds: 600))
        scene.house.now = scene.house.now.adding(seconds: 599)
        #expect(Self.test(&scene, id) == .tooManyTests(seconds: 1))
        scene.house.now = scene.house.now.adding(seconds: 1)
        #expect(Self.test(&scene, id) == nil)
        // Given up, and accepted when it is posted again.
        let asked = try #require(scene.house.log.last)
        let letter = try Self.fail(&scene, id, asked.number)
        scene.house.submit(.settleWebhook(id, .told(upTo: asked.number + 1)), by: .house)
        #expect(scene.house.standing.webhooks[id]?.testOutcome == .givenUp)
        scene.house.submit(.settleWebhook(id, .taken(letter)), by: .house)
        #expect(scene.house.standing.webhooks[id]?.testOutcome == .delivered)
    }

    @Test func `a webhook that would send no test is refused with the reason`() throws {
        var scene = Scene()
        let address = try #require(Self.addAddress(&scene, code: Self.hash))
        let tracker = scene.house.submit(
            .addWebhook(
                of: House.handle("walker"), WebhookTarget(url: "mqtt:", secret: []), [],
                NoticeTerms(kind: .homeAssistant)), by: scene.walker)
        guard case .success(.webhook(let trackerID)) = tracker else { throw TestFault() }
        let gone = try #require(Self.add(&scene))
        _ = try Self.fail(&scene, gone, 1000, status: 410)
        let token = scene.house.token(
            for: .person(House.handle("walker")), [.query, .audit, .manage], by: scene.admin)
        let mute = try #require(Self.add(&scene, by: token))
        scene.house.submit(.revokeToken(try #require(token.token)), by: scene.walker)
        let before = scene.house.log.count
        for (id, word) in [
            (address, "not confirmed"), (trackerID, "until a device has reported"), (gone, "stopped"),
            (mute, "no longer valid"),
        ] {
            guard case .invalid(let sentence)? = Self.test(&scene, id) else {
                Issue.record("\(word): a test is taken.")
                continue
            }
            #expect(sentence.contains(word), "\(sentence)")
        }
        #expect(Self.test(&scene, WebhookID(rawValue: 999_999)) == .notFound)
        #expect(scene.house.log.count == before)
    }

    private struct TestFault: Error {}

    @Test func `it ends with the person, and nothing is said of it any more`() throws {
        var scene = Scene()
        let id = try #require(Self.add(&scene))
        scene.house.submit(.erasePerson(House.handle("walker")), by: scene.admin)
        #expect(scene.house.standing.webhooks.all.isEmpty)
        let before = scene.house.log.count
        scene.house.submit(.settleWebhook(id, .told(upTo: 900)), by: .house)
        #expect(scene.house.log.count == before)
    }
}
