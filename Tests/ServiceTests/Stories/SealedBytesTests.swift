import Cryptography
import Envelopes
import JSON
import TestSupport
import Testing
import Whereabouts

@testable import Log
@testable import Service

/// Where a sealed phone was is in no file of the house.
@Suite struct SealedBytesTests {
    /// The encodings that are in a file, by the file's name.
    private static func found(_ degrees: [Double], below folder: String) -> [String] {
        names(in: folder).flatMap { name -> [String] in
            let path = "\(folder)/\(name)"
            guard let bytes = DataDirectory.read(path, atMost: 1 << 28) else { return found(degrees, below: path) }
            return degrees.flatMap { PlantedPlace.encodings($0) }
                .filter { ErasedKeyTests.contains(bytes, $0.value[...]) }.map { "\(name): \($0.key)" }
        }
    }

    @Test func `what a sealed phone knows of its place is in no file, in any encoding and by any app`() throws {
        let scene = try SealedHouse()
        let house = scene.house
        let (north, east) = (48.2087643, 16.3726129)
        let seconds = house.clock.seconds
        // As envelopes, which are taken.
        let now = house.clock.now
        let period = scene.anna.period(for: [scene.ben])
        let query = try scene.ask(as: "ben")
        let sent = scene.post(
            period.bytes, scene.anna.track(at: now, north, east, in: period).bytes,
            scene.anna.answer(at: house.clock.now, north, east, to: query, for: [scene.ben]).bytes)
        #expect(sent["new"]?.int == 3, "\(sent.text)")
        try scene.send("GET", "/v1/location-queries/\(query)", as: "ben")
        try scene.send("GET", "/v1/people/anna/envelopes", as: "ben")
        // And openly, by an app that does not know that the device is sealed.
        let fix = #""timestamp":\#(seconds),"latitude":\#(north),"longitude":\#(east)"#
        let visit = #"{"type":"visit",\#(fix),"horizontalAccuracy":12,"arrival":\#(seconds - 900)}"#
        let ownTracks = #""tst":\#(seconds),"lat":\#(north),"lon":\#(east)"#
        let basic = "Basic " + Base64.encode(Array("anna.phone:\(scene.phone)".utf8))
        let point = #"{"type":"Point","coordinates":[\#(east),\#(north)]}"#
        let overland =
            #"{"locations":[{"type":"Feature","geometry":\#(point),"properties":{"timestamp":"2026-05-04T08:00:00Z"}}]}"#
        let open: [(String, String, String, [(String, String)])] = [
            ("POST", "/v1/fixes", "{\(fix)}", []),
            ("POST", "/v1/fixes", #"{\#(fix),"horizontalAccuracy":"\#(north)"}"#, []),
            ("POST", "/v1/reports", #"{"reports":[\#(visit)]}"#, []),
            ("POST", "/owntracks", #"{"_type":"location",\#(ownTracks)}"#, [("Authorization", basic)]),
            (
                "POST", "/owntracks", #"{"_type":"waypoint","desc":"home","rad":100,\#(ownTracks)}"#,
                [("Authorization", basic)]
            ),
            ("POST", "/overland", overland, []),
            ("GET", "/osmand?id=\(scene.phone)&timestamp=\(seconds)&lat=\(north)&lon=\(east)", "", []),
            // An app that posts what should have been sealed to the address of envelopes.
            ("POST", "/v1/envelopes", #"{"envelopes":["\#(Base64.encode(Array("\(north),\(east)".utf8)))"]}"#, []),
        ]
        for (method, target, body, headers) in open {
            let answer = house.send(
                method, target, as: headers.isEmpty && method == "POST" ? scene.phone : nil, body, headers: headers)
            #expect(answer.status == 200, "\(target): \(answer.text)")
        }
        #expect(try scene.events(.fixReported).isEmpty)
        let rejected = house.send("POST", "/v1/fixes", as: scene.phone, "{\(fix)}")
        #expect(SealedHouse.reason(rejected) == "notSealed")
        let sentence = rejected["rejected"]?.array?.first { _ in true }?["detail"]?.string
        #expect(sentence?.contains("This device is sealed") == true)
        #expect(try scene.events(.inputRejected).count == 2)
        _ = house.settled()
        #expect(Self.found([north, east], below: house.directory) == [])
        // The search would find them: Ben's phone is not sealed, and tables are not either.
        let key = try house.addDevice("ben.phone", of: "ben")
        let (other, beyond) = (48.1987641, 16.3526127)
        let sentOpen = house.send(
            "POST", "/v1/fixes", as: key,
            #"{"timestamp":\#(seconds),"latitude":\#(other),"longitude":\#(beyond),"horizontalAccuracy":8}"#)
        #expect(sentOpen["new"]?.int == 1)
        _ = house.settled()
        #expect(!Self.found([other, beyond], below: house.directory).isEmpty)
    }
}
