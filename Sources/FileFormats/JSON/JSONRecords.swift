import JSON
import Whereabouts
import WireFormats

/// One element of a JSON file.
struct JSONElement {
    /// The array that it is in; empty for an element of the root.
    let array: String
    let value: JSONValue
    /// The number of the element, from 1.
    let place: Int
    /// The element as written.
    let text: ArraySlice<UInt8>
}

/// Turns the elements of one JSON format into records.
protocol JSONElements {
    /// The arrays of the root object whose elements are read. Elements of a root array are read too.
    static var arrays: [String] { get }
    /// Whether the root is the only element.
    static func isAlone(_ keys: JSONKeys) -> Bool
    init(_ choices: FileChoices, _ format: FileFormat)
    /// Reads one element.
    mutating func read(_ element: JSONElement, into records: inout [FileRecord]) throws(FormatFault)
    var passedOver: PassedOver { get }
}

extension JSONElements {
    static func isAlone(_ keys: JSONKeys) -> Bool { false }
}

/// The records of a JSON file of any size.
final class JSONRecords: RecordReader {
    private let format: FileFormat
    private var splitter: JSONSplitter
    private var elements: any JSONElements
    private var count = 0

    init(
        _ choices: FileChoices, _ format: FileFormat, _ elements: any JSONElements.Type, prefix: [UInt8]
    ) {
        self.format = format
        let keys = JSONKeys(JSONKind.text(prefix))
        splitter = JSONSplitter(arrays: elements.isAlone(keys) ? [] : elements.arrays)
        self.elements = elements.init(choices, format)
    }

    var passedOver: PassedOver { elements.passedOver }

    func read(_ bytes: ArraySlice<UInt8>, into records: inout [FileRecord]) throws(FormatFault) {
        var found: [FileRecord] = []
        defer { records += found }
        let isSound = try splitter.read(bytes) { (array: String, text: ArraySlice<UInt8>?) throws(FormatFault) in
            count += 1
            guard let text else {
                found.append(FileRecord(place: count, content: .rejected(.tooLarge)))
                return
            }
            let parsed = text.withUnsafeBytes { buffer in
                Result { () throws(JSONError) in try JSONDocument.parse(buffer).root }
            }
            switch parsed {
            case .success(let value):
                let element = JSONElement(array: array, value: value, place: count, text: text)
                try elements.read(element, into: &found)
            case .failure: found.append(FileRecord(place: count, content: .rejected(.notJSON)))
            }
        }
        guard isSound else {
            throw .malformed(format, "the JSON is malformed after record \(count).")
        }
    }

    func finish(into records: inout [FileRecord]) throws(FormatFault) {
        guard splitter.isComplete else { throw .truncated(format) }
    }
}

extension JSONValue {
    /// A number, also one written as a text.
    var number: Double? {
        double ?? string.flatMap { $0.utf8.count <= 32 ? DecimalText.parse(Array($0.utf8)) : nil }
    }

    /// A time as a text, or as a number of seconds or milliseconds.
    var fileTime: FileTime {
        if let double { return FileTime(number: double) }
        if let string { return FileTime(string) }
        return isNull ? .missing : .unreadable
    }

    /// The elements of an array; none of another value.
    var list: [JSONValue] { array.map { Array($0) } ?? [] }

    /// The first of these members that is there and not `null`.
    func first(of names: [String]) -> JSONValue? {
        for name in names {
            if let value = self[name], !value.isNull { return value }
        }
        return nil
    }
}

/// Writes the members of a file's record that a fix has no field for, as its remainder.
struct RemainderText {
    private var writer = JSONWriter()
    private var isEmpty = true

    init() { writer.beginObject() }

    mutating func add(_ key: String, _ value: String?) {
        // The service bounds the whole; a name or a tag is short.
        guard let value, !value.isEmpty, value.utf8.count <= 128 else { return }
        writer.field(key, value)
        isEmpty = false
    }

    mutating func add(_ key: String, _ value: Bool) {
        writer.field(key, value)
        isEmpty = false
    }

    mutating func add(_ key: String, _ value: Double?) {
        guard let value, value.isFinite else { return }
        writer.field(key, value)
        isEmpty = false
    }

    /// The object; `nil` without a member.
    func text() -> String? {
        guard !isEmpty else { return nil }
        var writer = writer
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
