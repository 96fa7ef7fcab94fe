import Cryptography
import SQLite
import TestSupport
import Testing
import Whereabouts

@testable import Log

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

    /// Transactions in the write-ahead log: SQLite's "WAL file format", section 4.1: a frame has a header of 24 bytes,
    /// whose second word is the size of the database after a commit, and 0 in frames that end none.
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
        // As after a crash: a key that is not durable was not used either.
        #expect(try !isThere(ids[0], try opened()))
        try ring.makeDurable()
        #expect(try commits() == before + 1)
        let reopened = try opened()
        for id in ids { #expect(try isThere(id, reopened)) }
        try ring.makeDurable()
        #expect(try commits() == before + 1)
    }

    @Test func `a person's own key is durable at once, and does not write the new keys of others later`() throws {
        let ring = try opened()
        let person = PersonID(rawValue: 7)
        let before = try commits()
        let key = try ring.proofKey(of: person)
        #expect(try commits() == before + 1)
        // The writer prepares events, whose keys it makes durable itself.
        let ids = try makeHundred(ring)
        #expect(try ring.proofKey(of: person).withBytes { [UInt8]($0) } == key.withBytes { [UInt8]($0) })
        #expect(try commits() == before + 1)
        try ring.makeDurable()
        #expect(try isThere(ids[0], try opened()))
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

    // MARK: The key-encryption key

    private func sentence(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch { return "\(error)" }
    }

    @Test func `another key-encryption key is refused before anything is written`() throws {
        let ring = try opened()
        let kept = try makeHundred(ring)
        try ring.makeDurable()
        let before = try rows()
        let said = sentence { _ = try KeyRing(path: path, keyEncryptionKey: .random(), from: "/somewhere/kek") }
        #expect(said.contains("/somewhere/kek does not open \(path), and nothing was changed"))
        #expect(try rows() == before)
        let again = try opened()
        for id in kept { #expect(try isThere(id, again)) }
    }

    @Test func `a file without keys has a check value for its key-encryption key too`() throws {
        _ = try opened()
        #expect(sentence { _ = try KeyRing(path: path, keyEncryptionKey: .random()) }.contains("does not open"))
        _ = try opened()
    }

    /// Files of earlier versions have no check value: their keys prove which key is right.
    @Test func `a file without a check value gets one under the key that opens its keys`() throws {
        let ring = try opened()
        let ids = try makeHundred(ring)
        try ring.makeDurable()
        let changes: [StaticString] = ["DROP TABLE kek_check", "UPDATE kek_check SET sealed = zeroblob(60)"]
        for change in changes {
            try Connection(path: path, access: .readWrite).execute(change)
            #expect(sentence { _ = try KeyRing(path: path, keyEncryptionKey: .random()) }.contains("does not open"))
            #expect(try isThere(ids[0], try opened()))
            try Connection(path: path, access: .readWrite).execute("UPDATE key SET wrapped = zeroblob(60) WHERE id > 1")
            // Now only the check value can decide.
            _ = try opened()
            #expect(sentence { _ = try KeyRing(path: path, keyEncryptionKey: .random()) }.contains("does not open"))
            try Connection(path: path, access: .readWrite).execute("DELETE FROM key WHERE id > 1")
        }
    }

    @Test func `a key that does not open is never replaced`() throws {
        let ring = try opened()
        let id = try makeHundred(ring)[7]
        #expect(id == 8)
        try ring.makeDurable()
        try Connection(path: path, access: .readWrite).execute("UPDATE key SET wrapped = zeroblob(60) WHERE id = 8")
        let before = try rows()
        let reopened = try opened()
        let said = sentence {
            _ = try reopened.sealingKey(for: PersonID(rawValue: 8), .track, at: Timestamp(milliseconds: 0))
        }
        #expect(said.contains("Key \(id) in keys.sqlite is damaged"))
        try reopened.makeDurable()
        #expect(try rows() == before)
        guard case .lost = try reopened.key(id) else {
            Issue.record("a key that does not open is not lost")
            return
        }
    }

    @Test func `an older copy continues above every used id`() throws {
        let ring = try opened()
        _ = try makeHundred(ring)
        try ring.backup(to: folder.path + "/copy.sqlite")
        let used = try makeHundred(ring, from: 101)
        let older = try KeyRing(path: folder.path + "/copy.sqlite", keyEncryptionKey: wrapping)
        #expect(try older.goOn(after: used[99]) == 100)
        #expect(try older.goOn(after: used[99]) == used[99])
        let made = try makeHundred(older, from: 201)
        #expect(Set(made).isDisjoint(with: used) && made[0] > used[99])
    }

    private func rows() throws -> [[UInt8]] {
        try Connection(path: path, access: .readOnly).cached("SELECT id, wrapped FROM key ORDER BY id") {
            (statement) throws(SQLiteError) in
            var rows: [[UInt8]] = []
            while try statement.step() { rows.append(Array("\(statement.int(at: 0)) ".utf8) + statement.bytes(at: 1)) }
            return rows
        }
    }
}
