import Gazetteer
import Glibc

/// Makes a supplement from files: reads them line by line into a staging database beside the gazetteer, then writes the
/// supplement.
///
/// If it is interrupted at any time, also by a kill, the same import continues where it was. Memory does not grow with
/// the files.
struct SupplementImport {
    /// The gazetteer's folder, with a slash at its end.
    let folder: String
    let name: String
    let files: [String]
    /// `nil` uses the format's attribution.
    let attribution: String?
    let licence: String?
    let fold: StreetFold
    let console: Console
    /// The lines between two commits. An import can continue after each of them.
    var batchLines = 20_000

    /// The folder in which the import of a name is prepared; the path ends with a slash.
    static func stagingFolder(of name: String, in folder: String) -> String {
        folder + "supplement-\(name).importing/"
    }

    /// Imports the files and reports the result.
    ///
    /// - Parameter isEnding: Called after each batch; `true` interrupts the import there.
    func run(isEnding: () -> Bool = { false }) throws(ToolError) -> SupplementReport {
        let staging = Self.stagingFolder(of: name, in: folder)
        let sources = try files.map { path throws(ToolError) in try Source(path) }
        let (attribution, licence) = try rights(in: sources)
        guard mkdir(staging, 0o700) == 0 || errno == EEXIST else {
            throw .data(
                "\(folder) cannot be written: \(lastSystemError()). Import as the user it belongs to, or set "
                    + "WHEREABOUTS_GAZETTEER to places.gazetteer in a copy of the folder.")
        }
        let lock = open(staging + "LOCK", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(lock) }
        guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            throw .data("Another command is importing \"\(name)\"; wait until it has finished.")
        }
        // Sorting needs space beside the result, which may be more than the folder for temporary files has.
        setenv("SQLITE_TMPDIR", staging, 1)

        var report = SupplementReport(name: name)
        let database = try SupplementStaging(path: staging + "staging.sqlite", fold: fold)
        for (number, input) in try inputs(of: sources, in: database).enumerated() {
            let source = sources[number]
            let lines = try read(source, number, from: input, into: database, isEnding)
            report.files.append(SupplementReport.File(path: source.path, format: source.format, lines: lines))
        }
        for (number, reason, count, first) in try database.rejected() {
            report.files[number].rejected.append((reason, count, first))
        }

        let path = Supplement.path(of: name, in: folder)
        var writer = try SupplementWriter(database, folder: staging)
        try database.writing { () throws(ToolError) in
            try writer.write(to: path, attribution: attribution, licence: licence, fold: fold) {
                console.progress("\(name): \($0)")
            }
        }
        console.progress("")
        do throws(GazetteerError) { report.supplement = try Supplement(path: path, name: name) } catch {
            throw .data("\(error)")
        }
        return report
    }

    /// A file and its reader.
    private struct Source {
        let path: String
        let format: SourceFormat
        let file: InputLines
        let lines: any SourceLines

        init(_ path: String) throws(ToolError) {
            guard let file = InputLines(path) else {
                throw .data("\(path) cannot be opened as a file: \(lastSystemError()).")
            }
            guard case .line(let first)? = try file.next() else {
                throw .data("\(path) does not begin with a line of a known format.")
            }
            if first.starts(with: [0x1F, 0x8B]) || first.starts(with: Array("PK".utf8)) {
                throw .data("\(path) is compressed; unpack it first.")
            }
            guard let format = SourceFormat.told(by: first), let lines = format.lines(first: first) else {
                let forms = SourceFormat.allCases.map(\.rawValue).joined(separator: ", ")
                throw .data(
                    "\(path) has none of the formats that can be imported (\(forms)), by its first line.")
            }
            if first.starts(with: Array(#"{"type":"FeatureCollection""#.utf8)) {
                throw .data("\(path) is one GeoJSON document; convert it to one feature per line.")
            }
            (self.path, self.format, self.file, self.lines) = (path, format, file, lines)
        }
    }

    private func rights(in sources: [Source]) throws(ToolError) -> (attribution: String, licence: String) {
        // All of GeoNames' data have the same attribution; no other is known.
        let known = sources.allSatisfy { $0.format.attribution != nil } ? sources.first?.format.attribution : nil
        guard let attribution = attribution ?? known?.text, let licence = licence ?? known?.licence else {
            throw .usage(
                "Give the source and the licence of the data with --attribution TEXT and --licence TEXT: they are kept with "
                    + "the data and shown by \"about\".")
        }
        return (attribution, licence)
    }

    /// The progress in each file.
    private func inputs(
        of sources: [Source], in database: SupplementStaging
    ) throws(ToolError) -> [SupplementStaging.Input] {
        let fresh = sources.map { SupplementStaging.Input(path: $0.path, identity: $0.file.identity) }
        let known = try database.inputs()
        if known.isEmpty {
            try database.begin(fresh)
            return fresh
        }
        guard known.map(\.path) == fresh.map(\.path), known.map(\.identity) == fresh.map(\.identity) else {
            throw .data(
                "An import of \"\(name)\" from other files, or before they changed, was interrupted; continue with those, or "
                    + "end it with \"gazetteer remove \(name)\".")
        }
        return known
    }

    /// - Returns: The number of lines in the file.
    private func read(
        _ source: Source, _ number: Int, from input: SupplementStaging.Input, into database: SupplementStaging,
        _ isEnding: () -> Bool
    ) throws(ToolError) -> Int {
        var input = input
        if input.offset > 0 { console.note("\(source.path): continuing after line \(Text.count(input.line)).") }
        source.file.seek(to: input.offset)
        var isAtEnd = false
        while !isAtEnd {
            var rows: [SupplementRow] = []
            var rejected: [LineRejection: (count: Int, first: Int)] = [:]
            for _ in 0..<batchLines {
                guard let line = try source.file.next() else {
                    isAtEnd = true
                    break
                }
                input.line += 1
                do throws(LineRejection) {
                    if let row = try row(of: line, input.line, by: source.lines) { rows.append(row) }
                } catch {
                    rejected[error, default: (0, input.line)].count += 1
                }
            }
            input.offset = source.file.offset
            try database.add(rows, rejected, of: number, upTo: input)
            let share = source.file.identity.byteCount > 0 ? input.offset * 100 / source.file.identity.byteCount : 100
            console.progress("\(source.path): \(share) %, \(Text.count(input.line)) lines")
            if !isAtEnd, isEnding() {
                throw .data(
                    "The import was interrupted at line \(input.line); run the same command again to continue from there."
                )
            }
        }
        return input.line
    }

    /// The row of a line; `nil` for an empty line or the header.
    private func row(
        of line: InputLines.Line, _ number: Int, by lines: any SourceLines
    ) throws(LineRejection) -> SupplementRow? {
        guard case .line(let bytes) = line else { throw .lineTooLong }
        if bytes.isEmpty || number == 1 && lines.hasHeader { return nil }
        do { _ = try UTF8Span(validating: bytes.span) } catch { throw .invalidUTF8 }
        return try lines.row(of: bytes)
    }
}

/// The result of an import.
struct SupplementReport {
    struct File {
        let path: String
        let format: SourceFormat
        let lines: Int
        var rejected: [(reason: String, count: Int, firstAt: Int)] = []
    }

    let name: String
    /// The supplement that is now in place.
    var supplement: Supplement?
    var files: [File] = []
}
