import Cryptography
import DeviceAgent
import Envelopes
import Glibc
import JSON
import Log
import TestSupport
import Testing
import Whereabouts

@testable import Service

/// Where a sealed phone was is neither on the way to the service nor in its memory.
@Suite struct SealedTrafficTests {
    // MARK: On the way

    /// The bytes between a phone and the service, from the phone's start to its answer, and the bytes of the envelopes in
    /// them.
    private static func traffic(seals: Bool) throws -> (wire: [UInt8], envelopes: [[UInt8]]) {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend", history: true)
        let proxy = try RecordingProxy(before: here.client.port)
        if seals { _ = try SealedPhoneStoryTests.keys(in: here) }
        let phone = try here.startPhone(seals: seals, over: proxy.port)
        defer {
            phone.stop()
            proxy.stop()
        }
        let answer = try here.outcome(of: try here.ask(#","maxAgeSeconds":0"#))
        #expect(answer["status"]?.string == "answered")
        if seals {
            try eventually("a fix of the history") {
                let items = here.house.send("GET", "/v1/people/walker/envelopes", as: here.walker).items
                return items.contains { $0["use"]?.string == "track" }
            }
        }
        let wire = proxy.recorded
        // JSON of the phone: {"envelopes":["…","…"], …}.
        let texts = String(decoding: wire, as: UTF8.self).split(separator: "\"").filter { $0.utf8.count > 300 }
        return (wire, texts.compactMap { Base64.decode(String($0)) })
    }

    @Test func `a recording of everything between a sealed phone and the service has its place in no encoding`() throws
    {
        let place = PlantedPlace(
            latitude: Neighbourhood.place.latitude, longitude: Neighbourhood.place.longitude)
        let (wire, envelopes) = try Self.traffic(seals: true)
        let decoded = envelopes.compactMap { try? Envelope(decoding: $0) }
        #expect(decoded.contains { if case .answer = $0 { true } else { false } })
        #expect(decoded.contains { if case .track = $0 { true } else { false } })
        #expect(place.found(in: wire) == [])
        for envelope in envelopes { #expect(place.found(in: envelope) == []) }
        // The search finds it on the way of a phone that does not seal.
        #expect(!place.found(in: try Self.traffic(seals: false).wire).isEmpty)
    }

    // MARK: In memory

    /// The encodings of a place in the memory that a process can write.
    ///
    /// - Returns: `nil` if the system does not let the test read it.
    private static func found(_ place: PlantedPlace, inMemoryOf process: pid_t) throws -> (found: [String], bytes: Int)?
    {
        let memory = open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { return nil }
        defer { close(memory) }
        var maps = ""
        let file = try #require(fopen("/proc/\(process)/maps", "r"))
        defer { fclose(file) }
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&piece, 1, piece.count, file), count > 0 {
            maps += String(decoding: piece[..<count], as: UTF8.self)
        }
        var (found, total): (Set<String>, Int) = ([], 0)
        let window = 4 << 20
        // Windows overlap, so that nothing is missed at their border.
        let overlap = 512
        var buffer = [UInt8](repeating: 0, count: window + overlap)
        for line in maps.split(separator: "\n") {
            let words = line.split(separator: " ")
            let ends = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            guard ends.count == 2, words[1].hasPrefix("rw") else { continue }
            var start = ends[0]
            while start < ends[1] {
                let count = pread(memory, &buffer, min(buffer.count, Int(ends[1] - start)), Int(start))
                // Stacks have pages that cannot be read.
                guard count > 0 else { break }
                buffer.withUnsafeBytes { bytes in
                    found.formUnion(place.found(in: UnsafeRawBufferPointer(rebasing: bytes[..<count])))
                }
                total += count
                start += UInt64(window)
            }
        }
        return total == 0 ? nil : (found.sorted(), total)
    }

    @Test(.enabled(if: Repository.tool != nil, "whereabouts was not built beside the tests"))
    func `the memory of a service with a sealed phone has its place in no encoding`() throws {
        let temporary = TemporaryFolder()
        let process = try KilledProcessTests.Process(try #require(Repository.tool), data: temporary.path)
        let client = SocketClient(port: process.port)
        let admin = try KilledProcessTests.admin(temporary.path)
        func send(_ method: String, _ path: String, as token: String, _ body: String = "") throws -> Answer {
            let answer = try client.send(method, path, as: token, body)
            try #require((200..<300).contains(answer.status), "\(method) \(path): \(answer.text)")
            return answer
        }
        let (anna, ben) = (SealedPerson("anna", seed: 41), SealedPerson("ben", seed: 42))
        var tokens: [String: String] = [:]
        for person in [anna, ben] {
            _ = try send("POST", "/v1/people", as: admin, #"{"handle":"\#(person.handle)"}"#)
            let issued = try send(
                "POST", "/v1/people/\(person.handle)/tokens", as: admin, #"{"scopes":["query","audit","manage"]}"#)
            let token = try #require(issued["token"]?.string)
            tokens[person.handle] = token
            for body in [person.identityBody(), person.recipientBody()] {
                _ = try send("POST", "/v1/people/\(person.handle)/keys", as: token, body)
            }
        }
        let (annas, bens) = (try #require(tokens["anna"]), try #require(tokens["ben"]))
        func device(_ handle: String, of person: String) throws -> String {
            let made = try send("POST", "/v1/people/\(person)/devices", as: admin, #"{"handle":"\#(handle)"}"#)
            return try #require(made["password"]?.string)
        }
        let phone = try device("anna.phone", of: "anna")
        _ = try send(
            "POST", "/v1/people/anna/grants", as: admin, #"{"requester":"ben","precision":"exact","history":true}"#)
        _ = try send("POST", "/v1/people/anna/pins", as: annas, anna.pinBody(ben))
        _ = try send("PUT", "/v1/devices/anna.phone/sealing", as: annas, #"{"sealed":true}"#)

        let place = PlantedPlace(latitude: 48.2087643, longitude: 16.3726129)
        let asked = try send(
            "POST", "/v1/people/anna/location-queries", as: bens,
            #"{"purpose":"to meet","maxAgeSeconds":0,"deadlineSeconds":300}"#)
        let query = try #require(asked["id"]?.string)
        let period = anna.period(for: [ben])
        let now = Timestamp.now
        let fixes = (0..<50).map { step in
            anna.track(
                at: now.adding(seconds: Int64(step) - 60), place.latitude, place.longitude, in: period
            ).bytes
        }
        let answer = anna.answer(at: now, place.latitude, place.longitude, to: query, for: [ben])
        let sent = try send(
            "POST", "/v1/envelopes", as: phone, SealedPerson.body([period.bytes] + fixes + [answer.bytes]))
        #expect(sent["new"]?.int == 52, "\(sent.text)")
        // Handed over, and asked for in every other way.
        _ = try send("GET", "/v1/location-queries/\(query)", as: bens)
        for list in ["envelopes", "visits", "trips", "track", "places", "location", "crossings"] {
            _ = try send("GET", "/v1/people/anna/\(list)", as: annas)
        }
        guard let sealed = try Self.found(place, inMemoryOf: process.id) else {
            // Another system may forbid it, even to the parent.
            return #expect(geteuid() != 0, "The memory of the process cannot be read.")
        }
        #expect(sealed.found == [] && sealed.bytes > 10 << 20, "\(sealed)")
        // The search finds the place of Ben's phone, which is not sealed.
        let bensPhone = try device("ben.phone", of: "ben")
        let other = PlantedPlace(latitude: 48.1987641, longitude: 16.3526127)
        _ = try send(
            "POST", "/v1/fixes", as: bensPhone,
            #"{"timestamp":\#(now.milliseconds / 1000),"latitude":\#(other.latitude),"longitude":\#(other.longitude)}"#)
        _ = try send("GET", "/v1/people/ben/location", as: bens)
        let open = try #require(try Self.found(other, inMemoryOf: process.id))
        #expect(!open.found.isEmpty)
    }
}
