import Testing
import Whereabouts

@Suite struct AuthorizeTests {
    /// The asker, the grant, and the outcome of each act. `yes` is exact, `km` a kilometer, a word is the reason of
    /// the refusal as it is recorded; the asker never learns it.
    static let table: [(who: String, ask: String, stored: String, history: String, rest: String, consent: String)] = [
        ("operator", "yes", "yes", "yes", "yes", "noGrant"),
        ("operator without scopes", "missingScope", "missingScope", "missingScope", "missingScope", "missingScope"),
        ("walker", "yes", "yes", "yes", "yes", "yes"),
        ("walker with report alone", "missingScope", "missingScope", "missingScope", "missingScope", "missingScope"),
        ("walker with query alone", "yes", "yes", "yes", "missingScope", "missingScope"),
        ("walker while pausing", "yes", "yes", "yes", "yes", "yes"),
        ("granted exact", "yes", "yes", "yes", "noGrant", "noGrant"),
        ("granted kilometer", "km", "km", "historyNotGranted", "noGrant", "noGrant"),
        ("granted place names", "km", "km", "historyNotGranted", "noGrant", "noGrant"),
        ("granted live only", "yes", "yes", "historyNotGranted", "noGrant", "noGrant"),
        ("granted none", "precisionNone", "precisionNone", "precisionNone", "noGrant", "noGrant"),
        ("granted, asking each time", "yes", "consentNeeded", "consentNeeded", "noGrant", "noGrant"),
        ("granted at this hour", "yes", "yes", "yes", "noGrant", "noGrant"),
        ("granted at another hour", "notInForce", "notInForce", "notInForce", "noGrant", "noGrant"),
        ("granted, the walker pausing", "yes", "yes", "yes", "noGrant", "noGrant"),
        ("granted by invitation", "yes", "yes", "yes", "noGrant", "noGrant"),
        ("granted after the default time", "notInForce", "notInForce", "notInForce", "noGrant", "noGrant"),
        ("expired", "notInForce", "notInForce", "notInForce", "noGrant", "noGrant"),
        ("future", "notInForce", "notInForce", "notInForce", "noGrant", "noGrant"),
        ("revoked", "noGrant", "noGrant", "noGrant", "noGrant", "noGrant"),
        ("granted exact, then none", "precisionNone", "precisionNone", "precisionNone", "noGrant", "noGrant"),
        ("granted exact, then a future one", "yes", "yes", "yes", "noGrant", "noGrant"),
        ("granted without the query scope", "missingScope", "missingScope", "missingScope", "noGrant", "noGrant"),
        ("granted before there was one of the name", "noGrant", "noGrant", "noGrant", "noGrant", "noGrant"),
        ("stranger", "noGrant", "noGrant", "noGrant", "noGrant", "noGrant"),
        ("phone", "missingScope", "missingScope", "missingScope", "missingScope", "yes"),
        ("phone that was removed", "missingScope", "missingScope", "missingScope", "missingScope", "missingScope"),
        ("house", "missingScope", "missingScope", "missingScope", "missingScope", "missingScope"),
        ("friend about nobody", "unknownPerson", "unknownPerson", "unknownPerson", "unknownPerson", "unknownPerson"),
        ("operator about nobody", "unknownPerson", "unknownPerson", "unknownPerson", "unknownPerson", "unknownPerson"),
        (
            "granted, then the walker erased", "unknownPerson", "unknownPerson", "unknownPerson", "unknownPerson",
            "unknownPerson"
        ),
    ]

    @Test(arguments: table.map(\.who))
    func `everyone may do exactly what the table says`(who: String) throws {
        let row = try #require(Self.table.first { $0.who == who })
        var (scene, caller) = Self.arrange(who)
        scene.house.now = scene.house.now.adding(seconds: 10)
        let handle = House.handle(who.hasSuffix("nobody") ? "nobody" : "walker")
        for (act, expected) in [
            (Act.ask, row.ask), (.readLocation, row.stored), (.readHistory, row.history), (.audit, row.rest),
            (.manage, row.rest), (.consent, row.consent),
        ] {
            let verdict: String =
                switch scene.house.standing.authorize(caller, to: act, about: handle, at: scene.house.now) {
                case .success(let permit): permit.precision == .exact ? "yes" : "km"
                case .failure(let refused): refused.code.word
                }
            #expect(verdict == expected, "\(who), \(act)")
        }
    }

    private static func arrange(_ who: String) -> (Scene, Caller) {
        var scene = Scene()
        let start = House.start
        func grant(
            _ precision: Precision = .exact, history: Bool = true, from: Timestamp? = nil, until: Timestamp? = nil
        ) -> GrantID {
            scene.house.grant(
                "walker", to: "friend", precision, history: history, from: from, until: until, by: scene.walker)
        }
        func with(_ caller: Caller, _ scopes: Scopes) -> Caller {
            Caller(principal: caller.principal, scopes: scopes, token: caller.token)
        }
        switch who {
        case "operator", "operator about nobody": return (scene, scene.admin)
        case "operator without scopes": return (scene, with(scene.admin, .operate))
        case "walker": return (scene, scene.walker)
        case "walker with report alone": return (scene, with(scene.walker, .report))
        case "walker with query alone": return (scene, with(scene.walker, .query))
        case "granted exact": _ = grant()
        case "walker while pausing":
            scene.house.submit(.pauseSharing(House.handle("walker"), until: nil), by: scene.walker)
            return (scene, scene.walker)
        case "granted, asking each time":
            _ = scene.house.grant("walker", to: "friend", asksEachTime: true, by: scene.walker)
        case "granted at this hour", "granted at another hour":
            // 1 January 2026, midnight in Greenwich, was a Thursday, and one o'clock in Vienna.
            guard let vienna = ZoneRules(name: "Europe/Vienna", offsetSeconds: 3600, changes: []),
                let hours = try? WeeklyHours(
                    who == "granted at this hour" ? "Th 01:00-02:00" : "Mo-We,Fr-Su 00:00-24:00; Th 00:00-01:00",
                    in: vienna)
            else { break }
            _ = scene.house.grant("walker", to: "friend", hours: hours, by: scene.walker)
        case "granted, the walker pausing":
            _ = grant()
            scene.house.submit(.pauseSharing(House.handle("walker"), until: nil), by: scene.walker)
        case "granted by invitation":
            let hash = Hash256(words: (6, 6, 6, 6))
            scene.house.submit(
                .invite(
                    subject: House.handle("walker"), GrantTerms(precision: .exact, includesHistory: true), hash: hash,
                    expires: start.adding(seconds: 60)), by: scene.walker)
            scene.house.submit(.redeemInvitation(hash), by: scene.friend)
        case "granted after the default time":
            _ = grant()
            scene.house.now = start.adding(seconds: Limits.defaultGrantSeconds)
        case "granted before there was one of the name":
            _ = scene.house.grant("walker", to: "late", by: scene.walker)
            scene.house.submit(.addPerson(House.handle("late")), by: scene.admin)
            let late = scene.house.token(
                for: .person(House.handle("late")), [.query, .audit, .manage], by: scene.admin)
            return (scene, late)
        case "phone that was removed":
            scene.house.submit(.removeDevice(House.handle("phone")), by: scene.walker)
            return (scene, scene.phone)
        case "granted kilometer": _ = grant(.kilometer)
        case "granted place names": _ = grant(.place)
        case "granted live only": _ = grant(history: false)
        case "granted none": _ = grant(.none)
        case "expired": _ = grant(until: start.adding(seconds: 10))
        case "future": _ = grant(from: start.adding(seconds: 11))
        case "revoked":
            let id = grant()
            scene.house.submit(.revokeGrant(id), by: scene.walker)
        case "granted exact, then none":
            _ = grant()
            _ = grant(.none)
        case "granted exact, then a future one":
            _ = grant()
            _ = grant(.none, from: start.adding(seconds: 11))
        case "granted without the query scope":
            _ = grant()
            return (scene, with(scene.friend, [.audit, .manage]))
        case "granted, then the walker erased":
            _ = grant()
            scene.house.submit(.erasePerson(House.handle("walker")), by: scene.walker)
        case "stranger": return (scene, scene.stranger)
        case "phone": return (scene, scene.phone)
        case "house": return (scene, .house)
        default: break
        }
        return (scene, scene.friend)
    }

    @Test func `history before the grant stays closed`() throws {
        var scene = Scene()
        let from = House.start.adding(seconds: 5)
        _ = scene.house.grant("walker", to: "friend", from: from, by: scene.walker)
        scene.house.now = House.start.adding(seconds: 10)
        let permit = try scene.house.standing.authorize(
            scene.friend, to: .readHistory, about: House.handle("walker"), at: scene.house.now
        ).get()
        #expect(permit.notBefore == from)
    }

    @Test func `a revoked or expired token does nothing any more`() {
        var scene = Scene()
        let token = scene.friend.token ?? TokenID(rawValue: 0)
        #expect(scene.house.standing.isValid(scene.friend, at: scene.house.now))
        scene.house.submit(.revokeToken(token), by: scene.friend)
        #expect(!scene.house.standing.isValid(scene.friend, at: scene.house.now))
        #expect(
            scene.house.submit(.queryLocation(scene.house.question(1, about: "walker")), by: scene.friend)
                == .failure(.notAuthenticated))
        let until = House.start.adding(seconds: 60)
        let hash = Hash256(words: (1, 2, 3, 4))
        scene.house.submit(
            .issueToken(for: .person(House.handle("friend")), scopes: .query, hash: hash, until: until), by: scene.admin
        )
        #expect(scene.house.standing.caller(tokenHash: hash, at: until.adding(seconds: -1)) != nil)
        #expect(scene.house.standing.caller(tokenHash: hash, at: until) == nil)
    }

    /// A command by a caller without the right to it changes nothing and is refused as for a stranger.
    @Test(arguments: ["friend", "stranger", "phone", "nobody's token"])
    func `whoever may not manage the walker changes nothing about her`(who: String) throws {
        var scene = Scene()
        let grant = scene.house.grant("walker", to: "friend", by: scene.walker)
        let forged = Caller(principal: scene.walker.principal, scopes: [.manage], token: TokenID(rawValue: 999))
        let caller = ["friend": scene.friend, "stranger": scene.stranger, "phone": scene.phone][who] ?? forged
        let walker = House.handle("walker")
        let region = AnyRegion.home
        let commands: [Command] = [
            .addPerson(House.handle("new")), .addDevice(House.handle("new"), of: walker),
            .removeDevice(House.handle("phone")),
            .issueToken(for: .person(walker), scopes: .query, hash: Hash256(words: (5, 5, 5, 5)), until: nil),
            .issueToken(for: .operator, scopes: .operate, hash: Hash256(words: (5, 5, 5, 5)), until: nil),
            .revokeToken(try #require(scene.walker.token)),
            .giveGrant(
                subject: walker, requester: House.handle("stranger"),
                GrantTerms(precision: .exact, includesHistory: true)),
            .pauseSharing(walker, until: nil), .resumeSharing(walker),
            .invite(
                subject: walker, GrantTerms(precision: .exact), hash: Hash256(words: (6, 6, 6, 6)),
                expires: House.start.adding(seconds: 60)),
            .withdrawInvitation(InvitationID(rawValue: 1)),
            .revokeGrant(grant), .addRegion(region, of: walker), .removeRegion(identifier: "home", of: walker),
            .reportFixes(device: .named(House.handle("phone")), []), .erasePerson(walker),
            .endFailedQuery(QueryID(high: 1, low: 1)), .settlePushes, .endOverdueQueries,
            .cancelQuery(QueryID(high: 1, low: 1)),
            .retirePushToken(
                scene.phoneID, LocationPushToken(bytes: [1, 2, 3, 4], bundleID: "a"), reason: "", asOf: nil),
            .countRefusals(by: scene.friend.principal, count: 1, since: House.start),
        ]
        let before = scene.house.log.count
        for command in commands {
            guard case .failure(let refusal) = scene.house.submit(command, by: caller) else {
                Issue.record("\(who) was let through with \(command)")
                continue
            }
            // The refusal does not disclose whether something exists.
            #expect([.noSuchPerson, .notFound, .notAuthenticated].contains(refusal) || command.isForOperator)
        }
        #expect(scene.house.log.count == before)
    }
}

extension Command {
    /// Making the operator's token is refused with a sentence: everyone may know that.
    fileprivate var isForOperator: Bool {
        if case .issueToken(.operator, _, _, _) = self { true } else { false }
    }
}
