/// Writes facts in their stored form before sealing: the clear map, and the plaintext of each part. Events follow one another
/// in buffers that are reused, so none of them allocates an array.
package struct FactWriter: FactVisitor {
    package typealias Failure = Never

    /// The events written since the last reset.
    package private(set) var written: [EventCoding.Encoded] = []
    /// The maps that are stored unsealed.
    package var clear = FieldWriter()
    /// The maps to seal.
    private var sealed = FieldWriter()
    /// The parts of all events, in the order of their bodies.
    private var parts: [PlainPart] = []
    private var stream = StreamID.house
    /// The time at which the event is recorded.
    private(set) var recordedAt: Timestamp?

    /// A writer without events.
    package init() { reset() }

    /// Forgets the events written so far and keeps the buffers.
    package mutating func reset() {
        written.removeAll(keepingCapacity: true)
        parts.removeAll(keepingCapacity: true)
        clear.reset()
        sealed.reset()
    }

    /// Writes an event of `stream` behind the others. Cost: about 0.2 µs for a fix.
    ///
    /// - Parameter recordedAt: The time at which it is recorded; `nil` for a form that does not depend on it.
    /// - Precondition: The contents of its parts are known.
    @discardableResult
    package mutating func write(
        _ event: Event, in stream: StreamID, at recordedAt: Timestamp?
    ) -> EventCoding.Encoded {
        let kind = event.kind
        (self.stream, self.recordedAt) = (stream, recordedAt)
        let firstPart = parts.count
        clear.begin()
        // Nine of ten events are fixes: called by name, it needs no look-up.
        if kind == .fixReported { FixReported.write(event, to: &self) } else { kind.fact?.write(event, to: &self) }
        let encoded = EventCoding.Encoded(kind: kind, clear: clear.end(), parts: firstPart..<parts.count)
        written.append(encoded)
        return encoded
    }

    /// Lends the clear map of an event written since the last reset.
    package func withClear<R>(of encoded: EventCoding.Encoded, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        clear.withBytes(in: encoded.clear, body)
    }

    /// The parts of an event written since the last reset.
    package func parts(of encoded: EventCoding.Encoded) -> ArraySlice<PlainPart> { parts[encoded.parts] }

    /// Lends the plaintext of a part written since the last reset.
    package func withPlaintext<R>(of part: PlainPart, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        sealed.withBytes(in: part.plaintext, body)
    }

    package mutating func subject(_ given: PersonID?) -> PersonID { given.given }

    package mutating func knownSubject(
        _: @autoclosure () -> Label?, _ given: PersonID?
    ) -> PersonID? { given }

    package mutating func part<Content: SealedContent>(
        _ keyClass: KeyClass, of person: PersonID?, _ given: Part<Content>?
    ) -> Part<Content> {
        // An event is written once, with known content. One read back as erased is never written again.
        guard case .open(let content)? = given else { preconditionFailure("An erased part cannot be written.") }
        add(keyClass, of: person) { _ = Content.visit(content, &$0) }
        return given.given
    }

    package mutating func optionalPart<Content: SealedContent>(
        _ keyClass: KeyClass, of person: PersonID?, _ given: Part<Content>?
    ) -> Part<Content>? { given.map { part(keyClass, of: person, $0) } }

    /// Adds a part.
    ///
    /// - Parameter write: Writes its fields.
    mutating func add(_ keyClass: KeyClass, of person: PersonID?, _ write: (inout FieldWriter) -> Void) {
        guard let person = person ?? stream.person else { preconditionFailure("A sealed part belongs to a person.") }
        sealed.begin()
        write(&sealed)
        parts.append(PlainPart(person: person, keyClass: keyClass, plaintext: sealed.end()))
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
