import LocationPush
import PushStandIn
import Synchronization
import Testing

/// The sender and the stand-in over TLS and HTTP/2 on the loopback address.
@Suite struct PushSenderTests {
    @Test func `a push arrives with every field in its place and is accepted`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        let sender = try scene.sender()
        let id = uuid()
        let push = try scene.push(
            id: id, priority: .serverAsked, expirationSeconds: 1_900_000_000, collapseID: "person-1")
        let (outcome, attempts) = await sender.send(push)
        guard case .accepted(id, let uniqueID?) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(attempts.map(\.ending) == [.accepted(uniqueID: uniqueID)])
        #expect(attempts.map(\.number) == [1] && attempts.map(\.connection) == [1])
        let seen = try #require(scene.standIn.pushes.first)
        #expect(seen.apnsID == id)
        #expect(seen.topic == "org.example.whereabouts.location-query")
        #expect(seen.priority == "5" && seen.expiration == "1900000000" && seen.collapseID == "person-1")
        #expect(seen.payloadBytes == push.payload.count && seen.status == 200)
        sender.stop()
    }

    @Test func `changing fields enter the peer's HPACK table only once a connection, secrets and paths never`()
        async throws
    {
        let scene = try Scene()
        defer { scene.close() }
        let sender = try scene.sender()
        for _ in 0..<2 { _ = await sender.send(try scene.push(collapseID: "c")) }
        #expect(
            scene.standIn.pushes.map(\.neverIndexed) == [
                [":path", "authorization"],
                [":path", "authorization", "apns-expiration", "apns-id", "apns-collapse-id"],
            ])
        sender.stop()
    }

    @Test(arguments: PushReason.table.map { ($0.name, $0.status) })
    func `each refusal has its consequence`(name: String, status: Int) async throws {
        let scene = try Scene()
        defer { scene.close() }
        let timestamp: Int64? = status == 410 ? 1_732_147_200_123 : nil
        let refusal = PushRejection(status: status, reason: PushReason(name), timestampMs: timestamp)
        let refused = PushStandInFault.answer(status: status, reason: name, timestampMs: timestamp)
        scene.standIn.script([refused, refused])
        let sender = try scene.sender()
        let (outcome, attempts) = await sender.send(try scene.push(id: "00000000-1111-2222-3333-444444444444"))
        switch refusal.consequence {
        case .retry, .retryOnNewConnection:
            guard case .accepted = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(attempts.map(\.number) == [1, 2, 3])
            #expect(attempts.prefix(2).allSatisfy { $0.ending == .rejected(refusal) })
            let moved = refusal.consequence == .retryOnNewConnection
            #expect(attempts.map(\.connection) == (moved ? [1, 2, 3] : [1, 1, 1]))
            #expect(Set(scene.standIn.pushes.map(\.apnsID)) == ["00000000-1111-2222-3333-444444444444"])
        default:
            #expect(outcome == .rejected(refusal))
            // A provider token that is refused is signed anew once.
            let tries = refusal.consequence == .renewProviderToken ? 2 : 1
            #expect(attempts.map(\.ending) == Array(repeating: .rejected(refusal), count: tries))
            let isAlarm = [.configurationAlarm, .renewProviderToken].contains(refusal.consequence)
            sender.stop()
            let isHeld = sender.status.heldBecause != nil
            #expect(isHeld == (isAlarm && name != "TopicDisallowed"))
        }
        sender.stop()
    }

    @Test func `300 pushes at once respect one stream before the first valid push and use many after it`() async throws
    {
        let scene = try Scene()
        defer { scene.close() }
        let sender = try scene.sender()
        let ended = await withTaskGroup(of: (PushOutcome, [PushAttempt]).self) { group in
            for _ in 0..<300 {
                group.addTask { await sender.send(try! scene.push()) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        // The stand-in's nghttp2 refuses or disconnects a client that opens more streams than its SETTINGS allow.
        #expect(ended.allSatisfy { $0.1.count == 1 && $0.1[0].connection == 1 })
        #expect(scene.standIn.acceptedCount == 300)
        sender.stop()
    }

    @Test func `SETTINGS may take the streams back`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        let sender = try scene.sender()
        scene.standIn.script([.none, .maxConcurrentStreams(2)])
        _ = await sender.send(try scene.push())
        _ = await sender.send(try scene.push())
        let attempts = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<50 { group.addTask { await sender.send(try! scene.push()).attempts.count } }
            return await group.reduce(0, +)
        }
        #expect(attempts == 50)
        sender.stop()
    }

    @Test func `a push above the last stream of a GOAWAY goes again with its id on a new connection`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script([.goAwayBefore(reason: "Shutdown")])
        let sender = try scene.sender()
        let (outcome, attempts) = await sender.send(try scene.push())
        guard case .accepted(let id, let uniqueID) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(attempts.map(\.ending) == [.notProcessed, .accepted(uniqueID: uniqueID)])
        #expect(attempts.map(\.connection) == [1, 2])
        #expect(scene.standIn.pushes.map(\.apnsID) == [id, id])
        sender.stop()
    }

    @Test func `a push covered by a GOAWAY is answered there, and the next one takes a new connection`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script([.goAwayAfter(reason: "Shutdown")])
        let sender = try scene.sender()
        let first = await sender.send(try scene.push())
        let second = await sender.send(try scene.push())
        #expect(first.attempts.map(\.connection) == [1] && second.attempts.map(\.connection) == [2])
        #expect(scene.standIn.acceptedCount == 2)
        sender.stop()
    }

    @Test func `a refused stream is sent again, a reset one too but as a second try`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script([.reset(errorCode: 7), .none, .reset(errorCode: 2), .none])
        let sender = try scene.sender()
        let refused = await sender.send(try scene.push())
        let reset = await sender.send(try scene.push())
        #expect(refused.attempts.map(\.number) == [1, 2] && refused.attempts[0].ending == .notProcessed)
        #expect(reset.attempts.map(\.number) == [1, 2])
        #expect(reset.attempts[0].ending == .unknown("the request was reset"))
        #expect(scene.standIn.acceptedCount == 2)
        sender.stop()
    }

    @Test func `a push that was accepted without an answer is sent twice with one id`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        for fault in [PushStandInFault.closeAfterAcceptance, .resetAfterAcceptance(errorCode: 2)] {
            scene.standIn.script([fault])
            let sender = try scene.sender()
            let before = scene.standIn.pushes.count
            let (outcome, attempts) = await sender.send(try scene.push())
            guard case .accepted(let id, _) = outcome, case .unknown = attempts[0].ending else {
                Issue.record("\(outcome) \(attempts)")
                return
            }
            #expect(scene.standIn.pushes.dropFirst(before).map(\.apnsID) == [id, id])
            sender.stop()
        }
        #expect(scene.standIn.acceptedCount == 4)
    }

    @Test func `an expired provider token is renewed once for 50 pushes on their way`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        let sender = try scene.sender()
        _ = await sender.send(try scene.push())
        // The sender does not know that its token is old: its own clock says 30 minutes, APNs' says 70.
        scene.senderClock.moveAhead(minutes: 30)
        scene.standInClock.moveAhead(minutes: 70)
        let ended = await withTaskGroup(of: (PushOutcome, [PushAttempt]).self) { group in
            for _ in 0..<50 { group.addTask { await sender.send(try! scene.push()) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        // A second renewal would be answered 429 TooManyProviderTokenUpdates.
        #expect(scene.standIn.acceptedCount == 51)
        #expect(scene.standIn.pushes.contains { $0.reason == "ExpiredProviderToken" })
        #expect(scene.standIn.pushes.allSatisfy { [nil, "ExpiredProviderToken"].contains($0.reason) })
        #expect(ended.allSatisfy { $0.1.count <= 2 && $0.1.allSatisfy { $0.connection == 1 } })
        sender.stop()
    }

    @Test func `a connection that falls silent is found out by PING and its push goes over a new one`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script([.blackHole])
        let sender = try scene.sender {
            $0.timing.pingAfterSilenceMs = 30
            // A busy machine must not seem silent.
            $0.timing.pingAnswerMs = 5000
        }
        let (outcome, attempts) = await sender.send(try scene.push())
        guard case .accepted = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(attempts.map(\.connection) == [1, 2])
        #expect(attempts[0].ending == .unknown("PING not answered within 5000 ms"))
        sender.stop()
    }

    @Test func `a push without an answer ends at its deadline`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script([.none, .blackHole])
        let sender = try scene.sender()
        _ = await sender.send(try scene.push())
        let push = try scene.pushThatIsLate(over: sender)
        #expect(push.outcomes == [.failed(.deadlinePassed)])
        #expect(push.attempts.map(\.ending) == [.unknown("no answer before the deadline")])
        sender.stop()
    }

    @Test func `a slow answer is waited for`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script([.delay(ms: 50)])
        let sender = try scene.sender()
        let (outcome, _) = await sender.send(try scene.push())
        guard case .accepted = outcome else {
            Issue.record("\(outcome)")
            return
        }
        sender.stop()
    }

    @Test func `without a listener a push ends as unreachable at its deadline`() async throws {
        let scene = try Scene()
        let sender = try scene.sender()
        scene.close()
        let (outcome, attempts) = try await scene.pushThatIsUnreachable(over: sender, saying: "refused")
        guard case .failed(.unreachable(let why)) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(why.contains("refused"))
        #expect(attempts.isEmpty)
        sender.stop()
    }

    @Test func `a certificate of another authority or for another name is not accepted`() async throws {
        let scene = try Scene()
        let other = try Scene()
        defer {
            scene.close()
            other.close()
        }
        let port = scene.standIn.port
        let cases = [
            ("localhost", other.standIn.credentials.trustFile, "certificate"),
            // Another spelling of 127.0.0.1, which the certificate does not name.
            ("127.1", scene.standIn.credentials.trustFile, "hostname mismatch"),
        ]
        for (host, trustFile, words) in cases {
            let sender = try scene.sender {
                $0.endpoint = PushEndpoint(environment: .development, host: host, port: port, trustFile: trustFile)
            }
            let (outcome, _) = try await scene.pushThatIsUnreachable(over: sender, saying: words)
            guard case .failed(.unreachable(let why)) = outcome else {
                Issue.record("\(host): \(outcome)")
                continue
            }
            #expect(why.contains(words))
            sender.stop()
        }
        #expect(scene.standIn.pushes.isEmpty)
    }

    @Test func `a gone device token is told from one of the other service`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        let sender = try scene.sender()
        try scene.standIn.unregisterPhone(scene.phone, atUnixMs: 1_732_147_200_123)
        let gone = await sender.send(try scene.push())
        let foreign = try scene.standIn.registerPhone(bundleID: Scene.bundleID, environment: .production)
        let elsewhere = await sender.send(try scene.push(to: foreign))
        let topic = await sender.send(try scene.push(to: foreign, environment: .production))
        #expect(
            gone.outcome
                == .rejected(PushRejection(status: 410, reason: .unregistered, timestampMs: 1_732_147_200_123)))
        #expect(elsewhere.outcome == .rejected(PushRejection(status: 400, reason: .badDeviceToken)))
        #expect(topic.outcome == .failed(.otherEnvironment))
        sender.stop()
    }

    @Test func `more pushes than the bound end at once, and stopping ends the others`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script([.blackHole])
        let sender = try scene.sender { $0.outstandingMax = 3 }
        let outcomes = Mutex<[PushOutcome]>([])
        for _ in 0..<5 {
            sender.send(try scene.push()) { outcome in outcomes.withLock { $0.append(outcome) } }
        }
        #expect(outcomes.withLock { $0 } == [.failed(.queueFull), .failed(.queueFull)])
        sender.stop(drainMs: 0)
        #expect(outcomes.withLock { $0.filter { $0 == .failed(.stopped) }.count } == 3)
        #expect(await sender.send(try scene.push()).outcome == .failed(.stopped))
    }

    @Test func `stopping lets pushes on their way come to their end`() throws {
        let scene = try Scene()
        defer { scene.close() }
        let sender = try scene.sender()
        let accepted = Atomic<Int>(0)
        for _ in 0..<500 {
            sender.send(try scene.push()) { outcome in
                if case .accepted = outcome { accepted.add(1, ordering: .relaxed) }
            }
        }
        sender.stop(drainMs: 60_000)
        #expect(accepted.load(ordering: .relaxed) == 500)
        #expect(sender.status.outstanding == 0 && sender.status.openConnections == 0)
    }

    @Test func `diagnostics name no device token and no provider token`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        let lines = Mutex<[String]>([])
        scene.standIn.script([
            .closeAfterAcceptance, .goAwayBefore(reason: "x"), .answer(status: 403, reason: "InvalidProviderToken"),
        ])
        let sender = try scene.sender {
            $0.diagnose = { diagnostic in lines.withLock { $0.append(diagnostic.description) } }
        }
        let (outcome, attempts) = await sender.send(try scene.push())
        sender.stop()
        let shown = lines.withLock { $0 } + ["\(outcome)", "\(attempts)", "\(sender.status)"]
        #expect(shown.count >= 6)
        #expect(shown.contains("APNs refused with InvalidProviderToken; pushes are held"))
        for line in shown {
            #expect(!line.contains(hex(scene.phone)) && !line.contains("eyJ"), "\(line)")
        }
        for record in scene.standIn.pushes {
            #expect(record.deviceTokenEnd.utf8.count == 8)
            #expect(!String(decoding: record.jsonLine, as: UTF8.self).contains(hex(scene.phone)))
        }
    }
}
