import JSON

/// The kinds of files that can be imported.
package enum ImportFormat: String, Sendable, CaseIterable {
    /// GPX 1.0 and 1.1, see ``GPXReader``.
    case gpx
    /// JSON lines, see ``FixLines``.
    case fixes

    /// The bytes at the beginning of a file that suffice for ``detect(firstBytes:)``.
    package static let detectionBytes = 64 << 10

    /// Detects a file's format by its content, because names are unreliable and exports translate them.
    ///
    /// - Parameter firstBytes: The first ``detectionBytes`` of the file, or all of a shorter one.
    /// - Throws: ``UnknownImportFormat`` with the format that the file seems to have.
    package static func detect(firstBytes: [UInt8]) throws(UnknownImportFormat) -> ImportFormat {
        // UTF-16 in either byte order becomes readable enough without its zeros.
        let isUTF16 = firstBytes.starts(with: [0xFF, 0xFE]) || firstBytes.starts(with: [0xFE, 0xFF])
        let mark = isUTF16 ? 2 : firstBytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let text = firstBytes.dropFirst(mark).filter { !isUTF16 || $0 != 0 }
            .drop(while: DecimalText.isWhiteSpace)
        switch text.first {
        case nil: throw .empty
        case UInt8(ascii: "<"): return try detectXML(text)
        case UInt8(ascii: "{"): return try detectLines(text)
        case UInt8(ascii: "["): throw .otherJSON
        default:
            if text.starts(with: "PK".utf8) || text.starts(with: [0x1F, 0x8B]) { throw .compressed }
            if text.dropFirst(8).starts(with: ".FIT".utf8) { throw .named("FIT") }
            throw .unknown
        }
    }

    private static func detectXML(_ text: ArraySlice<UInt8>) throws(UnknownImportFormat) -> ImportFormat {
        switch rootElement(of: text) {
        case "gpx": return .gpx
        case "kml": throw .named("KML")
        case "TrainingCenterDatabase": throw .named("TCX")
        case "html", "HTML": throw .named("HTML")
        default: throw .otherXML
        }
    }

    /// The local name of the first element, after declaration, comments and document type.
    private static func rootElement(of text: ArraySlice<UInt8>) -> String? {
        var rest = text
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(start + 1)...]
            if rest.starts(with: "!--".utf8) {
                guard let end = rest.indices.first(where: { rest[$0...].starts(with: "-->".utf8) }) else { return nil }
                rest = rest[end...]
            } else if rest.first != UInt8(ascii: "?") && rest.first != UInt8(ascii: "!") {
                let name = rest.prefix {
                    !DecimalText.isWhiteSpace($0) && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/")
                }
                let colon = name.lastIndex(of: UInt8(ascii: ":"))
                return String(decoding: colon.map { name[($0 + 1)...] } ?? name, as: UTF8.self)
            }
        }
        return nil
    }

    /// The first line decides: a JSON object with the required members of a fix.
    private static func detectLines(_ text: ArraySlice<UInt8>) throws(UnknownImportFormat) -> ImportFormat {
        let line = text.prefix { $0 != UInt8(ascii: "\n") }
        guard let root = try? JSONSource(parsing: line).value, root["latitude"] != nil, root["timestamp"] != nil else {
            throw .otherJSON
        }
        return .fixes
    }
}

/// Why a file cannot be imported: one sentence without its content.
package enum UnknownImportFormat: Error, Hashable, Sendable, CustomStringConvertible {
    case empty
    /// A zip or gzip file.
    case compressed
    /// A format that is recognized and not supported.
    case named(String)
    case otherXML
    case otherJSON
    case unknown

    /// One sentence that says what to do.
    package var description: String {
        switch self {
        case .empty: "The file is empty."
        case .compressed: "The file is compressed; unpack it first."
        case .named(let format): "The file is \(format), which cannot be imported; convert it to GPX first."
        case .otherXML: "The file is XML but not GPX."
        case .otherJSON: "The file is JSON but its first line is not a fix with timestamp, latitude and longitude."
        case .unknown: "The file is neither GPX nor JSON lines."
        }
    }
}
