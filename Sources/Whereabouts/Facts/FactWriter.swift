/// Writes a fact: the clear map, and the plaintext of each part.
package struct FactWriter: FactVisitor {
    package typealias Failure = Never

    /// The map that is stored unsealed.
    package var clear = FieldWriter(capacity: 48)
    /// The parts to seal, in the order of the body.
    private(set) var parts: [PlainPart] = []
    private let stream: StreamID

    init(in stream: StreamID) { self.stream = stream }

    package mutating func subject(_ given: PersonID?) -> PersonID { given.given }

    package mutating func knownSubject(
        _: @autoclosure () -> Label?, _ given: PersonID?
    ) -> PersonID? { given }

    package mutating func part<Content: SealedContent>(
        _ keyClass: KeyClass, of person: PersonID?, _ given: Part<Content>?
    ) -> Part<Content> {
        // An event is written once, with known content. One read back as erased is never written again.
        guard case .open(let content)? = given else { preconditionFailure("An erased part cannot be written.") }
        var fields = FieldWriter(capacity: 112)
        _ = Content.visit(content, &fields)
        add(fields, keyClass, of: person)
        return given.given
    }

    package mutating func optionalPart<Content: SealedContent>(
        _ keyClass: KeyClass, of person: PersonID?, _ given: Part<Content>?
    ) -> Part<Content>? { given.map { part(keyClass, of: person, $0) } }

    /// Adds a part whose fields are written.
    mutating func add(_ fields: consuming FieldWriter, _ keyClass: KeyClass, of person: PersonID?) {
        guard let person = person ?? stream.person else { preconditionFailure("A sealed part belongs to a person.") }
        parts.append(PlainPart(person: person, keyClass: keyClass, plaintext: fields.finish()))
    }

    /// The kind, the clear map and the parts.
    consuming func finish(_ kind: EventKind) -> EventCoding.Encoded {
        EventCoding.Encoded(kind: kind, clear: clear.finish(), parts: parts)
    }
}

extension FieldWriter: FieldVisitor {
    package typealias Failure = Never

    package mutating func required<Value: FieldValue>(
        _ key: Int64, _: @autoclosure () -> Label, _ given: Value?
    ) -> Value {
        let value = given.given
        value.write(key, to: &self)
        return value
    }

    package mutating func optional<Value: FieldValue>(
        _ key: Int64, _: @autoclosure () -> Label, _ given: Value?
    ) -> Value? {
        given?.write(key, to: &self)
        return given
    }

    package mutating func mark(_ key: Int64, _: @autoclosure () -> Label, _ given: Bool?) -> Bool {
        let value = given.given
        bool(key, value ? true : nil)
        return value
    }

    package mutating func shape<Shape: FieldShape>(_ given: Shape?) -> Shape {
        let shape = given.given
        shape.write(to: &self)
        return shape
    }

    package mutating func optionalShape<Shape: FieldShape>(_ given: Shape?) -> Shape? {
        given?.write(to: &self)
        return given
    }
}

extension Optional {
    /// The value, for a visitor that gets its values and makes none.
    var given: Wrapped {
        guard let self else { preconditionFailure("A field without a value.") }
        return self
    }
}
