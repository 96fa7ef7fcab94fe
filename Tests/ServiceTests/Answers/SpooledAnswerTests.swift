import Cryptography
import HTTPServer
import Log
import TestSupport
import Testing
import Whereabouts

@testable import Answers

/// Answers that are longer than memory: hashed while they are written, bounded, and gone with their last user.
@Suite struct SpooledAnswerTests {
    private let folder = TemporaryFolder()
    private let caller = PrincipalID(rawValue: 7)

    private func room(
        memory: Int = 100, answer: Int = 10_000, files: Int = 4, free: Int = 0
    ) -> SpoolRoom {
        var bounds = SpoolRoom.Bounds()
        (bounds.memoryBytes, bounds.answerBytes, bounds.files, bounds.freeBytes) = (memory, answer, files, free)
        return SpoolRoom(directory: folder.path, bounds)
    }

    private func finished(_ answer: SpooledAnswer) throws -> Gate.Computed {
        try answer.finished(count: 1, asOf: 1, headers: [])
    }

    /// All bytes, read as the server does; `nil` if it is cut.
    private func bytes(of computed: Gate.Computed, piece: Int) -> [UInt8]? {
        guard let spooled = computed.spooled else { return computed.body }
        let stream = HTTPStream(spooled.source)
        var all: [UInt8] = []
        while true {
            switch stream.next(piece, wake: {}) {
            case .bytes(let bytes): all += bytes
            case .end: return all
            case .cut, .nothingYet: return nil
            }
        }
    }

    @Test(arguments: [0, 1, 100, 101, 5000])
    func `what was written comes back, with its hash, in memory or not`(length: Int) throws {
        var random = SplitMix(UInt64(length))
        let written = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
        let answer = SpooledAnswer(in: room(), for: caller)
        var place = 0
        while place < length {
            let next = min(length, place + Int.random(in: 1...77, using: &random))
            try answer.append(Array(written[place..<next]))
            place = next
        }
        let computed = try finished(answer)
        #expect(computed.hash == Hash256(SHA256().hash(written)))
        #expect((computed.spooled == nil) == (length <= 100))
        #expect((computed.spooled?.source.length ?? length) == length)
        let isSame = bytes(of: computed, piece: 64) == written
        #expect(isSame)
        // The file has no name, so no other process can open it, and nothing is left after a crash.
        #expect(folder.names.isEmpty)
    }

    @Test func `an answer that is too long is refused in one sentence`() throws {
        let answer = SpooledAnswer(in: room(answer: 1 << 20), for: caller)
        try answer.append([UInt8](repeating: 1, count: 1 << 20))
        do throws(Problem) {
            try answer.append([1])
            Issue.record("It was taken.")
        } catch {
            #expect(error.status == 422 && error.detail.contains("1 MiB") && error.detail.contains("shorter range"))
        }
    }

    @Test func `a caller has one file at a time, and all callers a few`() throws {
        let room = room(files: 2)
        func begin(_ number: Int64) throws -> Gate.Computed {
            let answer = SpooledAnswer(in: room, for: PrincipalID(rawValue: number))
            try answer.append([UInt8](repeating: 1, count: 200))
            return try finished(answer)
        }
        func status(_ number: Int64) -> Int? {
            do { _ = try begin(number) } catch { return (error as? Problem)?.status }
            return nil
        }
        var first: Gate.Computed? = try begin(1)
        #expect(status(1) == 503)
        let second = try begin(2)
        #expect(status(3) == 503)
        // A short answer needs no file.
        let short = SpooledAnswer(in: room, for: PrincipalID(rawValue: 1))
        try short.append([1])
        #expect(bytes(of: try finished(short), piece: 10) == [1])
        #expect(first.flatMap { bytes(of: $0, piece: 10) }?.count == 200)
        first = nil
        #expect(status(1) == nil && status(3) == nil)
        #expect(bytes(of: second, piece: 10)?.count == 200)
    }

    @Test func `a file leaves room on the disk for the log`() throws {
        let answer = SpooledAnswer(in: room(free: Int.max / 2), for: caller)
        #expect(throws: Problem.self) { try answer.append([UInt8](repeating: 1, count: 200)) }
        do throws(Problem) { try answer.append([1]) } catch { #expect(error.status == 507) }
    }
}
