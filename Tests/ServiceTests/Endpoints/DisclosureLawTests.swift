import Cryptography
import HTTPServer
import JSON
import Log
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Answers
@testable import HTTPInterface
@testable import Projections
@testable import Reactors
@testable import Service

/// Every route by every asker: the answers with data, which are recorded first, and the refusals, which disclose
/// nothing.
@Suite struct DisclosureLawTests {
    typealias Asker = Village.Asker

    /// A request about the subject, or about a person who does not exist.
    struct Wish {
        var target: String
        var body = ""
    }

    /// The expected behavior of a route.
    struct Row: Sendable {
        /// The askers who get the subject's data, on record.
        var shown: Set<Asker> = []
        /// The askers who get an answer without the subject's data.
        var done: Set<Asker> = []
        /// The askers who get a refusal, and learn nothing about the subject.
        var refused: Set<Asker> = []
        /// Whether the answer is the operator's directory, which is not recorded: handles of persons and devices.
        var isDirectory = false
        /// The status for askers without a valid token.
        var unauthenticated = 401
        /// The askers who get the same answer as without a valid token.
        var unknown: Set<Asker> = [.nobody, .wrongToken, .formerToken]
        /// Prepares the data for the request and returns it. If `isKnown` is false, it is about a person or
        /// thing that does not exist.
        let wish: @Sendable (Village, Asker, _ isKnown: Bool) throws -> Wish
    }

    /// The asker whose row also applies to this one: city and place friends are treated as a kilometer friend, and a token of one
    /// scope as the subject's if that scope suffices. `nil`: the asker learns nothing.
    static func likeness(of asker: Asker, on name: String, _ row: Row) -> Asker? {
        switch asker {
        case .cityFriend, .placeFriend: return .kilometerFriend
        case .removedPhone: return .formerToken
        // As a friend with history, but asks nothing, and has no data, settings or friends.
        case .visitor:
            if name.hasPrefix("POST /session") { return .phone }
            if name == "GET /api/0/list" { return .stranger }
            if name == "GET /v1/live" { return .visitor }
            // A link has no key for which anything could be sealed.
            if name.hasSuffix("/keys") || name.hasSuffix("/envelopes") { return nil }
            let isForAll = row.done.isSuperset(of: [.strangersPhone, .stranger, .operator])
            return isForAll || (row.shown.contains(.oldFriend) && !name.contains("location-queries")) ? .oldFriend : nil
        // Reports its own data, and nothing about the subject's things.
        case .strangersPhone:
            let isAboutThings = ["/v1/people/", "/v1/devices/", "/v1/location-queries/"].contains { name.contains($0) }
            return isAboutThings || row.shown.contains(.phone) ? nil : .phone
        case .querying: return scopes(of: name).isSubset(of: .query) ? .subject : nil
        case .auditing: return scopes(of: name).isSubset(of: .audit) ? .subject : nil
        case .managing: return scopes(of: name).isSubset(of: .manage) ? .subject : nil
        default: return asker
        }
    }

    /// The operations by method and path.
    static let operations = Dictionary(
        uniqueKeysWithValues: RouteTable.all.operations.map { (name($0.route), $0) })

    /// The scopes that the operation says a person's own token needs.
    private static func scopes(of name: String) -> Scopes { operations[name]?.access.scopes ?? [] }

    static let readers: Set<Asker> = [.oldFriend, .subject, .operator]
    static let askers: Set<Asker> = [.kilometerFriend, .liveFriend, .oldFriend, .subject, .operator]
    /// An asking friend may ask, and sees no stored data.
    static let questioners = askers.union([.askingFriend])
    static let managers: Set<Asker> = [.subject, .operator]
    static let persons: Set<Asker> = [
        .stranger, .formerFriend, .expiredFriend, .noneFriend, .kilometerFriend, .liveFriend, .oldFriend,
        .askingFriend, .hoursFriend, .subject,
    ]

    private static func person(_ isKnown: Bool) -> String { isKnown ? Village.subject : "nobody-at-all" }
    private static func device(_ isKnown: Bool) -> String { isKnown ? Village.phone : "nobodys-phone" }

    private static func reading(_ what: String, by shown: Set<Asker>) -> Row {
        Row(shown: shown) { village, _, isKnown in
            Wish(target: "/v1/people/\(person(isKnown))/\(what)?at-least=\(village.house.service.log.head)")
        }
    }

    private static let osmAnd = Row(done: [.phone], unauthenticated: 400) { village, asker, _ in
        let key = village.tokens[asker].map { "id=\($0)&" } ?? ""
        return Wish(target: "/osmand?\(key)timestamp=\(village.house.clock.seconds)&lat=1.5&lon=2.5")
    }

    private static func phoneTrack(_ form: String, _ query: String = "", body: String = "") -> Row {
        Row(done: [.phone]) { village, asker, _ in
            let key = village.tokens[asker] ?? Village.madeUp
            return Wish(target: "/index.php/apps/phonetrack/\(form)/\(key)/any\(query)", body: body)
        }
    }

    /// A row for a route that is not about a person: every asker with a valid token gets an answer.
    private static func anybody(_ target: String, _ body: String = "") -> Row {
        Row(done: Set(Asker.allCases).subtracting([.nobody, .wrongToken, .formerToken])) { _, _, _ in
            Wish(target: target, body: body)
        }
    }

    private static func operating(_ target: String, _ body: String = "") -> Row {
        Row(done: [.operator]) { _, _, _ in Wish(target: target, body: body) }
    }

    /// The size of a new checkpoint of the house.
    private static func committed(_ village: Village) -> Int64 {
        let answer = village.house.manage("GET", "/v1/log/checkpoint")
        let lines = answer.text.split(separator: "\n")
        return lines.count > 1 ? Int64(lines[1]) ?? 0 : 0
    }

    static let rows: [String: Row] = [
        "POST /v1/fixes": Row(done: [.phone]) { village, asker, _ in
            Wish(
                target: "/v1/fixes", body: #"{"timestamp":\#(village.house.clock.seconds),"latitude":1,"longitude":2}"#)
        },
        "POST /v1/reports": Row(done: [.phone]) { village, _, _ in
            Wish(
                target: "/v1/reports",
                body: """
                    {"reports":[{"type":"authorization","timestamp":\(village.house.clock.seconds),
                    "status":"authorizedAlways","accuracy":"full"}]}
                    """)
        },
        "POST /owntracks": Row(done: [.phone]) { village, _, _ in
            Wish(
                target: "/owntracks",
                body: #"{"_type":"location","tst":\#(village.house.clock.seconds),"lat":1.5,"lon":2.5}"#)
        },
        "POST /pub": Row(done: [.phone]) { village, _, _ in
            Wish(
                target: "/pub?u=jane&d=phone",
                body: #"{"_type":"location","tst":\#(village.house.clock.seconds),"lat":1.5,"lon":2.5}"#)
        },
        "POST /overland": Row(done: [.phone]) { village, _, _ in
            Wish(
                target: "/overland",
                body: """
                    {"locations":[{"type":"Feature","geometry":{"type":"Point","coordinates":[2.5,1.5]},
                    "properties":{"timestamp":"2026-01-01T00:00:00Z"}}]}
                    """)
        },
        "GET /osmand": osmAnd,
        "POST /osmand": osmAnd,
        "GET /index.php/apps/phonetrack/logGet/*/*": phoneTrack("logGet", "?lat=1.5&lon=2.5&timestamp=1777800000"),
        "POST /index.php/apps/phonetrack/logPost/*/*": phoneTrack("logPost"),
        "POST /index.php/apps/phonetrack/logPostMultiple/*/*": phoneTrack(
            "logPostMultiple", body: #"{"points":[[1.5,2.5,1777800000]]}"#),
        "POST /ulogger/client/index.php": Row(done: [.phone]) { village, asker, _ in
            Wish(
                target: "/ulogger/client/index.php",
                body: "action=addtrack&track=a&pass=\(village.tokens[asker] ?? Village.madeUp)")
        },
        "POST /api/webhook/*": Row(done: [.phone]) { village, asker, _ in
            Wish(
                target: "/api/webhook/\(village.tokens[asker] ?? Village.madeUp)",
                body: #"{"type":"update_location","data":{"gps":[1.5,2.5],"gps_accuracy":5}}"#)
        },
        "POST /v1/imports/*/batches": Row(done: [.operator]) { village, _, isKnown in
            Wish(
                target: "/v1/imports/6b1c4f6e-3f60-4cb9-9d1f-2f5f1a1f7a02/batches",
                body: #"{"device":"\#(device(isKnown))","fixes":[]}"#)
        },
        "PUT /v1/devices/*/location-push-token": Row(done: [.phone]) { _, _, isKnown in
            Wish(
                target: "/v1/devices/\(device(isKnown))/location-push-token",
                body: #"{"hex":"00112233445566778899","environment":"development","bundleID":"org.example"}"#)
        },
        // The village has no APNs: no device gets a push and no asker a push request. Only the operator learns why.
        "POST /v1/devices/*/push-tests": Row(refused: [.operator]) { _, _, isKnown in
            Wish(target: "/v1/devices/\(device(isKnown))/push-tests")
        },
        "GET /v1/devices/*/push-request": Row(refused: [.operator]) { _, _, isKnown in
            Wish(target: "/v1/devices/\(device(isKnown))/push-request")
        },
        "POST /v1/people/*/location-queries": Row(done: questioners) { _, _, isKnown in
            Wish(target: "/v1/people/\(person(isKnown))/location-queries", body: #"{"purpose":"to test"}"#)
        },
        "GET /v1/location-queries/*": Row(shown: askers) { village, asker, isKnown in
            Wish(target: try query(village, asker, isKnown))
        },
        "DELETE /v1/location-queries/*": Row(done: askers) { village, asker, isKnown in
            Wish(target: try query(village, asker, isKnown))
        },
        "GET /v1/people/*/location": reading("location", by: askers),
        "GET /v1/people/*/track": reading("track", by: readers),
        "GET /api/0/version": anybody("/api/0/version"),
        // The handles of the persons that the caller may locate, without locations.
        "GET /api/0/list": Row(shown: askers, done: persons.subtracting(askers), isDirectory: true) { _, _, _ in
            Wish(target: "/api/0/list")
        },
        "GET /api/0/last": Row(shown: askers) { village, _, isKnown in
            _ = village.house.settled()
            return Wish(target: "/api/0/last?user=\(person(isKnown))")
        },
        "GET /api/0/locations": Row(shown: readers) { village, asker, isKnown in
            _ = village.house.settled()
            let device = [.subject, .operator, .querying].contains(asker) ? device(isKnown) : "phone"
            return Wish(
                target: "/api/0/locations?user=\(person(isKnown))&device=\(device)&from=2026-01&to=2027-01&format=json")
        },
        "GET /v1/people/*/exports/*": reading("exports/fixes", by: readers),
        "GET /v1/people/*/visits": reading("visits", by: readers),
        "GET /v1/people/*/visits/*": Row(shown: readers) { village, _, isKnown in
            let visits = village.house.manage("GET", "/v1/people/walker/visits").items
            let id = try #require(visits.first?["id"]?.string)
            return Wish(target: "/v1/people/\(person(isKnown))/visits/\(id)")
        },
        "GET /v1/people/*/crossings": reading("crossings", by: readers),
        "GET /v1/people/*/trips": reading("trips", by: readers),
        "GET /v1/people/*/places": reading("places", by: readers),
        "GET /v1/people/*/summary": Row(shown: readers) { village, _, isKnown in
            let seconds = village.house.clock.seconds
            return Wish(target: "/v1/people/\(person(isKnown))/summary?from=\(seconds - 7 * 86_400)&period=week")
        },
        "GET /v1/people/*/audit": reading("audit", by: managers),
        "GET /v1/people/*/proof": reading("proof", by: managers),
        // A checkpoint is a number and hashes.
        "GET /v1/people/*/checkpoint": Row(done: managers) { village, _, isKnown in
            Wish(target: "/v1/people/\(person(isKnown))/checkpoint?at-least=\(village.house.service.log.head)")
        },
        // By now the subject has asked, and been asked for often.
        "GET /v1/people/*/asked": reading("asked", by: managers),
        "GET /v1/people/*/findings": reading("findings", by: managers),
        "GET /v1/people/*/regions": reading("regions", by: managers),
        "GET /v1/people/*/devices": reading("devices", by: managers),
        "GET /v1/people/*/tokens": reading("tokens", by: managers),
        "GET /v1/people/*/grants": reading("grants", by: managers),
        "POST /v1/people": Row(done: [.operator]) { village, _, _ in
            Wish(target: "/v1/people", body: #"{"handle":"new-\#(village.house.service.log.head)"}"#)
        },
        "GET /v1/push-budgets": Row(shown: [.operator], isDirectory: true) { village, _, _ in
            // A device without a push token has no budget that matters.
            let token = #"{"hex":"00112233445566778899","environment":"development","bundleID":"org.example"}"#
            _ = village.house.send(
                "PUT", "/v1/devices/\(device(true))/location-push-token", as: village.tokens[.phone], token)
            return Wish(target: "/v1/push-budgets")
        },
        "GET /v1/people": Row(shown: [.operator], isDirectory: true) { _, _, _ in Wish(target: "/v1/people") },
        "DELETE /v1/people/*": Row(done: [.operator]) { village, _, isKnown in
            // The stories test erasure by the subject. Here another person is erased, because the subject is still
            // needed.
            let victim = "victim-\(village.house.service.log.head)"
            _ = try village.house.addPerson(victim)
            return Wish(target: "/v1/people/\(isKnown ? victim : "nobody-at-all")")
        },
        "POST /v1/people/*/devices": Row(done: managers) { village, _, isKnown in
            Wish(
                target: "/v1/people/\(person(isKnown))/devices",
                body: #"{"handle":"\#(person(isKnown)).tablet-\#(village.house.service.log.head)"}"#)
        },
        "DELETE /v1/devices/*": Row(done: managers) { village, _, isKnown in
            let handle = "spare-\(village.house.service.log.head)"
            _ = try village.house.addDevice(handle, of: Village.subject)
            return Wish(target: "/v1/devices/\(isKnown ? handle : "nobodys-phone")")
        },
        "POST /v1/devices/*/tokens": Row(done: managers) { _, _, isKnown in
            Wish(target: "/v1/devices/\(device(isKnown))/tokens")
        },
        "POST /v1/people/*/tokens": Row(done: managers) { _, _, isKnown in
            Wish(target: "/v1/people/\(person(isKnown))/tokens", body: #"{"scopes":["query"]}"#)
        },
        "DELETE /v1/tokens/*": Row(done: managers) { village, _, isKnown in
            let made = village.house.manage("POST", "/v1/people/walker/tokens", #"{"scopes":["query"]}"#)
            return Wish(target: "/v1/tokens/\(isKnown ? try #require(made["id"]?.int) : 999_999)")
        },
        "POST /v1/people/*/grants": Row(done: managers) { _, _, isKnown in
            Wish(
                target: "/v1/people/\(person(isKnown))/grants",
                body: #"{"requester":"nonefriend","precision":"none","history":false}"#)
        },
        "DELETE /v1/grants/*": Row(done: managers) { village, _, isKnown in
            let grant = try village.house.grant(Village.subject, to: "nonefriend", precision: "none")
            return Wish(target: "/v1/grants/\(isKnown ? grant : 999_999)")
        },
        "POST /v1/people/*/pauses": Row(done: managers) { village, _, isKnown in
            // For a second: the pause is over when the next one asks.
            let body = #"{"until":\#(village.house.clock.seconds + 1)}"#
            return Wish(target: "/v1/people/\(person(isKnown))/pauses", body: body)
        },
        "GET /v1/people/*/pauses": Row(done: managers) { _, _, isKnown in
            Wish(target: "/v1/people/\(person(isKnown))/pauses")
        },
        "DELETE /v1/people/*/pauses": Row(done: managers) { _, _, isKnown in
            Wish(target: "/v1/people/\(person(isKnown))/pauses")
        },
        "POST /v1/people/*/invitations": Row(done: managers) { village, _, isKnown in
            Wish(target: "/v1/people/\(person(isKnown))/invitations", body: invitation(village))
        },
        "GET /v1/people/*/invitations": Row(done: managers) { _, _, isKnown in
            Wish(target: "/v1/people/\(person(isKnown))/invitations")
        },
        "DELETE /v1/invitations/*": Row(done: managers) { village, _, isKnown in
            let made = village.house.manage("POST", "/v1/people/walker/invitations", invitation(village))
            return Wish(target: "/v1/invitations/\(isKnown ? try #require(made["id"]?.int) : 999_999)")
        },
        // An invitation of another person: the subject's own would show the subject's name to each holder of the code.
        "POST /v1/redemptions": Row(done: persons) { village, _, isKnown in
            let host = "host-\(village.house.service.log.head)"
            _ = try village.house.addPerson(host)
            let made = village.house.manage("POST", "/v1/people/\(host)/invitations", #"{"precision":"none"}"#)
            let code = isKnown ? try #require(made["code"]?.string) : "0000-0000-0000-0000-0000"
            return Wish(target: "/v1/redemptions", body: #"{"code":"\#(code)"}"#)
        },
        // Names only, of those whom one may ask.
        "GET /v1/shared-with-me": Row(
            shown: questioners.subtracting([.subject, .operator]),
            done: persons.subtracting(questioners).union([.subject]), isDirectory: true
        ) { _, _, _ in Wish(target: "/v1/shared-with-me") },
        "GET /v1/people/*/previews/*": Row(shown: managers) { village, _, isKnown in
            let head = village.house.service.log.head
            return Wish(target: "/v1/people/\(person(isKnown))/previews/oldfriend?at-least=\(head)")
        },
        "POST /v1/account-invitations": Row(done: persons.union([.operator])) { _, _, _ in
            Wish(target: "/v1/account-invitations", body: "{}")
        },
        "GET /v1/account-invitations": Row(done: persons.union([.operator])) { _, _, _ in
            Wish(target: "/v1/account-invitations")
        },
        "DELETE /v1/account-invitations/*": Row(done: managers) { village, _, isKnown in
            // A person has few of them.
            guard isKnown else { return Wish(target: "/v1/account-invitations/999999") }
            let open = village.house.send("GET", "/v1/account-invitations", as: village.tokens[.subject]).items.first
            let made =
                open?["id"]
                ?? village.house.send("POST", "/v1/account-invitations", as: village.tokens[.subject], "{}")["id"]
            let id = try #require(village.house.number(made, .accountInvitation))
            return Wish(target: "/v1/account-invitations/\(id)")
        },
        "POST /v1/people/*/links": Row(done: managers) { _, _, isKnown in
            // The person has few of them, and the grant of a link counts too.
            Wish(target: "/v1/people/\(person(isKnown))/links", body: #"{"precision":"city","forSeconds":1}"#)
        },
        "GET /v1/people/*/links": Row(shown: managers) { village, _, isKnown in
            _ = village.house.manage(
                "POST", "/v1/people/\(Village.subject)/links", #"{"forSeconds":1,"name":"garden-gate"}"#)
            return Wish(target: "/v1/people/\(person(isKnown))/links")
        },
        "DELETE /v1/links/*": Row(done: managers) { village, _, isKnown in
            let made = village.house.manage("POST", "/v1/people/\(Village.subject)/links", #"{"forSeconds":1}"#)
            let id = try #require(village.house.number(made["id"], .link))
            return Wish(target: "/v1/links/\(isKnown ? id : 999_999)")
        },
        // A link needs no token either; one that shows nothing opens nothing, with any token.
        "POST /v1/link-openings": Row(unauthenticated: 404) { _, _, _ in
            Wish(target: "/v1/link-openings", body: #"{"link":"wl_none"}"#)
        },
        // A code needs no token, and a wrong one opens nothing, with any token.
        "POST /v1/accounts": Row(unauthenticated: 404) { _, _, _ in
            Wish(target: "/v1/accounts", body: #"{"code":"0000-0000-0000-0000-0000","name":"new"}"#)
        },
        "GET /v1/people/*/consent-requests": Row(shown: [.subject, .phone]) { village, _, isKnown in
            _ = try village.askAfterConsent()
            return Wish(target: "/v1/people/\(person(isKnown))/consent-requests")
        },
        "POST /v1/people/*/consent-requests/*": Row(done: [.subject, .phone]) { village, _, isKnown in
            let query = try village.askAfterConsent()
            return Wish(
                target: "/v1/people/\(person(isKnown))/consent-requests/\(query)", body: #"{"consent":"refused"}"#)
        },
        "POST /v1/people/*/regions": Row(done: managers) { village, _, isKnown in
            Wish(
                target: "/v1/people/\(person(isKnown))/regions",
                body: """
                    {"id":"spot-\(village.house.service.log.head)",
                    "circle":{"latitude":1,"longitude":2,"radiusMeters":50}}
                    """)
        },
        "DELETE /v1/people/*/regions/*": Row(done: managers) { village, _, isKnown in
            let id = "ring-\(village.house.service.log.head)"
            village.house.manage(
                "POST", "/v1/people/walker/regions",
                #"{"id":"\#(id)","circle":{"latitude":1,"longitude":2,"radiusMeters":50}}"#)
            return Wish(target: "/v1/people/\(person(isKnown))/regions/\(id)")
        },
        "GET /v1/geocode/reverse": anybody("/v1/geocode/reverse?latitude=1&longitude=2"),
        "GET /v1/places/names": anybody("/v1/places/names?west=1&south=2&east=3&north=4"),
        "POST /v1/geocode/reverse": anybody("/v1/geocode/reverse", #"{"coordinates":[[1,2]]}"#),
        "GET /v1/geocode/forward": anybody("/v1/geocode/forward?q=Sydney&limit=1"),
        "POST /v1/geocode/forward": anybody("/v1/geocode/forward", #"{"texts":["Sydney"]}"#),
        "POST /v1/people/*/corrections": Row(done: managers) { _, _, isKnown in
            Wish(target: "/v1/people/\(person(isKnown))/corrections", body: #"{"type":"split","at":5}"#)
        },
        "GET /v1/people/*/corrections": Row(done: managers) { _, _, isKnown in
            Wish(target: "/v1/people/\(person(isKnown))/corrections")
        },
        "DELETE /v1/people/*/corrections/*": Row(done: managers) { village, _, isKnown in
            let made = village.house.manage("POST", "/v1/people/walker/corrections", #"{"type":"split","at":6}"#)
            let id = try #require(made["id"]?.int)
            return Wish(target: "/v1/people/\(person(isKnown))/corrections/\(id)")
        },
        "POST /v1/imports": Row(done: [.operator]) { _, _, isKnown in
            Wish(target: "/v1/imports", body: #"{"person":"\#(person(isKnown))"}"#)
        },
        "POST /v1/imports/*/ends": Row(done: [.operator]) { village, _, isKnown in
            Wish(
                target: "/v1/imports/\(try imported(village))/ends",
                body: #"{"people":[{"person":"\#(person(isKnown))","new":1}]}"#)
        },
        "GET /v1/imports": Row(shown: [.operator], isDirectory: true) { village, _, _ in
            _ = try imported(village)
            return Wish(target: "/v1/imports")
        },
        "GET /v1/people/*/imports": Row(shown: managers) { village, _, isKnown in
            _ = try imported(village, file: "garden-gate")
            return Wish(target: "/v1/people/\(person(isKnown))/imports")
        },
        "POST /v1/imports/*/withdrawals": Row(done: managers) { village, _, isKnown in
            let id = isKnown ? try imported(village) : "5f0c1d6e-3f60-4cb9-9d1f-2f5f1a1f7a03"
            return Wish(target: "/v1/imports/\(id)/withdrawals", body: #"{"reason":"test"}"#)
        },
        "POST /v1/imports/*/restorations": Row(done: managers) { village, _, isKnown in
            let id = isKnown ? try imported(village) : "5f0c1d6e-3f60-4cb9-9d1f-2f5f1a1f7a03"
            return Wish(target: "/v1/imports/\(id)/restorations", body: #"{"reason":"test"}"#)
        },
        "DELETE /v1/people/*/track/*": Row(done: managers) { village, _, isKnown in
            Wish(target: "/v1/people/\(person(isKnown))/track/\(try firstFix(village))?reason=test")
        },
        "POST /v1/people/*/track/*": Row(done: managers) { village, _, isKnown in
            let fix = try firstFix(village)
            village.house.manage("DELETE", "/v1/people/walker/track/\(fix)?reason=test")
            return Wish(target: "/v1/people/\(person(isKnown))/track/\(fix)", body: #"{"reason":"test"}"#)
        },
        "GET /v1/people/*/withdrawn-fixes": Row(shown: managers) { village, _, isKnown in
            village.house.manage("DELETE", "/v1/people/walker/track/\(try firstFix(village))?reason=test")
            return Wish(target: "/v1/people/\(person(isKnown))/withdrawn-fixes")
        },
        // Each caller's own, as with the live stream; the stories check the posted messages.
        "POST /v1/people/*/webhooks": Row(done: [.subject]) { village, asker, isKnown in
            if asker == .subject { removeWebhooks(village) }
            return Wish(target: "/v1/people/\(person(isKnown))/webhooks", body: #"{"url":"\#(Village.hooks)"}"#)
        },
        "GET /v1/people/*/webhooks": Row(done: managers) { _, _, isKnown in
            Wish(target: "/v1/people/\(person(isKnown))/webhooks")
        },
        "POST /v1/people/*/webhooks/*/confirmation": Row(done: managers) { village, _, isKnown in
            let (webhook, code) = try address(village)
            return Wish(
                target: "/v1/people/\(person(isKnown))/webhooks/\(webhook)/confirmation", body: #"{"code":"\#(code)"}"#)
        },
        "POST /v1/people/*/webhooks/*/test": Row(done: managers) { village, _, isKnown in
            Wish(target: "/v1/people/\(person(isKnown))/webhooks/\(try letter(village).webhook)/test")
        },
        "DELETE /v1/people/*/webhooks/*": Row(done: managers) { village, _, isKnown in
            Wish(target: "/v1/people/\(person(isKnown))/webhooks/\(try letter(village).webhook)")
        },
        "GET /v1/people/*/webhooks/*/dead-letters": Row(done: managers) { village, _, isKnown in
            Wish(target: "/v1/people/\(person(isKnown))/webhooks/\(try letter(village).webhook)/dead-letters")
        },
        "POST /v1/people/*/webhooks/*/dead-letters/*/retry": Row(done: managers) { village, _, isKnown in
            let (webhook, letter) = try letter(village)
            return Wish(target: "/v1/people/\(person(isKnown))/webhooks/\(webhook)/dead-letters/\(letter)/retry")
        },
        "DELETE /v1/people/*/webhooks/*/dead-letters/*": Row(done: managers) { village, _, isKnown in
            let (webhook, letter) = try letter(village)
            return Wish(target: "/v1/people/\(person(isKnown))/webhooks/\(webhook)/dead-letters/\(letter)")
        },
        "POST /v1/people/*/keys": Row(done: [.subject, .phone]) { _, _, isKnown in
            Wish(
                target: "/v1/people/\(person(isKnown))/keys",
                body: SealedPerson.walker.identityBody(of: person(isKnown)))
        },
        "GET /v1/people/*/keys": Row(
            shown: questioners.union([.phone]), isDirectory: true
        ) { village, _, isKnown in
            SealedPerson.walker.publish(village.house, as: village.tokens[.subject])
            return Wish(target: "/v1/people/\(person(isKnown))/keys")
        },
        "DELETE /v1/people/*/keys/*": Row(done: [.subject, .phone]) { village, _, isKnown in
            SealedPerson.walker.publish(village.house, as: village.tokens[.subject])
            return Wish(target: "/v1/people/\(person(isKnown))/keys/\(SealedPerson.walker.keyID)?reason=replaced")
        },
        "GET /v1/people/*/pins": Row(shown: managers) { village, _, isKnown in
            SealedPerson.walker.publish(village.house, as: village.tokens[.subject])
            SealedPerson.oldFriend.publish(village.house, as: village.tokens[.oldFriend])
            SealedPerson.walker.pin(SealedPerson.oldFriend, village.house, as: village.tokens[.subject])
            return Wish(target: "/v1/people/\(person(isKnown))/pins")
        },
        "POST /v1/people/*/pins": Row(done: [.subject, .phone]) { village, _, isKnown in
            SealedPerson.walker.publish(village.house, as: village.tokens[.subject])
            SealedPerson.oldFriend.publish(village.house, as: village.tokens[.oldFriend])
            return Wish(
                target: "/v1/people/\(person(isKnown))/pins", body: SealedPerson.walker.pinBody(SealedPerson.oldFriend))
        },
        "DELETE /v1/people/*/pins/*": Row(done: [.subject, .phone]) { village, _, isKnown in
            SealedPerson.walker.publish(village.house, as: village.tokens[.subject])
            SealedPerson.oldFriend.publish(village.house, as: village.tokens[.oldFriend])
            SealedPerson.walker.pin(SealedPerson.oldFriend, village.house, as: village.tokens[.subject])
            return Wish(target: "/v1/people/\(person(isKnown))/pins/\(SealedPerson.oldFriend.keyID)")
        },
        "GET /v1/people/*/envelopes": Row(done: askers) { _, _, isKnown in
            Wish(target: "/v1/people/\(person(isKnown))/envelopes")
        },
        "PUT /v1/devices/*/sealing": Row(done: [.subject, .phone]) { _, _, isKnown in
            Wish(target: "/v1/devices/\(device(isKnown))/sealing", body: #"{"sealed":false}"#)
        },
        "GET /v1/devices/*/questions": Row(shown: [.phone], isDirectory: true) { _, _, isKnown in
            Wish(target: "/v1/devices/\(device(isKnown))/questions")
        },
        "POST /v1/envelopes": Row(done: [.phone]) { _, _, _ in
            Wish(target: "/v1/envelopes", body: #"{"envelopes":["AAAA"]}"#)
        },
        "POST /v1/people/*/schedules": Row(done: managers) { village, asker, isKnown in
            removeSchedules(village)
            return Wish(target: "/v1/people/\(person(isKnown))/schedules", body: #"{"everySeconds":3600}"#)
        },
        "GET /v1/people/*/schedules": Row(done: managers) { village, _, isKnown in
            Wish(target: "/v1/people/\(person(isKnown))/schedules")
        },
        "DELETE /v1/people/*/schedules/*": Row(done: managers) { village, _, isKnown in
            removeSchedules(village)
            let made = village.house.manage("POST", "/v1/people/walker/schedules", #"{"everySeconds":3600}"#)
            let id = try #require(made["id"]?.int)
            return Wish(target: "/v1/people/\(person(isKnown))/schedules/\(id)")
        },
        "PUT /v1/people/*/retention": Row(done: managers) { village, _, isKnown in
            village.house.manage("DELETE", "/v1/people/walker/retention")
            return Wish(target: "/v1/people/\(person(isKnown))/retention", body: #"{"trackDays":36500}"#)
        },
        "GET /v1/people/*/retention": Row(done: managers) { _, _, isKnown in
            Wish(target: "/v1/people/\(person(isKnown))/retention")
        },
        "DELETE /v1/people/*/retention": Row(done: managers) { village, _, isKnown in
            village.house.manage("PUT", "/v1/people/walker/retention", #"{"trackDays":36500}"#)
            return Wish(target: "/v1/people/\(person(isKnown))/retention")
        },
        "PUT /v1/retention": Row(done: [.operator]) { village, _, _ in
            village.house.manage("DELETE", "/v1/retention")
            return Wish(target: "/v1/retention", body: #"{"trackDays":36500}"#)
        },
        "GET /v1/retention": operating("/v1/retention"),
        "DELETE /v1/retention": Row(done: [.operator]) { village, _, _ in
            village.house.manage("PUT", "/v1/retention", #"{"trackDays":36500}"#)
            return Wish(target: "/v1/retention")
        },
        "GET /v1/events": Row(shown: [.operator]) { village, _, _ in Wish(target: "/v1/events?person=walker&limit=1000")
        },
        // Each caller's own; the stories check its events.
        "GET /v1/live": Row(done: persons.union([.visitor])) { _, _, _ in Wish(target: "/v1/live") },
        "GET /v1/verify": operating("/v1/verify"),
        "POST /v1/auditors": operating("/v1/auditors"),
        "GET /v1/auditors": operating("/v1/auditors"),
        // Hashes and clear columns; an auditor's token is tried in `AuditorStoryTests`.
        "GET /v1/log/checkpoint": operating("/v1/log/checkpoint"),
        "GET /v1/log/key": operating("/v1/log/key"),
        "GET /v1/log/heads/*": Row(done: [.operator]) { village, _, _ in
            Wish(target: "/v1/log/heads/\(committed(village))")
        },
        "GET /v1/log/tile/*/*": Row(done: [.operator]) { village, _, _ in
            _ = committed(village)
            return Wish(target: "/v1/log/tile/0/000")
        },
        // Tiles of logs that are longer than this one.
        "GET /v1/log/tile/*/*/*/*": Row { _, _, _ in Wish(target: "/v1/log/tile/0/x001/000.p/1") },
        "GET /v1/log/tile/*/*/*/*/*": Row { _, _, _ in Wish(target: "/v1/log/tile/0/x001/x000/000.p/1") },
        "GET /v1/log/tile/*/*/*": Row(done: [.operator]) { village, _, _ in
            let size = committed(village)
            let (index, width) = (String(1000 + size / 256).dropFirst(), size % 256)
            return Wish(target: width == 0 ? "/v1/log/tile/1/000.p/1" : "/v1/log/tile/entries/\(index).p/\(width)")
        },
        // Sealed as it is in the log: it shows nothing.
        "POST /v1/backups": operating("/v1/backups"),
        "GET /v1/projections": operating("/v1/projections"),
        "POST /v1/projections/prune": operating("/v1/projections/prune", #"{"name":"current"}"#),
        "POST /v1/projections/rebuilds": operating("/v1/projections/rebuilds"),
        "POST /v1/projections/*/rebuild": operating("/v1/projections/timeline/rebuild", #"{"version":5}"#),
        "POST /v1/projections/*/activate": Row(done: [.operator]) { village, asker, _ in
            if asker == .operator { village.rebuildTimeline() }
            return Wish(target: "/v1/projections/timeline/activate")
        },
        "POST /v1/projections/*/rollback": Row(done: [.operator]) { village, asker, _ in
            if asker == .operator {
                village.rebuildTimeline()
                village.house.manage("POST", "/v1/projections/timeline/activate")
            }
            return Wish(target: "/v1/projections/timeline/rollback")
        },
        // The village's day has a stop that only the newer rules call a visit.
        "GET /v1/projections/*/diff": Row(shown: [.operator]) { village, asker, _ in
            if asker == .operator { village.rebuildTimeline() }
            return Wish(target: "/v1/projections/timeline/diff")
        },
        "GET /metrics": operating("/metrics"),
        // Names who is signed in.
        "GET /session": Row(
            shown: [.subject, .oldFriend],
            done: persons.subtracting([.subject, .oldFriend]).union([.operator, .nobody]), isDirectory: true
        ) { _, _, _ in Wish(target: "/session") },
        // A device has no page, and its key is as wrong as any other text.
        "POST /session": Row(
            done: persons.union([.operator]), unknown: [.nobody, .wrongToken, .formerToken, .phone]
        ) { village, asker, _ in
            Wish(target: "/session", body: #"{"token":"\#(village.tokens[asker] ?? Village.madeUp)"}"#)
        },
        "DELETE /session": anybody("/session"),
        "POST /session/end": anybody("/session/end"),
        "POST /v1/sign-in-codes": Row(done: managers) { _, _, isKnown in
            Wish(target: "/v1/sign-in-codes", body: #"{"person":"\#(person(isKnown))"}"#)
        },
        "GET /openapi.json": Row(done: Set(Asker.allCases)) { _, _, _ in Wish(target: "/openapi.json") },
        "GET /healthz": Row(done: Set(Asker.allCases)) { _, _, _ in Wish(target: "/healthz") },
        "GET /readyz": Row(done: Set(Asker.allCases)) { village, _, _ in
            _ = village.house.settled()
            return Wish(target: "/readyz")
        },
    ]

    /// One that is over before the next one asks: a person has only so many.
    private static func invitation(_ village: Village) -> String {
        #"{"precision":"none","expires":\#(village.house.clock.seconds + 30)}"#
    }

    /// A query that was answered at once: the asker's own, or the subject's when the asker may not ask.
    private static func query(_ village: Village, _ asker: Asker, _ isKnown: Bool) throws -> String {
        village.reportNow()
        // The subject's tokens of other scopes may not ask; the question is then one of the subject's by another token.
        let mayAsk = askers.union([.cityFriend, .placeFriend, .querying]).contains(asker)
        let owner = mayAsk ? asker : .subject
        let asked = village.house.send(
            "POST", "/v1/people/walker/location-queries", as: village.tokens[owner],
            #"{"purpose":"to test","maxAgeSeconds":3600}"#)
        let url = try #require(asked["url"]?.string)
        return isKnown ? url : "/v1/location-queries/6b1c4f6e-3f60-4cb9-9d1f-2f5f1a1f7a03"
    }

    /// There is room for few: the next asker's takes the place of the last one's.
    private static func removeSchedules(_ village: Village) {
        for item in village.house.manage("GET", "/v1/people/walker/schedules").items {
            village.house.manage("DELETE", "/v1/people/walker/schedules/\(item["id"]?.int ?? 0)")
        }
    }

    private static func removeWebhooks(_ village: Village) {
        for item in village.house.manage("GET", "/v1/people/walker/webhooks").items {
            village.house.manage("DELETE", "/v1/people/walker/webhooks/\(item["id"]?.int ?? 0)")
        }
    }

    /// An unconfirmed address of the subject's, and its code.
    private static func address(_ village: Village) throws -> (webhook: Int64, code: String) {
        removeWebhooks(village)
        let target = WebhookTarget(url: "mailto:walker@example.org", secret: Array(repeating: 7, count: 32))
        let terms = NoticeTerms(kind: .email, codeHash: WebhookTarget.codeHash(target.confirmationCode))
        let log = village.house.service.log
        let caller = try #require(
            log.withStanding { standing -> Caller? in
                guard let walker = Handle("walker").flatMap(standing.person) else { return nil }
                for (id, token) in standing.tokens.all
                where token.issued.principal == walker.principal && token.issued.scopes == [.query, .audit, .manage]
                    && !token.isRevoked
                {
                    return Caller(principal: walker.principal, scopes: token.issued.scopes, token: id)
                }
                return nil
            })
        let receipt = try log.appendAndWait(
            .addWebhook(of: try #require(Handle("walker")), target, .usual, terms), by: caller, correlation: .random())
        guard case .webhook(let id) = receipt.reply else { throw TestFault() }
        return (id.rawValue, target.confirmationCode)
    }

    private struct TestFault: Error {}

    /// A webhook of the subject's that gave a message up.
    static func letter(_ village: Village) throws -> (webhook: Int64, letter: Int64) {
        removeWebhooks(village)
        let made = village.house.send(
            "POST", "/v1/people/walker/webhooks", as: village.tokens[.subject], #"{"url":"\#(Village.hooks)"}"#)
        let id = try #require(village.house.number(made["id"], .webhook))
        let message = WebhookFailure.Message(question: .visits, body: Array(#"{"latitude":48.20}"#.utf8))
        let failure = WebhookFailure(
            webhook: WebhookID(rawValue: id), item: FeedPlace(number: id, ordinal: 7), tries: 1, status: nil,
            reason: "timeout", message: .open(message))
        let receipt = try village.house.service.log.appendAndWait(
            .failWebhook(failure), by: .house, correlation: .random())
        return (id, receipt.last)
    }

    private static func name(_ route: Route) -> String { "\(route.method) \(route.path)" }

    @Test func `every route has a row here, which agrees with what the route says it lets out`() throws {
        #expect(Set(Self.operations.keys) == Set(Self.rows.keys))
        for (name, operation) in Self.operations {
            let row = try #require(Self.rows[name])
            switch operation.route.disclosure {
            case .recorded, .disclosed: #expect(!row.isDirectory, "\(name)")
            case .names: #expect(row.isDirectory && !row.shown.isEmpty, "\(name)")
            case .command, .noPerson, .otherRoutes: #expect(row.shown.isEmpty && !row.isDirectory, "\(name)")
            }
        }
    }

    @Test func `who gets data is on record before it leaves, and the others learn nothing`() throws {
        let village = try Village()
        for (name, row) in Self.rows.sorted(by: { $0.key < $1.key }) {
            for asker in Asker.allCases {
                try check(name, row, asker, village, isKnown: true)
                // Otherwise refusals are only counted after the first few of a minute.
                village.house.clock.advance(seconds: 61)
            }
        }
        let verified = village.house.manage("GET", "/v1/verify")
        #expect(verified["ok"]?.bool == true, "\(verified.text)")
    }

    /// The subject paused before the first fix: no grant of a friend can show anything of them.
    @Test func `in a pause no friend is shown anything on any route, and the subject and the operator all of it`()
        throws
    {
        let village = try Village(isPaused: true)
        let friends: [Asker] = [
            .kilometerFriend, .cityFriend, .placeFriend, .liveFriend, .oldFriend, .askingFriend, .hoursFriend,
        ]
        // Names of persons and devices are not location data: `isDirectory` covers them.
        let whereabouts = village.secrets.filter { $0 != Village.subject && $0 != "oldfriend" }
        // Two routes change the pause. A question asked during a pause reaches no subject, so that list is empty.
        let left: Set<String> = [
            "POST /v1/people/*/pauses", "DELETE /v1/people/*/pauses", "GET /v1/people/*/consent-requests",
            // During the pause, a preview shows nothing.
            "GET /v1/people/*/previews/*",
        ]
        var shown = 0
        for (name, row) in Self.rows.sorted(by: { $0.key < $1.key }) where !left.contains(name) {
            let method = String(name.prefix { $0 != " " })
            for asker in friends {
                let asked = try Asked(method, try row.wish(village, asker, true), asker, village)
                let text = asked.answer.text
                #expect(!whereabouts.contains { text.contains($0) }, "\(name) by \(asker): \(text.prefix(300))")
                village.house.clock.advance(seconds: 61)
            }
            for asker in [Asker.subject, .operator] where row.shown.contains(asker) {
                try check(name, row, asker, village, isKnown: true)
                shown += 1
                village.house.clock.advance(seconds: 61)
            }
        }
        #expect(shown > 20)
    }

    @Test func `events as they are stored hold nothing that needs a record`() throws {
        let village = try Village()
        let before = village.house.service.log.head
        let answer = village.house.manage("GET", "/v1/events?asStored=true&limit=1000")
        #expect(answer.items.count == Int(before))
        #expect(!village.holdsSecrets(answer))
        #expect(village.house.service.log.head == before)
    }

    /// The number of the subject's first fix that counts.
    private static func firstFix(_ village: Village) throws -> Int64 {
        let track = village.house.manage(
            "GET", "/v1/people/walker/track?limit=1&at-least=\(village.house.service.log.head)")
        return try #require(track.items.first?["number"]?.int, "\(track.text)")
    }

    /// The id of an import into the subject's history.
    private static func imported(_ village: Village, file: String = "walk.gpx") throws -> String {
        let begun = village.house.manage(
            "POST", "/v1/imports", #"{"person":"\#(Village.subject)","file":{"name":"\#(file)"}}"#)
        return try #require(begun["id"]?.string, "\(begun.text)")
    }

    private static func withoutReferences(_ answer: Answer) -> String {
        let text: String = answer.observable
        return text.replacing(/r[A-Za-z0-9_-]{22}/, with: "#")
    }

    /// Values for paths in place of the subject's own, by the preceding part of the path.
    private struct Thing {
        let known, unknown: String
    }

    private static func things(_ village: Village) throws -> [String: Thing] {
        let house = village.house
        func made(_ what: String, _ body: String) throws -> String {
            let answer = house.send("POST", "/v1/people/walker/\(what)", as: village.tokens[.subject], body)
            let kinds: [String: References.Kind] = [
                "grants": .grant, "invitations": .invitation, "tokens": .token, "schedules": .schedule,
                "corrections": .correction, "links": .link,
            ]
            let kind = try #require(kinds[what])
            let number = try #require(house.number(answer["id"], kind), "\(answer.text)")
            return "\(number)"
        }
        SealedPerson.walker.publish(house, as: village.tokens[.subject])
        SealedPerson.oldFriend.publish(house, as: village.tokens[.oldFriend])
        SealedPerson.walker.pin(SealedPerson.oldFriend, house, as: village.tokens[.subject])
        let (webhook, letter) = try Self.letter(village)
        let account = house.send("POST", "/v1/account-invitations", as: village.tokens[.subject], "{}")
        let visits = house.manage("GET", "/v1/people/walker/visits").items
        // The subject's own question, which a phone has yet to answer; another waits for the subject's word.
        let asked = house.send(
            "POST", "/v1/people/walker/location-queries", as: village.tokens[.subject],
            #"{"purpose":"to test","maxAgeSeconds":0,"deadlineSeconds":3600}"#)
        let awaiting = house.send(
            "POST", "/v1/people/walker/location-queries", as: village.tokens[.askingFriend],
            #"{"purpose":"to test","deadlineSeconds":3600}"#)
        let unknownQuery = "6b1c4f6e-3f60-4cb9-9d1f-2f5f1a1f7a03"
        func number(_ known: String) -> Thing { Thing(known: known, unknown: "999999") }
        return [
            "devices": Thing(known: Village.phone, unknown: "nobodys-phone"),
            "location-queries": Thing(known: try #require(asked["id"]?.string), unknown: unknownQuery),
            "consent-requests": Thing(known: try #require(awaiting["id"]?.string), unknown: unknownQuery),
            "visits": Thing(
                known: try #require(visits.first?["id"]?.string), unknown: String(repeating: "0", count: 16)),
            "regions": Thing(known: "garden-gate", unknown: "no-such-region"),
            "tokens": number(try made("tokens", #"{"scopes":["query"]}"#)),
            "grants": number(try made("grants", #"{"requester":"nonefriend","precision":"none"}"#)),
            "invitations": number(try made("invitations", #"{"precision":"none"}"#)),
            "account-invitations": number("\(try #require(house.number(account["id"], .accountInvitation)))"),
            "links": number(try made("links", #"{"forSeconds":60}"#)),
            "imports": Thing(known: try imported(village), unknown: unknownQuery),
            "schedules": number(try made("schedules", #"{"everySeconds":3600}"#)),
            "corrections": number(try made("corrections", #"{"type":"split","at":5}"#)),
            "keys": Thing(known: SealedPerson.walker.keyID, unknown: String(repeating: "0", count: 32)),
            "pins": Thing(known: SealedPerson.oldFriend.keyID, unknown: String(repeating: "0", count: 32)),
            "track": number("\(try firstFix(village))"),
            "webhooks": number("\(webhook)"), "dead-letters": number("\(letter)"),
        ]
    }

    /// The path parts before parameters that name nothing of a person.
    private static let impersonal: Set<String> = [
        "tile", "heads",
        "projections", "previews", "exports", "logGet", "logPost", "logPostMultiple", "webhook", "*",
    ]

    /// The id of another person's thing does no more than an id that does not exist, both under the other person's path
    /// and under the caller's own.
    @Test func `a thing's id opens nothing to others, in a path of their own either`() throws {
        let village = try Village()
        let things = try Self.things(village)
        let walker = try #require(village.house.service.log.withStanding { $0.person(Handle("walker")!) })
        let bodies = [
            "POST /v1/people/*/consent-requests/*": #"{"consent":"given"}"#,
            "POST /v1/people/*/track/*": #"{"reason":"test"}"#,
            "POST /v1/imports/*/withdrawals": #"{"reason":"test"}"#,
            "POST /v1/imports/*/restorations": #"{"reason":"test"}"#,
            "POST /v1/imports/*/ends": #"{"people":[]}"#,
            "POST /v1/imports/*/batches": #"{"devices":[{"person":"walker","device":"other","fixes":[]}]}"#,
            "POST /v1/people/*/webhooks/*/confirmation": #"{"code":"AAAAA-AAAAA"}"#,
            "PUT /v1/devices/*/sealing": #"{"sealed":false}"#,
            "PUT /v1/devices/*/location-push-token":
                #"{"hex":"00112233445566778899","environment":"development","bundleID":"org.example"}"#,
        ]
        let earlier = Set(try village.house.events().map(\.correlation))
        var tried: Set<String> = []
        for route in RouteTable.all.operations.map(\.route)
        where route.path.contains("*") && !route.path.contains("phonetrack") {
            let parts = route.path.split(separator: "/").map(String.init)
            var isAboutThing = false
            for (asker, own) in [
                (Asker.stranger, "stranger"), (.oldFriend, "oldfriend"), (.askingFriend, "askingfriend"),
                (.strangersPhone, "stranger"), (.formerFriend, "formerfriend"),
            ] {
                func target(_ thing: (Thing) -> String) throws -> String? {
                    var hasThing = false
                    let path = try parts.indices.map { index -> String in
                        guard parts[index] == "*", index > 0 else { return parts[index] }
                        let kind = parts[index - 1]
                        if kind == "people" { return own }
                        if Self.impersonal.contains(kind) { return "*" }
                        hasThing = true
                        return thing(try #require(things[kind], "\(route.path) has no row here."))
                    }
                    return hasThing ? "/" + path.joined(separator: "/") : nil
                }
                guard let known = try target(\.known), let unknown = try target(\.unknown) else { continue }
                tried.insert(Self.name(route))
                isAboutThing = true
                let before = village.house.service.log.head
                let body = bodies[Self.name(route)] ?? ""
                let answer = village.house.send(route.method, known, as: village.tokens[asker], body)
                let events = try village.house.events(after: before)
                let what = "\(route.method) \(known) by \(asker): \(answer.status) \(answer.text)"
                // A list in one's own name may be empty instead.
                #expect(answer.status == 404 || route.method == "GET" && answer.status == 200, "\(what)")
                let nothing = village.house.send(route.method, unknown, as: village.tokens[asker], body)
                let isSame = Self.withoutReferences(answer) == Self.withoutReferences(nothing)
                #expect(isSame, "\(what), and of nobody's: \(nothing.text)")
                // Nothing happened to the walker, save refusals on record. The service's own work for requests from
                // before this one, such as a push for the walker's question, may be recorded at any time.
                let isUntouched = events.allSatisfy { recorded in
                    if recorded.actor == .house, earlier.contains(recorded.correlation) { return true }
                    switch recorded.event {
                    case .locationRead(let read):
                        // The walker's own live stream and webhook go on.
                        let isOwnStream = read.question == .live && read.reader == walker.principal
                        return read.verdict.isRefused || read.subject != walker || isOwnStream
                    case .webhookSettled: return true
                    case .locationQueried(let query): return query.verdict.isRefused
                    default: return recorded.stream.person != walker
                    }
                }
                #expect(isUntouched, "\(what): \(events.map(\.event))")
            }
            // Otherwise refusals are only counted after the first few of a minute. The questions end in an hour.
            if isAboutThing { village.house.clock.advance(seconds: 61) }
        }
        #expect(tried.count >= 20)
    }

    /// Lengths of compressed answers would disclose texts (BREACH): an answer with words of others is never compressed.
    @Test func `no answer with another's words is compressed`() throws {
        let village = try Village()
        let word = "oystercatcher"
        for _ in 0..<4 {
            village.house.clock.advance(seconds: Limits.pushesPerAsker.refillSeconds)
            let asked = village.house.send(
                "POST", "/v1/people/walker/location-queries", as: village.tokens[.askingFriend],
                #"{"purpose":"\#(String(repeating: word + " ", count: 30))","deadlineSeconds":3600}"#)
            #expect(asked.status == 202, "\(asked.text)")
        }
        var holding: Set<String> = [], shorter = 0
        for route in RouteTable.all.operations.map(\.route)
        where route.method == "GET" && !["/v1/live", "/v1/projections/*/diff"].contains(route.path) {
            guard let row = Self.rows[Self.name(route)] else { continue }
            for asker in [Asker.subject, .operator] {
                let wish = try row.wish(village, asker, true)
                let plain = village.house.send("GET", wish.target, as: village.tokens[asker])
                let answer = village.house.send(
                    "GET", wish.target, as: village.tokens[asker], headers: [("Accept-Encoding", "gzip")])
                let isShorter = answer.header("Content-Encoding") != nil
                if isShorter { shorter += 1 }
                guard plain.text.contains(word), plain.body.count >= 1024 else { continue }
                holding.insert(route.path)
                #expect(!isShorter, "\(route.path) by \(asker)")
            }
        }
        #expect(
            holding.isSuperset(of: ["/v1/people/*/audit", "/v1/people/*/consent-requests", "/v1/events"]), "\(holding)")
        #expect(shorter > 0)
    }

    /// Whether an answer has the record that its route promises.
    private static func fits(_ record: Asked.Record?, _ name: String) -> Bool {
        switch operations[name]?.route.disclosure {
        case .recorded(let question): record == .read(question)
        case .disclosed: record == .disclosure
        case .command, .names, .noPerson, .otherRoutes: record == nil
        case nil: false
        }
    }

    private func check(_ name: String, _ row: Row, _ asker: Asker, _ village: Village, isKnown: Bool) throws {
        let method = String(name.prefix { $0 != " " })
        let wish = try row.wish(village, asker, true)
        let asked = try Asked(method, wish, asker, village)
        let what = "\(name) by \(asker.rawValue): \(asked.answer.status) \(asked.answer.text.prefix(300))"
        let like = Self.likeness(of: asker, on: name, row)
        func isAmong(_ askers: Set<Asker>) -> Bool { like.map { askers.contains($0) } ?? false }
        if isAmong(row.shown) {
            #expect(asked.answer.status == 200, "\(what)")
            // A place friend gets what a kilometer friend gets, on record, and no coordinate with it.
            let holds =
                asker == .placeFriend
                ? !village.holdsCoordinates(asked.answer) : village.holdsSecrets(asked.answer)
            #expect(holds, "\(what)")
            let isOnRecord = row.isDirectory || Self.fits(asked.record, name)
            #expect(isOnRecord, "\(what)")
            if method == "GET" {
                let head = try Asked("HEAD", try row.wish(village, asker, true), asker, village)
                #expect(head.answer.status == 200)
                let isHeadOnRecord = row.isDirectory || Self.fits(head.record, name)
                #expect(isHeadOnRecord, "\(what)")
            }
        } else if isAmong(row.done) {
            #expect((200..<300).contains(asked.answer.status), "\(what)")
            // Only the asker's own text may come back, nothing else about the subject.
            let echoed = wish.target + wish.body
            #expect(village.secrets.allSatisfy { !asked.answer.text.contains($0) || echoed.contains($0) }, "\(what)")
            // A read is on record also when there is nothing to show. A stream's batches are recorded one by one.
            let isReadOnRecord = Self.fits(asked.record, name) || name == "GET /v1/live"
            #expect(method != "GET" || isReadOnRecord, "\(what)")
        } else if isAmong(row.refused) {
            #expect(asked.answer.status == 409 && !village.holdsSecrets(asked.answer), "\(what)")
        } else {
            #expect(!village.holdsSecrets(asked.answer), "\(what)")
            let isUnknown = isAmong(row.unknown)
            #expect(asked.answer.status == (isUnknown ? row.unauthenticated : 404), "\(what)")
            let aboutNobody = try Asked(method, try row.wish(village, asker, false), asker, village)
            let isSame = asked.answer.observable == aboutNobody.answer.observable
            #expect(isSame, "\(what) and about nobody: \(aboutNobody.answer.text)")
        }
    }
}

/// An answer, and the record of its bytes in the log's file when it was given.
private struct Asked {
    /// The event that has the hash of the bytes.
    enum Record: Equatable {
        case read(LocationRead.Question)
        case disclosure
    }

    let answer: Answer
    let record: Record?

    init(_ method: String, _ wish: DisclosureLawTests.Wish, _ asker: Village.Asker, _ village: Village) throws {
        let service = village.house.service
        let before = service.log.head
        let given = Monitor<(HTTPResponse, Record?)?>(nil)
        village.house.send(method, wish.target, as: village.tokens[asker], wish.body) { response in
            // This runs on the answering thread, before a byte can leave. A separate reader sees only committed events.
            let record = try? Self.record(of: response.body, after: before, service)
            given.change { $0 = (response, record) }
        }
        let (response, record) = try given.expected("the answer") { $0 }
        answer = Answer(response)
        self.record = record
    }

    private static func record(of body: [UInt8], after number: Int64, _ service: Service) throws -> Record? {
        let hash = SHA256().hash(body).bytes
        for (recorded, _) in try service.log.reader().events(after: number, limit: 1000) {
            switch recorded.event {
            case .locationDisclosed(let disclosure) where disclosure.content.content?.answerHash.bytes == hash:
                return .disclosure
            case .locationRead(let read) where read.content.content?.answerHash?.bytes == hash:
                return .read(read.question)
            default: continue
            }
        }
        return nil
    }
}

extension Village {
    /// A new generation of the timeline by the older rules, ready.
    func rebuildTimeline(version: Int = 5) {
        house.manage("POST", "/v1/projections/timeline/rebuild", #"{"version":\#(version)}"#)
        let end = monotonicSeconds() + patienceSeconds
        while house.service.host.status.contains(where: \.isLoading) {
            if monotonicSeconds() > end { waitedInVain(for: "the timeline to be folded") }
            _ = house.service.log.waitForHead(after: house.service.log.head, milliseconds: 5)
        }
    }
}
