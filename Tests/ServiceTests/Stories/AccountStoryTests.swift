import JSON
import Log
import Testing
import Whereabouts

@testable import Answers
@testable import Service

/// A newcomer becomes a person by a code.
@Suite struct AccountStoryTests {
    private static func open(
        _ code: String?, as name: String, in house: ServiceUnderTest, key: String? = nil
    ) -> Answer {
        house.send(
            "POST", "/v1/accounts", as: nil, #"{"code":"\#(code ?? "")","name":"\#(name)"}"#,
            headers: key.map { [("Idempotency-Key", $0)] } ?? [])
    }

    @Test func `a code of the operator or of a person makes one account, with a token of its own`() throws {
        let house = try ServiceUnderTest()
        let walker = try house.addPerson("walker")
        for inviter in [house.operatorToken, walker] {
            let made = house.send("POST", "/v1/account-invitations", as: inviter, "{}")
            #expect(made.status == 201 && made["expires"]?.int == house.clock.seconds + 86_400)
            let id = try #require(made["id"]?.name)
            let listed = house.send("GET", "/v1/account-invitations", as: inviter).items
            #expect(listed.map { $0["id"]?.name } == [id])
            // The name is taken; no answer says so.
            let opened = Self.open(made["code"]?.string, as: "walker", in: house)
            #expect(opened.status == 201)
            let handle = try #require(opened["handle"]?.string), token = try #require(opened["token"]?.string)
            #expect(handle.hasPrefix("walker-") && handle.count == 11)
            #expect(house.send("GET", "/v1/people/\(handle)/grants", as: token).status == 200)
            #expect(house.send("GET", "/v1/people/walker/grants", as: token).status == 404)
            #expect(Self.open(made["code"]?.string, as: "second", in: house).status == 404)
            #expect(house.send("GET", "/v1/account-invitations", as: inviter).items.isEmpty)
            // The log shows the inviter of each account.
            let number = try #require(house.number(made["id"], .accountInvitation))
            let added = try house.events(after: number).first {
                if case .personAdded = $0.event { true } else { false }
            }
            #expect(added?.cause == number)
        }
        let changes = house.send("GET", "/v1/people/walker/audit?at-least=\(house.service.log.head)", as: walker).items
            .compactMap { $0["event"]?.string }
        #expect(changes.contains("AccountInvitationMade") && changes.contains("AccountInvitationClosed"))
    }

    @Test func `a client that lost the answer gets its account when it sends the request again`() throws {
        let house = try ServiceUnderTest()
        let code = house.manage("POST", "/v1/account-invitations", "{}")["code"]?.string
        let first = Self.open(code, as: "new", in: house, key: "k-1")
        try house.restart()
        let again = Self.open(code, as: "new", in: house, key: "k-1")
        #expect(first.status == 201 && again.text == first.text)
        #expect(house.manage("GET", "/v1/people").items.count == 1)
    }

    @Test func `wrong, used, withdrawn and expired codes are one answer`() throws {
        let house = try ServiceUnderTest()
        let walker = try house.addPerson("walker")
        func invite(_ body: String = "{}") -> Answer {
            house.send("POST", "/v1/account-invitations", as: walker, body)
        }
        let used = invite()["code"]?.string
        #expect(Self.open(used, as: "new", in: house).status == 201)
        let withdrawn = invite()
        let stranger = try house.addPerson("stranger")
        let target = "/v1/account-invitations/\(try #require(withdrawn["id"]?.name))"
        #expect(house.send("DELETE", target, as: stranger).status == 404)
        #expect(house.send("DELETE", target, as: walker).status == 200)
        let expired = invite(#"{"expires":\#(house.clock.seconds + 60)}"#)["code"]?.string
        house.clock.advance(seconds: 60)
        let erased = house.send("POST", "/v1/account-invitations", as: stranger, "{}")["code"]?.string
        house.manage("DELETE", "/v1/people/stranger")
        let codes = [used, withdrawn["code"]?.string, expired, erased, "0000-0000-0000-0000-0000", "no code"]
        let answers = codes.map { Self.open($0, as: "other", in: house) }
        #expect(answers.allSatisfy { $0.status == 404 && $0.observable == answers[0].observable })
        #expect(Self.open("0000-0000-0000-0000-0000", as: "Not a name", in: house).status == 400)
    }

    @Test func `the list of everybody comes in pages`() throws {
        let house = try ServiceUnderTest()
        let names = ["anna", "anna.b", "ben", "carl", "dora"]
        for name in names.shuffled() { house.manage("POST", "/v1/people", #"{"handle":"\#(name)"}"#) }
        var found: [String] = []
        var after = ""
        repeat {
            let page = house.manage("GET", "/v1/people?limit=2\(after)")
            #expect(page.items.count <= 2)
            found += page.items.compactMap { $0["handle"]?.string }
            after = page["next"]?.string.map { "&after=\($0)" } ?? ""
        } while !after.isEmpty
        #expect(found == names)
    }

    @Test func `a person has twenty codes open, of a week at most; a device and a reader have none`() throws {
        let house = try ServiceUnderTest()
        let walker = try house.addPerson("walker")
        let phone = try house.addDevice("phone", of: "walker")
        let reader = try house.token(of: "walker", scopes: #"["query","audit"]"#)
        for token in [phone, reader] {
            #expect(house.send("POST", "/v1/account-invitations", as: token, "{}").status == 404)
            #expect(house.send("GET", "/v1/account-invitations", as: token).status == 404)
        }
        func invite(_ seconds: Int64) -> Int {
            house.send(
                "POST", "/v1/account-invitations", as: walker, #"{"expires":\#(house.clock.seconds + seconds)}"#
            ).status
        }
        #expect(invite(Limits.longestInvitationSeconds + 1) == 422 && invite(0) == 422)
        let rate = Limits.accountInvitationsPerInviter
        for _ in 0..<rate.capacity { #expect(invite(5 * 86_400) == 201) }
        house.clock.advance(seconds: rate.capacity * rate.refillSeconds)
        for _ in 0..<(Limits.accountInvitationsPerPerson - Int(rate.capacity)) { #expect(invite(5 * 86_400) == 201) }
        house.clock.advance(seconds: rate.capacity * rate.refillSeconds)
        #expect(invite(60) == 422)
        house.clock.advance(seconds: 4 * 86_400)
        #expect(invite(60) == 201)
    }

    private static func opened(by inviter: String, in house: ServiceUnderTest) -> String? {
        let made = house.send("POST", "/v1/account-invitations", as: inviter, "{}")
        guard made.status == 201 else { return nil }
        return open(made["code"]?.string, as: "new", in: house)["token"]?.string
    }

    @Test func `a person invites ten others a day, whatever becomes of the codes`() throws {
        let house = try ServiceUnderTest()
        let walker = try house.addPerson("walker")
        func invite() -> Answer { house.send("POST", "/v1/account-invitations", as: walker, "{}") }
        for count in 0..<10 {
            let made = invite()
            #expect(made.status == 201)
            if count % 2 == 0, let id = made["id"]?.name {
                house.send("DELETE", "/v1/account-invitations/\(id)", as: walker)
            } else {
                #expect(Self.open(made["code"]?.string, as: "new", in: house).status == 201)
            }
        }
        let refused = invite()
        #expect(refused.status == 429 && refused.header("Retry-After") == "8640", "\(refused.text)")
        #expect(refused.text.contains("You may invite 10 people a day"))
        try house.restart()
        #expect(invite().status == 429)
        // The operator, and persons whom the operator added, are not in this tree.
        let other = try house.addPerson("other")
        #expect(Self.opened(by: other, in: house) != nil)
        #expect(house.send("POST", "/v1/account-invitations", as: house.operatorToken, "{}").status == 201)
        house.clock.advance(seconds: 8639)
        #expect(invite().status == 429)
        house.clock.advance(seconds: 1)
        #expect(invite().status == 201)
        #expect(invite().status == 429)
    }

    @Test func `the persons of one invitation tree invite thirty others a day, also past an erasure`() throws {
        let house = try ServiceUnderTest()
        let root = try house.addPerson("root")
        // Two generations: the children of the first child are of the root's tree.
        let child = try #require(Self.opened(by: root, in: house))
        let grandchild = try #require(Self.opened(by: child, in: house))
        house.manage("DELETE", "/v1/people/root")
        // The erasure of the root gave the tree its allowance back, and no more.
        var inviters = [child, grandchild]
        var made = 0
        var newest = grandchild
        while let inviter = inviters.first {
            if let token = Self.opened(by: inviter, in: house) {
                made += 1
                inviters.append(token)
                newest = token
            } else {
                inviters.removeFirst()
            }
        }
        #expect(made == 30)
        let refused = house.send("POST", "/v1/account-invitations", as: newest, "{}")
        #expect(refused.status == 429 && refused.text.contains("invite 30 people a day"), "\(refused.text)")
        try house.restart()
        #expect(house.send("POST", "/v1/account-invitations", as: grandchild, "{}").status == 429)
        let trees = house.service.log.withStanding { standing in
            Dictionary(grouping: standing.persons.all.keys) { standing.tree(of: $0) }.mapValues(\.count)
        }
        #expect(trees.values.sorted() == [33])
        let stranger = try house.addPerson("stranger")
        #expect(Self.opened(by: stranger, in: house) != nil)
    }

    @Test func `an account that the operator invited is the root of its own tree`() throws {
        let house = try ServiceUnderTest()
        let tokens = [
            try #require(Self.opened(by: house.operatorToken, in: house)),
            try #require(Self.opened(by: house.operatorToken, in: house)),
        ]
        for token in tokens { #expect(Self.opened(by: token, in: house) != nil) }
        let trees = house.service.log.withStanding { standing in
            Dictionary(grouping: standing.persons.all.keys) { standing.tree(of: $0) }.mapValues(\.count)
        }
        #expect(trees.values.sorted() == [2, 2])
    }
}
