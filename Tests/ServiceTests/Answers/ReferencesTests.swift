import Cryptography
import Replies
import Testing
import Whereabouts

@testable import Answers
@testable import Service

/// References, which replace the log's numbers in answers to people.
@Suite struct ReferencesTests {
    private static let secret = References.secret(under: SymmetricKey(bytes: Array(0..<32)))
    private static let anna = References(for: PrincipalID(rawValue: 2), under: secret)
    private static let bert = References(for: PrincipalID(rawValue: 3), under: secret)
    private static let kinds: [References.Kind] = [
        .event, .grant, .invitation, .accountInvitation, .token, .webhook, .deadLetter, .correction, .schedule, .row,
    ]

    @Test func `the operator sees numbers as they are`() {
        let plain = References(for: .operator, under: Self.secret)
        #expect(plain.event(7) == .number(7) && plain.place(7) == .number(7) && plain.name(7, .grant) == .number(7))
        #expect(plain.number("7", .grant) == 7 && plain.place("7") == 7 && plain.rowOrAct(-3).text == "-3")
    }

    @Test(arguments: [0, 1, 2, 255, 256, 1 << 40, Int64.max])
    func `a person's reference opens for that person and kind alone, and has one length`(number: Int64) {
        for kind in Self.kinds {
            let name = Self.anna.name(number, kind)
            #expect(name.text.wholeMatch(of: /r[A-Za-z0-9_-]{22}/) != nil)
            #expect(Self.anna.number(name.text, kind) == number)
            #expect(Self.anna.name(number, kind) == name)
            #expect(Self.bert.number(name.text, kind) == nil && Self.bert.name(number, kind) != name)
            for other in Self.kinds where other != kind { #expect(Self.anna.number(name.text, other) == nil) }
        }
        let place = Self.anna.place(number)
        #expect(place.text.utf8.count == 23 && Self.anna.place(place.text) == number)
        #expect(Self.anna.place(Self.anna.event(number).text) == number)
        #expect(Self.bert.place(place.text) == nil)
    }

    /// Two reads between which nothing happened anywhere, and two between which much did, look alike.
    @Test func `the same place is called differently each time`() {
        let names = (0..<1000).map { _ in Self.anna.place(12).text }
        #expect(Set(names).count == names.count)
        #expect(Self.anna.place(12, toldWith: 3) == Self.anna.place(12, toldWith: 3))
        #expect(Self.anna.place(12, toldWith: 3) != Self.anna.place(12, toldWith: 4))
    }

    /// Of a reference that carries its number in any simple way, neighbours share bits. Of random ones half of 128
    /// differ, with a standard deviation of 5.7; the mean over 2,000 pairs has one of 0.13.
    @Test func `neighbouring numbers have nothing in common`() throws {
        var differing = 0
        for number in Int64(1)...2000 {
            let bytes = try [number, number + 1].map { number in
                try #require(Base64.decode(Self.anna.event(number).text.dropFirst()))
            }
            differing += zip(bytes[0], bytes[1]).reduce(0) { $0 + ($1.0 ^ $1.1).nonzeroBitCount }
        }
        #expect(abs(Double(differing) / 2000 - 64) < 1)
    }

    @Test func `what is no reference is refused, and so is one with a bit changed`() throws {
        for text in [
            "", "r", "1", "-1", "x", String(repeating: "r", count: 23), "r" + String(repeating: "=", count: 22),
        ] {
            #expect(Self.anna.place(text) == nil && Self.anna.number(text, .grant) == nil, "\(text)")
        }
        let good = try #require(Base64.decode(Self.anna.name(9, .grant).text.dropFirst()))
        for bit in 0..<128 {
            var bytes = good
            bytes[bit / 8] ^= 1 << (bit % 8)
            #expect(Self.anna.number("r" + Base64.encode(bytes, urlSafe: true, padded: false), .grant) == nil)
        }
    }

    @Test func `a cursor has one length, opens for its caller alone, and not when it was changed`() throws {
        let short = Self.anna.cursor([1]), long = Self.anna.cursor([UInt8](repeating: 7, count: References.cursorBytes))
        #expect(short.utf8.count == long.utf8.count && Self.anna.cursor([1]) != short)
        #expect(Self.anna.openCursor(short) == [1] + [UInt8](repeating: 0, count: References.cursorBytes - 1))
        #expect(Self.bert.openCursor(short) == nil)
        let bytes = try #require(Base64.decode(short.dropFirst()))
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            #expect(Self.anna.openCursor("c" + Base64.encode(changed, urlSafe: true, padded: false)) == nil)
        }
        for text in ["", "c", "r", "c" + String(repeating: "A", count: 103)] {
            #expect(Self.anna.openCursor(text) == nil)
        }
    }
}
