import Cryptography
import HTTPServer
import Synchronization
import TestSupport
import Testing
import Whereabouts

@testable import Answers
@testable import HTTPInterface
@testable import Log
@testable import Service

/// The gate's answer when the right to see a person ends between the look and the record. The forms in which bytes
/// leave have no other maker, so only bytes that are given here can be sent.
@Suite struct GateTests {
    private let house: ServiceUnderTest
    private let gate: Gate
    private let asker: Caller
    private let permit: Permit
    private let question: ReadQuestion
    private let computed = Gate.Computed(body: Array("somewhere".utf8), count: 1, asOf: 1)

    init() throws {
        house = try ServiceUnderTest()
        let (service, clock) = (house.service, house.clock)
        _ = try house.addPerson("anna")
        let token = try house.token(of: "anna")
        let seal = HouseSeal(
            publicURL: nil, log: service.log.id, epoch: service.log.epoch, mark: nil,
            under: try service.directory.keyEncryptionKey())
        gate = Gate(
            decisions: service.decisions,
            receipts: Receipts(decisions: service.decisions, seal: seal, answers: service.door.answers),
            host: service.host)
        let hash = Hash256(SHA256().hash(Array(token.utf8)))
        asker = try #require(service.log.withStanding { $0.caller(tokenHash: hash, at: clock.now) })
        let asked = ReadQuestion(
            subject: try #require(Handle("anna")), question: .live, from: nil, to: nil, purpose: nil)
        question = asked
        let asker = asker
        permit = try service.log.withStanding { $0.authorize(asker, toRead: asked, at: clock.now) }.get()
    }

    /// The message that may be posted, once its record has ended one way or the other.
    private func recorded() throws -> Repeatable? {
        let ended = Mutex<Repeatable??>(nil)
        gate.record(question, permitted: permit, computed, by: asker) { given in ended.withLock { $0 = .some(given) } }
        return try eventually("the end of the record") { ended.withLock { $0 } }
    }

    private func part() throws(AppendFailure) -> [UInt8] {
        try gate.follow(question, permitted: permit, computed, by: asker, correlation: .random()).leave().body
    }

    /// How many reads of this kind are on record.
    private func reads() throws -> Int {
        try house.events().count { event in
            if case .locationRead(let read) = event.event { read.question == .live } else { false }
        }
    }

    @Test func `what is on record may leave`() throws {
        #expect(try recorded()?.body == computed.body)
        #expect(try part() == computed.body)
        #expect(try reads() == 2)
    }

    @Test func `nothing leaves when the person is erased before the record`() throws {
        #expect(house.manage("DELETE", "/v1/people/anna").status == 200)
        #expect(try recorded() == nil)
        #expect(throws: AppendFailure.self) { try part() }
        #expect(try reads() == 0)
    }
}
