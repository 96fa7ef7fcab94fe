/// The members of an event that the operator sees, in order. The module above writes them as JSON.
///
/// A part that cannot be read is `"sealed": "erased"` or `"sealed": "keyLost"` in the place of its members.
package struct ShownFields: FactVisitor, FieldVisitor {
    package typealias Failure = Never

    /// One member, or the members of a value with its own JSON form.
    package struct Field: Sendable {
        /// The name; of no use for values that write their members themselves.
        package let name: String
        /// The value, in the form that the JSON of the operator needs.
        package let value: Value
    }

    /// The value of a member.
    package enum Value: Sendable {
        case integer(Int64)
        case real(Double)
        case bool(Bool)
        case text(String)
        /// Written as Unix seconds.
        case time(Timestamp)
        case texts([String])
        /// Written as hexadecimal digits.
        case bytes([UInt8])
        /// JSON already.
        case json([UInt8])
        /// One object.
        case fix(Fix)
        /// Members beside the others.
        case region(Region)
        case correction(Correction)
        case authorization(AuthorizationReport)
        case sighting(Sighting)
    }

    /// The members in their order.
    package private(set) var all: [Field] = []
    /// Whether ``part(_:of:_:)`` shows a part; otherwise the fact shows it.
    var showsParts = true

    /// No members yet.
    static var none: ShownFields { ShownFields() }

    private init() {}

    /// The members of an event.
    package init(of event: Event) { event.kind.fact?.show(event, in: &self) }

    /// Adds a member.
    mutating func add(_ name: String, _ value: Value) { all.append(Field(name: name, value: value)) }

    /// Adds a member after the one named `other`, or at the end if there is none.
    mutating func add(_ name: String, _ value: Value, after other: String) {
        let place = all.firstIndex { $0.name == other }.map { $0 + 1 } ?? all.count
        all.insert(Field(name: name, value: value), at: place)
    }

    /// Moves a member before another one, if both are there.
    mutating func move(_ name: String, before other: String) {
        guard let from = all.firstIndex(where: { $0.name == name }) else { return }
        let field = all.remove(at: from)
        all.insert(field, at: all.firstIndex { $0.name == other } ?? from)
    }

    /// Adds the members of a part.
    mutating func show<Content: SealedContent>(_ part: Part<Content>) {
        switch part {
        case .open(let content): content.show(in: &self)
        case .erased: add("sealed", .text("erased"))
        case .keyLost: add("sealed", .text("keyLost"))
        }
    }

    // MARK: The parts of a fact

    package var clear: ShownFields {
        get { self }
        _modify { yield &self }
    }

    package mutating func subject(_ given: PersonID?) -> PersonID { given.given }

    package mutating func knownSubject(_ label: @autoclosure () -> Label?, _ given: PersonID?) -> PersonID? {
        if let label = label(), let given { add(label.name, .integer(given.rawValue)) }
        return given
    }

    package mutating func part<Content: SealedContent>(
        _: KeyClass, of _: PersonID?, _ given: Part<Content>?
    ) -> Part<Content> {
        let part = given.given
        if showsParts { show(part) }
        return part
    }

    package mutating func optionalPart<Content: SealedContent>(
        _: KeyClass, of _: PersonID?, _ given: Part<Content>?
    ) -> Part<Content>? {
        if let given, showsParts { show(given) }
        return given
    }

    // MARK: Fields

    package mutating func required<Value: FieldValue>(
        _: Int64, _ label: @autoclosure () -> Label, _ given: Value?
    ) -> Value {
        let value = given.given
        let label = label()
        if label.isShown { value.show(as: label.name, in: &self) }
        return value
    }

    package mutating func optional<Value: FieldValue>(
        _: Int64, _ label: @autoclosure () -> Label, _ given: Value?
    ) -> Value? {
        let label = label()
        if label.isShown { given?.show(as: label.name, in: &self) }
        return given
    }

    package mutating func mark(_: Int64, _ label: @autoclosure () -> Label, _ given: Bool?) -> Bool {
        let value = given.given
        let label = label()
        if label.isShown { add(label.name, .bool(value)) }
        return value
    }

    package mutating func shape<Shape: FieldShape>(_ given: Shape?) -> Shape {
        let shape = given.given
        shape.show(in: &self)
        return shape
    }

    package mutating func optionalShape<Shape: FieldShape>(_ given: Shape?) -> Shape? {
        given?.show(in: &self)
        return given
    }
}
