/// The values that a field can have, for `events.cddl` and for random events.
package struct FieldForm: Sendable {
    /// How random values are made.
    package enum Domain: Sendable {
        case integers(ClosedRange<Int64>)
        /// One of these, or of a range.
        case codes([Int64], ClosedRange<Int64>?)
        case bool
        case text
        /// One of these texts.
        case texts([String])
        /// At most so many bytes.
        case bytes(Int)
        /// So many bytes.
        case exactly(Int)
        case identifier
        case hash
        case moment
        /// A number with its shortest encoding.
        case real
        /// Degrees up to this bound.
        case degrees(Double)
        /// Only for a field of a shape; the tests make random values of whole shapes.
        case ofShape
    }

    /// The type in `events.cddl`: a name of this list, a range or a prelude type.
    package let type: String
    /// The definition of the type, if the type has a name.
    package let definition: String?
    /// The meaning of the definition.
    package let note: String?
    /// How random values are made.
    package let domain: Domain

    init(_ type: String, as definition: String? = nil, note: String? = nil, _ domain: Domain) {
        (self.type, self.definition, self.note, self.domain) = (type, definition, note, domain)
    }

    /// A type for each case of an enumeration.
    static func words<Value: WordValue>(_ type: String, _: Value.Type) -> FieldForm {
        let cases = Value.allCases.sorted { $0.rawValue < $1.rawValue }
        let codes = cases.map(\.rawValue)
        let isRange = codes.count > 1 && codes.last.map { $0 - codes[0] } == Int64(codes.count - 1)
        let definition =
            isRange ? "\(codes[0])..\(codes[codes.count - 1])" : codes.map { "\($0)" }.joined(separator: " / ")
        return FieldForm(
            type, as: definition,
            note: cases.map { "\($0.rawValue) \($0.word)" }.joined(separator: ", "), .codes(codes, nil))
    }

    private static let countable: ClosedRange<Int64> = 0...(1 << 52)

    static let principal = FieldForm(
        "principal", as: "uint", note: "0 the house, 1 the operator, from 2 on people and devices in the order added",
        .integers(2...5000))
    static let ordinal = FieldForm("ordinal", as: "1..9223372036854775807", .integers(1...(1 << 52)))
    static let eventNumber = FieldForm("event-number", as: "ordinal", note: "of an event", .integers(1...(1 << 52)))
    static let count = FieldForm("uint", .integers(countable))
    static let integer = FieldForm("int", .integers(-1000...90_000))
    static let moment = FieldForm(
        "moment", as: "int", note: "milliseconds since 1970-01-01T00:00:00Z", .moment)
    static let identifier = FieldForm("identifier", as: "bstr .size 16", .identifier)
    static let hash = FieldForm("hash", as: "bstr .size 32", note: "SHA-256", .hash)
    static let publicKey = FieldForm("public-key", as: "bstr .size 32", .exactly(32))
    static let signature = FieldForm("signature", as: "bstr .size 64", note: "Ed25519", .exactly(64))
    static let text = FieldForm("tstr", .text)
    static let bytes = FieldForm("bstr", .bytes(300))
    static let bool = FieldForm("bool", .bool)
    static let real = FieldForm(
        "real", as: "int / float", note: "an integer below 2^31 in size is stored as such", .real)
    static let decimal = FieldForm(
        "decimal", as: "int / float / [int]",
        note: "as real; an array counts hundredths and is used where it is shorter and gives the very same double",
        .real)
    static let latitude = FieldForm(
        "degrees", as: "int / float",
        note: "an integer counts 10^-7 degrees and is used whenever it gives the very same double", .degrees(90))
    static let longitude = FieldForm(
        "degrees", as: "int / float",
        note: "an integer counts 10^-7 degrees and is used whenever it gives the very same double", .degrees(180))
    static let verdict = FieldForm(
        "verdict", as: "int",
        note: "the grant's number; 0 own data; -1 the operator on record; refused: "
            + RefusalCode.allCases.map { "\(-1 - $0.rawValue) \($0.word)" }.joined(separator: ", "),
        .codes([0, -1] + RefusalCode.allCases.map { -1 - $0.rawValue }, 1...(1 << 52)))

    /// One of these numbers.
    static func range(_ range: ClosedRange<Int64>) -> FieldForm {
        FieldForm("\(range.lowerBound)..\(range.upperBound)", .integers(range))
    }

    /// Exactly this, as a field of a shape.
    static func shape(_ type: String) -> FieldForm { FieldForm(type, .ofShape) }
}
