import Testing
import Whereabouts

/// How often one person may ask about another: six pushes and sixty reads an hour, three of each at once.
@Suite struct AskLimitTests {
    /// The friend may see everything of the walker, whose phone reported a fix at the start.
    private static func scene() -> Scene {
        var scene = Scene()
        _ = scene.house.grant("walker", to: "friend", by: scene.walker)
        _ = scene.house.report([scene.house.fix(atSecond: 0)], by: scene.phone)
        return scene
    }

    /// The friend's answer: the seconds to wait, or `nil` if the question was allowed.
    private static func ask(
        _ scene: inout Scene, _ id: Int, maxAge: Int64 = 0, by caller: Caller? = nil
    ) -> Result<Int64?, Refusal> {
        let reply = scene.house.submit(
            .queryLocation(scene.house.question(UInt64(id), about: "walker", maxAge: maxAge)),
            by: caller ?? scene.friend)
        return seconds(reply)
    }

    private static func seconds(_ reply: Result<CommandReply, Refusal>) -> Result<Int64?, Refusal> {
        switch reply {
        case .success: .success(nil)
        case .failure(.tooOften(let seconds)): .success(seconds)
        case .failure(let refusal): .failure(refusal)
        }
    }

    private static let hash = Hash256(words: (1, 1, 1, 1))

    private static func read(
        _ scene: inout Scene, _ question: LocationRead.Question = .location, from: Timestamp? = nil,
        continuing: RequestID? = nil, by caller: Caller? = nil
    ) -> Result<Int64?, Refusal> {
        let question = ReadQuestion(
            subject: House.handle("walker"), question: question, from: from, to: nil, purpose: nil,
            continuing: continuing)
        let caller = caller ?? scene.friend
        switch scene.house.standing.authorize(caller, toRead: question, at: scene.house.now) {
        case .failure: return .failure(.noSuchPerson)
        case .success(let permit):
            return seconds(
                scene.house.submit(
                    .recordRead(question, permitted: permit, asOf: 1, count: 1, answerHash: hash), by: caller))
        }
    }

    /// The read that the newest event records.
    private static func lastRead(_ house: House) throws -> LocationRead {
        let event = try #require(house.log.last).event
        let read: LocationRead? = if case .locationRead(let read) = event { read } else { nil }
        return try #require(read)
    }

    private static func refused(_ house: House) -> [RefusalCode] {
        house.log.compactMap {
            switch $0.event {
            case .locationQueried(let query):
                if case .refused(let code) = query.verdict { return code }
            case .locationRead(let read):
                if case .refused(let code) = read.verdict { return code }
            default: break
            }
            return nil
        }
    }

    @Test func `three questions that need a push, then one in ten minutes`() {
        var scene = Self.scene()
        scene.house.now = House.start.adding(seconds: 1)
        for id in 1...3 { #expect(Self.ask(&scene, id) == .success(nil)) }
        #expect(Self.ask(&scene, 4) == .success(600))
        scene.house.now = House.start.adding(seconds: 600)
        #expect(Self.ask(&scene, 5) == .success(1))
        scene.house.now = House.start.adding(seconds: 601)
        #expect(Self.ask(&scene, 6) == .success(nil))
        #expect(Self.ask(&scene, 7) == .success(600))
        #expect(Self.refused(scene.house) == [.tooOften, .tooOften, .tooOften])
        // An hour and three at once: nine in the first hour, six in each further one.
        var asked = 0
        for minute in 0..<120 {
            scene.house.now = House.start.adding(seconds: 3601 + Int64(minute) * 60)
            if Self.ask(&scene, 100 + minute) == .success(nil) { asked += 1 }
        }
        #expect(asked == 3 + 11)
    }

    @Test func `a question answered from what is known is a reading, and so is a second look at an answer`() throws {
        var scene = Self.scene()
        for id in 1...3 { #expect(Self.ask(&scene, id, maxAge: 60) == .success(nil)) }
        #expect(Self.ask(&scene, 4, maxAge: 60) == .success(60))
        // Pushes are as many as before.
        scene.house.now = House.start.adding(seconds: 120)
        for id in 5...7 { #expect(Self.ask(&scene, id) == .success(nil)) }
        #expect(Self.ask(&scene, 8) == .success(600))

        func disclose(_ id: UInt64) throws -> Result<Int64?, Refusal> {
            let query = QueryID(high: 9, low: id)
            let content = Disclosure.Content(
                latitude: 52.5, longitude: 13.4, horizontalAccuracy: 5, timestamp: House.start, placeName: nil,
                answerHash: Self.hash)
            let fix = try #require(scene.house.standing.queries[query]?.fix)
            return Self.seconds(
                scene.house.submit(.disclose(query, content: content, precision: .exact, fix: fix), by: scene.friend))
        }
        // Two came back in two minutes: two more looks.
        for id in 1...3 { #expect(try disclose(UInt64(id)) == .success(nil)) }
        #expect(try disclose(1) == .success(nil))
        #expect(try disclose(1) == .success(nil))
        #expect(try disclose(1) == .success(60))
        #expect(Self.refused(scene.house).last == .tooOften)
    }

    @Test func `three readings, then one a minute, and the walker and the operator as they like`() {
        var scene = Self.scene()
        for _ in 1...3 { #expect(Self.read(&scene) == .success(nil)) }
        #expect(Self.read(&scene) == .success(60))
        #expect(Self.read(&scene, .track) == .success(60))
        scene.house.now = House.start.adding(seconds: 60)
        #expect(Self.read(&scene, .visits) == .success(nil))
        #expect(Self.read(&scene) == .success(60))
        for caller in [scene.walker, scene.admin] {
            for id in 1...20 {
                #expect(Self.read(&scene, by: caller) == .success(nil))
                let question = 1000 * Int(caller.principal.rawValue) + id
                #expect(Self.ask(&scene, question, by: caller) == .success(nil))
            }
        }
        #expect(Self.refused(scene.house) == [.tooOften, .tooOften, .tooOften])
    }

    @Test func `further pages belong to the read that began them`() throws {
        var scene = Self.scene()
        #expect(Self.read(&scene, .track, from: House.start) == .success(nil))
        let first = try #require(scene.house.log.last?.correlation)
        for _ in 1...50 {
            #expect(Self.read(&scene, .track, from: House.start, continuing: first) == .success(nil))
        }
        #expect(try Self.lastRead(scene.house).continuing == first)
        // Two more reads empty the bucket; a read that has begun may still be continued.
        for _ in 1...2 { #expect(Self.read(&scene) == .success(nil)) }
        #expect(Self.read(&scene, .track, from: House.start, continuing: first) == .success(nil))
        // Another question, another range and an unknown beginning each count as a new read.
        #expect(Self.read(&scene, .visits, from: House.start, continuing: first) == .success(60))
        #expect(Self.read(&scene, .track, continuing: first) == .success(60))
        #expect(Self.read(&scene, .track, from: House.start, continuing: QueryID(high: 7, low: 7)) == .success(60))
        // Another person cannot continue it.
        _ = scene.house.grant("walker", to: "stranger", by: scene.walker)
        for _ in 1...3 { #expect(Self.read(&scene, by: scene.stranger) == .success(nil)) }
        #expect(
            Self.read(&scene, .track, from: House.start, continuing: first, by: scene.stranger) == .success(60))
        scene.house.now = House.start.adding(seconds: Limits.readContinuedSeconds + 1)
        #expect(Self.read(&scene, .track, from: House.start, continuing: first) == .success(nil))
        // The late page is another read, and the first of three.
        #expect(try Self.lastRead(scene.house).continuing == nil)
        for _ in 1...2 { #expect(Self.read(&scene) == .success(nil)) }
        #expect(Self.read(&scene, .track, from: House.start, continuing: first) == .success(60))
    }

    @Test func `each pair has its own measure, and strangers learn nothing of it`() {
        var scene = Self.scene()
        for _ in 1...40 { #expect(Self.read(&scene, by: scene.stranger) == .failure(.noSuchPerson)) }
        for id in 1...40 {
            #expect(Self.ask(&scene, id, by: scene.stranger) == .failure(.noSuchPerson))
        }
        _ = scene.house.grant("walker", to: "stranger", by: scene.walker)
        for _ in 1...3 { #expect(Self.read(&scene, by: scene.stranger) == .success(nil)) }
        for _ in 1...3 { #expect(Self.read(&scene) == .success(nil)) }
    }

    @Test func `what is refused for its number is recorded ten times a minute and then counted`() {
        var scene = Self.scene()
        for _ in 1...3 { _ = Self.read(&scene) }
        let before = scene.house.log.count
        for _ in 1...1000 { #expect(Self.read(&scene) == .success(60)) }
        #expect(scene.house.log.count == before + 10)
    }

    @Test func `a clock put back does not lengthen the wait`() {
        var scene = Scene()
        _ = scene.house.grant("walker", to: "friend", by: scene.walker)
        scene.house.now = House.start.adding(seconds: 1)
        for id in 1...3 { _ = Self.ask(&scene, id) }
        for _ in 1...3 { _ = Self.read(&scene) }
        scene.house.now = House.start.adding(seconds: 1 - 86_400)
        scene.house.record(.clockSteppedBack(byMilliseconds: 86_400_000), in: .house)
        #expect(Self.ask(&scene, 9) == .success(600))
        #expect(Self.read(&scene) == .success(60))
    }
}
