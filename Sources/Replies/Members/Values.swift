package import JSON

// The values of members that are not objects.

extension String: MemberValue {
    package static var form: MemberForm { .text }
    package static var invented: String { "" }
    package func write(into writer: inout MemberWriter) { writer.json.value(self) }
    package static func read(_ json: JSONValue) -> String? { json.string }
}

extension Double: MemberValue {
    package static var form: MemberForm { .number }
    package static var invented: Double { 0 }
    package func write(into writer: inout MemberWriter) { writer.json.value(self) }
    package static func read(_ json: JSONValue) -> Double? { json.double }
}

extension Int64: MemberValue {
    package static var form: MemberForm { .count }
    package static var invented: Int64 { 0 }
    package func write(into writer: inout MemberWriter) { writer.json.value(self) }
    package static func read(_ json: JSONValue) -> Int64? { json.int }
}

extension Bool: MemberValue {
    package static var form: MemberForm { .boolean }
    package static var invented: Bool { false }
    package func write(into writer: inout MemberWriter) { writer.json.value(self) }
    package static func read(_ json: JSONValue) -> Bool? { json.bool }
}

extension Array: MemberValue where Element: MemberValue {
    package static var form: MemberForm { .list(Element.form) }
    package static var invented: [Element] { [] }

    package func write(into writer: inout MemberWriter) {
        writer.json.beginArray()
        for element in self { element.write(into: &writer) }
        writer.json.endArray()
    }

    package static func read(_ json: JSONValue) throws(ReplyError) -> [Element]? {
        guard let values = json.array else { return nil }
        var elements: [Element] = []
        for value in values {
            guard let element = try Element.read(value) else { return nil }
            elements.append(element)
        }
        return elements
    }
}

/// A time: in JSON, Unix seconds with at most three decimals.
package struct Moment: MemberValue, Hashable, Comparable {
    /// Since 1970-01-01 UTC.
    package let milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Rounds to milliseconds; `nil` for a number that is not finite or too large.
    ///
    /// - Parameter seconds: Since 1970-01-01 UTC.
    package init?(seconds: Double) {
        guard let milliseconds = Int64(exactly: (seconds * 1000).rounded()) else { return nil }
        self.init(milliseconds: milliseconds)
    }

    /// Seconds since 1970-01-01 UTC.
    package var seconds: Double { Double(milliseconds) / 1000 }

    package static func < (one: Moment, other: Moment) -> Bool { one.milliseconds < other.milliseconds }

    package static var form: MemberForm { .time }
    package static var invented: Moment { Moment(milliseconds: 0) }
    package func write(into writer: inout MemberWriter) { writer.json.unixSeconds(milliseconds: milliseconds) }
    package static func read(_ json: JSONValue) -> Moment? { json.double.flatMap { Moment(seconds: $0) } }
}

/// An event, a thing or a place in the log as the caller sees it.
package enum Reference: MemberValue, Hashable {
    /// The number itself, for the operator.
    case number(Int64)
    /// An opaque reference, for everyone else.
    case text(String)

    /// The text in a URL or a header.
    package var text: String {
        switch self {
        case .number(let number): "\(number)"
        case .text(let text): text
        }
    }

    /// The number, if it is one; `nil` for an opaque reference.
    package var number: Int64? {
        switch self {
        case .number(let number): number
        case .text(let text): Int64(text)
        }
    }

    package static var form: MemberForm { .reference }
    package static var invented: Reference { .number(0) }

    package func write(into writer: inout MemberWriter) {
        switch self {
        case .number(let number): writer.json.value(number)
        case .text(let text): writer.json.value(text)
        }
    }

    package static func read(_ json: JSONValue) -> Reference? {
        json.string.map(Reference.text) ?? json.int.map(Reference.number)
    }
}

/// A JSON object of someone else, as it was received.
package struct ForeignJSON: MemberValue, Hashable {
    /// One valid JSON text.
    package let text: String

    package init(_ text: String) { self.text = text }

    package static var form: MemberForm { .anyObject }
    package static var invented: ForeignJSON { ForeignJSON("{}") }
    package func write(into writer: inout MemberWriter) { writer.copy(text) }

    package static func read(_ json: JSONValue) -> ForeignJSON? {
        var writer = JSONWriter()
        writer.value(json)
        return ForeignJSON(String(decoding: writer.bytes, as: UTF8.self))
    }
}

/// The fields of an HTTP header, in their order: an object whose members are texts.
package struct HeaderFields: MemberValue, Hashable {
    /// A field's name and value.
    package struct Field: Hashable, Sendable {
        package let name: String
        package let value: String

        package init(name: String, value: String) { (self.name, self.value) = (name, value) }
    }

    package let all: [Field]

    package init(_ all: [Field]) { self.all = all }

    package static var form: MemberForm { .texts }
    package static var invented: HeaderFields { HeaderFields([]) }

    package func write(into writer: inout MemberWriter) {
        writer.json.beginObject()
        for field in all { writer.json.field(field.name, field.value) }
        writer.json.endObject()
    }

    package static func read(_ json: JSONValue) -> HeaderFields? {
        guard let members = json.members else { return nil }
        var fields: [Field] = []
        for (name, value) in members {
            guard let text = value.string else { return nil }
            fields.append(Field(name: name, value: text))
        }
        return HeaderFields(fields)
    }
}

/// A person or device by its handle, or null if it is erased.
package enum PersonName: MemberValue, Hashable {
    case handle(String)
    case erased

    /// - Parameter handle: `nil` for an erased one.
    package init(_ handle: String?) { self = handle.map(Self.handle) ?? .erased }

    /// `nil` for an erased one.
    package var handle: String? { if case .handle(let handle) = self { handle } else { nil } }

    package static var form: MemberForm { .orNull(.text) }
    package static var invented: PersonName { .erased }

    package func write(into writer: inout MemberWriter) {
        if let handle { writer.json.value(handle) } else { writer.json.null() }
    }

    package static func read(_ json: JSONValue) -> PersonName? {
        json.isNull ? .erased : json.string.map(PersonName.handle)
    }
}

/// An item that is passed on as it was read.
extension JSONValue: MemberValue {
    package static var form: MemberForm { .anyObject }
    package func write(into writer: inout MemberWriter) { writer.json.value(self) }
    package static func read(_ json: JSONValue) -> JSONValue? { json }
}
