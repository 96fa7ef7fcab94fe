import Testing

@testable import Whereabouts

@Suite struct ImportDecisionTests {
    private static let id = Identifier128(high: 7, low: 1)
    private static let walker = House.handle("walker")
    private static let head = Hash256(words: (1, 2, 3, 4))

    private static func reference(_ low: UInt64 = 1, bytes: Int64? = 10, head: Hash256? = head) -> ImportReference {
        ImportReference(
            id: Identifier128(high: 7, low: low),
            file: ImportedFile(name: "walk.gpx", format: "gpx", byteCount: bytes, head: head))
    }

    private static func begin(_ scene: inout Scene, _ wanted: ImportReference) -> Result<CommandReply, Refusal> {
        scene.house.submit(.beginImport(wanted, of: walker), by: scene.admin, key: wanted.id)
    }

    /// The id of the import that a reply names.
    private static func id(_ reply: Result<CommandReply, Refusal>, _ scene: Scene) -> Identifier128? {
        guard case .success(.importing(let number)) = reply else { return nil }
        return scene.house.standing.persons.imports[number]?.id
    }

    @Test func `a file is begun once until it has ended, and another file is another import`() {
        var scene = Scene()
        #expect(Self.id(Self.begin(&scene, Self.reference(1)), scene) == Self.reference(1).id)
        let count = scene.house.log.count
        #expect(Self.id(Self.begin(&scene, Self.reference(2)), scene) == Self.reference(1).id)
        #expect(scene.house.log.count == count)
        for (low, other) in [
            (3, Self.reference(3, bytes: 11)), (4, Self.reference(4, head: Hash256(words: (9, 9, 9, 9)))),
            (5, Self.reference(5, bytes: nil)), (6, Self.reference(6, bytes: nil)), (7, Self.reference(7, head: nil)),
        ] {
            #expect(Self.id(Self.begin(&scene, other), scene) == Self.reference(UInt64(low)).id)
        }
        let ended = scene.house.submit(
            .endImport(Self.id, ImportCounts(new: 1), fault: nil, of: Self.walker), by: scene.admin, key: Self.id)
        #expect(ended == .success(.done))
        #expect(Self.id(Self.begin(&scene, Self.reference(8)), scene) == Self.reference(8).id)
    }

    @Test func `a batch begins the import of its person in the same decision, and none after the end`() {
        var scene = Scene()
        let (anna, phone) = (House.handle("anna"), House.handle("anna-phone"))
        func bring(_ second: Int64) -> Result<CommandReply, Refusal> {
            let report = DeviceReport.fix(scene.house.fix(atSecond: second), answering: nil)
            return scene.house.submit(
                .importFixes(of: anna, device: phone, [report], in: Self.reference()), by: scene.admin, key: Self.id)
        }
        let before = scene.house.log.count
        _ = bring(1)
        _ = bring(2)
        let kinds = scene.house.log[before...].map(\.event.kind)
        #expect(kinds == [.personAdded, .importBegan, .deviceAdded, .fixReported, .fixReported])
        scene.house.submit(
            .endImport(Self.id, ImportCounts(new: 2), fault: nil, of: anna), by: scene.admin, key: Self.id)
        guard case .failure(.invalid) = bring(3) else { return _ = Issue.record("The import had ended.") }
    }

    @Test func `an import ends once, for a person who has it`() {
        var scene = Scene()
        _ = Self.begin(&scene, Self.reference())
        let end = Command.endImport(Self.id, ImportCounts(new: 3), fault: ImportFault("cut"), of: Self.walker)
        #expect(scene.house.submit(end, by: scene.admin, key: Self.id) == .success(.done))
        let count = scene.house.log.count
        #expect(scene.house.submit(end, by: scene.admin, key: Self.id) == .success(.done))
        #expect(scene.house.log.count == count)
        #expect(scene.house.log.last?.event == .importEnded(ImportCounts(new: 3), .open(ImportFault("cut"))))
        let other = Command.endImport(Self.id, ImportCounts(), fault: nil, of: House.handle("friend"))
        #expect(scene.house.submit(other, by: scene.admin) == .failure(.notFound))
        for counts in [ImportCounts(new: -1), ImportCounts(rejected: -1)] {
            guard
                case .failure(.invalid) = scene.house.submit(
                    .endImport(Self.id, counts, fault: nil, of: Self.walker), by: scene.admin)
            else { return _ = Issue.record("A negative count was taken.") }
        }
    }

    @Test func `only the operator begins and ends imports, and texts are bounded`() {
        var scene = Scene()
        _ = Self.begin(&scene, Self.reference())
        let count = scene.house.log.count
        for caller in [scene.walker, scene.friend, scene.phone, .house] {
            for command in [
                Command.beginImport(Self.reference(2, bytes: 2), of: Self.walker),
                .endImport(Self.id, ImportCounts(), fault: nil, of: Self.walker),
            ] { #expect(scene.house.submit(command, by: caller) == .failure(.notFound)) }
        }
        for file in [
            ImportedFile(name: ""), ImportedFile(name: String(repeating: "x", count: Limits.fileNameCharacters + 1)),
            ImportedFile(format: ""), ImportedFile(byteCount: -1),
        ] {
            let command = Command.beginImport(
                ImportReference(id: Identifier128(high: 7, low: 9), file: file), of: Self.walker)
            guard case .failure(.invalid) = scene.house.submit(command, by: scene.admin) else {
                Issue.record("\(file) was taken.")
                continue
            }
        }
        #expect(scene.house.log.count == count)
    }

    @Test func `an import is undone while what was withdrawn last came from it`() {
        var scene = Scene()
        _ = Self.begin(&scene, Self.reference())
        #expect(scene.house.report([scene.house.fix(atSecond: 1)], by: scene.phone) == [.new])
        let fixes = FixNumbers(device: scene.phoneID, numbers: scene.house.standing.place...scene.house.standing.place)
        let why = FixRevision(time: House.start...House.start, reason: "the wrong file")
        func state() -> String? {
            scene.house.standing.persons.imports.find(Self.id, of: scene.walkerID)
                .flatMap { scene.house.standing.persons.imports[$0]?.state }
        }
        #expect(state() == "running")
        scene.house.submit(.withdrawFixes(fixes, why, of: Self.walker), by: scene.walker, key: Self.id)
        #expect(state() == "undone")
        guard
            case .failure(.invalid) = scene.house.submit(
                .importFixes(of: Self.walker, device: House.handle("new"), [], in: Self.reference()), by: scene.admin)
        else { return _ = Issue.record("An undone import took more.") }
        scene.house.submit(.restoreFixes(fixes, why, of: Self.walker), by: scene.walker, key: Self.id)
        #expect(state() == "running")
        scene.house.submit(.withdrawFixes(fixes, why, of: Self.walker), by: scene.walker)
        #expect(state() == "running")
    }

    @Test func `of very many imports into one history, the newest are known, and another can begin`() throws {
        var imports = Standing.Imports()
        let person = PersonID(rawValue: 7)
        let count = Limits.importsPerPerson + 3
        for number in 1...Int64(count) {
            let id = Identifier128(high: 7, low: UInt64(number))
            imports.begin(
                RecordedEvent(
                    number: number, stream: .audit(person), version: number,
                    recordedAt: Timestamp(milliseconds: number),
                    actor: .operator, correlation: id, cause: 0, event: .importBegan(id, .open(ImportedFile()))),
                id, ImportedFile())
        }
        let kept = imports.imports(of: person)
        #expect(kept.count == Limits.importsPerPerson && kept.first?.rawValue == 4)
        #expect(imports.all.count == kept.count)
        #expect(imports.imports(id: Identifier128(high: 7, low: 3)).isEmpty)
        #expect(imports.imports(id: Identifier128(high: 7, low: UInt64(count))).map(\.rawValue) == [Int64(count)])
    }
}
