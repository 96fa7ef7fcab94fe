import Answers
import FileFormats
import HTTPInterface
import HTTPServer
import Log
import Projections
import Replies
import Tables
import Whereabouts

/// A person's track as a file for other programs.
struct ExportEndpoints: Sendable {
    let decisions: Decisions
    let views: Views
    /// The room for files that are too long for memory.
    let room: SpoolRoom
    /// The form `archive`.
    let archive: ArchiveEndpoint

    /// The forms by the last part of the address.
    static let forms: [String: TrackForm] = [
        "gpx": .gpx, "geojson": .geoJSON, "kml": .kml, "csv": .csv, "rec": .ownTracks, "fixes": .fixes,
    ]

    /// The last part of the address of a person's archive, and its media type.
    static let archiveForm = "archive"
    static let archiveType = "application/zip"
    /// Bytes go into the answer after this many fixes.
    private static let fixesAtOnce = 1000

    /// `GET /v1/people/*/exports/*`: the fixes of the range, or of one `device`, as a file, by time and as they were
    /// reported. `import` reads each form again.
    ///
    /// The file is written before it is sent, so that the record has the SHA-256 of its bytes. One transaction reads all
    /// fixes, so it is as of one event.
    ///
    /// - Throws: 404 for an unknown form, and for a caller who may not read the history; 422 if the file would be too long.
    func export(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        if exchange.parameters[1] == Self.archiveForm { return try archive.archive(exchange, context) }
        guard let form = Self.forms[exchange.parameters[1]] else { throw .notFound }
        let person = try exchange.handle(0)
        let wanted = exchange.request.parameter("device")
        guard wanted.map({ Handle($0) != nil }) ?? true else {
            throw .invalid("\"device\" must be the handle of a device, for example anna-phone.")
        }
        return try views.read(exchange, context, .track, from: TimelineTable.name) { (reading) throws(Problem) in
            let range = try ReadEndpoints.range(reading)
            let permit = reading.permit
            let answer = SpooledAnswer(in: room, for: exchange.caller.principal)
            var file = TrackFile(form, of: person)
            var count: Int64 = 0
            let devices = DeviceHandles(decisions)
            var pending = 0
            let asOf = try context.eachFix(of: permit, from: range.from, to: range.to) { (row) throws(Problem) in
                let device = devices.handle(of: row.device)
                guard wanted == nil || wanted == device else { return }
                file.add(row.fix, device: device)
                count += 1
                pending += 1
                guard pending == Self.fixesAtOnce else { return }
                pending = 0
                try answer.append(file.takeBytes())
            }
            file.finish()
            try answer.append(file.takeBytes())
            let name = "\(person.text).\(form.fileExtension)"
            return try answer.finished(
                count: count, asOf: asOf,
                headers: [
                    ("Content-Type", form.mediaType), ("Content-Disposition", "attachment; filename=\"\(name)\""),
                    (ExportHeader.count, "\(count)"),
                ])
        }
    }
}
