import JSON
import Whereabouts

extension JSONWriter {
    /// Writes a value as it was read, members in their order.
    mutating func value(_ value: JSONValue) {
        switch value.kind {
        case .null: null()
        case .bool: self.value(value.bool == true)
        case .integer:
            // Beyond the range of `Int64` a number was rounded when it was read.
            if let integer = value.int { self.value(integer) } else { self.value(value.double ?? 0) }
        case .double: self.value(value.double ?? 0)
        case .string: self.value(value.string ?? "")
        case .array:
            beginArray()
            for element in value.array.map(Array.init) ?? [] { self.value(element) }
            endArray()
        case .object:
            beginObject()
            if let members = value.members {
                for (key, member) in members {
                    self.key(key)
                    self.value(member)
                }
            }
            endObject()
        }
    }
}

extension JSONValue {
    /// The value as one line of JSON, ended.
    var jsonLine: [UInt8] {
        var writer = JSONWriter()
        writer.value(self)
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    /// A member that is a time in Unix seconds.
    func time(_ key: String) -> Timestamp? {
        self[key]?.double.flatMap { Timestamp(seconds: $0) }
    }

    /// A member that is a text, or nothing.
    func text(_ key: String) -> String { self[key]?.string ?? "" }
}
