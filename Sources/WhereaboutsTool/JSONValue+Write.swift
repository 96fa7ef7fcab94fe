import JSON
import Whereabouts

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
