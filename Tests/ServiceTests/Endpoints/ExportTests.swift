import Answers
import Cryptography
import FileFormats
import HTTPServer
import JSON
import Log
import TestSupport
import Testing
import Threading
import Whereabouts
import WhereaboutsClient
import WireFormats

@testable import PersonEndpoints
@testable import Service

/// A person's track as a file by the API.
@Suite struct ExportTests {
    private let house: ServiceUnderTest
    private let walker: String

    init() throws {
        house = try ServiceUnderTest()
        walker = try house.addPerson("walker")
        _ = try house.addDevice("phone", of: "walker")
        _ = try house.addDevice("watch", of: "walker")
    }

    /// Imports this many fixes, one a minute, up to the present.
    private func importFixes(_ count: Int, device: String = "phone", altitude: Bool = true) {
        let end = house.clock.seconds
        for begin in stride(from: 0, to: count, by: 1000) {
            let fixes = (begin..<min(count, begin + 1000)).map { number in
                let latitude = 48 + Double(number % 1000) / 1000
                let height = altitude ? #","altitude":171.5"# : ""
                return
                    #"{"timestamp":\#(end - Int64((count - number) * 60)),"latitude":\#(latitude),"longitude":16.25,"horizontalAccuracy":8\#(height)}"#
            }
            let suffix = String(begin + 1_000_000 + device.count)
            house.manage(
                "POST", "/v1/imports/6b1c4f6e-3f60-4cb9-9d1f-2f5f1\(suffix)/batches",
                #"{"device":"\#(device)","fixes":[\#(fixes.joined(separator: ","))]}"#)
        }
    }

    private func export(_ form: String, _ query: String = "", as token: String? = nil) -> Answer {
        let head = house.service.log.head
        return house.send(
            "GET", "/v1/people/walker/exports/\(form)?at-least=\(head)\(query)", as: token ?? walker)
    }

    private func newestRead() throws -> LocationRead? {
        try house.events().reversed().lazy.compactMap { recorded -> LocationRead? in
            if case .locationRead(let read) = recorded.event, !read.verdict.isRefused { read } else { nil }
        }.first
    }

    @Test(arguments: ExportEndpoints.forms.keys.sorted())
    func `each form has every fix as it was reported, and the record has the hash of the file`(form: String) throws {
        importFixes(50)
        let answer = export(form)
        #expect(answer.status == 200 && answer.header("Whereabouts-Count") == "50", "\(answer.text)")
        let known = try #require(ExportEndpoints.forms[form])
        #expect(answer.header("Content-Type") == known.mediaType)
        #expect(
            answer.header("Content-Disposition") == "attachment; filename=\"walker.\(known.fileExtension)\"")
        let read = try #require(try newestRead())
        #expect(read.question == .track && read.count == 50)
        #expect(read.content.content?.answerHash == Hash256(SHA256().hash(answer.body)))
        // Written by the same writer from the track that the API lists, it has the same bytes.
        var file = TrackFile(known, of: try #require(Handle("walker")))
        let track = house.send("GET", "/v1/people/walker/track?heights=reported", as: walker)
        #expect(track.items.count == 50)
        for item in track.items {
            var writer = JSONWriter()
            writer.beginObject()
            let members = try #require(item.members)
            for (name, value) in members where !["device", "number", "anomaly"].contains(name) {
                writer.key(name)
                writer.value(value)
            }
            writer.endObject()
            for case .fix(let fix, _) in FixJSON.reports(from: writer.bytes, now: house.clock.now) {
                file.add(fix, device: "phone")
            }
        }
        file.finish()
        let isSame = file.takeBytes() == answer.body
        #expect(isSame)
    }

    /// Longer than what stays in memory: over a socket, from a file without a name.
    @Test func `a long file arrives whole over a socket, and is on record`() throws {
        importFixes(12_000)
        _ = house.settled()
        let address = "http://127.0.0.1:\(try house.listen())"
        let client = try ServiceClient(address: address, token: walker, receipts: .notKept)
        let seen = Monitor<[UInt8]>([])
        let headers = try client.download(["v1", "people", "walker", "exports", "gpx"]) { bytes in
            seen.change { $0 += bytes }
        }
        let bytes = seen.read { $0 }
        #expect(bytes.count > 1 << 20)
        #expect(headers.contains { $0.name.lowercased() == "whereabouts-count" && $0.value == "12000" })
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.split(separator: "<trkpt ").count == 12_001 && text.hasSuffix("</gpx>\n"))
        let read = try #require(try newestRead())
        #expect(read.content.content?.answerHash == Hash256(SHA256().hash(bytes)) && read.count == 12_000)
        // In this process, the answer is a stream of the same bytes, and a second file has to wait for the first.
        func begin() -> (status: Int, stream: HTTPStream?) {
            let given = Monitor<HTTPResponse?>(nil)
            house.send("GET", "/v1/people/walker/exports/gpx", as: walker) { response in given.change { $0 = response }
            }
            let response = given.wait(milliseconds: patienceMilliseconds) { $0 }
            return (response?.status ?? 0, response?.stream)
        }
        var first = begin()
        #expect(first.status == 200 && begin().status == 503)
        var again: [UInt8] = []
        while case .bytes(let more)? = first.stream?.next(100_000, wake: {}) { again += more }
        let isSame = again == bytes
        #expect(isSame)
        first.stream = nil
        try eventually("room for another file") { begin().status == 200 }
    }

    @Test func `a reader gets what the grant shows, and a file of one device and time what it says`() throws {
        importFixes(60)
        importFixes(30, device: "watch")
        #expect(export("csv").header("Whereabouts-Count") == "90")
        #expect(export("csv", "&device=watch").header("Whereabouts-Count") == "30")
        #expect(export("csv", "&device=nothing").header("Whereabouts-Count") == "0")
        let from = house.clock.seconds - 600
        #expect(export("csv", "&from=\(from)&device=phone").header("Whereabouts-Count") == "10")
        let friend = try house.addPerson("friend")
        try house.grant("walker", to: "friend", history: true, more: #","from":\#(from)"#)
        #expect(export("csv", as: friend).header("Whereabouts-Count") == "20")
        #expect(export("jpeg").status == 404)
        #expect(house.send("GET", "/v1/people/walker/exports/csv?limit=5", as: walker).status == 400)
    }

    /// A file of names would have no fixes, and one of cells would disclose each move from one to the next.
    @Test(arguments: ["place", "city", "kilometer", "none"])
    func `a coarse reader is refused in one sentence, as about nobody`(precision: String) throws {
        importFixes(10)
        let friend = try house.addPerson("friend")
        try house.grant("walker", to: "friend", precision: precision, history: precision != "none")
        for form in ExportEndpoints.forms.keys + [ExportEndpoints.archiveForm] {
            let answer = export(form, as: friend)
            let nobody = house.send(
                "GET", "/v1/people/nobody-at-all/exports/\(form)?at-least=\(house.service.log.head)", as: friend)
            #expect(answer.status == 404 && answer.observable == nobody.observable, "\(answer.text)")
            #expect(answer["detail"]?.string == "There is no such person.")
            house.clock.advance(seconds: 61)
        }
    }
}
