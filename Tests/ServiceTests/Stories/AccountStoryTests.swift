import JSON
import Testing
import Whereabouts

@testable import Service

/// Somebody becomes a person by a code.
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
            // The name is taken, which nobody is told.
            let opened = Self.open(made["code"]?.string, as: "walker", in: house)
            #expect(opened.status == 201)
            let handle = try #require(opened["handle"]?.string), token = try #require(opened["token"]?.string)
            #expect(handle.hasPrefix("walker-") && handle.count == 11)
            #expect(house.send("GET", "/v1/people/\(handle)/grants", as: token).status == 200)
            #expect(house.send("GET", "/v1/people/walker/grants", as: token).status == 404)
            #expect(Self.open(made["code"]?.string, as: "second", in: house).status == 404)
            #expect(house.send("GET", "/v1/account-invitations", as: inviter).items.isEmpty)
            // Who invited whom can be told from the log.
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
        for _ in 0..<Limits.accountInvitationsPerPerson { #expect(invite(60) == 201) }
        #expect(invite(60) == 422)
        house.clock.advance(seconds: 60)
        #expect(invite(60) == 201)
    }
}
