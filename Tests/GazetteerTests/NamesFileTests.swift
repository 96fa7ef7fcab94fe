import Geodesy
import Glibc
import TestSupport
import Testing

@testable import Gazetteer

@Suite struct NamesFileTests {
    private static let path = "\(Repository.root)/data/names.gazetteer"
    private let edition: UInt64

    init() throws {
        edition = try contents(ofFile: Repository.gazetteerPath).withUnsafeBytes {
            UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: 48, as: UInt64.self))
        }
    }

    private func error(opening path: String, edition: UInt64) -> GazetteerError? {
        do throws(GazetteerError) {
            _ = try NamesFile(path: path, edition: edition)
            return nil
        } catch {
            return error
        }
    }

    @Test func `names made for other places are refused by name`() throws {
        #expect(error(opening: Self.path, edition: edition) == nil)
        #expect(
            error(opening: Self.path, edition: edition &+ 1)
                == .damaged(path: Self.path, reason: "it was made for another places.gazetteer"))
    }

    @Test func `a foreign, cut or contradictory file is refused`() throws {
        #expect(error(opening: Repository.zonesPath, edition: edition) == .foreign(path: Repository.zonesPath))
        let content = try contents(ofFile: Self.path)
        for length in [8, 64, content.count - 1] {
            let file = try TemporaryFile(Array(content.prefix(length)))
            guard case .damaged? = error(opening: file.path, edition: edition) else {
                Issue.record("\(length) bytes were accepted")
                continue
            }
        }
        for offset in [12, 16, 32, 36, 40, 44, 48, 52] {
            var header = Array(content.prefix(1 << 12))
            header.replaceSubrange(offset..<offset + 4, with: [0xff, 0xff, 0xff, 0x7f])
            let file = try TemporaryFile(header)
            guard case .damaged? = error(opening: file.path, edition: edition) else {
                Issue.record("offset \(offset) was accepted")
                continue
            }
        }
    }

    /// Overwrites bytes anywhere behind the header and asks: exactly, by beginning, with errors.
    @Test func `a damaged file finds wrong places or none, but never crashes`() throws {
        let content = try contents(ofFile: Self.path)
        let file = try TemporaryFile(content)
        let descriptor = open(file.path, O_RDWR)
        defer { close(descriptor) }
        var chance = SplitMix(20_261_122)
        let names = try NamesFile(path: file.path, edition: edition)
        var seen = 0
        for round in 0..<8 {
            // First so few that most keys can still be read.
            for _ in 0..<(round == 0 ? 300 : 8000) {
                // Every other round the tables in front, which say where everything else is.
                let limit = round % 2 == 0 ? 300_000 : content.count
                var byte = [0xff, 0x80, 0x00, UInt8.random(in: 0...255, using: &chance)].randomElement(using: &chance)!
                pwrite(descriptor, &byte, 1, Int.random(in: 64..<limit, using: &chance))
            }
            for text in ["Wien", "Москва", "서울", "st petersburg", "Łódź"] {
                let key = names.fold.words(text).flatMap(\.self)
                seen += names.places.entries(of: key).count
                names.places.eachKey(beginningWith: key, while: { _ in true }) { seen += $0.entries.count }
                names.areas.eachKey(within: 1, of: key) { _, entries, _ in seen += entries.count }
                names.areas.eachKey(beginningWith: key, while: { _ in true }) { seen += $0.entries.count }
            }
            if round % 4 == 0 {
                names.places.eachKey(within: 2, of: Array("london".utf16)) { _, entries, _ in seen += entries.count }
            }
        }
        #expect(seen > 100)
    }

    @Test(
        arguments: [
            ("St. Gallen", "stgallen"), ("Sankt-Gallen", "stgallen"), ("L’Aquila", "laquila"), ("Łódź", "lodz"),
            ("ÅLESUND", "alesund"), ("Straße", "strasse"), ("İstanbul", "istanbul"), ("Москва", "moskva"),
            ("서울", "seoul"), ("ロンドン", "rondon"), ("Αθήνα", "athina"), ("ＴＯＫＹＯ", "tokyo"), ("e\u{301}", "e"),
            ("東京", "東京"), ("№ 1", "no1"),
        ])
    func `a name is folded to a key of small letters`(text: String, key: String) throws {
        let names = try NamesFile(path: Self.path, edition: edition)
        #expect(String(decoding: names.fold.words(text).joined(), as: UTF16.self) == key)
    }

    /// The whole list of areas, against Lowrance's and Wagner's recursion on every key; two errors in the first two
    /// letters are not searched, nor keys in another script for a text in Latin letters.
    @Test func `exactly the keys within the edits are found`() throws {
        let names = try NamesFile(path: Self.path, edition: edition)
        var all: [[UInt16]] = []
        names.areas.eachKey(beginningWith: [], while: { _ in true }) { all.append($0.key) }
        #expect(all.count > 15_000)
        for text in ["bayren", "ilinois", "xx", "aa", "z", "tirolo", "東京省", "バイエル", "mecklenburgvorpomern", "bvearia"] {
            let asked = Array(text.utf16)
            var found: [[UInt16]: Int] = [:]
            names.areas.eachKey(within: 2, of: asked) { key, _, edits in found[key] = edits }
            let isLatin = asked.allSatisfy { $0 < 0x80 }
            let near = all.filter { abs($0.count - asked.count) <= 2 && (!isLatin || $0.allSatisfy { $0 < 0x80 }) }
                .map { ($0, edits($0, asked)) }
            #expect(found == Dictionary(uniqueKeysWithValues: near.filter { $0.1 <= 2 }))
            var nearer: [[UInt16]: Int] = [:]
            names.areas.eachKey(within: 1, of: asked) { key, _, edits in nearer[key] = edits }
            #expect(nearer == found.filter { $0.value <= 1 })
        }
        names.areas.eachKey(within: 2, of: Array(repeating: 97, count: 80)) { key, _, _ in
            Issue.record("No key is so long: \(key)")
        }
    }

    private func edits(_ one: [UInt16], _ other: [UInt16]) -> Int {
        var cells = [[Int]](repeating: Array(0...other.count), count: one.count + 1)
        for i in 0...one.count { cells[i][0] = i }
        var lastRow: [UInt16: Int] = [:]
        for i in one.indices {
            var lastColumn = 0
            for j in other.indices {
                let (row, column) = (lastRow[other[j]] ?? 0, lastColumn)
                var least = min(cells[i][j] + (one[i] == other[j] ? 0 : 1), cells[i][j + 1] + 1, cells[i + 1][j] + 1)
                if row > 0, column > 0 { least = min(least, cells[row - 1][column - 1] + i - row + 1 + j - column) }
                if one[i] == other[j] { lastColumn = j + 1 }
                cells[i + 1][j + 1] = least
            }
            lastRow[one[i]] = i + 1
        }
        let isFarFromTheStart = one.count >= 2 && cells[2].allSatisfy { $0 > 1 }
        return isFarFromTheStart ? 100 : cells[one.count][other.count]
    }
}
