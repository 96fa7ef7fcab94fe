import Testing
import Whereabouts

@Suite struct FixDecisionTests {
    @Test func `a fix sent again is acknowledged and no event`() {
        var scene = Scene()
        let fixes = [scene.house.fix(atSecond: 1), scene.house.fix(atSecond: 2)]
        #expect(scene.house.report(fixes, by: scene.phone) == [.new, .new])
        let before = scene.house.log.count
        #expect(scene.house.report(fixes + fixes, by: scene.phone) == [.duplicate, .duplicate, .duplicate, .duplicate])
        #expect(scene.house.log.count == before)
    }

    @Test func `a fix twice in one batch is one event, in every order`() {
        var scene = Scene()
        let (early, late) = (scene.house.fix(atSecond: 1), scene.house.fix(atSecond: 9))
        #expect(
            scene.house.report([late, early, late, early, early], by: scene.phone)
                == [.new, .new, .duplicate, .duplicate, .duplicate])
        #expect(scene.house.log.filter { if case .fixReported = $0.event { true } else { false } }.count == 2)
    }

    @Test func `what a client calls a fix says nothing about which fix it is`() {
        var scene = Scene()
        var fix = scene.house.fix(atSecond: 1)
        fix.clientID = "first"
        #expect(scene.house.report([fix], by: scene.phone) == [.new])
        fix.clientID = "second"
        fix.receivedAt = House.start
        fix.remainder = "{}"
        #expect(scene.house.report([fix], by: scene.phone) == [.duplicate])
    }

    @Test func `twins that differ in anything else are both events, in one batch and in two, in every order`() {
        let first = Scene().house.fix(atSecond: 1)
        var (high, fast) = (first, first)
        high.altitude = 3
        fast.speed = 1
        for order in [[first, high, fast], [high, first, fast], [fast, high, first]] {
            var scene = Scene()
            #expect(scene.house.report(Array(order[..<2]), by: scene.phone) == [.new, .twin])
            #expect(scene.house.report([order[2]], by: scene.phone) == [.twin])
            let before = scene.house.log.count
            #expect(scene.house.report(order, by: scene.phone) == [.duplicate, .duplicate, .duplicate])
            #expect(scene.house.log.count == before)
        }
    }

    @Test func `an older fix that is not known is new`() {
        var scene = Scene()
        #expect(scene.house.report([scene.house.fix(atSecond: 100)], by: scene.phone) == [.new])
        #expect(scene.house.report([scene.house.fix(atSecond: 50)], by: scene.phone) == [.new])
        #expect(scene.house.report([scene.house.fix(atSecond: 50)], by: scene.phone) == [.duplicate])
    }

    @Test func `rejected input is one event for each distinct report, and blocks nothing`() {
        var scene = Scene()
        let bad = RejectedInput(hash: Hash256(words: (1, 1, 1, 1)), head: [1])
        let worse = RejectedInput(hash: Hash256(words: (2, 2, 2, 2)), head: [2])
        let reports: [DeviceReport] = [
            .rejected(.notJSON, bad, length: 1), .fix(scene.house.fix(atSecond: 1), answering: nil),
            .rejected(.notJSON, bad, length: 1), .rejected(.badCoordinate, worse, length: 1),
        ]
        let before = scene.house.log.count
        let first = scene.house.submit(.reportFixes(device: .caller, reports), by: scene.phone)
        #expect(
            first
                == .success(
                    .fixes([.rejected(.notJSON), .new, .rejected(.notJSON), .rejected(.badCoordinate)])))
        #expect(scene.house.log.count == before + 3)
        scene.house.submit(.reportFixes(device: .caller, reports), by: scene.phone)
        #expect(scene.house.log.count == before + 3)
    }

    @Test func `only the last 256 rejected reports of a device are remembered`() {
        var scene = Scene()
        let before = scene.house.log.count
        for index in 0...UInt64(Limits.keptRemembered) {
            let input = RejectedInput(hash: Hash256(words: (index, 0, 0, 0)), head: [])
            scene.house.submit(.reportFixes(device: .caller, [.rejected(.notJSON, input, length: 0)]), by: scene.phone)
        }
        #expect(scene.house.log.count == before + Limits.keptRemembered + 1)
        for index: UInt64 in [1, 0] {
            let input = RejectedInput(hash: Hash256(words: (index, 0, 0, 0)), head: [])
            scene.house.submit(.reportFixes(device: .caller, [.rejected(.notJSON, input, length: 0)]), by: scene.phone)
        }
        #expect(scene.house.log.count == before + Limits.keptRemembered + 2)
    }

    /// A batch whose answer was lost comes again whole, and then with more behind it.
    @Test func `what a device saw is one event, in whatever batch it comes again`() {
        var scene = Scene()
        func crossing(_ second: Int64) -> DeviceReport {
            let time = House.start.adding(seconds: second)
            return .sighting(.crossing(CrossingReport(timestamp: time, region: "home", isEntry: second % 2 == 0)))
        }
        func report(_ reports: [DeviceReport]) -> Result<CommandReply, Refusal> {
            scene.house.submit(.reportFixes(device: .caller, reports), by: scene.phone)
        }
        #expect(report([crossing(1), crossing(2), crossing(1)]) == .success(.fixes([.new, .new, .duplicate])))
        #expect(
            report([crossing(1), crossing(2), crossing(3)]) == .success(.fixes([.duplicate, .duplicate, .new])))
        #expect(
            report([crossing(1), crossing(2), crossing(3), crossing(4)])
                == .success(.fixes([.duplicate, .duplicate, .duplicate, .new])))
        let many = (0..<Int64(Limits.sightingsRemembered)).map { crossing(100 + $0) }
        _ = report(many)
        #expect(report(many) == .success(.fixes(many.map { _ in .duplicate })))
        #expect(report([crossing(4)]) == .success(.fixes([.new])))
        #expect(Limits.sightingsRemembered >= Limits.batchCommands)
    }

    @Test func `a message in the client's own words is one event for each distinct one`() {
        var scene = Scene()
        func message(_ hash: UInt64) -> DeviceReport {
            .message(ClientMessage(type: "status", text: "{}", hash: Hash256(words: (hash, 0, 0, hash))))
        }
        let before = scene.house.log.count
        for _ in 0..<2 {
            scene.house.submit(
                .reportFixes(device: .caller, [message(1), message(1), message(2)]), by: scene.phone)
        }
        #expect(scene.house.events(after: before).count == 2)
    }

    @Test func `a removed device reports no more`() {
        var scene = Scene()
        scene.house.submit(.removeDevice(House.handle("phone")), by: scene.walker)
        #expect(
            scene.house.submit(.reportFixes(device: .caller, []), by: scene.phone) == .failure(.notAuthenticated))
        #expect(
            scene.house.submit(.reportFixes(device: .named(House.handle("phone")), []), by: scene.admin)
                == .failure(.notFound))
    }

    @Test func `the operator imports in a device's name`() {
        var scene = Scene()
        let report = DeviceReport.fix(scene.house.fix(atSecond: 1), answering: nil)
        #expect(
            scene.house.submit(.reportFixes(device: .named(House.handle("phone")), [report]), by: scene.admin)
                == .success(.fixes([.new])))
    }

    @Test func `an import makes the person and the device it names, as three commands would`() {
        let reports = [5, 1, 5, 3].map { DeviceReport.fix(Scene().house.fix(atSecond: $0), answering: nil) }
        let (anna, pocket) = (House.handle("anna"), House.handle("anna-phone"))
        var steps = Scene()
        steps.house.submit(.addPerson(anna), by: steps.admin)
        steps.house.submit(.addDevice(pocket, of: anna), by: steps.admin)
        let told = steps.house.submit(.reportFixes(device: .named(pocket), reports), by: steps.admin)
        #expect(told == .success(.fixes([.new, .new, .duplicate, .new])))

        var scene = Scene()
        let imported = Command.importFixes(of: anna, device: pocket, reports)
        #expect(
            scene.house.submit(imported, by: scene.admin)
                == .success(
                    .imported(
                        ImportOutcome(
                            addedPerson: true, addedDevice: true, fixes: [.new, .new, .duplicate, .new]))))
        #expect(scene.house.log.map(\.event) == steps.house.log.map(\.event))
        #expect(scene.house.log.map(\.stream) == steps.house.log.map(\.stream))

        let again = scene.house.submit(imported, by: scene.admin)
        #expect(
            again
                == .success(
                    .imported(
                        ImportOutcome(
                            addedPerson: false, addedDevice: false,
                            fixes: [.duplicate, .duplicate, .duplicate, .duplicate]))))
        #expect(scene.house.log.count == steps.house.log.count)

        let second = scene.house.submit(
            .importFixes(of: anna, device: House.handle("anna-watch"), reports), by: scene.admin)
        guard case .success(.imported(let outcome)) = second else { return _ = Issue.record("\(second)") }
        #expect(!outcome.addedPerson && outcome.addedDevice && outcome.fixes == [.new, .new, .duplicate, .new])
    }

    @Test func `an import is the operator's, and takes no other person's device`() {
        var scene = Scene()
        let report = DeviceReport.fix(scene.house.fix(atSecond: 1), answering: nil)
        let before = scene.house.log.count
        for person in ["walker", "nobody"] {
            for caller in [scene.walker, scene.friend, scene.phone, .house] {
                let command = Command.importFixes(of: House.handle(person), device: House.handle("new"), [report])
                #expect(scene.house.submit(command, by: caller) == .failure(.notFound))
            }
        }
        for person in ["friend", "nobody"] {
            let command = Command.importFixes(of: House.handle(person), device: House.handle("phone"), [report])
            guard case .failure(.alreadyExists) = scene.house.submit(command, by: scene.admin) else {
                Issue.record("The walker's phone was taken for \(person).")
                continue
            }
        }
        #expect(scene.house.log.count == before)
    }
}
