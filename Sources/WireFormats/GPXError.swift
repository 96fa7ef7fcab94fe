/// Why reading a GPX file ended early: one sentence with the line, never content.
package enum GPXError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Not well-formed XML; the reason in expat's words, which are constant.
    case malformed(line: Int, reason: String)
    /// The outermost element is not `gpx`.
    case notGPX(line: Int)
    /// A document type declaration has declarations of its own, with which files attack their readers.
    case internalSubset(line: Int)
    /// Elements are nested beyond ``GPXReader/depthMax``.
    case tooDeep(line: Int)
    /// A single tag, comment or instruction is longer than ``GPXReader/markupBytes``.
    case markupTooLong(line: Int)

    package var description: String {
        switch self {
        case .malformed(let line, let reason): "The XML is malformed at line \(line): \(reason)."
        case .notGPX(let line): "The outermost element, at line \(line), is not gpx."
        case .internalSubset(let line):
            "The document type at line \(line) has declarations of its own, which are refused."
        case .tooDeep(let line): "The elements at line \(line) are nested too deeply."
        case .markupTooLong(let line): "A tag or comment after line \(line) is too long."
        }
    }
}
