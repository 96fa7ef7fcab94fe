package import JSON

/// A JSON value written in the source as a literal, for example `["type": "string"]`. Objects keep the order of their
/// members.
package indirect enum JSONTree: Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case number(Double)
    case text(String)
    case list([JSONTree])
    case object([(key: String, value: JSONTree)])

    /// Writes the value. Members are written in their order, so equal trees give equal bytes.
    package func write(into writer: inout JSONWriter) {
        switch self {
        case .null: writer.null()
        case .bool(let bool): writer.value(bool)
        case .int(let int): writer.value(int)
        case .number(let number): writer.value(number)
        case .text(let text): writer.value(text)
        case .list(let items):
            writer.beginArray()
            for item in items { item.write(into: &writer) }
            writer.endArray()
        case .object(let members):
            writer.beginObject()
            for (key, value) in members {
                writer.key(key)
                value.write(into: &writer)
            }
            writer.endObject()
        }
    }

    /// A member of an object; `nil` for any other value.
    package subscript(key: String) -> JSONTree? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// The object with another value for an existing member; any other value is unchanged.
    package func replacing(_ key: String, _ value: JSONTree) -> JSONTree {
        guard case .object(let members) = self else { return self }
        return .object(members.map { $0.key == key ? ($0.key, value) : $0 })
    }

    /// The object with one member moved behind another; any other value is unchanged.
    package func moving(_ key: String, after other: String) -> JSONTree {
        guard case .object(var members) = self, let from = members.firstIndex(where: { $0.key == key }) else {
            return self
        }
        let member = members.remove(at: from)
        let place = members.firstIndex { $0.key == other } ?? members.endIndex - 1
        members.insert(member, at: place + 1)
        return .object(members)
    }

    /// The object with more members; any other value is unchanged.
    package func with(_ more: KeyValuePairs<String, JSONTree>) -> JSONTree {
        guard case .object(let members) = self else { return self }
        return .object(members + more.map { ($0.key, $0.value) })
    }
}

extension JSONTree: Equatable {
    /// Two objects are equal only if their members have the same order.
    package static func == (one: JSONTree, other: JSONTree) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.bool(let one), .bool(let other)): one == other
        case (.int(let one), .int(let other)): one == other
        case (.number(let one), .number(let other)): one == other
        case (.text(let one), .text(let other)): one == other
        case (.list(let one), .list(let other)): one == other
        case (.object(let one), .object(let other)):
            one.count == other.count && zip(one, other).allSatisfy { $0.key == $1.key && $0.value == $1.value }
        default: false
        }
    }
}

extension JSONTree: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .text(value) }
    package init(integerLiteral value: Int64) { self = .int(value) }
    package init(floatLiteral value: Double) { self = .number(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(arrayLiteral elements: JSONTree...) { self = .list(elements) }
    package init(dictionaryLiteral elements: (String, JSONTree)...) { self = .object(elements.map { ($0.0, $0.1) }) }
}
