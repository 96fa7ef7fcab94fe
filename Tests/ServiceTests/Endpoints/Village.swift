import JSON
import Log
import Posting
import Testing
import Transparency
import Whereabouts

@testable import Reactors
@testable import Service

/// A subject with a track, visits, crossings and every kind of asker. Tests try each asker on each route.
final class Village {
    /// The askers. A pause is the subject's state, not an asker's: a separate village has it.
    enum Asker: String, CaseIterable {
        /// Without a token, with a token that does not exist, with a revoked token of the subject.
        case nobody, wrongToken, formerToken
        /// Without a grant, with a revoked one, with one whose time is over, with one of precision none.
        case stranger, formerFriend, expiredFriend, noneFriend
        /// To the kilometer; exactly, but without history; exactly with history.
        case kilometerFriend, liveFriend, oldFriend
        /// Asks the subject each time; granted at another hour.
        case askingFriend, hoursFriend
        case phone, subject, `operator`
        /// As a kilometer friend, and the subject by tokens of one scope each.
        case cityFriend, querying, auditing, managing
        /// By names of places alone.
        case placeFriend
        /// A device of the stranger's, and one of the subject's that was removed.
        case strangersPhone, removedPhone
        /// A viewer without an account who has opened an exact share link with history.
        case visitor
    }

    /// Where webhooks may post to: nothing is there.
    static let hooks = "http://localhost:1"
    static let subject = "walker"
    static let phone = "walker-phone"
    /// The marks of an answer with data of the subject: leading digits of coordinates, names, the region's name, a
    /// friend's.
    private(set) var secrets = [
        "48.20", "48.21", "16.34", "16.35", "16.36", "garden-gate", "oldfriend", Village.subject,
    ]

    let house: ServiceUnderTest
    private(set) var tokens: [Asker: String] = [:]
    let phoneKey: String

    /// - Parameters:
    ///   - shortStop: fixes of the short stop, one each five seconds.
    ///   - isPaused: whether the subject paused before the first fix, and has not resumed.
    init(shortStop: Int = 21, isPaused: Bool = false) throws {
        house = try ServiceUnderTest { $0.webhooks = .init(targets: [Origin(Self.hooks)].compactMap { $0 }) }
        var tokens: [Asker: String] = [.operator: house.operatorToken, .wrongToken: "wp_" + Self.madeUp]
        tokens[.subject] = try house.addPerson(Self.subject)
        phoneKey = try house.addDevice(Self.phone, of: Self.subject)
        tokens[.phone] = phoneKey
        for friend in [
            Asker.stranger, .formerFriend, .expiredFriend, .noneFriend, .kilometerFriend, .liveFriend, .oldFriend,
            .askingFriend, .hoursFriend, .cityFriend, .placeFriend,
        ] {
            tokens[friend] = try house.addPerson(friend.rawValue.lowercased())
        }
        let former = house.manage("POST", "/v1/people/walker/tokens", #"{"scopes":["query","audit","manage"]}"#)
        tokens[.formerToken] = try #require(former["token"]?.string)
        house.manage("DELETE", "/v1/tokens/\(try #require(former["id"]?.int))")
        for (asker, scope) in [(Asker.querying, "query"), (.auditing, "audit"), (.managing, "manage")] {
            tokens[asker] = try house.token(of: Self.subject, scopes: #"["\#(scope)"]"#)
        }
        tokens[.strangersPhone] = try house.addDevice("stranger.phone", of: "stranger")
        tokens[.removedPhone] = try house.addDevice("removed-phone", of: Self.subject)
        house.manage("DELETE", "/v1/devices/removed-phone")
        self.tokens = tokens

        house.manage(
            "POST", "/v1/people/walker/regions",
            #"{"id":"garden-gate","circle":{"latitude":48.202,"longitude":16.348,"radiusMeters":150}}"#)
        if isPaused {
            let paused = house.send("POST", "/v1/people/walker/pauses", as: tokens[.subject], "{}")
            try #require(paused.status == 200, "\(paused.text)")
            house.clock.advance(seconds: 24 * 3600)
        }
        importDay(shortStop)
        try giveGrants()
        let visits = house.manage("GET", "/v1/people/walker/visits?at-least=\(house.service.log.head)").items
        // The city's name is also part of its time zone's name, which every caller may read.
        secrets += Set(visits.compactMap { $0["place"]?.string }).subtracting(["Vienna"])
        try #require(visits.count >= 2 && secrets.count > 7)
    }

    static let madeUp = String(repeating: "A", count: 43)

    private func giveGrants() throws {
        let link = house.manage(
            "POST", "/v1/people/walker/links", #"{"history":true,"live":true,"forSeconds":31536000}"#)
        let opened = house.send(
            "POST", "/v1/link-openings", as: nil, #"{"link":"\#(link["secret"]?.string ?? "")"}"#)
        tokens[.visitor] = try #require(opened["token"]?.string, "\(link.text) \(opened.text)")
        let former = try house.grant("walker", to: "formerfriend", history: true)
        house.manage("DELETE", "/v1/grants/\(former)")
        try house.grant(
            "walker", to: "expiredfriend", history: true, more: #","until":\#(house.clock.seconds + 10)"#)
        house.clock.advance(seconds: 20)
        try house.grant("walker", to: "nonefriend", precision: "none", history: true)
        try house.grant("walker", to: "kilometerfriend", precision: "kilometer", history: true)
        try house.grant("walker", to: "cityfriend", precision: "city", history: true)
        try house.grant("walker", to: "placefriend", precision: "place", history: true)
        try house.grant("walker", to: "livefriend")
        try house.grant("walker", to: "oldfriend", history: true)
        try house.grant("walker", to: "askingfriend", more: #","asksEachTime":true"#)
        // The house's clock is at ten on a Monday morning, in Vienna.
        try house.grant(
            "walker", to: "hoursfriend", history: true,
            more: #","hours":{"timeZone":"Europe/Vienna","weekly":"Mo 06:00-09:00"}"#)
    }

    /// A question that waits for the subject's word; its id.
    func askAfterConsent() throws -> String {
        // The limit on questions refuses the next one until this time has passed.
        house.clock.advance(seconds: Limits.pushesPerAsker.refillSeconds)
        let asked = house.send(
            "POST", "/v1/people/walker/location-queries", as: tokens[.askingFriend],
            #"{"purpose":"to meet at the garden-gate"}"#)
        return try #require(asked["id"]?.string)
    }

    /// Two hours at home, a trip of two kilometers, an hour at work, a stop of 172 seconds somewhere else, and a trip
    /// on. At home, two fixes in a row are far away, which makes two visits of one by the older rules.
    private func importDay(_ shortStop: Int) {
        var fixes: [String] = []
        var seconds: Int64 = 60
        var time = house.clock.seconds - 4 * 3600
        func fix(_ latitude: Double, _ longitude: Double) {
            fixes.append(
                #"{"timestamp":\#(time),"latitude":\#(latitude),"longitude":\#(longitude),"horizontalAccuracy":8}"#)
            time += seconds
        }
        for _ in 0..<60 { fix(48.202, 16.348) }
        fix(48.2128, 16.348)
        fix(48.1885, 16.348)
        for _ in 0..<60 { fix(48.202, 16.348) }
        for step in 1...20 { fix(48.202 + 0.0005 * Double(step), 16.348 + 0.0009 * Double(step)) }
        for _ in 0..<60 { fix(48.212, 16.366) }
        seconds = 5
        for step in 1...90 { fix(48.212 - 0.0001 * Double(step), 16.366) }
        for _ in 0..<shortStop { fix(48.203, 16.366) }
        for step in 1...90 { fix(48.203, 16.366 + 0.00015 * Double(step)) }
        house.manage(
            "POST", "/v1/imports/6b1c4f6e-3f60-4cb9-9d1f-2f5f1a1f7a01/batches",
            #"{"device":"walker-phone","fixes":[\#(fixes.joined(separator: ","))]}"#)
    }

    /// The phone reports where it is, so that a question is answered at once.
    func reportNow() {
        let answer = house.send(
            "POST", "/v1/fixes", as: phoneKey,
            #"{"timestamp":\#(house.clock.seconds),"latitude":48.2125,"longitude":16.3665,"horizontalAccuracy":8}"#)
        #expect(answer.status == 200)
    }

    /// Whether an answer has digits of the subject's coordinates.
    func holdsCoordinates(_ answer: Answer) -> Bool {
        let text = Self.contents(of: answer) ?? answer.text
        return secrets.contains { $0.first?.isNumber == true && text.contains($0) }
    }

    func holdsSecrets(_ answer: Answer) -> Bool {
        let text = Self.contents(of: answer) ?? answer.text
        return secrets.contains { text.contains($0) }
    }

    /// The contents of a proof, in which texts are as they are; `nil` for another answer.
    private static func contents(of answer: Answer) -> String? {
        guard let proof = try? PersonProof(parsing: answer.body) else { return nil }
        return proof.entries.map { entry in
            if case .whole(_, let content) = entry.opening { String(decoding: content, as: UTF8.self) } else { "" }
        }.joined()
    }
}
