import Answers
import FileFormats
import HTTPInterface
import HTTPServer
import Log
import Projections
import Replies
import SQLite
import Tables
import Whereabouts

/// A person's track as a file for other programs.
struct ExportEndpoints: Sendable {
    let decisions: Decisions
    let views: Views
    /// The room for files that are too long for memory.
    let room: SpoolRoom

    /// The forms by the last part of the address.
    static let forms: [String: TrackForm] = [
        "gpx": .gpx, "geojson": .geoJSON, "kml": .kml, "csv": .csv, "rec": .ownTracks, "fixes": .fixes,
    ]

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
            var failure: Problem?
            var handles: [DeviceID: String?] = [:]
            func handle(of device: DeviceID) -> String? {
                if let known = handles[device] { return known }
                let handle = decisions.log.withStanding { $0.devices[device]?.handle?.text }
                handles[device] = handle
                return handle
            }
            let (_, asOf) = try context.read(TimelineTable.name) { (connection) throws(SQLiteError) in
                var after: TimelineReader.FixKey?
                while failure == nil {
                    let rows = try TimelineReader.fixes(
                        of: permit.subject, from: range.from, to: range.to, after: after,
                        limit: Int(ReadEndpoints.rowsPerPage), in: connection)
                    for row in rows where permit.shows(row.fix.timestamp) {
                        let device = handle(of: row.device)
                        guard wanted == nil || wanted == device else { continue }
                        file.add(row.fix, device: device)
                        count += 1
                    }
                    do throws(Problem) { try answer.append(file.takeBytes()) } catch { failure = error }
                    guard rows.count == Int(ReadEndpoints.rowsPerPage), let last = rows.last else { break }
                    after = TimelineReader.FixKey(last)
                }
            }
            if let failure { throw failure }
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
