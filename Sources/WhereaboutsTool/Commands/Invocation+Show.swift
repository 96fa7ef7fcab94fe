import JSON
import Replies

/// Output of commands that list, remove or read.
extension Invocation {
    /// Shows a list: as JSON `{"NAME": […], "asOf": N}`, or as a table.
    ///
    /// - Parameter sentence: The text for an empty list without `--json`.
    func show(
        _ items: [JSONValue], as name: String, asOf: String? = nil, _ table: @autoclosure () -> Table,
        orElse sentence: String
    ) {
        guard has(Options.json) else { return console.show(table(), orElse: sentence) }
        var writer = JSONWriter()
        writer.beginObject()
        writer.array(name) { array in items.forEach { array.value($0) } }
        writer.asOf(asOf)
        writer.endObject()
        console.result(writer.bytes + [UInt8(ascii: "\n")])
    }

    /// As ``show(_:as:asOf:_:orElse:)``, with a row of the table for each item.
    ///
    /// - Parameters:
    ///   - table: The columns.
    ///   - cells: Makes the cells of an item.
    func show<Item: MemberValue>(
        _ items: [JSONValue], as name: String, asOf: String? = nil, in table: Table, orElse sentence: String,
        cells: (Item) -> [String]
    ) throws(ToolError) {
        var table = table
        if !has(Options.json) {
            for item in items { table.add(cells(try item.read())) }
        }
        show(items, as: name, asOf: asOf, table, orElse: sentence)
    }

    /// Shows an answer: as one line of JSON, or as `lines` does.
    func show<Answer: Reply>(_ answer: JSONValue, _ lines: (Answer) -> Void) throws(ToolError) {
        if has(Options.json) { return console.result(answer.jsonLine) }
        lines(try answer.read())
    }

    /// Removes the thing at a path and prints a line.
    func remove(_ what: String, _ path: [String]) throws(ToolError) {
        let answer = try House.withClient(self) { client throws(ToolError) in try client.delete(path) }
        if has(Options.json) { return console.result(answer.jsonLine) }
        console.line("Removed \(what).")
    }
}

extension Console {
    func show(_ table: Table, orElse sentence: String) {
        if table.isEmpty { note(sentence) } else { result(table.text.utf8) }
    }
}

extension JSONWriter {
    /// The place in the log up to which a list was read: a number for the operator, a reference for a person.
    mutating func asOf(_ place: String?) {
        guard let place else { return }
        if let number = Int64(place) { field("asOf", number) } else { field("asOf", place) }
    }
}
