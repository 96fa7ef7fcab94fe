import Cryptography
import Glibc
import HTTPServer
import JSON
import Synchronization
import TestProcesses
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Answers
@testable import HTTPInterface
@testable import Log
@testable import PostgreSQL
@testable import PostgreSQLLog
@testable import Posting
@testable import Reactors
@testable import Readers
@testable import Service

/// Readers whose standby lags, whose writer is gone or another one, and messages that are no reader's.
@Suite(.enabled(if: PostgreSQLServer.programs != nil, "PostgreSQL is not installed."))
struct ReaderStoryTests {
    /// A house with a standby, and a reader that follows the standby.
    private struct Lagging {
        let scene: ReaderScene
        let standby: PostgreSQLServer
        let reader: ReaderUnderTest
        let anna: String

        init() throws {
            scene = try ReaderScene(try PostgreSQLServer())
            standby = try PostgreSQLServer(following: scene.primary)
            anna = try scene.fill()
            let (connection, count) = (standby.connection(scene.database), try scene.count())
            try eventually("the standby to follow") {
                try Session(connection).run("SELECT count(*) FROM whereabouts.event").int(0, 0) == count
            }
            reader = try scene.reader(on: standby)
            try scene.settle(reader)
        }

        /// What the primary writes from now on does not show on the standby.
        func pause() throws { try Session(standby.connection()).run("SELECT pg_wal_replay_pause()::text") }

        func resume() throws { try Session(standby.connection()).run("SELECT pg_wal_replay_resume()::text") }
    }

    @Test func `a right that has ended at the writer is refused at once, and one that began is good at once`() throws {
        let lagging = try Lagging()
        let (scene, reader) = (lagging.scene, lagging.reader)
        let ben = try scene.writer.addPerson("ben")
        let grant = try scene.writer.grant("anna", to: "ben", history: true)
        try scene.settle(reader)
        #expect(reader.send("GET", "/v1/people/anna/visits", as: ben).status == 200)
        try scene.settle(reader)
        try lagging.pause()
        scene.writer.manage("DELETE", "/v1/grants/\(grant)")
        let head = scene.writer.service.log.head
        let refused = reader.send("GET", "/v1/people/anna/visits", as: ben)
        // The reader still believes in the grant.
        #expect(reader.service.head < head && reader.counts.recorded == 1 && reader.counts.elsewhere == 1)
        let own = scene.writer.send("GET", "/v1/people/anna/visits", as: ben)
        #expect(refused.status == 404 && refused.observable == own.observable)
        // The refusal is on record once, under the request that the client knows.
        let refusals = try scene.writer.events(after: head).compactMap { event -> RequestID? in
            if case .locationRead(let read) = event.event, read.verdict.isRefused { event.correlation } else { nil }
        }
        #expect(
            refusals.map(\.description) == [refused, own].compactMap { $0.header("Whereabouts-Request") })

        // A grant, a person and a token that the standby does not know.
        let cleo = try scene.writer.addPerson("cleo")
        try scene.writer.grant("anna", to: "cleo", history: true)
        #expect(reader.send("GET", "/v1/people/anna/visits", as: cleo).status == 200)
        // A token that was revoked.
        let other = try scene.writer.token(of: "anna")
        try lagging.resume()
        try scene.settle(reader)
        #expect(reader.send("GET", "/v1/people/anna/visits", as: other).status == 200)
        try scene.settle(reader)
        try lagging.pause()
        let numbers = scene.writer.manage("GET", "/v1/people/anna/tokens").items.compactMap { item in item["id"]?.int }
        let last = try #require(numbers.max())
        scene.writer.manage("DELETE", "/v1/tokens/\(last)")
        #expect(reader.send("GET", "/v1/people/anna/visits", as: other).status == 401)
        try lagging.resume()
    }

    @Test func `what was withdrawn, erased or paused at the writer is not shown by a reader that does not know it`()
        throws
    {
        let lagging = try Lagging()
        let (scene, reader) = (lagging.scene, lagging.reader)
        let ben = try scene.writer.addPerson("ben")
        try scene.writer.grant("anna", to: "ben", history: true)
        try scene.settle(reader)
        let before = reader.send("GET", "/v1/people/anna/track?limit=500", as: ben)
        #expect(before.items.count == 150)
        try scene.settle(reader)
        try lagging.pause()
        let newest = try #require(
            scene.writer.send("GET", "/v1/people/anna/track?limit=500", as: lagging.anna).items.last?["number"]?.string)
        let withdrawn = scene.writer.send(
            "DELETE", "/v1/people/anna/track/\(newest)?reason=wrong-clock", as: lagging.anna)
        try #require(withdrawn.status < 300, "\(withdrawn.text)")
        let after = reader.send("GET", "/v1/people/anna/track?limit=500", as: ben)
        #expect(after.status == 200 && after.items.count == 149, "\(after.text.prefix(200))")
        let paused = scene.writer.send("POST", "/v1/people/anna/pauses", as: lagging.anna, "{}")
        try #require(paused.status < 300, "\(paused.text)")
        // Ben may read only so often.
        scene.clock.advance(seconds: 1200)
        let during = reader.send("GET", "/v1/people/anna/location", as: ben)
        let own = scene.writer.send("GET", "/v1/people/anna/location", as: ben)
        #expect(during.status == own.status && during["location"]?.kind == own["location"]?.kind)
        scene.writer.manage("DELETE", "/v1/people/anna")
        #expect(reader.send("GET", "/v1/people/anna/track", as: ben).status == 404)
        #expect(reader.counts.recorded == 1)
        // The reader learns of the erasure, and destroys the keys and the rows.
        try lagging.resume()
        try scene.settle(reader)
        let keys = try KeyRing.holders(in: reader.path + "/keys.sqlite")
        let anna = try #require(
            try scene.writer.events().first { if case .personErased = $0.event { true } else { false } }?.stream.person)
        #expect(!keys.contains(anna))
    }

    @Test func `a reader that lags passes reads on, says so, and answers again once it has caught up`() throws {
        let lagging = try Lagging()
        let (scene, reader) = (lagging.scene, lagging.reader)
        #expect(reader.send("GET", "/readyz", as: nil).status == 200)
        try lagging.pause()
        scene.clock.advance(seconds: 10)
        _ = try scene.writer.addPerson("ben")
        try eventually("the reader to be behind") { reader.service.figures.state.eventsBehind > 0 }
        // Still fresh: its answers say up to where they go.
        let stale = reader.send("GET", "/v1/people/anna/visits", as: lagging.anna)
        #expect(stale.status == 200)
        try eventually("the reader to be too far behind") { !reader.service.figures.state.isFresh }
        let (ready, before) = (reader.send("GET", "/readyz", as: nil), reader.counts)
        #expect(ready.status == 503 && ready.text.contains("events behind"), "\(ready.text)")
        #expect(reader.send("GET", "/v1/people/anna/visits", as: lagging.anna).status == 200)
        #expect(reader.counts.recorded == before.recorded && reader.counts.passedOn == before.passedOn + 1)
        let metrics = reader.send("GET", "/metrics", as: scene.writer.operatorToken)
        #expect(metrics.text.contains("whereabouts_reader_behind_events"))
        try lagging.resume()
        try scene.settle(reader)
        #expect(reader.send("GET", "/v1/people/anna/visits", as: lagging.anna).status == 200)
        #expect(reader.counts.recorded == before.recorded + 1)
        #expect(reader.send("GET", "/readyz", as: nil).status == 200)
    }

    @Test func `without a writer no recorded read is answered, and nothing is read unrecorded`() throws {
        let scene = try ReaderScene()
        let anna = try scene.fill()
        let reader = try scene.reader()
        try scene.settle(reader)
        scene.writer.stop()
        let count = try scene.count()
        for target in ["location", "track", "visits", "audit", "grants"] {
            let answer = reader.send("GET", "/v1/people/anna/\(target)", as: anna)
            #expect(answer.status == 503 && answer.header("Retry-After") != nil, "\(target) \(answer.text)")
            #expect(!answer.text.contains("latitude"))
        }
        #expect(reader.send("POST", "/v1/fixes", as: anna, "{}").status == 503)
        #expect(reader.send("GET", "/healthz", as: nil).status == 200)
        #expect(reader.send("GET", "/openapi.json", as: nil).status == 200)
        let place = reader.send("GET", "/v1/geocode/reverse?latitude=48.2&longitude=16.37", as: anna)
        #expect(place.status == 200 && place["countryCode"] != nil || place["isoCountryCode"] != nil, "\(place.text)")
        try eventually("the reader to say so") { reader.send("GET", "/readyz", as: nil).status == 503 }
        #expect(try scene.count() == count)
        #expect(reader.counts.recorded == 0 && reader.counts.unanswered >= 6)
    }

    @Test func `after a take-over the reader finds the process that writes now`() throws {
        let scene = try ReaderScene()
        let anna = try scene.fill()
        let next = ReservedPort()
        let reader = try scene.reader(writers: [next.number, scene.port])
        try scene.settle(reader)
        #expect(reader.send("GET", "/v1/people/anna/visits", as: anna).status == 200)
        scene.writer.stop()
        #expect(reader.send("GET", "/v1/people/anna/visits", as: anna).status == 503)
        // Another machine of the house, with the same kek and its own directory.
        let folder = TemporaryFolder()
        try TestSupport.copy(scene.writer.directory + "/kek", to: folder.path + "/kek")
        var configuration = ServiceConfiguration()
        configuration.database = ReaderScene.written(try ConnectionString(scene.primary.connection(scene.database)))
        let clock = scene.clock
        let second = try Service(
            directory: try DataDirectory(path: folder.path), configuration: configuration,
            gazetteerPath: ServiceUnderTest.gazetteer, clock: { clock.now }, steady: { clock.steady })
        defer { second.stop() }
        _ = try second.listen(host: "127.0.0.1", port: next.number)
        try eventually("a read to be recorded there") {
            reader.send("GET", "/v1/people/anna/visits", as: anna).status == 200
        }
        let answer = reader.send("GET", "/v1/people/anna/audit?limit=3", as: anna)
        #expect(answer.status == 200 && !answer.items.isEmpty)
        try eventually("the reader to follow") { reader.service.head == second.log.head }
    }

    @Test func `a message without the seal of the house records nothing`() throws {
        let scene = try ReaderScene()
        let anna = try scene.fill()
        let log = scene.writer.service.log
        let caller = try #require(
            log.withStanding { $0.caller(tokenHash: Secret.hash(of: anna), at: scene.clock.now) })
        let question = ReadQuestion(
            subject: try #require(Handle("anna")), question: .visits, from: nil, to: nil, purpose: nil)
        func message(marked mark: [UInt8]? = nil, asOf: Int64? = nil, epoch: Int64? = nil) throws -> [UInt8] {
            let permit = try log.withStanding { $0.authorize(caller, toRead: question, at: scene.clock.now) }.get()
            let marks = log.withStanding { SHA256().hash($0.readingMark(permit)).bytes }
            return RecordRequest(
                log: log.id.description, epoch: epoch ?? log.epoch,
                reads: [
                    SentRead(
                        request: .random(), token: try #require(caller.token), question: question, mark: mark ?? marks,
                        asOf: asOf ?? log.head, count: 1, hash: Hash256(SHA256().hash([1])), envelopes: nil)
                ]
            ).bytes
        }
        func post(_ body: [UInt8], _ seal: String?) -> Answer {
            scene.writer.send(
                "POST", RecordingEndpoint.path, as: nil, String(decoding: body, as: UTF8.self),
                headers: seal.map { [(ReaderSeal.requestHeader, $0)] } ?? [])
        }
        let kek = try #require(DataDirectory.read(scene.writer.directory + "/kek", atMost: 64))
        let seal = ReaderSeal(under: SymmetricKey(bytes: kek))
        let stranger = ReaderSeal(under: SymmetricKey(bytes: [UInt8](repeating: 7, count: 32)))
        let (now, body) = (scene.clock.now, try message())
        let count = try scene.count()
        let minutes = Timestamp(milliseconds: now.milliseconds - 61_000)
        let sealed = seal.request(body, at: now).header
        for (given, header) in [
            (body, nil), (body, ""), (body, "1 2 3"), (body, stranger.request(body, at: now).header),
            (body, seal.request(body, at: minutes).header), (body + [32], sealed),
            (body, sealed.replacing(" ", with: "  ")), (body, String(sealed.dropLast(2))),
            (body, "9223372036854775807" + sealed.drop { $0 != " " }),
        ] as [([UInt8], String?)] {
            let answer = post(given, header)
            #expect(answer.status == 404 && answer.header(ReaderSeal.answerHeader) == nil, "\(header ?? "none")")
        }
        // A caller's token is no seal.
        #expect(
            scene.writer.send(
                "POST", RecordingEndpoint.path, as: scene.writer.operatorToken, String(decoding: body, as: UTF8.self)
            ).status == 404)
        #expect(try scene.count() == count && scene.writer.service.door.requestFigures.readers.counts.forged == 10)
        // Sealed, but not what the writer would answer too.
        for body in [try message(marked: [UInt8](repeating: 0, count: 32)), try message(asOf: log.head + 100)] {
            let answer = post(body, seal.request(body, at: now).header)
            #expect(answer.status == 200 && answer["reads"]?.array?.map { $0["number"]?.int } == [nil])
        }
        let foreign = try message(epoch: log.epoch + 1)
        #expect(post(foreign, seal.request(foreign, at: now).header).status == 409)
        for broken in [
            "", "{}", "[]", #"{"log":1,"epoch":1,"reads":[]}"#, "{\"log\":\"a\",\"epoch\":1,\"reads\":[{}]}",
        ] {
            #expect(post(Array(broken.utf8), seal.request(Array(broken.utf8), at: now).header).status == 400)
        }
        #expect(try scene.count() == count)
        // The same message, sealed, is recorded.
        let good = seal.request(body, at: now)
        let answer = post(body, good.header)
        #expect(answer.status == 200 && answer["reads"]?.array?.map { $0["number"]?.int } == [count + 1])
        #expect(seal.isGood(answer.header(ReaderSeal.answerHeader), answer.body, status: 200, to: good.nonce))
        #expect(!stranger.isGood(answer.header(ReaderSeal.answerHeader), answer.body, status: 200, to: good.nonce))
        #expect(try scene.count() == count + 1)
        // Someone who saw the message on its way sends it again.
        #expect(post(body, good.header).status == 404)
        #expect(try scene.count() == count + 1)
    }

    @Test func `an answer that is not of the house records nothing, so nothing leaves`() throws {
        let scene = try ReaderScene()
        let anna = try scene.fill()
        // Something else listens where the writer should be, and agrees to everything.
        var settings = HTTPServerConfiguration()
        settings.port = 0
        let impostor = try HTTPServer(settings) { request, responder in
            let reads = RecordRequest(request.body)?.reads.count ?? 0
            let recorded = RecordAnswer.Recorded(number: 1, at: Timestamp(milliseconds: 0), promise: nil)
            var answer = HTTPResponse.json(
                RecordAnswer(head: 10_000, reads: [RecordAnswer.Recorded?](repeating: recorded, count: reads)).bytes)
            answer.headers.append((ReaderSeal.answerHeader, String(repeating: "a", count: 64)))
            responder.respond(answer)
        }
        try impostor.start()
        defer { impostor.stop() }
        let reader = try scene.reader(writers: [impostor.port, scene.port])
        // The right address is found behind it.
        try scene.settle(reader)
        #expect(reader.send("GET", "/v1/people/anna/visits", as: anna).status == 200)
        scene.writer.stop()
        let answer = reader.send("GET", "/v1/people/anna/visits", as: anna)
        #expect(!answer.text.contains("arrival"))
        #expect(reader.counts.recorded == 1)
    }

    @Test func `long answers, streams and errors are passed on as they are`() throws {
        let scene = try ReaderScene()
        let anna = try scene.fill()
        let reader = try scene.reader()
        try scene.settle(reader)
        let (operatorToken, writer) = (scene.writer.operatorToken, SocketClient(port: scene.port))
        let client = SocketClient(port: try reader.service.listen(host: "127.0.0.1", port: 0))
        for (method, target, token, body) in [
            ("GET", "/v1/people", operatorToken, ""), ("GET", "/v1/people/nobody/visits", anna, ""),
            ("GET", "/v1/people/anna/visits?nonsense=1", anna, ""), ("GET", "/v1/people/anna/visits", nil, ""),
            ("GET", "/nothing/here", anna, ""), ("DELETE", "/v1/people/anna/visits", anna, ""),
            ("GET", "/", nil, ""), ("POST", "/v1/people", operatorToken, "{"),
            ("GET", "/v1/people/anna/track?limit=abc&x=%20%2F", anna, ""),
        ] as [(String, String, String?, String)] {
            let own = try writer.send(method, target, as: token, body)
            let answer = try client.send(method, target, as: token, body)
            #expect(answer.status == own.status && answer.body == own.body, "\(method) \(target)")
            let names = { (answer: Answer) in Set(answer.headers.map { $0.name.lowercased() }) }
            #expect(names(answer) == names(own), "\(method) \(target)")
        }
        // A made person is the writer's, and the answer is whole.
        let made = try client.send("POST", "/v1/people", as: operatorToken, #"{"handle":"dora"}"#)
        #expect(made.status == 201 || made.status == 200, "\(made.text)")
        // Longer than what is passed on as a whole.
        let events = try client.send(
            "GET", "/v1/events?limit=1000", as: operatorToken, headers: [("Whereabouts-Purpose", "test")])
        let own = try writer.send(
            "GET", "/v1/events?limit=1000", as: operatorToken, headers: [("Whereabouts-Purpose", "test")])
        #expect(events.status == 200 && own.status == 200 && events.items.count >= 150)
        // A stream ends when its client does.
        let live = try Self.beginning(of: "/v1/live", as: anna, port: client.port)
        #expect(live.contains("200 OK") && live.contains("text/event-stream"), "\(live)")
        let head = try client.send("HEAD", "/v1/people", as: operatorToken)
        #expect(head.status == 200 && head.body.isEmpty)
    }

    /// The first bytes of an answer that does not end.
    private static func beginning(of target: String, as token: String, port: Int) throws -> String {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        try #require(Loopback.connect(descriptor, port: port))
        let text = "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(token)\r\n\r\n"
        try #require(Glibc.send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL)) == text.utf8.count)
        var received = ""
        var piece = [UInt8](repeating: 0, count: 4096)
        while !received.contains("\r\n\r\n"), case let count = recv(descriptor, &piece, piece.count, 0), count > 0 {
            received += String(decoding: piece[..<count], as: UTF8.self)
        }
        return received
    }

    @Test func `a long answer reaches a slow client whole, and one that is cut does not look whole`() throws {
        let content = (0..<6_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        var settings = HTTPServerConfiguration()
        settings.port = 0
        let server = try HTTPServer(settings) { request, responder in
            var answer = HTTPResponse(status: 200, headers: [("Content-Type", "application/gpx+xml")])
            let isCut = request.path == "/cut"
            answer.stream = HTTPStream(
                HTTPStream.Source(length: content.count) { place, count in
                    isCut && place > 2_000_000 ? nil : Array(content[place..<min(place + count, content.count)])
                })
            responder.respond(answer)
        }
        try server.start()
        defer { server.stop() }
        let link = WriterLink(
            [try #require(Origin("http://127.0.0.1:\(server.port)"))], trustFile: nil,
            seal: ReaderSeal(under: SymmetricKey(bytes: [UInt8](repeating: 1, count: 32))), figures: ReaderFigures(),
            clock: { Timestamp.now })
        defer { link.stop() }
        for (target, isWhole) in [("/whole", true), ("/cut", false)] {
            let given = Monitor<HTTPResponse?>(nil)
            let ended = Monitor<Bool?>(nil)
            link.pass(
                WriterLink.Passage(method: "GET", target: target, headers: [], body: []),
                to: PassingReceiver { isAnswered in
                    ended.change { $0 = isAnswered }
                } respond: { response in
                    given.change { $0 = response }
                })
            let response = try #require(given.wait(milliseconds: patienceMilliseconds) { $0 })
            let stream = try #require(response.stream)
            var received: [UInt8] = []
            var last = HTTPStream.Next.nothingYet
            let woken = Monitor(0)
            while last != .end, last != .cut {
                let count = woken.read { $0 }
                last = stream.next(16_384) { woken.change { $0 += 1 } }
                switch last {
                case .bytes(let bytes):
                    received += bytes
                    #expect(stream.waitingBytes < 2 << 20)
                    if received.count % 64 == 0 { usleep(200) }
                case .nothingYet: _ = woken.wait(milliseconds: patienceMilliseconds) { $0 > count ? true : nil }
                case .end, .cut: break
                }
            }
            #expect((last == .end) == isWhole && (received == content) == isWhole)
            #expect(ended.wait(milliseconds: patienceMilliseconds) { $0 } == isWhole)
        }
    }

    @Test func `a writer that hangs is given up, and the next address is asked if that repeats nothing`() throws {
        // It takes connections and never answers.
        let hanging = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(hanging) }
        let port = try #require(Loopback.bind(hanging))
        try #require(listen(hanging, 16) == 0)
        var settings = HTTPServerConfiguration()
        settings.port = 0
        let server = try HTTPServer(settings) { _, responder in responder.respond(.text("here")) }
        try server.start()
        defer { server.stop() }
        let link = WriterLink(
            try [port, server.port].map { try #require(Origin("http://127.0.0.1:\($0)")) }, trustFile: nil,
            seal: ReaderSeal(under: SymmetricKey(bytes: [UInt8](repeating: 1, count: 32))), figures: ReaderFigures(),
            clock: { Timestamp.now }, beginMilliseconds: 300)
        defer { link.stop() }
        // In this order: afterwards the address that answered is the first.
        for (method, status) in [("POST", 503), ("GET", 200)] {
            let given = Monitor<HTTPResponse?>(nil)
            link.pass(
                WriterLink.Passage(method: method, target: "/", headers: [], body: []),
                to: PassingReceiver { _ in
                } respond: { response in
                    given.change { $0 = response }
                })
            let response = try #require(given.wait(milliseconds: patienceMilliseconds) { $0 })
            #expect(response.status == status)
            #expect(status == 200 || response.headers.contains { $0.name == "Retry-After" })
        }
    }

    @Test func `a reader named as a writer passes nothing round in a circle`() throws {
        let scene = try ReaderScene()
        let anna = try scene.fill()
        let first = try scene.reader()
        try scene.settle(first)
        let port = try first.service.listen(host: "127.0.0.1", port: 0)
        let second = try scene.reader(writers: [port])
        #expect(second.send("GET", "/v1/people/anna/audit", as: anna).status == 503)
        let third = try scene.reader(writers: [port, scene.port])
        #expect(third.send("GET", "/v1/people/anna/audit", as: anna).status == 200)
    }

    @Test func `a reader goes on from its copy, and copies again what is damaged or of another epoch`() throws {
        let scene = try ReaderScene()
        let anna = try scene.fill()
        let reader = try scene.reader()
        try scene.settle(reader)
        reader.stop()
        let phone = try scene.writer.addDevice("watch", of: "anna")
        scene.clock.advance(seconds: 60)
        scene.writer.send(
            "POST", "/v1/fixes", as: phone, #"{"timestamp":\#(scene.clock.seconds),"latitude":1,"longitude":2}"#)
        try reader.start()
        try scene.settle(reader)
        #expect(reader.send("GET", "/v1/people/anna/location", as: anna)["location"]?["latitude"]?.double == 1)
        // A copy that is cut: everything is a cache, and is made again.
        reader.stop()
        truncate(reader.path + "/log.sqlite", 5000)
        for suffix in ["-wal", "-shm"] { unlink(reader.path + "/log.sqlite" + suffix) }
        try reader.start()
        try scene.settle(reader)
        #expect(reader.send("GET", "/v1/people/anna/location", as: anna)["location"]?["latitude"]?.double == 1)
        // A new epoch stops a reader; its next start takes it.
        try scene.admin.run("UPDATE whereabouts.log SET epoch = epoch + 1")
        try eventually("the reader to stop") { reader.service.failure != nil }
        reader.stop()
        try reader.start()
        #expect(reader.service.head > 0)
    }

    @Test(.enabled(if: Repository.tool != nil, "whereabouts was not built beside the tests"))
    func `a reader killed at any moment loses nothing, and has recorded everything that it showed`() throws {
        let tool = try #require(Repository.tool)
        let scene = try ReaderScene()
        let anna = try scene.fill()
        // The message's time is the system's in a process of its own.
        scene.clock.set(Timestamp.now)
        let folder = TemporaryFolder()
        try TestSupport.copy(scene.writer.directory + "/kek", to: folder.path + "/kek")
        try DataDirectory.writePrivate(
            Array(
                #"{"log":{"postgresql":"\#(scene.primary.connection(scene.database))","writers":["http://127.0.0.1:\#(scene.port)"]}}"#
                    .utf8), to: folder.path + "/config.json")
        var shown: Set<String> = []
        for round in 0..<4 {
            let process = try KilledProcessTests.Process(tool, data: folder.path)
            let client = SocketClient(port: process.port)
            try eventually("the reader to be ready") { try client.send("GET", "/readyz", as: nil).status == 200 }
            for _ in 0..<(5 + round) {
                let answer = try client.send("GET", "/v1/people/anna/visits", as: anna)
                #expect(answer.status == 200)
                shown.insert(try #require(answer.header("Whereabouts-Request")))
            }
            kill(process.id, SIGKILL)
            #expect(process.ended().signal == SIGKILL)
        }
        let recorded = Set(
            try scene.writer.events().filter { if case .locationRead = $0.event { true } else { false } }.map {
                $0.correlation.description
            })
        #expect(shown.count == 26 && recorded.isSuperset(of: shown))
    }
}
