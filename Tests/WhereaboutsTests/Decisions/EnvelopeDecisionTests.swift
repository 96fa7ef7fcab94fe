import Testing
import Whereabouts

@Suite struct EnvelopeDecisionTests {
    @Test func `an answer ends its query, and no other`() {
        var scene = SealingScene()
        let (first, second) = (scene.ask(1), scene.ask(2))
        #expect(scene.send(scene.envelope(.answer(first))) == [.new])
        #expect(scene.house.standing.queries[first]?.end == .answered)
        #expect(scene.house.standing.queries[first]?.fix == scene.house.log.count.asNumber - 1)
        #expect(scene.house.standing.queries[second]?.end == nil)
    }

    @Test func `a fix of the history answers nothing`() {
        var scene = SealingScene()
        let query = scene.ask()
        #expect(scene.send(scene.envelope(.track, for: [])) == [.new])
        #expect(scene.house.standing.queries[query]?.end == nil)
    }

    @Test func `an envelope that is sent again makes no event, also after its query has ended`() {
        var scene = SealingScene()
        let envelope = scene.envelope(.answer(scene.ask()))
        #expect(scene.send(envelope, envelope) == [.new, .duplicate])
        let count = scene.house.log.count
        #expect(scene.send(envelope) == [.duplicate])
        #expect(scene.house.log.count == count)
    }

    /// Each of these is what an attacker in the place of the service, or of another phone, would send.
    @Test func `an envelope with a flaw is refused with its reason, on record and without its content`() {
        var scene = SealingScene()
        let query = scene.ask()
        let stranger = SealingScene.name(77)
        let cases: [(SealedReport, RejectionReason)] = [
            (scene.envelope(.answer(query), as: 1, signer: nil), .wrongSignature),
            (scene.envelope(.answer(query), as: 2, signer: SealingScene.friendsIdentity), .wrongSignature),
            (scene.envelope(.answer(query), as: 3, device: 2), .otherDevice),
            (scene.envelope(.answer(query), as: 4, for: [SealingScene.friendsKey, stranger]), .recipientNotPinned),
            (scene.envelope(.answer(QueryID(high: 9, low: 99)), as: 5), .noSuchQuery),
            (scene.envelope(.answer(query), as: 6, precision: .kilometer), .wrongRecipient),
            // Only for the walker's own clients: the friend who asks could not open it.
            (scene.envelope(.answer(query), as: 7, for: [SealingScene.walkersKey]), .wrongRecipient),
            (scene.envelope(.period, as: 8, precision: .city), .wrongRecipient),
            (scene.envelope(.period, as: 9, for: [stranger]), .recipientNotPinned),
        ]
        for (envelope, reason) in cases {
            let count = scene.house.log.count
            #expect(scene.send(envelope) == [.rejected(reason)], "\(reason)")
            guard
                case .inputRejected(_, reason, _, .open(let input))? = scene.house.log.dropFirst(count).first?.event
            else {
                Issue.record("\(reason) is not on record.")
                continue
            }
            #expect(input.head.isEmpty)
            // Once, however often it is sent.
            #expect(scene.send(envelope) == [.rejected(reason)])
            #expect(scene.house.log.count == count + 1)
        }
        #expect(scene.house.standing.queries[query]?.end == nil)
    }

    @Test func `the walker's own clients are recipients without a pin`() {
        var scene = SealingScene()
        let both = [SealingScene.friendsKey, SealingScene.walkersKey]
        #expect(scene.send(scene.envelope(.answer(scene.ask()), as: 1, for: both)) == [.new])
        #expect(scene.send(scene.envelope(.period, as: 2, for: both)) == [.new])
    }

    /// The phone may not know yet that the grant ended; the service does.
    @Test func `after a grant ends, nothing that was sealed for its holder is taken`() {
        var scene = SealingScene()
        let query = scene.ask()
        scene.house.submit(.revokeGrant(scene.grant), by: scene.scene.walker)
        #expect(scene.send(scene.envelope(.answer(query), as: 1)) == [.rejected(.noSuchQuery)])
        #expect(scene.send(scene.envelope(.period, as: 2)) == [.rejected(.wrongRecipient)])
        scene.house.submit(
            .unpinRecipientKey(SealingScene.friendsKey, by: House.handle("walker")), by: scene.scene.walker)
        #expect(scene.send(scene.envelope(.period, as: 3)) == [.rejected(.recipientNotPinned)])
    }

    @Test func `the key of the history is only for those who may read it`() {
        var scene = SealingScene()
        scene.house.submit(.revokeGrant(scene.grant), by: scene.scene.walker)
        _ = scene.house.grant("walker", to: "friend", history: false, by: scene.scene.walker)
        #expect(scene.send(scene.envelope(.period, as: 1)) == [.rejected(.wrongRecipient)])
        #expect(scene.send(scene.envelope(.answer(scene.ask(3)), as: 2)) == [.new])
    }

    /// Under a coarse grant, the exact envelope is refused and the coarse one answers.
    @Test func `an answer has the precision of the asker's grant`() {
        var scene = SealingScene()
        scene.house.submit(.revokeGrant(scene.grant), by: scene.scene.walker)
        _ = scene.house.grant("walker", to: "friend", .kilometer, history: false, by: scene.scene.walker)
        let query = scene.ask(4)
        #expect(scene.send(scene.envelope(.answer(query), as: 1)) == [.rejected(.wrongRecipient)])
        #expect(scene.send(scene.envelope(.answer(query), as: 2, precision: .kilometer)) == [.new])
    }

    @Test func `the walker's own question is answered exactly, and by nothing coarser`() {
        var scene = SealingScene()
        scene.house.submit(.queryLocation(scene.house.question(5, about: "walker", maxAge: 0)), by: scene.scene.walker)
        let query = scene.house.question(5, about: "walker", maxAge: 0).id
        let own = [SealingScene.walkersKey]
        for (index, coarse) in [Precision.kilometer, .city].enumerated() {
            let envelope = scene.envelope(.answer(query), as: UInt64(index) + 1, for: own, precision: coarse)
            #expect(scene.send(envelope) == [.rejected(.wrongRecipient)])
        }
        #expect(scene.send(scene.envelope(.answer(query), as: 9, for: own)) == [.new])
        #expect(scene.house.standing.queries[query]?.end == .answered)
    }

    @Test func `a sealed device's open reports are refused, and nothing of them is kept`() throws {
        var scene = SealingScene()
        scene.house.submit(.sealDevice(House.handle("phone"), isSealed: true), by: scene.scene.walker)
        let count = scene.house.log.count
        let fix = scene.house.fix(atSecond: 10)
        let visit = VisitReport(
            timestamp: House.start, coordinate: fix.coordinate, horizontalAccuracy: 5, arrival: nil, departure: nil)
        let input = RejectedInput(hash: Hash256(words: (1, 2, 3, 4)), head: Array("52.5,13.4".utf8))
        let reports: [DeviceReport] = [
            .fix(fix, answering: nil), .sighting(.visit(visit)), .rejected(.badValue, input, length: 9),
            .message(ClientMessage(type: "cmd", text: "52.5", hash: Hash256(words: (5, 6, 7, 8)))),
            .authorization(AuthorizationReport(timestamp: House.start, status: .authorizedAlways, accuracy: .full)),
        ]
        guard
            case .success(.fixes(let outcomes)) = scene.house.submit(
                .reportFixes(device: .caller, reports), by: scene.scene.phone)
        else {
            Issue.record("The report was refused as a whole, and would block the app's queue.")
            return
        }
        #expect(outcomes == [FixOutcome](repeating: .rejected(.notSealed), count: 4) + [.new])
        let events = scene.house.events(after: count)
        guard case .inputRejected(_, .notSealed, 0, .open(let kept))? = events.first else {
            Issue.record("The refusal is not on record.")
            return
        }
        #expect(kept == RejectedInput(hash: Hash256(words: (0, 0, 0, 11)), head: []))
        #expect(events.count == 2)
        guard case .authorizationReported? = events.last else {
            Issue.record("The authorization has no place and is taken.")
            return
        }
        scene.house.submit(.sealDevice(House.handle("phone"), isSealed: false), by: scene.scene.walker)
        #expect(scene.house.report([fix], by: scene.scene.phone) == [.new])
    }

    @Test func `a phone that does not answer says why, and the asker still waits`() {
        var scene = SealingScene()
        let query = scene.ask()
        let reports: [EnvelopeReport] = [
            .refused(query, .recipientNotApproved), .refused(QueryID(high: 9, low: 98), .noFix), .unreadable(length: 3),
        ]
        guard
            case .success(.fixes(let outcomes)) = scene.house.submit(.reportEnvelopes(reports), by: scene.scene.phone)
        else {
            Issue.record("The report was refused.")
            return
        }
        #expect(outcomes == [.new, .duplicate, .rejected(.badEnvelope)])
        #expect(
            scene.house.log.contains {
                $0.event == .sealingRefused(device: scene.scene.phoneID, query: query, .recipientNotApproved)
            })
        #expect(scene.house.standing.queries[query]?.end == nil)
    }

    @Test func `a phone learns who asks, with the keys that its owner accepts`() {
        var scene = SealingScene()
        let query = scene.ask()
        let standing = scene.house.standing
        let questions = standing.answerable(about: scene.scene.walkerID, at: scene.house.now)
        #expect(questions.map(\.id) == [query] && questions.map(\.asker) == [scene.scene.friendID])
        #expect(questions.map(\.precision) == [.exact])
        #expect(standing.envelopeNumber(of: scene.scene.phoneID) == 1)
        scene.house.submit(.pauseSharing(House.handle("walker"), until: nil), by: scene.scene.walker)
        #expect(scene.house.standing.answerable(about: scene.scene.walkerID, at: scene.house.now).isEmpty)
    }
}

extension Int {
    /// As the number of an event.
    fileprivate var asNumber: Int64 { Int64(self) }
}
