import JSON
import Whereabouts
import WhereaboutsClient

extension JSONValue {
    /// The value as one line of JSON, ended.
    var jsonLine: [UInt8] {
        var writer = JSONWriter()
        writer.value(self)
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    /// This object with another value for a member; as it is when there is none.
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

    /// A member that is a time in Unix seconds.
    func time(_ key: String) -> Timestamp? {
        self[key]?.double.flatMap { Timestamp(seconds: $0) }
    }

    /// A member that names something: the operator's number or a person's reference.
    func name(_ key: String) -> String? { self[key].flatMap { ServiceClient.name($0) } }

    /// A member that is a text, or nothing.
    func text(_ key: String) -> String { self[key]?.string ?? "" }
}
