/// Why a GPX file cannot be read to its end: one sentence with the line, without content.
package enum GPXError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The XML is not well-formed; the reason is one of expat's constant texts.
    case malformed(line: Int, reason: String)
    /// The outermost element is not `gpx`.
    case notGPX(line: Int)
    /// The document type declaration has an internal subset, which attacks use.
    case internalSubset(line: Int)
    /// Elements are nested beyond ``GPXReader/depthMax``.
    case tooDeep(line: Int)
    /// A single tag, comment or instruction is longer than ``GPXReader/markupBytes``.
    case markupTooLong(line: Int)

    /// One sentence without content.
    package var description: String {
        switch self {
        case .malformed(let line, let reason): "The XML is malformed at line \(line): \(reason)."
        case .notGPX(let line): "The outermost element, at line \(line), is not gpx."
        case .internalSubset(let line):
            "The document type at line \(line) has an internal subset; remove it from the file."
        case .tooDeep(let line): "The elements at line \(line) are nested too deeply."
        case .markupTooLong(let line): "A tag or comment after line \(line) is too long."
        }
    }
}
