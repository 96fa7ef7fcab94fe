import Testing
import Whereabouts

/// The right to a webhook, and its progress.
@Suite struct WebhookDecisionTests {
    private static let target = WebhookTarget(url: "https://example.org/", secret: [1])

    private static func add(_ scene: inout Scene, by caller: Caller? = nil) -> WebhookID? {
        let reply = scene.house.submit(
            .addWebhook(of: House.handle("walker"), target, .all), by: caller ?? scene.walker)
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

    @Test func `who has none is not told to remove one when the house has as many as it can look after`() {
        var scene = Scene()
        for number in 0..<Limits.webhooks / Limits.webhooksPerPerson {
            let handle = House.handle("person-\(number)")
            scene.house.submit(.addPerson(handle), by: scene.admin)
            let token = scene.house.token(for: .person(handle), [.query, .audit, .manage], by: scene.admin)
            for _ in 0..<Limits.webhooksPerPerson {
                scene.house.submit(.addWebhook(of: handle, Self.target, .all), by: token)
            }
        }
        #expect(scene.house.standing.webhooks.all.count == Limits.webhooks)
        let reply = scene.house.submit(.addWebhook(of: House.handle("walker"), Self.target, .all), by: scene.walker)
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
