import Testing

@testable import Projections
@testable import Tables
@testable import Whereabouts

@Suite struct StreamIndexTableTests {
    /// Three streams taking turns unevenly: enough for several blocks, one of them ending exactly at a block's end.
    private static func log() -> MemoryLog {
        var log = MemoryLog()
        for index in 0..<900 {
            let person = PersonID(rawValue: index % 7 == 0 ? 2 : index < 299 ? 3 : 4)
            log.add(.personErased(person), to: .audit(person), at: History.start)
        }
        return log
    }

    @Test(arguments: [1, 10, 900]) func `every event is found by its stream and version`(batch: Int) throws {
        let log = Self.log()
        let file = try Folded<StreamIndexTable>(log.events, batch: batch, forgetting: batch == 10).file
        for person in 2...4 {
            let stream = StreamID.audit(PersonID(rawValue: Int64(person)))
            let expected = log.events.filter { $0.stream == stream }.map(\.number)
            let found = try StreamIndexReader.numbers(of: stream, fromVersion: 1, count: 1000, in: file.connection)
            #expect(found == expected)
            for version in [1, 2, 127, 128, 129, expected.count - 1, expected.count] where version <= expected.count {
                let some = try StreamIndexReader.numbers(
                    of: stream, fromVersion: Int64(version), count: 5, in: file.connection)
                #expect(some == Array(expected[(version - 1)...].prefix(5)))
            }
            #expect(
                try StreamIndexReader.numbers(
                    of: stream, fromVersion: Int64(expected.count + 1), count: 5, in: file.connection
                ).isEmpty)
        }
    }

    /// The place to which a client comes back can be an event of the stream, one of another stream, or the log's end.
    @Test func `after every number come exactly the events with greater ones`() throws {
        let log = Self.log()
        let file = try Folded<StreamIndexTable>(log.events).file
        for person in 2...4 {
            let stream = StreamID.audit(PersonID(rawValue: Int64(person)))
            let numbers = log.events.filter { $0.stream == stream }.map(\.number)
            for number in 0...Int64(log.events.count) + 1 {
                let version = try StreamIndexReader.version(
                    after: number, in: stream, last: Int64(numbers.count), file.connection)
                #expect(numbers[(Int(version) - 1)...] == numbers.drop { $0 <= number }, "after \(number)")
            }
        }
    }

    @Test func `events that are not folded yet come after every folded one`() throws {
        let log = Self.log()
        let stream = StreamID.audit(PersonID(rawValue: 4))
        let folded = log.events.prefix(600)
        let numbers = folded.filter { $0.stream == stream }.map(\.number)
        let last = Int64(log.events.count { $0.stream == stream })
        let file = try Folded<StreamIndexTable>(Array(folded)).file
        for number in [0, numbers[0], numbers[100], 599, 600, 700] {
            let version = try StreamIndexReader.version(after: number, in: stream, last: last, file.connection)
            #expect(version == Int64(numbers.count { $0 <= number }) + 1, "after \(number)")
        }
    }

    @Test func `a block holds first number and differences as LEB128`() throws {
        #expect(try StreamIndexTable.numbers([0x07, 0x02, 0xA3, 0x02]) == [7, 9, 300])
        #expect(throws: (any Error).self) { try StreamIndexTable.numbers([0x07, 0x80]) }
        #expect(throws: (any Error).self) { try StreamIndexTable.numbers([0x07, 0x00]) }
        #expect(throws: (any Error).self) {
            try StreamIndexTable.numbers([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01])
        }
    }
}
