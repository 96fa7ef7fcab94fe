/// Who acts, as an integer that means nothing outside the log: 0 the house itself, 1 the operator, from 2 on persons
/// and devices in the order they were added.
package struct PrincipalID: Hashable, Sendable, Comparable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static let house = PrincipalID(rawValue: 0)
    package static let `operator` = PrincipalID(rawValue: 1)
    package static let first = PrincipalID(rawValue: 2)
    package static func < (a: PrincipalID, b: PrincipalID) -> Bool { a.rawValue < b.rawValue }
}

/// A person who can be asked about, and who can ask.
package struct PersonID: Hashable, Sendable, Comparable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package var principal: PrincipalID { .init(rawValue: rawValue) }
    package static func < (a: PersonID, b: PersonID) -> Bool { a.rawValue < b.rawValue }
}

/// A phone or tracker of one person.
package struct DeviceID: Hashable, Sendable, Comparable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package var principal: PrincipalID { .init(rawValue: rawValue) }
    package static func < (a: DeviceID, b: DeviceID) -> Bool { a.rawValue < b.rawValue }
}

/// A grant, numbered from 1 in the order given.
package struct GrantID: Hashable, Sendable, Comparable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static func < (a: GrantID, b: GrantID) -> Bool { a.rawValue < b.rawValue }
}

/// An invitation, numbered from 1 in the order made; its code is never stored.
package struct InvitationID: Hashable, Sendable, Comparable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static func < (a: InvitationID, b: InvitationID) -> Bool { a.rawValue < b.rawValue }
}

/// An invitation to an account, by the number of the event that made it; its code is never stored.
package struct AccountInvitationID: Hashable, Sendable, Comparable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static func < (a: AccountInvitationID, b: AccountInvitationID) -> Bool { a.rawValue < b.rawValue }
}

/// A region of a person, numbered from 1 in the order added; its name is ``Region/identifier``.
package struct RegionID: Hashable, Sendable, Comparable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static func < (a: RegionID, b: RegionID) -> Bool { a.rawValue < b.rawValue }
}

/// A schedule, by the number of the event that set it.
package struct ScheduleID: Hashable, Sendable, Comparable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static func < (a: ScheduleID, b: ScheduleID) -> Bool { a.rawValue < b.rawValue }
}

/// A correction, by the number of the event that made it.
package struct CorrectionID: Hashable, Sendable, Comparable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static func < (a: CorrectionID, b: CorrectionID) -> Bool { a.rawValue < b.rawValue }
}

/// A webhook, by the number of the event that added it.
package struct WebhookID: Hashable, Sendable, Comparable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static func < (a: WebhookID, b: WebhookID) -> Bool { a.rawValue < b.rawValue }
}

/// A message that a webhook gave up, by the number of the event that says so.
package struct DeadLetterID: Hashable, Sendable, Comparable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static func < (a: DeadLetterID, b: DeadLetterID) -> Bool { a.rawValue < b.rawValue }
}

/// An access token, numbered from 1 in the order issued; the secret itself is never stored.
package struct TokenID: Hashable, Sendable, Comparable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static func < (a: TokenID, b: TokenID) -> Bool { a.rawValue < b.rawValue }
}

/// 128 random bits that name a location query, an import or a request; written as a lower-case UUID (RFC 9562).
package struct Identifier128: Hashable, Sendable, CustomStringConvertible {
    package let high, low: UInt64

    package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// A version 4 UUID from random bits; the caller brings the randomness, because this half of the house has none.
    package init(random high: UInt64, _ low: UInt64) {
        self.high = high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        self.low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// A version 8 UUID for a request that its caller gave a key: `high` stands for who sent which key where, `low` for
    /// what was sent. Of each, all but the bits of the form are kept.
    package init(ofKeyedRequest high: UInt64, _ low: UInt64) {
        self.high = high & 0xFFFF_FFFF_FFFF_0FFF | 0x8000
        self.low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// Whether it was made by ``init(ofKeyedRequest:_:)``.
    package var isOfKeyedRequest: Bool { high & 0xF000 == 0x8000 }

    /// The canonical 8-4-4-4-12 form in lower case; anything else is `nil`.
    package init?(_ text: some StringProtocol) {
        var words: (UInt64, UInt64) = (0, 0)
        var digits = 0
        var index = 0
        for byte in text.utf8 {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
            } else {
                let digit: UInt64
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = UInt64(byte) - 48
                case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = UInt64(byte) - 87
                default: return nil
                }
                if digits < 16 { words.0 = words.0 << 4 | digit } else { words.1 = words.1 << 4 | digit }
                digits += 1
            }
            index += 1
        }
        guard index == 36 else { return nil }
        (high, low) = words
    }

    /// 16 bytes, most significant first; another count is `nil`.
    package init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    package var bytes: [UInt8] {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
    }

    package var description: String {
        // One goes out with every answer: in one piece this takes a fiftieth of the time.
        String(unsafeUninitializedCapacity: 36) { text in
            var place = 0
            for nibble in 0..<32 {
                if nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20 {
                    text[place] = UInt8(ascii: "-")
                    place += 1
                }
                let word = nibble < 16 ? high : low
                let digit = UInt8(truncatingIfNeeded: word >> (60 - 4 * UInt64(nibble % 16))) & 15
                text[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
                place += 1
            }
            return place
        }
    }
}

package typealias QueryID = Identifier128
package typealias RequestID = Identifier128

/// A SHA-256 value as the pure half carries it: it never computes one.
package struct Hash256: Hashable, Sendable {
    /// The 32 bytes as four big-endian words.
    package let words: (UInt64, UInt64, UInt64, UInt64)

    package init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

    /// `nil` unless there are 32 bytes.
    package init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 32 else { return nil }
        func word(_ index: Int) -> UInt64 {
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
        }
        words = (word(0), word(1), word(2), word(3))
    }

    /// `nil` unless there are 32 bytes.
    package init?(bytes: [UInt8]) {
        guard let value = bytes.withUnsafeBytes({ Hash256(bytes: $0) }) else { return nil }
        self = value
    }

    package var bytes: [UInt8] {
        withUnsafeBytes(
            of: (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
        ) { Array($0) }
    }

    package static func == (a: Hash256, b: Hash256) -> Bool { a.words == b.words }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.3)
    }
}

/// The name a person or device goes by outside the log: `[a-z0-9][a-z0-9._-]{0,62}`.
package struct Handle: Hashable, Sendable, Comparable {
    package let text: String

    /// `nil` unless `text` has the form; upper case is not folded, so that a name has one spelling.
    package init?(_ text: some StringProtocol) {
        // Other modules call this with slices: a generic walk over their bytes would cost ten times the rest.
        let text = String(text)
        guard (1...63).contains(text.utf8.count) else { return nil }
        var isFirst = true
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): isFirst = false
            case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): if isFirst { return nil }
            default: return nil
            }
        }
        self.text = text
    }

    package static func < (a: Handle, b: Handle) -> Bool { a.text < b.text }
}

/// A stream of the log: two for each person, one for the house. Versions in a stream are 1, 2, 3 …
package struct StreamID: Hashable, Sendable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static let house = StreamID(rawValue: 0)
    /// What the person's devices report.
    package static func track(_ person: PersonID) -> StreamID { .init(rawValue: 2 * person.rawValue) }
    /// Queries, grants, pushes and disclosures about the person.
    package static func audit(_ person: PersonID) -> StreamID { .init(rawValue: 2 * person.rawValue + 1) }
    /// The person whose stream it is; `nil` for the house.
    package var person: PersonID? { rawValue < 4 ? nil : .init(rawValue: rawValue / 2) }
    package var isTrack: Bool { rawValue >= 4 && rawValue % 2 == 0 }
}
