import Geodesy
import Projections
import Testing

@testable import AuditTables
@testable import Tables
@testable import Whereabouts

@Suite struct AuditTableTests {
    static let subject = PersonID(rawValue: 2)
    static let asker = PersonID(rawValue: 5)
    static let device = DeviceID(rawValue: 3)
    static let answered = QueryID(random: 1, 1)
    static let toNobody = QueryID(random: 2, 2)
    static let back = QueryID(random: 3, 3)

    private static func at(_ seconds: Int64) -> Timestamp { History.start.adding(seconds: seconds) }

    private static func query(
        _ id: QueryID, about subject: PersonID?, by requester: PersonID, _ verdict: Verdict, readable: Set<PersonID>
    ) -> Event {
        func part(_ person: PersonID?) -> Part<String> {
            person.map(readable.contains) == true ? .open("lunch?") : .erased
        }
        return .locationQueried(
            LocationQuery(
                id: id, subject: subject, requester: requester.principal, verdict: verdict, initiation: .user,
                deadline: at(60), maxAgeSeconds: 60, purposeForSubject: part(subject),
                purposeForRequester: part(requester)))
    }

    /// One query asked, pushed, answered and shown; one about an unknown person; one by the subject; reads, grants,
    /// rejected reports. The parts sealed under a person who is not `readable` are erased, as in a refold without the
    /// keys.
    static func log(readable: Set<PersonID> = [subject, asker]) throws -> MemoryLog {
        var log = MemoryLog()
        let audit = StreamID.audit(subject)
        func sealed<Content>(_ person: PersonID, _ content: Content) -> Part<Content> {
            readable.contains(person) ? .open(content) : .erased
        }
        guard let anna = Handle("anna"), let hash = Hash256(bytes: [UInt8](repeating: 7, count: 32)) else { return log }
        log.add(.personAdded(subject, handle: sealed(subject, anna)), to: audit, at: at(0), by: .operator)
        let grant = Grant(
            id: GrantID(rawValue: 1), subject: subject, requester: asker, precision: .exact, includesHistory: true,
            from: nil, until: at(9000))
        log.add(.grantGiven(grant), to: audit, at: at(1), by: subject.principal)
        let granted = Verdict.granted(grant.id)
        log.add(query(answered, about: subject, by: asker, granted, readable: readable), to: audit, at: at(10))
        log.add(
            .locationPushAttempted(
                LocationPushAttempt(
                    query: answered, device: device, attempt: 1, apnsID: QueryID(random: 9, 9), status: 200,
                    reason: nil,
                    durationMilliseconds: 31)), to: audit, at: at(11))
        log.add(.locationQueryEnded(answered, .answered, fix: 77), to: audit, at: at(12))
        log.add(
            .locationDisclosed(
                Disclosure(
                    query: answered, subject: subject, requester: asker.principal, verdict: granted, precision: .exact,
                    fix: 77,
                    content: sealed(
                        subject,
                        Disclosure.Content(
                            latitude: 52.5, longitude: -0.0, horizontalAccuracy: nil, timestamp: at(12),
                            placeName: "Mitte", answerHash: hash)))), to: audit, at: at(12))
        log.add(
            query(toNobody, about: nil, by: asker, .refused(.unknownPerson), readable: readable), to: .house, at: at(20)
        )
        log.add(
            query(back, about: asker, by: subject, .refused(.noGrant), readable: readable), to: .audit(asker),
            at: at(21))
        for (reader, person) in [(asker, subject), (subject, asker)] {
            log.add(
                .locationRead(
                    LocationRead(
                        subject: person, reader: reader.principal, question: .track, verdict: granted,
                        precision: .exact,
                        asOf: 8, count: 3,
                        content: sealed(
                            person, LocationRead.Content(purpose: "way", from: at(0), to: nil, answerHash: hash)))),
                to: .audit(person), at: at(30))
        }
        log.add(.refusalsCounted(by: asker.principal, count: 12, since: at(20)), to: .house, at: at(80))
        for _ in 0..<3 {
            log.add(
                .inputRejected(
                    device: device, reason: .badCoordinate, length: 9,
                    sealed(subject, RejectedInput(hash: hash, head: [1]))), to: .track(subject), at: at(90))
        }
        return log
    }

    @Test func `the subject reads who asked, what came of it and what was shown`() throws {
        let file = try folded(try Self.log().events).file
        let queries = try AuditReader.queries(about: Self.subject, limit: 10, in: file.connection)
        try #require(queries.map(\.query) == [Self.answered])
        #expect(queries[0].requester == Self.asker.principal)
        #expect(queries[0].purposeForSubject == "lunch?")
        #expect(queries[0].end == .answered)
        #expect(queries[0].endedAt == Self.at(12))
        #expect(queries[0].fixNumber == 77)
        #expect(queries[0].verdict == .granted(GrantID(rawValue: 1)))
        #expect(try AuditReader.attempts(for: Self.answered, in: file.connection).map(\.attempt.status) == [200])
        let shown = try AuditReader.disclosures(about: Self.subject, limit: 10, in: file.connection)
        #expect(shown.map(\.disclosure.content.content?.placeName) == ["Mitte"])
        #expect(try AuditReader.disclosures(for: Self.answered, in: file.connection) == shown)
        let reads = try AuditReader.reads(about: Self.subject, limit: 10, in: file.connection)
        #expect(reads.map(\.read.content.content?.purpose) == ["way"])
        let changes = try AuditReader.changes(about: Self.subject, limit: 10, in: file.connection)
        #expect(changes.map(\.kind) == [.grantGiven, .personAdded])
        #expect(changes[0].other == Self.asker.principal)
        #expect(changes[0].until == Self.at(9000))
        #expect(changes[1].name == "anna")
        #expect(try AuditReader.rejected(of: Self.subject, in: file.connection).map(\.count) == [3])
        let rejections = try AuditReader.rejections(of: Self.subject, in: file.connection)
        #expect(rejections.map(\.reason) == [.badCoordinate, .badCoordinate, .badCoordinate])
        #expect(try AuditReader.rejections(of: Self.asker, in: file.connection).isEmpty)
    }

    @Test func `the asker reads the own questions, newest first, page by page`() throws {
        let file = try folded(try Self.log().events).file
        let asker = Self.asker.principal
        let first = try AuditReader.queries(by: asker, limit: 1, in: file.connection)
        #expect(first.map(\.query) == [Self.toNobody])
        let second = try AuditReader.queries(by: asker, before: first.last?.number, limit: 1, in: file.connection)
        #expect(second.map(\.query) == [Self.answered])
        #expect(try AuditReader.queries(by: asker, before: second.last?.number, limit: 1, in: file.connection).isEmpty)
        #expect(try AuditReader.reads(by: asker, limit: 9, in: file.connection).map(\.read.subject) == [Self.subject])
        #expect(try AuditReader.refusals(of: asker, limit: 9, in: file.connection).map(\.count) == [12])
        #expect(try AuditReader.query(Self.toNobody, in: file.connection)?.subject == nil)
    }

    @Test(arguments: [1, 4, 100]) func `batches do not show`(batch: Int) throws {
        let log = try Self.log()
        let other = try folded(log.events, batch: batch)
        let whole = try folded(log.events)
        #expect(try other.rows() == whole.rows())
        #expect(other.file.fingerprint == whole.file.fingerprint)
    }

    @Test(arguments: [subject, asker]) func `live after erasing is refolded after erasing`(person: PersonID) throws {
        var live = try Self.log()
        var readable: Set<PersonID> = [Self.subject, Self.asker]
        readable.remove(person)
        var without = try Self.log(readable: readable)
        live.add(.personErased(person), to: .audit(person), at: Self.at(100))
        without.add(.personErased(person), to: .audit(person), at: Self.at(100))
        let folded = try folded(live.events, batch: 5)
        let refolded = try self.folded(without.events)
        #expect(try folded.rows() == refolded.rows())
        #expect(folded.file.fingerprint == refolded.file.fingerprint)
        let file = folded.file
        #expect(try AuditReader.queries(about: person, limit: 9, in: file.connection).isEmpty)
        #expect(try AuditReader.reads(about: person, limit: 9, in: file.connection).isEmpty)
        #expect(try AuditReader.changes(about: person, limit: 9, in: file.connection).map(\.kind) == [.personErased])
        // The other side of the query still sees the number of the erased person.
        let asked = person == Self.asker ? Self.subject : Self.asker
        let queries = try AuditReader.queries(about: asked, limit: 9, in: file.connection)
        #expect(queries.map(\.requester) == [person.principal])
        #expect(queries.map(\.purposeForRequester) == [nil])
        #expect(queries.map(\.purposeForSubject) == ["lunch?"])
        // Erasing again by hand changes nothing.
        let before = folded.file.fingerprint
        try folded.projection.erase(person)
        #expect(folded.file.fingerprint == before)
    }

    private func folded(_ events: [RecordedEvent], batch: Int = 1000) throws -> Folded<AuditTable> {
        let folded = try Folded<AuditTable>(events, batch: batch)
        _ = try folded.rows()
        try folded.index()
        return folded
    }

    /// Acts follow each other and other events directly, so each of them is at some page's edge.
    @Test func `before every number, acts are read newest first, as many as there are`() throws {
        var log = MemoryLog()
        for index in 0..<12 {
            let isAct = index % 4 != 1
            log.add(
                isAct ? .operatorActed(.backUp) : .personErased(Self.subject),
                to: isAct ? .house : .audit(Self.subject), at: Self.at(Int64(index)), by: .operator)
        }
        let acts = log.events.filter { $0.stream == .house }.map(\.number)
        try #require(acts.count == 9)
        let file = try Folded<AuditTable>(log.events).file
        for limit in [1, 2, 20] {
            for before in 1...14 as ClosedRange<Int64> {
                let found = try AuditReader.acts(before: before, limit: limit, in: file.connection).map(\.number)
                #expect(found == Array(acts.filter { $0 < before }.reversed().prefix(limit)), "before \(before)")
            }
            let newest = try AuditReader.acts(limit: limit, in: file.connection).map(\.number)
            #expect(newest == Array(acts.reversed().prefix(limit)))
        }
    }
}
