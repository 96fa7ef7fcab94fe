/// An actor, as an integer without meaning outside the log: 0 is the house itself, 1 the operator. Persons and devices
/// have numbers from 2 on, in the order in which they were added.
package struct PrincipalID: Hashable, Sendable, Comparable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    /// The service itself.
    package static let house = PrincipalID(rawValue: 0)
    /// The operator.
    package static let `operator` = PrincipalID(rawValue: 1)
    /// The first person or device.
    package static let first = PrincipalID(rawValue: 2)
    package static func < (a: PrincipalID, b: PrincipalID) -> Bool { a.rawValue < b.rawValue }
}

/// A person, who can be asked about and can ask.
package struct PersonID: Hashable, Sendable, Comparable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    /// The person as an actor.
    package var principal: PrincipalID { .init(rawValue: rawValue) }
    package static func < (a: PersonID, b: PersonID) -> Bool { a.rawValue < b.rawValue }
}

/// A phone or tracker of one person.
package struct DeviceID: Hashable, Sendable, Comparable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    /// The device as an actor.
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

/// A message that a webhook gave up, by the number of the event that records it.
package struct DeadLetterID: Hashable, Sendable, Comparable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static func < (a: DeadLetterID, b: DeadLetterID) -> Bool { a.rawValue < b.rawValue }
}

/// An access token, numbered from 1 in the order issued; the token itself is never stored.
package struct TokenID: Hashable, Sendable, Comparable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static func < (a: TokenID, b: TokenID) -> Bool { a.rawValue < b.rawValue }
}

/// 128 bits that identify a location query, an import or a request; written as a lower-case UUID (RFC 9562).
package struct Identifier128: Hashable, Sendable, CustomStringConvertible {
    /// The first and the last 64 bits, big-endian.
    package let high, low: UInt64

    package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// A version 4 UUID from random bits, which the caller provides, because the pure half has none.
    package init(random high: UInt64, _ low: UInt64) {
        self.high = high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        self.low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// A version 8 UUID for a request with an `Idempotency-Key`: `high` is derived from the caller, key and address,
    /// `low` for the content. The bits that a UUID prescribes are lost.
    package init(ofKeyedRequest high: UInt64, _ low: UInt64) {
        self.high = high & 0xFFFF_FFFF_FFFF_0FFF | 0x8000
        self.low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// Whether ``init(ofKeyedRequest:_:)`` made it.
    package var isOfKeyedRequest: Bool { high & 0xF000 == 0x8000 }

    /// Reads the canonical form 8-4-4-4-12 in lower case; `nil` for any other text.
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

    /// 16 bytes, most significant first; `nil` for another number of bytes.
    package init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    /// 16 bytes, most significant first.
    package var bytes: [UInt8] {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
    }

    /// The canonical form of a UUID in lower case.
    package var description: String {
        // Every answer has one; written in one piece, it takes a fiftieth of the time.
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

/// Identifies a location query, or a push test.
package typealias QueryID = Identifier128
/// Identifies a request.
package typealias RequestID = Identifier128

/// A SHA-256 value. The pure half stores such values and never computes one.
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

    /// 32 bytes, most significant first.
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

/// The name of a person or device: `[a-z0-9][a-z0-9._-]{0,62}`, for example `anna` or `anna.phone`.
package struct Handle: Hashable, Sendable, Comparable {
    /// The handle as it is written.
    package let text: String

    /// `nil` unless `text` has this form. Upper case is not folded, so that a name has one spelling.
    package init?(_ text: some StringProtocol) {
        // Other modules pass slices; a generic loop over their bytes would cost ten times the rest.
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

/// A stream of the log: two for each person, one for the house. The versions in a stream are 1, 2, 3 and so on.
package struct StreamID: Hashable, Sendable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    /// The stream of events that concern no known person.
    package static let house = StreamID(rawValue: 0)
    /// The reports of the person's devices.
    package static func track(_ person: PersonID) -> StreamID { .init(rawValue: 2 * person.rawValue) }
    /// Queries, grants, pushes and disclosures about the person.
    package static func audit(_ person: PersonID) -> StreamID { .init(rawValue: 2 * person.rawValue + 1) }
    /// The person whose stream it is; `nil` for the house's.
    package var person: PersonID? { rawValue < 4 ? nil : .init(rawValue: rawValue / 2) }
    /// Whether it is the audit of a person.
    package var isAudit: Bool { rawValue >= 5 && rawValue % 2 == 1 }
    /// Whether it is the stream of a person's reports.
    package var isTrack: Bool { rawValue >= 4 && rawValue % 2 == 0 }
}
