package import JSON

/// Takes the members of one JSON object of an answer, each with its name and its place in memory: a writer looks at the
/// value, a reader sets it. Members come in the order in which they are written. A form is made only for a visitor that
/// looks at it: writing and reading do not.
package protocol MemberVisitor {
    /// What can go wrong; `Never` for visitors that read nothing.
    associatedtype Failure: Error

    /// A member that every such object has.
    mutating func required<Value: MemberValue>(
        _ name: StaticString, _ form: @autoclosure () -> MemberForm, _ value: inout Value
    ) throws(Failure)

    /// A member that can be absent.
    mutating func optional<Value: MemberValue>(
        _ name: StaticString, _ form: @autoclosure () -> MemberForm, _ value: inout Value?
    ) throws(Failure)

    /// A member that every such object has, and that is null without a value.
    mutating func nullable<Value: MemberValue>(
        _ name: StaticString, _ form: @autoclosure () -> MemberForm, _ value: inout Value?
    ) throws(Failure)

    /// A member of every answer of a service, which an object that the tool makes without a service can lack.
    mutating func expected<Value: MemberValue>(
        _ name: StaticString, _ form: @autoclosure () -> MemberForm, _ value: inout Value?
    ) throws(Failure)

    /// The members of a place: `latitude` and `longitude`, or `x` and `y` in a requested reference system.
    mutating func point(_ value: inout MapPoint) throws(Failure)

    /// As ``point(_:)``, for objects that can lack a place.
    mutating func optionalPoint(_ value: inout MapPoint?) throws(Failure)
}

extension MemberVisitor {
    package mutating func expected<Value: MemberValue>(
        _ name: StaticString, _ form: @autoclosure () -> MemberForm, _ value: inout Value?
    ) throws(Failure) {
        try optional(name, form(), &value)
    }
}

// Members whose form is that of their type.
extension MemberVisitor {
    package mutating func required<Value: MemberValue>(_ name: StaticString, _ value: inout Value) throws(Failure) {
        try required(name, Value.form, &value)
    }

    package mutating func optional<Value: MemberValue>(_ name: StaticString, _ value: inout Value?) throws(Failure) {
        try optional(name, Value.form, &value)
    }

    package mutating func nullable<Value: MemberValue>(_ name: StaticString, _ value: inout Value?) throws(Failure) {
        try nullable(name, Value.form, &value)
    }

    package mutating func expected<Value: MemberValue>(_ name: StaticString, _ value: inout Value?) throws(Failure) {
        try expected(name, Value.form, &value)
    }
}

/// The value of a member, or an item of a list.
package protocol MemberValue: Sendable {
    /// The values that there can be.
    static var form: MemberForm { get }
    /// Writes the value. It is consumed, which saves a copy of each item of a list.
    consuming func write(into writer: inout MemberWriter)
    /// Writes the value as a property of a GeoJSON feature. Without an own implementation: as any other member.
    func writeProperty(_ name: StaticString, into writer: inout MemberWriter)
    /// Reads a value; `nil` if the JSON has another form.
    ///
    /// - Throws: ``ReplyError`` for a member of an object.
    static func read(_ json: JSONValue) throws(ReplyError) -> Self?
}

extension MemberValue {
    package func writeProperty(_ name: StaticString, into writer: inout MemberWriter) {
        writer.json.key(name)
        write(into: &writer)
    }
}

/// A JSON object of an answer, whose members are declared once: ``visit(_:)`` writes it, reads it and describes it.
///
///     package struct RegionStay: Reply {
///         package var region: String
///         package var arrival: Moment
///
///         package static var invented: Self { Self(region: .invented, arrival: .invented) }
///
///         package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
///             try members.required("region", &region)
///             try members.required("arrival", &arrival)
///         }
///     }
///
/// Readers ignore members that they do not know, because later versions may add some.
package protocol Reply: MemberValue {
    /// The name of the schema in the API description; `nil` if the operation names it.
    static var schema: String? { get }
    /// Any object, whose members a reader replaces.
    static var invented: Self { get }
    /// Visits the members.
    mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure)
    /// Writes the members into an open object.
    consuming func writeMembers(into writer: inout MemberWriter)
    /// The geometry of the item on a map; `nil` for an item without a place.
    var shape: MapShape? { get }
    /// The id of the item's GeoJSON feature: its member `id`.
    var featureID: String? { get }
}

extension Reply {
    package static var schema: String? { nil }
    package var shape: MapShape? { nil }
    package var featureID: String? { nil }
    package static var form: MemberForm { schema.map(MemberForm.named) ?? .object(MemberLister.members(of: Self.self)) }

    package consuming func writeMembers(into writer: inout MemberWriter) {
        // A writer changes nothing.
        visit(&writer)
    }

    package consuming func write(into writer: inout MemberWriter) {
        writer.json.beginObject()
        writeMembers(into: &writer)
        writer.json.endObject()
    }

    package static func read(_ json: JSONValue) throws(ReplyError) -> Self? {
        guard json.kind == .object else { return nil }
        var reader = MemberReader(json)
        var value = invented
        try value.visit(&reader)
        return value
    }
}

/// An answer from a service that lacks a member, or has a member of another form.
package enum ReplyError: Error, Hashable, CustomStringConvertible {
    /// There is no member of this name.
    case missing(String)
    /// The member of this name has another form than this version knows.
    case unexpected(String)
    /// The answer is no JSON object.
    case notAnObject

    /// The fault as the end of a sentence about an answer, for example `has no member "arrival"`.
    package var description: String {
        switch self {
        case .missing(let name): "has no member \"\(name)\""
        case .unexpected(let name): "has a member \"\(name)\" of a form that this version does not know"
        case .notAnObject: "is not an object"
        }
    }
}
