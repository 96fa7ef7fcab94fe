/// Why a file cannot serve as the gazetteer. Each is one sentence that names the file.
package enum GazetteerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file is not there or the system will not let it be read; `reason` is the system's text.
    case unreadable(path: String, reason: String)
    /// The file does not begin as a gazetteer does.
    case foreign(path: String)
    /// A gazetteer of another version of the format than the one this program reads.
    case otherVersion(path: String, found: UInt32, expected: UInt32)
    /// A gazetteer whose header contradicts itself or the length of the file.
    case damaged(path: String, reason: String)

    package var description: String {
        switch self {
        case .unreadable(let path, let reason):
            "The gazetteer \(path) cannot be read: \(reason)."
        case .foreign(let path):
            "The file \(path) is not a gazetteer."
        case .otherVersion(let path, let found, let expected):
            "The gazetteer \(path) has format version \(found), and this program reads version \(expected)."
        case .damaged(let path, let reason):
            "The gazetteer \(path) is damaged: \(reason)."
        }
    }
}
