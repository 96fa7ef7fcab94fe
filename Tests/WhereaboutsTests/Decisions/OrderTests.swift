import Testing
import Whereabouts

/// A command with the type of its reply.
@Suite struct OrderTests {
    private static let walker = House.handle("walker")
    private static let terms = GrantTerms(precision: .exact, until: House.start.adding(seconds: 86_400))

    private static func hash(_ number: UInt64) -> Hash256 { Hash256(words: (number, 3, 3, 3)) }

    /// Sends the order, and reads its reply, also as it is kept for a repetition of the request.
    private static func send<Reply: Equatable>(
        _ order: Order<Reply>, by caller: Caller, _ house: inout House, isKept: Bool = true
    ) throws -> Reply {
        let key = RequestID(ofKeyedRequest: UInt64(house.log.count), 5)
        let first = try house.submit(order.command, by: caller, key: key).get()
        let reply = try #require(order.read(first))
        if isKept {
            let again = order.read(try house.submit(order.command, by: caller, key: key).get())
            #expect(again == reply, "\(order.command)")
        }
        return reply
    }

    @Test func `each order reads the reply of its command, and reads it again when the request is repeated`() throws {
        var scene = Scene()
        let end = House.start.adding(seconds: 3600)
        let grant = try Self.send(
            .giveGrant(subject: Self.walker, requester: House.handle("friend"), Self.terms), by: scene.walker,
            &scene.house)
        #expect(scene.house.standing.grants[grant]?.subject == scene.walkerID)
        let invitation = try Self.send(
            .invite(subject: Self.walker, Self.terms, hash: Self.hash(1), expires: end), by: scene.walker,
            &scene.house)
        #expect(scene.house.standing.invitations[invitation] != nil)
        let redeemed = try Self.send(.redeemInvitation(Self.hash(1)), by: scene.stranger, &scene.house)
        #expect(scene.house.standing.grants[redeemed] != nil)
        let account = try Self.send(
            .inviteToAccount(by: Self.walker, hash: Self.hash(2), expires: end), by: scene.walker, &scene.house)
        #expect(scene.house.standing.invitations[account] != nil)
        // The caller has no credentials yet, so nothing is kept in their name.
        let first = try Self.send(
            .openAccount(Self.hash(2), as: House.handle("anna"), key: Self.hash(3)), by: .house, &scene.house)
        #expect(scene.house.standing.tokens[first] != nil)
        let link = try Self.send(
            .addLink(
                of: Self.walker, Self.terms,
                LinkRequest(hash: Self.hash(4), hasPassphrase: false, isLive: false, openingsMax: nil, name: nil)),
            by: scene.walker, &scene.house)
        #expect(scene.house.standing.links[link] != nil)
        let viewing = try Self.send(
            .openLink(Self.hash(4), token: Self.hash(5), isSession: false), by: .house, &scene.house)
        #expect(scene.house.standing.tokens[viewing] != nil)
        let token = try Self.send(
            .issueToken(for: .person(Self.walker), scopes: [.query], hash: Self.hash(6), until: nil), by: scene.walker,
            &scene.house)
        let session = try Self.send(
            .openSession(from: Self.hash(6), hash: Self.hash(7)), by: .house, &scene.house)
        #expect(scene.house.standing.tokens[session]?.issued.madeFrom == token)
        let schedule = try Self.send(
            .setSchedule(of: Self.walker, everySeconds: 3600, until: nil), by: scene.walker, &scene.house)
        #expect(scene.house.standing.schedules[schedule] != nil)
        let webhook = try Self.send(
            .addWebhook(
                of: Self.walker, WebhookTarget(url: "https://example.org/", secret: [1]), .usual, NoticeTerms()),
            by: scene.walker, &scene.house)
        #expect(scene.house.standing.webhooks[webhook] != nil)
        let correction = try Self.send(
            .correct(.split(at: House.start), of: Self.walker), by: scene.walker, &scene.house)
        #expect(scene.house.standing.corrections(of: scene.walkerID).contains { $0.id == correction })
    }

    @Test func `an order to begin an import reads its id`() throws {
        var scene = Scene()
        let file = ImportReference(id: Identifier128(high: 0x1111_1111_1111_4111, low: 6), file: ImportedFile())
        let begun = try Self.send(
            .beginImport(file, of: House.handle("walker")), by: scene.admin, &scene.house, isKept: false)
        #expect(scene.house.standing.persons.imports[begun]?.id == file.id)
    }

    /// The replies with one entry for each report or device are not kept.
    @Test func `orders with several outcomes read one for each report or device`() throws {
        var scene = Scene()
        let fixes = [scene.house.fix(atSecond: 0), scene.house.fix(atSecond: 0)].map {
            DeviceReport.fix($0, answering: nil)
        }
        let outcomes = try Self.send(
            .reportFixes(device: .caller, fixes), by: scene.phone, &scene.house, isKept: false)
        #expect(outcomes == [.new, .duplicate])
        let file = ImportReference(id: Identifier128(high: 0x1111_1111_1111_4111, low: 5), file: ImportedFile())
        let imported = try Self.send(
            .importFixes(of: House.handle("grandmother"), device: House.handle("clock"), fixes, in: file),
            by: scene.admin, &scene.house, isKept: false)
        #expect(imported == ImportOutcome(addedPerson: true, addedDevice: true, fixes: [.new, .duplicate]))
    }

    @Test func `orders of pushes read one for each device`() throws {
        var scene = Scene()
        let token = LocationPushToken(bytes: [1, 2, 3, 4], bundleID: "org.example")
        scene.house.submit(.registerPushToken(device: House.handle("phone"), token, .production), by: scene.phone)
        let question = scene.house.question(1, about: "walker", maxAge: 0)
        scene.house.submit(.queryLocation(question), by: scene.walker)
        let started = try Self.send(
            .startPushes(question.id, to: [scene.phoneID]), by: .house, &scene.house, isKept: false)
        #expect(started.map(\.device) == [scene.phoneID])
        let tested = try Self.send(
            .testPush(QueryID(high: 8, low: 8), to: House.handle("phone")), by: scene.admin, &scene.house,
            isKept: false)
        #expect(tested.map(\.device) == [scene.phoneID])
    }

    @Test func `an order does not read the reply of another command`() {
        let order = Order.setSchedule(of: Self.walker, everySeconds: 3600, until: nil)
        #expect(order.read(.grant(GrantID(rawValue: 7))) == nil && order.read(.done) == nil)
        #expect(order.read(.schedule(ScheduleID(rawValue: 7))) == ScheduleID(rawValue: 7))
    }
}
