import JSON
import Whereabouts

/// A member of an object.
typealias JSONMember = JSONMembers.Element

extension JSONDocument {
    /// The outermost value of a message, which keeps its text, so that members without a field can be kept as written.
    static func message(_ bytes: ArraySlice<UInt8>) throws(JSONError) -> JSONValue {
        try bytes.withUnsafeBytes { buffer in
            Result { () throws(JSONError) in try parse(buffer, keepsText: true).root }
        }.get()
    }
}

/// Reads optional members. Each method returns whether it understood the member; `null` counts as absent. Members that
/// are not understood go to the remainder.
extension JSONValue {
    /// The value as a parameter: the string itself, any other value as written.
    var parameter: String { string ?? withText { String(decoding: $0, as: UTF8.self) } }

    /// A date and time as text.
    var dateTime: Timestamp? { withUTF8 { ISO8601.parse(utf8: $0) } ?? nil }

    func read(into number: inout Double?) -> Bool {
        guard let value = double else { return isNull }
        number = value
        return true
    }

    /// A negative number means unknown.
    func readNonNegative(into number: inout Double?) -> Bool {
        guard let value = double else { return isNull }
        number = Sentinel.nonNegative(value)
        return true
    }

    /// A negative number means unknown; one beyond 360° is not understood.
    func readCourse(into degrees: inout Double?) -> Bool {
        guard let value = double, value <= 360 else { return isNull }
        degrees = Sentinel.course(value)
        return true
    }

    /// A level between 0 and `full`, as 0…1; a negative one means unknown.
    func readBattery(full: Double, into level: inout Double?) -> Bool {
        guard let value = double, value <= full else { return isNull }
        level = Sentinel.nonNegative(value / full)
        return true
    }

    func read(into number: inout Int64?) -> Bool {
        guard let value = int else { return isNull }
        number = value
        return true
    }

    func read(into flag: inout Bool?) -> Bool {
        guard let value = bool else { return isNull }
        flag = value
        return true
    }

    /// A client's name for a fix; one longer than ``FixJSON/clientIDBytes`` is not understood.
    func readClientID(into id: inout String?) -> Bool {
        guard let value = string, value.utf8.count <= FixJSON.clientIDBytes else { return isNull }
        id = value
        return true
    }
}
