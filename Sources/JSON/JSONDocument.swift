internal import CSupport

/// A JSON text (RFC 8259), parsed and checked completely: grammar, UTF-8, string escapes, number range, at most 32
/// containers one in another, and no key twice in an object.
///
/// simdjson parses without recursion into buffers that each thread keeps; the result is one flat block of nodes that
/// the document owns. Nothing changes after ``parse(_:keepsText:)-([UInt8],_)``, which is why a document may be shared.
package final class JSONDocument: Sendable {
    /// Written before the document is published, never after; released in `deinit`.
    nonisolated(unsafe) let nodes: UnsafePointer<json_node>
    nonisolated(unsafe) let text: UnsafePointer<UInt8>
    /// A copy of the parsed bytes; `nil` unless they are kept.
    nonisolated(unsafe) let source: UnsafePointer<UInt8>?

    private init(_ tree: json_tree) {
        nodes = tree.nodes
        text = tree.text
        source = tree.source
    }

    deinit {
        json_tree_release(json_tree(nodes: nodes, text: text, source: source))
    }

    /// The outermost value, of any kind.
    package var root: JSONValue { JSONValue(document: self, index: 0) }

    /// Reads a text completely.
    ///
    /// The caller must bound the number of bytes: each value and key takes 24 bytes of memory in addition to the
    /// strings. Time is linear in the bytes, except for objects with many members, which are sorted to find equal keys.
    ///
    /// - Parameter keepsText: Whether a copy of the bytes is kept for ``JSONValue/withText(withKey:_:)``.
    /// - Throws: ``JSONError``. Refused are also a byte order mark, NaN and Infinity, numbers beyond the range of
    ///   `Double`, integers beyond −2⁶³ … 2⁶⁴ − 1, half surrogate pairs, equal keys, and anything after the value.
    package static func parse(_ bytes: [UInt8], keepsText: Bool = false) throws(JSONError) -> JSONDocument {
        // A closure of `withUnsafeBytes` would throw untyped: the result is carried out instead.
        try bytes.withUnsafeBytes { buffer in
            Result { () throws(JSONError) in try parse(buffer, keepsText: keepsText) }
        }.get()
    }

    /// Reads a text completely, as ``parse(_:keepsText:)-([UInt8],_)`` does; the bytes are not needed afterwards.
    package static func parse(
        _ bytes: UnsafeRawBufferPointer, keepsText: Bool = false
    ) throws(JSONError) -> JSONDocument {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { throw .byteOrderMark }
        var tree = json_tree()
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let status = json_parse(start, bytes.count, keepsText, &tree)
        guard status == json_status_good else { throw JSONError(status, in: bytes) }
        return JSONDocument(tree)
    }
}

extension JSONError {
    fileprivate init(_ status: json_status, in bytes: UnsafeRawBufferPointer) {
        self =
            switch status {
            case json_status_empty: .empty
            case json_status_too_deep: .tooDeep
            case json_status_invalid_utf8: .invalidUTF8(atByte: Self.firstInvalidByte(of: bytes))
            case json_status_invalid_string: .invalidString
            case json_status_invalid_number: .invalidNumber
            case json_status_duplicate_key: .duplicateKey
            case json_status_too_large: .tooLarge
            default: .malformed
            }
    }

    /// Where UTF-8 is first broken; simdjson only says that it is.
    private static func firstInvalidByte(of bytes: UnsafeRawBufferPointer) -> Int {
        let units = bytes.bindMemory(to: UInt8.self)
        do {
            _ = try UTF8Span(validating: units.span)
            return bytes.count
        } catch {
            return error.byteOffsets.lowerBound
        }
    }
}
