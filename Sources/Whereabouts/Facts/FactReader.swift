/// Reads a fact: the clear map, and the parts one after the other.
package struct FactReader: FactVisitor {
    package typealias Failure = CBORError

    /// The map that is stored unsealed.
    package var clear: FieldReader
    private let stream: StreamID
    /// The time at which the event was recorded; `nil` for a form that does not depend on it.
    let recordedAt: Timestamp?
    private let parts: OpenedParts
    /// The number of parts that were read.
    private var partsRead = 0

    /// - Throws: ``CBORError`` if `clear` is not a map.
    init(
        in stream: StreamID, at recordedAt: Timestamp?, clear: UnsafeRawBufferPointer, parts: OpenedParts
    ) throws(CBORError) {
        // Folds use the clear part without a check of a key or a hash.
        self.clear = try FieldReader(clear, integers: FieldReader.computable)
        (self.stream, self.recordedAt, self.parts) = (stream, recordedAt, parts)
    }

    package mutating func subject(_: PersonID?) throws(CBORError) -> PersonID { try require(stream.person) }

    package mutating func knownSubject(_: @autoclosure () -> Label?, _: PersonID?) -> PersonID? { stream.person }

    package mutating func part<Content: SealedContent>(
        _: KeyClass, of _: PersonID?, _: Part<Content>?
    ) throws(CBORError) -> Part<Content> {
        switch try nextPart() {
        case .open(let bytes):
            var fields = try FieldReader(bytes)
            let content = try Content.visit(nil, &fields)
            try fields.end()
            return .open(content)
        case .erased: return .erased
        case .keyLost: return .keyLost
        }
    }

    package mutating func optionalPart<Content: SealedContent>(
        _ keyClass: KeyClass, of person: PersonID?, _: Part<Content>?
    ) throws(CBORError) -> Part<Content>? {
        partsRead < parts.count ? try part(keyClass, of: person, nil) : nil
    }

    /// The next part.
    mutating func nextPart() throws(CBORError) -> OpenedPart {
        guard partsRead < parts.count else { throw .unexpected }
        partsRead += 1
        return parts[partsRead - 1]
    }
}

extension FieldReader: FieldVisitor {
    package typealias Failure = CBORError

    package mutating func required<Value: FieldValue>(
        _ key: Int64, _: @autoclosure () -> Label, _: Value?
    ) throws(CBORError) -> Value { try require(try Value.read(key, from: &self)) }

    package mutating func optional<Value: FieldValue>(
        _ key: Int64, _: @autoclosure () -> Label, _: Value?
    ) throws(CBORError) -> Value? { try Value.read(key, from: &self) }

    package mutating func mark(
        _ key: Int64, _: @autoclosure () -> Label, _: Bool?
    ) throws(CBORError) -> Bool { try mark(key) }

    package mutating func either(_ keys: [Int64], _: Int?) throws(CBORError) -> Int {
        try require(keys.firstIndex(of: nextKey))
    }

    package mutating func shape<Shape: FieldShape>(_: Shape?) throws(CBORError) -> Shape {
        try require(try Shape.read(from: &self))
    }

    package mutating func optionalShape<Shape: FieldShape>(_: Shape?) throws(CBORError) -> Shape? {
        try Shape.read(from: &self)
    }

    package func whole<Value>(_ value: Value?) throws(CBORError) -> Value { try require(value) }
}
