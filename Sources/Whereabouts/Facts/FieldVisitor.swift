/// Takes the fields of one map: of the clear part or of a sealed part. Each method names a field and returns its value,
/// which is the given one, the stored one or an invented one. Fields come in ascending order of their keys. A label is made
/// only for a visitor that looks at it: writing and reading do not.
package protocol FieldVisitor {
    /// What can go wrong; `Never` for visitors that get their values.
    associatedtype Failure: Error

    /// A field that every event of the kind has.
    mutating func required<Value: FieldValue>(
        _ key: Int64, _ label: @autoclosure () -> Label, _ given: Value?
    ) throws(Failure) -> Value

    /// A field that can be absent. The label explains its absence.
    mutating func optional<Value: FieldValue>(
        _ key: Int64, _ label: @autoclosure () -> Label, _ given: Value?
    ) throws(Failure) -> Value?

    /// A field that is `true` or absent.
    mutating func mark(
        _ key: Int64, _ label: @autoclosure () -> Label, _ given: Bool?
    ) throws(Failure) -> Bool

    /// A field on whose value the following fields depend.
    mutating func choice<Value: IntegerValue & CaseIterable>(
        _ key: Int64, _ label: @autoclosure () -> Label, _ given: Value?
    ) throws(Failure) -> Value

    /// Chooses among several fields of which exactly one is present, and returns its index. The caller visits that field
    /// next.
    ///
    /// - Parameter keys: The keys, in ascending order.
    mutating func either(_ keys: [Int64], _ given: Int?) throws(Failure) -> Int

    /// Fields that are written and read by hand.
    mutating func shape<Shape: FieldShape>(_ given: Shape?) throws(Failure) -> Shape

    /// Fields that are written and read by hand, all of them or none.
    mutating func optionalShape<Shape: FieldShape>(_ given: Shape?) throws(Failure) -> Shape?

    /// A value made of several fields; `nil` if they do not fit together, which is a failure.
    func whole<Value>(_ value: Value?) throws(Failure) -> Value
}

extension FieldVisitor {
    package mutating func choice<Value: IntegerValue & CaseIterable>(
        _ key: Int64, _ label: @autoclosure () -> Label, _ given: Value?
    ) throws(Failure) -> Value { try required(key, label(), given) }
}

// A visitor that cannot fail gets its values.
extension FieldVisitor where Failure == Never {
    package mutating func either(_: [Int64], _ given: Int?) -> Int { given.given }
    package func whole<Value>(_ value: Value?) -> Value { value.given }
}

/// The name of a field, for example `"until"`: the member of the operator's JSON and the comment in `events.cddl`.
package struct Label: ExpressibleByStringLiteral, Sendable {
    /// The name of the member.
    package let name: String
    /// The form of the value, if it is narrower than that of its type.
    package let form: FieldForm?
    /// More about it, for `events.cddl`.
    package let note: String?
    /// The meaning of its absence.
    package let absent: String?
    /// Whether the operator sees it.
    package let isShown: Bool

    package init(
        _ name: String, _ form: FieldForm? = nil, note: String? = nil, absent: String? = nil, isShown: Bool = true
    ) {
        (self.name, self.form, self.note, self.absent) = (name, form, note, absent)
        self.isShown = isShown
    }

    package init(stringLiteral name: String) { self.init(name) }

    /// The label of a field that the operator does not see: a secret, or a hash that says nothing.
    static func hidden(_ name: String, _ form: FieldForm? = nil, note: String? = nil, absent: String? = nil) -> Label {
        Label(name, form, note: note, absent: absent, isShown: false)
    }
}

/// The content of a sealed part.
package protocol SealedContent: Hashable, Sendable {
    /// The name of the rule in `events.cddl`.
    static var rule: String { get }

    /// Visits the fields and makes a value of those that the visitor returns.
    static func visit<V: FieldVisitor>(_ given: Self?, _ fields: inout V) throws(V.Failure) -> Self

    /// The members that the operator sees. Without an own implementation: the shown fields in the order of their keys.
    func show(in shown: inout ShownFields)
}

extension SealedContent {
    package func show(in shown: inout ShownFields) { _ = Self.visit(self, &shown) }
}

/// A value that is stored as one item.
package protocol FieldValue: Hashable, Sendable {
    /// The values that there can be.
    static var form: FieldForm { get }
    /// Writes the value as the field of this key.
    func write(_ key: Int64, to fields: inout FieldWriter)
    /// The value of the field of this key; `nil` if there is none.
    static func read(_ key: Int64, from fields: inout FieldReader) throws(CBORError) -> Self?
    /// Adds the value to the members that the operator sees.
    func show(as name: String, in shown: inout ShownFields)
}

/// A value that is stored as an integer, for example an identifier or a case.
package protocol IntegerValue: FieldValue {
    /// `nil` if no value has this number.
    init?(rawValue: Int64)
    /// The number that is stored.
    var rawValue: Int64 { get }
}

extension IntegerValue {
    package func write(_ key: Int64, to fields: inout FieldWriter) { fields.integer(key, rawValue) }

    package static func read(_ key: Int64, from fields: inout FieldReader) throws(CBORError) -> Self? {
        guard let number = try fields.integer(key) else { return nil }
        guard let value = Self(rawValue: number) else { throw .unexpected }
        return value
    }

    package func show(as name: String, in shown: inout ShownFields) { shown.add(name, .integer(rawValue)) }
}

/// A case with a number that is stored and a word that is shown.
package protocol WordValue: IntegerValue, CaseIterable {
    /// The word in answers.
    var word: String { get }
}

extension WordValue {
    package func show(as name: String, in shown: inout ShownFields) { shown.add(name, .text(word)) }
}

/// Several fields that are written and read by hand, because they are on the hot path or have a structure that a list of
/// fields cannot describe.
package protocol FieldShape: Hashable, Sendable {
    /// The fields for `events.cddl`: one list, or several of which one applies.
    static var forms: [[ShapeField]] { get }
    /// Writes the fields.
    func write(to fields: inout FieldWriter)
    /// Reads the fields; `nil` if the first is absent.
    static func read(from fields: inout FieldReader) throws(CBORError) -> Self?
    /// Adds the members that the operator sees.
    func show(in shown: inout ShownFields)
}

/// A field of a shape, for `events.cddl`.
package struct ShapeField: Sendable {
    /// The key of the field.
    package let key: Int64
    /// The form of its value.
    package let form: FieldForm
    /// The meaning of the field and of its absence.
    package let note: String
    /// Whether it can be absent.
    package let isOptional: Bool

    init(_ key: Int64, _ form: FieldForm, _ note: String, isOptional: Bool = false) {
        (self.key, self.form, self.note, self.isOptional) = (key, form, note, isOptional)
    }

    /// A field that can be absent.
    static func optional(_ key: Int64, _ form: FieldForm, _ note: String) -> ShapeField {
        ShapeField(key, form, note, isOptional: true)
    }
}
