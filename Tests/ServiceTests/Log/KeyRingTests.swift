import Cryptography
import TestSupport
import Testing
import Whereabouts

@testable import Service

@Suite struct KeyRingTests {
    private let folder = TemporaryFolder()
    private let wrapping = SymmetricKey.random()
    private var path: String { folder.path + "/keys.sqlite" }

    private func opened() throws -> KeyRing { try KeyRing(path: path, keyEncryptionKey: wrapping) }

    /// The ids of the keys of 100 persons' tracks in January 1970.
    private func makeHundred(_ ring: KeyRing, from first: Int64 = 1) throws -> [Int64] {
        try (first..<first + 100).map {
            try ring.sealingKey(for: PersonID(rawValue: $0), .track, at: Timestamp(milliseconds: 0)).id
        }
    }

    private func isThere(_ id: Int64, _ ring: KeyRing) throws -> Bool {
        if case .key = try ring.key(id) { true } else { false }
    }

    /// Transactions in the write-ahead log: SQLite's "WAL file format", section 4.1: a frame has a header of 24 bytes, whose
    /// second word is the size of the database after a commit, and 0 in frames that end none.
    private func commits() throws -> Int {
        let wal = try #require(DataDirectory.read(path + "-wal", atMost: 1 << 24))
        func word(_ place: Int) -> Int { wal[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
        let frames = stride(from: 32, to: wal.count, by: 24 + word(8))
        // Frames of an earlier round of the file have other salts.
        return frames.filter { wal[$0 + 8..<$0 + 16] == wal[16..<24] && word($0 + 4) > 0 }.count
    }

    @Test func `keys that are made together are durable together, by one transaction`() throws {
        let ring = try opened()
        let before = try commits()
        let ids = try makeHundred(ring)
        // As after a crash now: what is not durable was not used either.
        #expect(try !isThere(ids[0], try opened()))
        try ring.makeDurable()
        #expect(try commits() == before + 1)
        let reopened = try opened()
        for id in ids { #expect(try isThere(id, reopened)) }
        try ring.makeDurable()
        #expect(try commits() == before + 1)
    }

    @Test func `a copy and a destruction find the keys that were just made`() throws {
        let ring = try opened()
        let ids = try makeHundred(ring)
        try ring.backup(to: folder.path + "/copy.sqlite")
        let copy = try KeyRing(path: folder.path + "/copy.sqlite", keyEncryptionKey: wrapping)
        #expect(try isThere(ids[99], copy))
        let more = try makeHundred(ring, from: 101)
        try ring.destroyKeys(of: PersonID(rawValue: 101))
        let reopened = try opened()
        guard case .destroyed = try reopened.key(more[0]) else {
            Issue.record("the key of an erased person is left")
            return
        }
        #expect(try isThere(more[1], reopened))
    }
}
