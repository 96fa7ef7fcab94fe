import Cryptography
import Envelopes
import JSON
import TestSupport
import Testing
import Whereabouts

/// A house in which Anna's phone is sealed: Ben may read her history exactly, Carla sees her to the kilometer, Dora is a stranger.
/// Anna accepts the keys of Ben and Carla.
struct SealedHouse {
    let house: ServiceUnderTest
    let anna = SealedPerson("anna", seed: 41)
    let ben = SealedPerson("ben", seed: 42)
    let carla = SealedPerson("carla", seed: 43)
    let dora = SealedPerson("dora", seed: 44)
    /// The tokens of these people, by handle.
    let tokens: [String: String]
    /// The reporting key of Anna's phone.
    let phone: String
    let grants: [String: Int64]

    init(clock: HouseClock = .standing) throws {
        house = try ServiceUnderTest(clock: clock)
        var tokens: [String: String] = [:]
        for name in ["anna", "ben", "carla", "dora"] { tokens[name] = try house.addPerson(name) }
        self.tokens = tokens
        phone = try house.addDevice("anna.phone", of: "anna")
        grants = [
            "ben": try house.grant("anna", to: "ben", history: true),
            "carla": try house.grant("anna", to: "carla", precision: "kilometer"),
        ]
        for person in [anna, ben, carla, dora] { person.publish(house, as: tokens[person.handle]) }
        for person in [ben, carla] { anna.pin(person, house, as: tokens["anna"]) }
        try send("PUT", "/v1/devices/anna.phone/sealing", as: "anna", #"{"sealed":true}"#)
    }

    /// Asks as a person and expects success.
    @discardableResult
    func send(
        _ method: String, _ target: String, as person: String, _ body: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Answer {
        let answer = house.send(method, target, as: tokens[person], body)
        try #require(
            (200..<300).contains(answer.status), "\(method) \(target): \(answer.text)", sourceLocation: sourceLocation)
        return answer
    }

    /// A question about Anna that a phone has to answer; its id.
    func ask(as person: String) throws -> String {
        // The limit on questions refuses the next one until this time has passed.
        house.clock.advance(seconds: Limits.pushesPerAsker.refillSeconds)
        let asked = try send(
            "POST", "/v1/people/anna/location-queries", as: person,
            #"{"purpose":"to meet","maxAgeSeconds":0,"deadlineSeconds":300}"#)
        return try #require(asked["id"]?.string)
    }

    /// Anna's phone sends envelopes.
    func post(_ envelopes: [UInt8]...) -> Answer { post(all: envelopes) }

    func post(all envelopes: [[UInt8]]) -> Answer {
        house.send("POST", "/v1/envelopes", as: phone, SealedPerson.body(envelopes))
    }

    /// The word for why the first envelope was refused; `nil` if none was.
    static func reason(_ answer: Answer) -> String? {
        answer["rejected"]?.array?.first { _ in true }?["reason"]?.string
    }

    /// The envelopes that a person gets about Anna.
    func envelopes(as person: String) throws -> [Envelope] {
        house.clock.advance(seconds: 61)
        return try send("GET", "/v1/people/anna/envelopes", as: person).items.map { item in
            let bytes = try #require(item["envelope"]?.string.flatMap { Base64.decode($0) })
            return try Envelope(decoding: bytes)
        }
    }

    /// The events of a kind, in the order of their numbers.
    func events(_ kind: EventKind, after number: Int64 = 0) throws -> [RecordedEvent] {
        try house.events(after: number).filter { $0.event.kind == kind }
    }
}
