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

    /// The object as a reply of the service.
    ///
    /// - Throws: ``ToolError/data(_:)`` with the member that is missing or has another form.
    func read<Object: MemberValue>(_: Object.Type = Object.self) throws(ToolError) -> Object {
        do throws(ReplyError) {
            guard let object = try Object.read(self) else { throw ReplyError.notAnObject }
            return object
        } catch { throw .data("The service's answer \(error).") }
    }

    /// A text member; empty if absent.
    func text(_ key: String) -> String { self[key]?.string ?? "" }
}

extension Timestamp {
    init(_ moment: Moment) { self.init(milliseconds: moment.milliseconds) }
}
