import JSON

/// A JSON value that is written down in the source; objects keep the order they were written in.
indirect enum JSONTree: Sendable {
    case bool(Bool)
    case int(Int64)
    case number(Double)
    case text(String)
    case list([JSONTree])
    case object([(key: String, value: JSONTree)])

    func write(into writer: inout JSONWriter) {
        switch self {
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

    /// The object with more members; anything else unchanged.
    func with(_ more: KeyValuePairs<String, JSONTree>) -> JSONTree {
        guard case .object(let members) = self else { return self }
        return .object(members + more.map { ($0.key, $0.value) })
    }
}

extension JSONTree: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    init(stringLiteral value: String) { self = .text(value) }
    init(integerLiteral value: Int64) { self = .int(value) }
    init(floatLiteral value: Double) { self = .number(value) }
    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(arrayLiteral elements: JSONTree...) { self = .list(elements) }
    init(dictionaryLiteral elements: (String, JSONTree)...) { self = .object(elements.map { ($0.0, $0.1) }) }
}
