import JSON
import Whereabouts
import WhereaboutsClient

extension JSONValue {
    /// The value as one line of JSON, with a line feed.
    var jsonLine: [UInt8] {
        var writer = JSONWriter()
        writer.value(self)
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    /// The object with another value for an existing member; otherwise unchanged.
    func replacing(_ key: String, by value: JSONValue?) -> JSONValue {
        guard let value, let members else { return self }
        var writer = JSONWriter()
        writer.beginObject()
        for (name, member) in members {
            writer.key(name)
            writer.value(name == key ? value : member)
        }
        writer.endObject()
        return (try? JSONDocument.parse(writer.bytes).root) ?? self
    }

    /// A time member in Unix seconds.
    func time(_ key: String) -> Timestamp? {
        self[key]?.double.flatMap { Timestamp(seconds: $0) }
    }

    /// A member with the name of a thing: the operator's number or a person's reference.
    func name(_ key: String) -> String? { self[key].flatMap { ServiceClient.name($0) } }

    /// A text member; empty if absent.
    func text(_ key: String) -> String { self[key]?.string ?? "" }
}
