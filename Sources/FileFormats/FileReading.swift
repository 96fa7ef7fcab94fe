package import ReferenceSystems

/// Reads a file of any known format, packed or not, and gives its records.
///
///     let reading = FileReading(choices) { file.read() }
///     while let records = try reading.next() { … }
///
/// Bytes come in and records go out in pieces; memory does not grow with the file. A zip file's members are read one
/// after the other; an archive may be in an archive, once. Names in an archive are shown to people and never used as
/// paths.
///
/// To continue after an interruption, give ``FilePosition`` of the records that are done: the file is read from its
/// beginning, and those records are not given again. That is exact for every format, whose readers all have a state.
package final class FileReading {
    /// The beginning by which a format is detected.
    package static let prefixBytes = 64 << 10
    /// Archives in one another.
    static let archivesMax = 2

    private let choices: FileChoices
    private let file: FileSource
    private var resume: FilePosition?
    /// The open archives, the outermost first.
    private var archives: [(members: any ArchiveMembers, depth: Int)] = []
    private var current: Part?
    private var pending: FormatFault?
    private var hasBegun = false
    private var nextPart = 0

    /// The summary of the content read so far.
    package private(set) var summary = FileSummary()
    /// The records given so far.
    package private(set) var position = FilePosition(part: 0, records: 0)

    /// One file, or one member of an archive.
    private struct Part {
        let name: String?
        let source: LookAhead
        let reader: any RecordReader
        let format: FileFormat
        var records = 0
    }

    /// - Parameters:
    ///   - resume: The position after which records are given; `nil` for the beginning.
    ///   - read: Gives the next bytes of the file; none or `nil` at the end.
    package init(_ choices: FileChoices, after resume: FilePosition? = nil, _ read: @escaping () -> [UInt8]?) {
        (self.choices, self.resume) = (choices, resume)
        file = FileSource(read)
    }

    /// The bytes of the file that were read.
    package var bytesRead: Int { file.bytesRead }

    /// The next records, which may be none; `nil` at the end.
    ///
    /// - Throws: ``FormatFault``, after the records before it. A damaged member of an archive is no fault: it is in the
    ///   summary, and the members after it are read.
    package func next() throws(FormatFault) -> [FileRecord]? {
        if let fault = pending {
            pending = nil
            try end(with: fault)
            return []
        }
        if !hasBegun {
            hasBegun = true
            try open(LookAhead(file), name: nil, depth: 0)
            return []
        }
        if current != nil { return try step() }
        guard let archive = archives.last else {
            return nil
        }
        do throws(FormatFault) {
            guard let member = try archive.members.nextMember() else {
                archives.removeLast()
                if archives.isEmpty, summary.parts.isEmpty, summary.damaged.isEmpty { throw .nothingInArchive }
                return []
            }
            if let refusal = member.refusal {
                summary.skip(member.name, refusal)
            } else if !member.name.hasSuffix("/") {
                try open(LookAhead(member), name: member.name, depth: archive.depth)
            }
        } catch {
            // A damaged archive cannot be read further; one in another is one damaged member of it.
            archives.removeAll { $0.depth >= archive.depth }
            guard let outer = archives.last, error != .nothingInArchive else { throw error }
            _ = outer
            summary.damage(nil, error)
        }
        return []
    }

    private func step() throws(FormatFault) -> [FileRecord] {
        guard var part = current else { return [] }
        var records: [FileRecord] = []
        do throws(FormatFault) {
            if let piece = try part.source.next() {
                try part.reader.read(piece, into: &records)
            } else {
                try part.reader.finish(into: &records)
                close(part)
                current = nil
            }
        } catch {
            // All bytes are there, so the last record is as whole as the others.
            if error == .wrongChecksum { try? part.reader.finish(into: &records) }
            pending = error
        }
        let first = part.records
        part.records += records.count
        if current != nil { current = part }
        let number = nextPart - 1
        position = FilePosition(part: number, records: part.records)
        if let resume {
            if number < resume.part { return [] }
            if number == resume.part { return Array(records.dropFirst(max(0, resume.records - first))) }
            self.resume = nil
        }
        return records
    }

    /// A fault ends a file, but only one member of an archive.
    private func end(with fault: FormatFault) throws(FormatFault) {
        guard let part = current else { throw fault }
        close(part)
        current = nil
        guard let name = part.name, fault != .expandsTooMuch else { throw fault }
        // A local time is no damage: the person can give the zone, and then the rest is read too.
        if case .timeWithoutZone = fault { throw fault }
        summary.damage(name, fault)
    }

    private func close(_ part: Part) {
        summary.passedOver.add(part.reader.passedOver)
        if let operations = part.reader.operations { summary.operations = operations }
    }

    private func open(_ members: any ArchiveMembers, _ depth: Int) throws(FormatFault) {
        guard depth < Self.archivesMax else { throw .nestedTooDeeply }
        archives.append((members, depth + 1))
        summary.isArchive = true
    }

    /// Opens a file or member: an archive, gzip, or a format.
    private func open(_ source: LookAhead, name: String?, depth: Int) throws(FormatFault) {
        do throws(FormatFault) {
            let prefix = Array(try source.peek(Self.prefixBytes))
            switch try FileDetection.detect(prefix, name: name, chosen: choices.format) {
            case .zip: try open(ZipMembers(source), depth)
            case .tar: try open(TarMembers(source), depth)
            case .gzip:
                guard depth < Self.archivesMax else { throw .nestedTooDeeply }
                try open(LookAhead(GunzipSource(source)), name: name, depth: depth + 1)
            case .format(let format):
                let reader = try format.reader(choices, prefix: prefix)
                current = Part(name: name, source: source, reader: reader, format: format)
                summary.parts[format, default: 0] += 1
                nextPart += 1
            }
        } catch {
            let endsArchive: [FormatFault] = [.expandsTooMuch, .tooManyMembers, .shiftedOnPurpose]
            guard let name, !endsArchive.contains(error) else { throw error }
            if error == ArchiveLines.part { summary.isOwnArchive = true }
            switch error {
            case .badArchive, .wrongChecksum, .nestedTooDeeply, .malformed, .truncated: summary.damage(name, error)
            case .empty, .refused, .otherXML, .otherJSON, .unknown, .noHead, .timeWithoutZone, .expandsTooMuch,
                .tooManyMembers, .nothingInArchive, .shiftedOnPurpose:
                summary.skip(name, error)
            }
        }
    }
}

/// How far a file was read.
package struct FilePosition: Hashable, Sendable {
    /// The number of the file's part with records, from 0; a plain file is one part.
    package let part: Int
    /// The records of this part that were given.
    package let records: Int

    /// A position.
    package init(part: Int, records: Int) { (self.part, self.records) = (part, records) }
}

/// A summary of a file's content.
package struct FileSummary {
    /// Whether the file is an archive.
    package internal(set) var isArchive = false
    /// Whether the file is an archive of this service.
    var isOwnArchive = false
    /// How many parts had which format.
    package internal(set) var parts: [FileFormat: Int] = [:]
    /// The content that is not imported.
    package internal(set) var passedOver = PassedOver()
    /// The members that could not be read to their end, at most ``namedMax``, each with its reason.
    package private(set) var damaged: [(name: String, reason: String)] = []
    /// The members that have no history, by reason.
    package private(set) var skipped: [(reason: String, count: Int)] = []
    /// The operations that converted coordinates to WGS 84.
    package internal(set) var operations: CoordinateReferenceSystem.UsedOperations?

    /// The damaged members that are named, and the reasons that are kept.
    package static let namedMax = 20
    /// Damaged members beyond those that are named.
    package private(set) var furtherDamaged = 0

    mutating func damage(_ name: String?, _ fault: FormatFault) {
        if damaged.count < Self.namedMax {
            damaged.append((name ?? "An archive in the archive", fault.description))
        } else {
            furtherDamaged += 1
        }
    }

    mutating func skip(_ name: String, _ fault: FormatFault) {
        // The members of this service's own archive that are not read are known, so one line is enough for all of them.
        let fault = isOwnArchive && [.empty, .otherJSON, .unknown].contains(fault) ? ArchiveLines.part : fault
        let reason: String =
            switch fault {
            case .refused(let name, _): name
            case .empty: "empty files"
            case .otherXML: "XML of other kinds"
            case .otherJSON: "JSON of other kinds"
            case .noHead: "CSV without places"
            case .unknown, .malformed, .truncated, .timeWithoutZone, .badArchive, .wrongChecksum, .expandsTooMuch,
                .nestedTooDeeply,
                .tooManyMembers, .nothingInArchive, .shiftedOnPurpose:
                "files of other kinds"
            }
        skip(name, reason)
    }

    mutating func skip(_ name: String, _ reason: String) {
        if let index = skipped.firstIndex(where: { $0.reason == reason }) {
            skipped[index].count += 1
        } else if skipped.count < Self.namedMax {
            skipped.append((reason, 1))
        }
    }

    /// The name of the format for a table: that of the only one, else `archive`.
    package var formatName: String {
        let names = parts.keys.map(\.rawValue).sorted()
        return names.count == 1 ? names[0] : names.isEmpty ? "unknown" : "archive"
    }

    /// The unit of ``FileRecord/place``.
    package var placeWord: String {
        let words = Set(parts.keys.map(\.placeWord))
        return words.count == 1 ? words.first ?? "record" : "record"
    }
}

extension FileFormat {
    /// A reader of this format at the beginning of a file.
    ///
    /// - Parameter prefix: The beginning of the file, for formats with dialects. The reader is fed these bytes too.
    func reader(_ choices: FileChoices, prefix: [UInt8]) throws(FormatFault) -> any RecordReader {
        switch self {
        case .gpx: return GPXRecords(choices)
        case .fixes: return FixLineRecords(choices)
        case .googleRecords: return JSONRecords(choices, self, GoogleRecords.self, prefix: prefix)
        case .googleSemantic: return JSONRecords(choices, self, GoogleSemantic.self, prefix: prefix)
        case .googleTimeline, .googleTimelineIPhone:
            return JSONRecords(choices, self, GoogleTimeline.self, prefix: prefix)
        case .googleEdits: return JSONRecords(choices, self, GoogleEdits.self, prefix: prefix)
        case .ownTracks:
            return OwnTracksRecords.isLines(prefix)
                ? OwnTracksRecords(choices)
                : JSONRecords(choices, self, OwnTracksMessages.self, prefix: prefix)
        case .geoJSON: return JSONRecords(choices, self, GeoJSONFeatures.self, prefix: prefix)
        case .csv: return try CSVRecords(choices, prefix: prefix)
        case .kml: return XMLRecords(.kml, KMLSteps(choices))
        case .tcx: return XMLRecords(.tcx, TCXSteps(choices))
        case .fit: return FITRecords(choices)
        case .nmea: return NMEARecords(choices)
        case .igc: return IGCRecords(choices)
        case .arc: return JSONRecords(choices, self, ArcItems.self, prefix: prefix)
        case .polarsteps: return JSONRecords(choices, self, PolarstepsLocations.self, prefix: prefix)
        case .overland: return JSONRecords(choices, self, OverlandLocations.self, prefix: prefix)
        case .dawarich: return DawarichRecords(choices)
        case .geoPulse: return JSONRecords(choices, self, GeoPulsePoints.self, prefix: prefix)
        case .moves: return JSONRecords(choices, self, MovesDays.self, prefix: prefix)
        case .samsungHealth: return JSONRecords(choices, self, SamsungLocations.self, prefix: prefix)
        case .whereabouts: return ArchiveLines(choices)
        }
    }
}
