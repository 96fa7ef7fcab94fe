extension JSONWriter {
    /// Writes a value as it was read, members in their order.
    package mutating func value(_ value: JSONValue) {
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
