import WireFormats

/// Detects the format of a file by its beginning: names are unreliable, and exports translate them.
enum FileDetection {
    /// A format, or a layer around one.
    enum Kind: Hashable {
        case format(FileFormat)
        case zip
        case tar
        case gzip
    }

    /// - Parameters:
    ///   - prefix: The first ``FileReading/prefixBytes``, or all of a shorter file.
    ///   - name: The member's name in an archive; only for what content cannot show.
    ///   - chosen: The format that the person named, for a file that is not packed.
    static func detect(_ prefix: [UInt8], name: String? = nil, chosen: FileFormat? = nil) throws(FormatFault) -> Kind {
        if prefix.starts(with: [0x50, 0x4B, 0x03, 0x04]) || prefix.starts(with: [0x50, 0x4B, 0x05, 0x06]) {
            return .zip
        }
        if prefix.starts(with: [0x1F, 0x8B]) { return .gzip }
        if TarMembers.isOne(prefix) { return .tar }
        let isUTF16 = prefix.starts(with: [0xFF, 0xFE]) || prefix.starts(with: [0xFE, 0xFF])
        if let chosen {
            guard !prefix.isEmpty else { throw .empty }
            if isUTF16, ![.gpx, .kml, .tcx].contains(chosen) { throw wide }
            return .format(chosen)
        }
        if prefix.count >= 12, prefix[0] >= 12, prefix[8..<12].elementsEqual(".FIT".utf8) { return .format(.fit) }
        if let packed = Self.packed(prefix) { throw packed }
        // UTF-16 in either byte order becomes readable enough without its zeros.
        let mark = isUTF16 ? 2 : prefix.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let text = prefix.dropFirst(mark).filter { !isUTF16 || $0 != 0 }.drop(while: DecimalText.isWhiteSpace)
        switch text.first {
        case nil: throw .empty
        case UInt8(ascii: "<"): return .format(try xml(text))
        case _ where isUTF16: throw wide
        case UInt8(ascii: "{"), UInt8(ascii: "["): return .format(try JSONKind.detect(text))
        default: return .format(try plain(text))
        }
    }

    /// The readers of XML take UTF-16, the others UTF-8 alone.
    private static let wide = FormatFault.refused(
        "text in UTF-16", wayOut: "save it as UTF-8 with an editor or a spreadsheet, and import that")

    private static func packed(_ prefix: [UInt8]) -> FormatFault? {
        let unpack = "unpack it and import its files"
        if prefix.starts(with: "BZh".utf8) { return .refused("packed with bzip2", wayOut: unpack) }
        if prefix.starts(with: [0xFD, 0x37, 0x7A, 0x58, 0x5A]) { return .refused("packed with xz", wayOut: unpack) }
        if prefix.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) { return .refused("packed with zstd", wayOut: unpack) }
        if prefix.starts(with: "7z".utf8.map { $0 } + [0xBC, 0xAF]) { return .refused("a 7z archive", wayOut: unpack) }
        if prefix.starts(with: "Rar!".utf8) { return .refused("a RAR archive", wayOut: unpack) }
        if prefix.starts(with: "SQLite format 3".utf8) {
            return .refused("an SQLite database", wayOut: "export GPX or JSON from the program that it belongs to")
        }
        if prefix.starts(with: [0xFF, 0xD8, 0xFF]) || prefix.starts(with: [0x89, 0x50, 0x4E, 0x47]) {
            return .refused("an image", wayOut: "the places of photos are not imported")
        }
        if prefix.starts(with: "%PDF".utf8) { return .refused("a PDF", wayOut: "export GPX or JSON instead") }
        return nil
    }

    private static func xml(_ text: ArraySlice<UInt8>) throws(FormatFault) -> FileFormat {
        switch rootElement(of: text) {
        case "gpx": return .gpx
        case "kml": return .kml
        case "TrainingCenterDatabase": return .tcx
        case "html", "HTML", "Html":
            throw .refused(
                "HTML", wayOut: "choose JSON when you export from Google Takeout, and GPX when you export elsewhere")
        case "HealthData":
            throw .refused(
                "the record of Apple Health, which has no routes",
                wayOut: "import the whole export.zip, or the files in workout-routes")
        default: throw .otherXML
        }
    }

    /// The local name of the first element, after declaration, comments and document type.
    static func rootElement(of text: ArraySlice<UInt8>) -> String? {
        var rest = text
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(start + 1)...]
            if rest.starts(with: "!--".utf8) {
                guard let end = rest.indices.first(where: { rest[$0...].starts(with: "-->".utf8) }) else { return nil }
                rest = rest[end...]
            } else if rest.starts(with: "!DOCTYPE html".utf8) || rest.starts(with: "!doctype html".utf8) {
                return "html"
            } else if rest.starts(with: "!DOCTYPE HealthData".utf8) {
                // Apple's document type is longer than the prefix.
                return "HealthData"
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

    private static func plain(_ text: ArraySlice<UInt8>) throws(FormatFault) -> FileFormat {
        if text.starts(with: ArchiveLines.firstWords.utf8) { throw ArchiveLines.part }
        if OwnTracksRecords.isLines(Array(text.prefix(4096))) { return .ownTracks }
        let lines = text.split(separator: UInt8(ascii: "\n"), maxSplits: 40).prefix(40)
            .map { String(decoding: $0, as: UTF8.self) }
        if NMEARecords.isOne(lines) { return .nmea }
        if IGCRecords.isOne(lines) { return .igc }
        // Google writes this instead of a history that only the phone can read.
        let words = String(decoding: text.prefix(2048), as: UTF8.self).lowercased()
        if words.contains("encrypted"), words.contains("timeline"), words.contains("backup") {
            throw .refused(
                "Google's note that the timeline is an encrypted backup",
                wayOut: "export it on the phone: Settings, Location, Location services, Timeline, Export")
        }
        guard text.prefix(1024).allSatisfy({ $0 >= 0x20 || DecimalText.isWhiteSpace($0) }) else { throw .unknown }
        if CSVHeads.looksLikeTable(lines) { return .csv }
        throw .unknown
    }
}
