import Testing
import Whereabouts

@Suite struct SealingKeyDecisionTests {
    private let walker = House.handle("walker")
    private let friend = House.handle("friend")

    @Test func `a key is published once, and again it makes no event`() {
        var scene = SealingScene()
        let count = scene.house.log.count
        let again = Command.publishIdentityKey(
            SealingScene.identity(SealingScene.walkersIdentity), of: walker, after: nil)
        #expect(scene.house.submit(again, by: scene.scene.walker) == .success(.done))
        let recipient = Command.publishRecipientKey(
            SealingScene.recipient(SealingScene.friendsKey), of: friend, signedBy: SealingScene.friendsIdentity)
        #expect(scene.house.submit(recipient, by: scene.scene.friend) == .success(.done))
        #expect(scene.house.log.count == count)
    }

    /// Otherwise whoever steals a token, or the operator with a token in the person's name, could replace the key unseen.
    @Test func `a new identity key needs the signature of the one before it, unless that is withdrawn`() {
        var scene = SealingScene()
        let new = SealingScene.name(3)
        func publish(after previous: KeyID?) -> Command {
            .publishIdentityKey(SealingScene.identity(new, previous: previous != nil), of: walker, after: previous)
        }
        for wrong in [nil, SealingScene.friendsIdentity, new] {
            guard case .failure(.invalid) = scene.house.submit(publish(after: wrong), by: scene.scene.walker) else {
                Issue.record("A key after \(String(describing: wrong)) was taken.")
                return
            }
        }
        #expect(
            scene.house.submit(publish(after: SealingScene.walkersIdentity), by: scene.scene.walker)
                == .success(.done))
        #expect(scene.house.standing.sealingKeys[scene.scene.walkerID].identity?.key.id == new)
        scene.house.submit(.withdrawKey(new, .lost, of: walker), by: scene.scene.walker)
        #expect(scene.house.standing.sealingKeys[scene.scene.walkerID].identity == nil)
        let next = Command.publishIdentityKey(SealingScene.identity(SealingScene.name(4)), of: walker, after: nil)
        #expect(scene.house.submit(next, by: scene.scene.walker) == .success(.done))
    }

    @Test func `a recipient key is the person's own, and comes back neither withdrawn nor from another person`() {
        var scene = SealingScene()
        func publish(_ key: KeyID, of who: Handle, signedBy signer: KeyID, by caller: Caller) -> Result<
            CommandReply, Refusal
        > {
            scene.house.submit(
                .publishRecipientKey(SealingScene.recipient(key, by: signer), of: who, signedBy: signer), by: caller)
        }
        let (mine, theirs) = (SealingScene.walkersIdentity, SealingScene.friendsIdentity)
        // Signed with a key that is not the person's.
        #expect(throws: Refusal.self) {
            try publish(SealingScene.name(20), of: walker, signedBy: theirs, by: scene.scene.walker).get()
        }
        guard
            case .failure(.alreadyExists) = publish(
                SealingScene.friendsKey, of: walker, signedBy: mine, by: scene.scene.walker)
        else {
            Issue.record("The friend's key was taken as the walker's.")
            return
        }
        scene.house.submit(.withdrawKey(SealingScene.friendsKey, .replaced, of: friend), by: scene.scene.friend)
        #expect(throws: Refusal.self) {
            try publish(SealingScene.friendsKey, of: friend, signedBy: theirs, by: scene.scene.friend).get()
        }
        for number in 0..<UInt64(Limits.recipientKeysInUse - 1) {
            #expect(
                publish(SealingScene.name(100 + number), of: walker, signedBy: mine, by: scene.scene.walker)
                    == .success(.done))
        }
        #expect(throws: Refusal.self) {
            try publish(SealingScene.name(200), of: walker, signedBy: mine, by: scene.scene.walker).get()
        }
    }

    @Test func `of many keys the oldest withdrawn one is forgotten`() {
        var scene = SealingScene()
        for number in 0..<UInt64(Limits.recipientKeysPerPerson + 5) {
            let key = SealingScene.name(1000 + number)
            scene.house.submit(
                .publishRecipientKey(SealingScene.recipient(key), of: friend, signedBy: SealingScene.friendsIdentity),
                by: scene.scene.friend)
            scene.house.submit(.withdrawKey(key, .replaced, of: friend), by: scene.scene.friend)
        }
        let keys = scene.house.standing.sealingKeys[scene.scene.friendID]
        #expect(keys.recipients.count == Limits.recipientKeysPerPerson)
        #expect(keys.recipient(SealingScene.friendsKey) != nil)
        #expect(!keys.hasHad(SealingScene.name(1000)))
    }

    /// The operator may do much in a person's name, but not this: it would be another key.
    @Test func `only the person and the person's phone decide about keys`() {
        var scene = SealingScene()
        let commands: [Command] = [
            .publishIdentityKey(
                SealingScene.identity(SealingScene.name(3), previous: true), of: walker,
                after: SealingScene.walkersIdentity),
            .publishRecipientKey(
                SealingScene.recipient(SealingScene.name(21)), of: walker, signedBy: SealingScene.walkersIdentity),
            .pinRecipientKey(SealingScene.pin(), by: walker), .unpinRecipientKey(SealingScene.friendsKey, by: walker),
            .withdrawKey(SealingScene.walkersKey, .lost, of: walker),
            .sealDevice(House.handle("phone"), isSealed: true),
        ]
        let count = scene.house.log.count
        for caller in [scene.scene.admin, scene.scene.friend, scene.scene.stranger] {
            for command in commands {
                guard case .failure(let refusal) = scene.house.submit(command, by: caller) else {
                    Issue.record("\(command) was decided for another person.")
                    continue
                }
                #expect(refusal == .noSuchPerson || refusal == .notFound)
            }
        }
        #expect(scene.house.log.count == count)
        #expect(scene.house.submit(commands[5], by: scene.scene.phone) == .success(.done))
        #expect(scene.house.standing.devices[scene.scene.phoneID]?.isSealed == true)
    }

    @Test func `a key is pinned only while it is in use, and only as the walker has seen it`() {
        var scene = SealingScene()
        scene.house.submit(.unpinRecipientKey(SealingScene.friendsKey, by: walker), by: scene.scene.walker)
        #expect(scene.house.standing.sealable(by: scene.scene.walkerID, for: scene.scene.friendID).isEmpty)
        let unseen = [
            // The service showed another identity key than the one that the friend has.
            SealingScene.pin(identity: SealingScene.name(66)), SealingScene.pin(SealingScene.name(67)),
            SealingScene.pin(signer: SealingScene.friendsIdentity),
        ]
        for request in unseen {
            guard
                case .failure(.invalid) = scene.house.submit(
                    .pinRecipientKey(request, by: walker), by: scene.scene.walker)
            else {
                Issue.record("A wrong pin was taken.")
                return
            }
        }
        // The stranger shares nothing with the walker, so the walker does not learn whether there is such a person.
        for name in ["stranger", "nobody-at-all", "walker"] {
            let request = SealingScene.pin(owner: name)
            #expect(
                scene.house.submit(.pinRecipientKey(request, by: walker), by: scene.scene.walker)
                    == .failure(.noSuchPerson))
        }
        #expect(
            scene.house.submit(.pinRecipientKey(SealingScene.pin(), by: walker), by: scene.scene.walker)
                == .success(.done))
        #expect(
            scene.house.standing.sealable(by: scene.scene.walkerID, for: scene.scene.friendID)
                == [SealingScene.friendsKey])
        scene.house.submit(.withdrawKey(SealingScene.friendsKey, .lost, of: friend), by: scene.scene.friend)
        #expect(scene.house.standing.sealable(by: scene.scene.walkerID, for: scene.scene.friendID).isEmpty)
    }

    @Test func `public keys are seen by those who share, in both directions`() {
        let scene = SealingScene()
        let standing = scene.house.standing
        func sees(_ who: String, _ caller: Caller) -> Bool {
            standing.personWithKeys(House.handle(who), seenBy: caller, at: scene.house.now) != nil
        }
        #expect(sees("walker", scene.scene.friend) && sees("friend", scene.scene.walker))
        #expect(sees("friend", scene.scene.phone))
        #expect(sees("walker", scene.scene.walker) && sees("walker", scene.scene.admin))
        #expect(!sees("walker", scene.scene.stranger) && !sees("stranger", scene.scene.walker))
        #expect(!sees("nobody-at-all", scene.scene.admin))
    }

    /// A standing that is loaded must equal the folded one, or a restart would lose a key.
    @Test func `keys and sealed devices survive a restart, and leave with an erased person`() throws {
        var scene = SealingScene()
        scene.house.submit(.sealDevice(House.handle("phone"), isSealed: true), by: scene.scene.walker)
        scene.house.submit(
            .publishIdentityKey(
                SealingScene.identity(SealingScene.name(3), previous: true), of: walker,
                after: SealingScene.walkersIdentity), by: scene.scene.walker)
        scene.house.submit(.withdrawKey(SealingScene.walkersKey, .lost, of: walker), by: scene.scene.walker)
        var entries: [StandingEntry] = []
        scene.house.standing.forEachEntry { entries.append($0) }
        entries.sort { ($0.kind.rawValue, $0.id) < ($1.kind.rawValue, $1.id) }
        let loaded = try Standing(place: scene.house.standing.place, entries: entries)
        #expect(loaded.sealingKeys == scene.house.standing.sealingKeys)
        #expect(loaded.devices[scene.scene.phoneID]?.isSealed == true)
        scene.house.submit(.erasePerson(friend), by: scene.scene.admin)
        #expect(scene.house.standing.sealingKeys.all[scene.scene.friendID] == nil)
        #expect(scene.house.standing.sealingKeys[scene.scene.walkerID].pins.isEmpty)
    }
}
