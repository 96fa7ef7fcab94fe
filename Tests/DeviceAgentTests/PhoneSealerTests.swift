import Cryptography
import Envelopes
import Foundation
import Gazetteer
import Geodesy
import Glibc
import JSON
import OpenedEnvelopes
import TestSupport
import Testing
import Whereabouts

@testable import DeviceAgent

/// What a phone seals, for whom, and what it says if it does not.
@Suite struct PhoneSealerTests {
    private let folder = TemporaryFolder()
    private let query = "6b1c2d3e-4f50-4a61-8b72-93a4b5c6d7e8"
    private let fix = Data(
        #"{"fixes":[{"timestamp":1777881600,"latitude":48.2087,"longitude":16.3726,"horizontalAccuracy":8}]}"#.utf8)
    private var keys: String { folder.path + "/anna.keys" }
    private var sealer: PhoneSealer { PhoneSealer(keys: keys, folder: folder.path) }

    private func file(_ handle: String) throws -> KeyFile {
        try KeyFile(of: try #require(Handle(handle)), at: Timestamp(milliseconds: 1_777_881_600_000))
    }

    /// Anna's file, which accepts these people.
    private func write(_ anna: KeyFile, accepting people: [KeyFile]) throws {
        var anna = anna
        anna.people = people.map {
            KeyFile.Known(
                person: $0.person, identity: $0.identity.publicKey, keys: $0.recipients.map(\.key.publicKey))
        }
        try anna.write(to: keys)
    }

    private func names(_ file: KeyFile) -> String { file.recipients.map { "\"\($0.id)\"" }.joined(separator: ",") }

    /// What the service answers: Ben asks; these may read the history.
    private func questions(_ ben: KeyFile, precision: String = "exact", readers: [KeyFile] = []) -> Data {
        let question = #"{"query":"\#(query)","person":"ben","precision":"\#(precision)","keys":[\#(names(ben))]}"#
        let readers = readers.map { #"{"person":"\#($0.person.text)","keys":[\#(names($0))]}"# }.joined(separator: ",")
        return Data(
            #"{"person":"anna","device":1,"sealed":true,"questions":[\#(question)],"readers":[\#(readers)]}"#.utf8)
    }

    /// The envelopes and the reasons of refusals in what the phone would send.
    private func said(_ messages: [Data]) throws -> (envelopes: [Envelope], reasons: [String]) {
        var (envelopes, reasons): ([Envelope], [String]) = ([], [])
        for message in messages {
            let root = try JSONDocument.parse([UInt8](message)).root
            for item in root["envelopes"]?.array.map({ Array($0) }) ?? [] {
                envelopes.append(try Envelope(decoding: try #require(Base64.decode(item.string ?? ""))))
            }
            reasons += (root["refused"]?.array.map { Array($0) } ?? []).compactMap { $0["reason"]?.string }
        }
        return (envelopes, reasons)
    }

    @Test func `an answer opens for the asker whose key the owner has accepted`() throws {
        let (anna, ben) = (try file("anna"), try file("ben"))
        try write(anna, accepting: [ben])
        let (envelopes, reasons) = try said(sealer.answer(fix, to: questions(ben)))
        #expect(reasons.isEmpty && envelopes.count == 1)
        guard case .answer(let answer)? = envelopes.first else { return }
        let opened = try answer.open(
            with: ben.recipients[0].key, signedBy: anna.identity.publicKey, answering: try #require(QueryID(query)),
            notBefore: Timestamp(milliseconds: 1_777_881_600_000))
        #expect(opened.coordinate.latitude == 48.2087 && opened.horizontalAccuracy == 8)
        // To the kilometer, the phone seals the center of a cell.
        let coarse = try said(sealer.answer(fix, to: questions(ben, precision: "kilometer"))).envelopes
        #expect(coarse.map(\.tier) == [.kilometer])
        // Names of places come from a gazetteer, which a recipient cannot be shown in an envelope.
        #expect(try said(sealer.answer(fix, to: questions(ben, precision: "place"))).reasons == ["noFix"])
    }

    /// Three people ask at once, each with another precision.
    @Test(arguments: [true, false])
    func `each asker opens only the envelope of the own precision`(hasGazetteer: Bool) throws {
        let anna = try file("anna")
        let askers = try [("ben", "exact"), ("carla", "kilometer"), ("dora", "city")].map { name, precision in
            (file: try file(name), precision: precision, query: UUID().uuidString.lowercased())
        }
        try write(anna, accepting: askers.map(\.file))
        let questions = askers.map { asker in
            #"{"query":"\#(asker.query)","person":"\#(asker.file.person.text)","precision":"\#(asker.precision)","#
                + #""keys":[\#(names(asker.file))]}"#
        }
        let body = Data(
            #"{"person":"anna","device":1,"sealed":true,"questions":[\#(questions.joined(separator: ","))],"readers":[]}"#
                .utf8)
        let gazetteer = hasGazetteer ? try Gazetteer(path: "\(Repository.root)/data/places.gazetteer") : nil
        let sealer = PhoneSealer(keys: keys, folder: folder.path, gazetteer: gazetteer)
        let (envelopes, reasons) = try said(sealer.answer(fix, to: body))
        #expect(reasons.isEmpty && envelopes.map(\.tier) == [.exact, .kilometer, .city])
        var shown: [String: Fix] = [:]
        for asker in askers {
            let query = try #require(QueryID(asker.query))
            var opened = 0
            for case .answer(let answer) in envelopes {
                let key = asker.file.recipients[0].key
                do throws(EnvelopeError) {
                    let earliest = Timestamp(milliseconds: 1_777_881_600_000)
                    shown[asker.precision] = try answer.open(
                        with: key, signedBy: anna.identity.publicKey, answering: answer.query, notBefore: earliest)
                    opened += 1
                    #expect(answer.query == query && answer.tier.precision.word == asker.precision)
                } catch { #expect(error == .notARecipient) }
            }
            #expect(opened == 1, "\(asker.precision)")
        }
        #expect(shown["exact"]?.coordinate.latitude == 48.2087)
        let city = try #require(shown["city"])
        // GeoNames puts Vienna at 48.20849, 16.37208; the square degree's center is half way between the degrees.
        let center = hasGazetteer ? (48.20849, 16.37208) : (48.5, 16.5)
        #expect(abs(city.coordinate.latitude - center.0) < 0.005 && abs(city.coordinate.longitude - center.1) < 0.005)
        #expect(city.horizontalAccuracy == nil && city.timestamp.milliseconds % 900_000 == 0)
    }

    /// The service names a key that it has made; the phone does not know it.
    @Test func `a key that the owner has not accepted is refused, and nothing of the fix is in the message`() throws {
        let (anna, ben, forged) = (try file("anna"), try file("ben"), try file("ben"))
        try write(anna, accepting: [ben])
        let messages = sealer.answer(fix, to: questions(forged))
        let (envelopes, reasons) = try said(messages)
        #expect(envelopes.isEmpty && reasons == ["recipientNotApproved"])
        #expect(!messages.contains { String(decoding: $0, as: UTF8.self).contains("48.2") })
        #expect(try said(sealer.history(fix, readers: questions(ben, readers: [forged]))).envelopes.isEmpty)
    }

    @Test func `without keys, or without a fix, the phone says so`() throws {
        let (anna, ben) = (try file("anna"), try file("ben"))
        #expect(try said(sealer.answer(fix, to: questions(ben))).reasons == ["keyUnavailable"])
        try write(anna, accepting: [ben])
        #expect(try said(sealer.answer(nil, to: questions(ben))).reasons == ["noFix"])
        // Others can read the file: it is no secret any more.
        #expect(chmod(keys, 0o644) == 0)
        #expect(try said(sealer.answer(fix, to: questions(ben))).reasons == ["keyUnavailable"])
        #expect(sealer.answer(fix, to: Data("[]".utf8)).isEmpty)
    }

    @Test func `a new period begins each day, and at once when someone may no longer read`() throws {
        let (anna, ben, carla) = (try file("anna"), try file("ben"), try file("carla"))
        try write(anna, accepting: [ben, carla])
        func sealed(_ readers: [KeyFile], at second: Int64) throws -> (period: Identifier128, keys: [PeriodEnvelope]) {
            let fix = Data(
                #"{"fixes":[{"timestamp":\#(1_777_881_600 + second),"latitude":48.2,"longitude":16.4}]}"#.utf8)
            let envelopes = try said(sealer.history(fix, readers: questions(ben, readers: readers))).envelopes
            var (period, keys): (Identifier128?, [PeriodEnvelope]) = (nil, [])
            for envelope in envelopes {
                switch envelope {
                case .track(let track): period = track.period
                case .period(let key): keys.append(key)
                case .answer: Issue.record("Nobody asked.")
                }
            }
            return (try #require(period), keys)
        }
        let first = try sealed([anna, ben], at: 0)
        #expect(first.keys.count == 1 && first.keys.first?.wrapped.count == 2)
        let second = try sealed([anna, ben], at: 60)
        #expect(second.period == first.period && second.keys.isEmpty)
        // Carla is added: the same key is sealed again, also for her.
        let third = try sealed([anna, ben, carla], at: 120)
        #expect(third.period == first.period && third.keys.first?.wrapped.count == 3)
        // Ben's grant ends.
        let fourth = try sealed([anna, carla], at: 180)
        #expect(fourth.period != first.period && fourth.keys.first?.wrapped.count == 2)
        let key = try #require(fourth.keys.first)
        #expect(throws: EnvelopeError.notARecipient) {
            try key.open(with: ben.recipients[0].key, signedBy: anna.identity.publicKey)
        }
        #expect(try sealed([anna, carla], at: 86_400).period != fourth.period)
    }
}
