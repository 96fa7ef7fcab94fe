import Cryptography
import DeviceAgent
import Envelopes
import Geodesy
import JSON
import Log
import OpenedEnvelopes
import TestSupport
import Testing
import Whereabouts

@testable import Service

/// A simulated phone that seals, between APNs' stand-in and the service, over real sockets.
@Suite struct SealedPhoneStoryTests {
    /// The walker and the friend have keys; the walker's file accepts the friend's, if it is said.
    static func keys(
        in here: Neighbourhood, acceptsFriend: Bool = true
    ) throws -> (walker: SealedPerson, friend: SealedPerson) {
        func file(_ handle: String) throws -> KeyFile { try KeyFile(of: try #require(Handle(handle)), at: .now) }
        var walkers = try file("walker")
        let (walker, friend) = (SealedPerson(walkers), SealedPerson(try file("friend")))
        walker.publish(here.house, as: here.walker)
        friend.publish(here.house, as: here.friend)
        walker.pin(friend, here.house, as: here.walker)
        if acceptsFriend {
            walkers.accept(
                KeyFile.Known(
                    person: try #require(Handle("friend")), identity: friend.identity.publicKey,
                    keys: [friend.recipient.publicKey]))
        }
        try walkers.write(to: here.walkersKeys)
        let sealed = here.house.send(
            "PUT", "/v1/devices/walker-phone/sealing", as: here.phoneKey, #"{"sealed":true}"#)
        #expect(sealed.status == 200, "\(sealed.text)")
        return (walker, friend)
    }

    /// The envelope in the answer to a query, and the fix in it.
    private static func opened(
        _ answer: Answer, by asker: SealedPerson, from walker: SealedPerson
    ) throws -> (AnswerEnvelope, Fix) {
        let bytes = try #require(answer["envelope"]?["envelope"]?.string.flatMap { Base64.decode($0) })
        guard case .answer(let envelope) = try Envelope(decoding: bytes) else { throw CBORError.unexpected }
        let fix = try envelope.open(
            with: asker.recipient, signedBy: walker.identity.publicKey,
            answering: try #require(QueryID(answer["id"]?.string ?? "")),
            notBefore: Timestamp.now.adding(seconds: -900))
        return (envelope, fix)
    }

    @Test func `a push wakes the phone, its envelope answers, and its history opens for the friend`() throws {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend", history: true)
        let (walker, friend) = try Self.keys(in: here)
        let phone = try here.startPhone(seals: true)
        defer { phone.stop() }
        let url = try here.ask(#","maxAgeSeconds":0"#)
        let answer = try here.outcome(of: url)
        #expect(answer["status"]?.string == "answered" && answer["location"] == nil)
        let (_, fix) = try Self.opened(answer, by: friend, from: walker)
        #expect(fix.coordinate.latitude == Neighbourhood.place.latitude)
        #expect(fix.coordinate.longitude == Neighbourhood.place.longitude)
        // The app's own updates are in the history.
        let envelopes = try eventually("a fix of the history") { () -> [Envelope]? in
            let items = here.house.send("GET", "/v1/people/walker/envelopes", as: here.walker).items
            let envelopes = try items.map {
                try Envelope(decoding: Base64.decode($0["envelope"]?.string ?? "") ?? [])
            }
            return envelopes.contains { if case .track = $0 { true } else { false } } ? envelopes : nil
        }
        var opened: [Fix] = []
        for case .track(let track) in envelopes {
            for case .period(let period) in envelopes where period.period == track.period {
                let key = try period.open(with: friend.recipient, signedBy: walker.identity.publicKey)
                opened.append(try track.open(with: key, signedBy: walker.identity.publicKey))
            }
        }
        #expect(opened.first?.coordinate.latitude == Neighbourhood.place.latitude)
        // No open fix has left the phone, which the service would have refused on record.
        let kinds = try here.house.events().map(\.event.kind)
        #expect(!kinds.contains(.fixReported) && !kinds.contains(.inputRejected))
    }

    /// GeoNames puts Vienna 860 m from the phone's place.
    @Test func `an asker with a city grant gets the center of the city and nothing finer`() throws {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend", precision: "city")
        let (walker, friend) = try Self.keys(in: here)
        let phone = try here.startPhone(seals: true, gazetteer: ServiceUnderTest.gazetteer)
        defer { phone.stop() }
        let answer = try here.outcome(of: try here.ask(#","maxAgeSeconds":0"#))
        let (received, fix) = try Self.opened(answer, by: friend, from: walker)
        #expect(received.tier == .city && fix.horizontalAccuracy == nil && fix.timestamp.milliseconds % 900_000 == 0)
        #expect(abs(fix.coordinate.latitude - 48.20849) < 0.0001 && abs(fix.coordinate.longitude - 16.37208) < 0.0001)
        #expect(answer["envelope"]?["received"] == nil)
        // The history is exact, and not for this asker.
        try eventually("a fix of the history") {
            here.house.send("GET", "/v1/people/walker/envelopes", as: here.walker).items
                .contains { $0["use"]?.string == "track" && $0["received"] != nil }
        }
        let listed = here.house.send("GET", "/v1/people/walker/envelopes", as: here.friend).items
        #expect(listed.map { $0["precision"]?.string } == ["city"] && listed.first?["received"] == nil)
    }

    @Test func `a phone that has not accepted the asker's key refuses, on record, and no place leaves it`() throws {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend", history: true)
        _ = try Self.keys(in: here, acceptsFriend: false)
        let phone = try here.startPhone(seals: true)
        defer { phone.stop() }
        let url = try here.ask(#","maxAgeSeconds":0,"deadlineSeconds":30"#)
        let refusal = try eventually("the refusal") {
            try here.house.events().first { $0.event.kind == .sealingRefused }
        }
        guard case .sealingRefused(_, _, .recipientNotApproved) = refusal.event else {
            Issue.record("Another reason: \(refusal.event)")
            return
        }
        // The asker cannot tell it from a phone that is switched off.
        #expect(here.house.send("GET", url, as: here.friend)["status"]?.string == "pending")
        let kinds = try here.house.events().map(\.event.kind)
        #expect(!kinds.contains(.fixReported) && !kinds.contains(.locationDisclosed))
        let answers = try here.house.events().filter {
            if case .sealedFixReported(_, _?, _) = $0.event { true } else { false }
        }
        #expect(answers.isEmpty)
    }
}
