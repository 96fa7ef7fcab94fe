import JSON
import Replies
import Whereabouts

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

    /// The object as a reply of the service.
    ///
    /// - Throws: ``ToolError/data(_:)`` with the member that is missing or has another form.
    func read<Object: MemberValue>(_: Object.Type = Object.self) throws(ToolError) -> Object {
        do throws(ReplyError) {
            guard let object = try Object.read(self) else { throw ReplyError.notAnObject }
            return object
        } catch { throw .data("The service's answer \(error).") }
    }

    /// A time member in Unix seconds.
    func time(_ key: String) -> Timestamp? {
        self[key]?.double.flatMap { Timestamp(seconds: $0) }
    }

    /// A member with the name of a thing: the operator's number or a person's reference.
    func name(_ key: String) -> String? { self[key].flatMap { Reference.read($0)?.text } }

    /// A text member; empty if absent.
    func text(_ key: String) -> String { self[key]?.string ?? "" }
}

extension Timestamp {
    init(_ moment: Moment) { self.init(milliseconds: moment.milliseconds) }
}
