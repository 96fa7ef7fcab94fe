import Answers
import HTTPInterface
import HTTPServer
import JSON
import Log
import Projections
import SQLite
import Tables
import Whereabouts
import WireFormats

/// The devices of a person with their state, to find out whether a phone reports.
extension ManageEndpoints {
    /// `GET /v1/people/*/devices`: the devices that are not removed, a recorded read. Each has its push token's
    /// presence, its authorization, its last contact and fix, and the reports rejected in the last
    /// `Limits.rejectionsShownSeconds`.
    package func devices(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        try views.read(exchange, context, .settings, from: nil) { (reading) throws(Problem) in
            var page = try RowPage(exchange, reading.references)
            let states = DeviceStates(of: reading.permit.subject, now: reading.now, deviceContacts, context)
            let devices = decisions.log.withStanding { standing in
                (standing.persons[reading.permit.subject]?.devices ?? []).compactMap { id in
                    standing.devices[id].map { (id, $0) }
                }
            }
            for (id, device) in devices {
                guard !device.isRemoved, let handle = device.handle else { continue }
                page.add(id.rawValue) { writer in
                    writer.field("handle", handle.text)
                    writer.field("pushToken", device.push.token != nil)
                    if let held = device.authorization {
                        writer.object("authorization") { ReportJSON.writeMembers(of: held.report, into: &$0) }
                    }
                    states.writeMembers(of: id, into: &writer)
                }
            }
            return page.ended(asOf: decisions.log.withStanding { $0.place })
        }
    }
}

/// The state of a person's devices: last contacts, fixes and rejected reports.
private struct DeviceStates {
    /// The last rejected report of a device.
    private struct Rejection {
        let report: RejectedReport
        /// The kept beginning of the input, if it can be opened.
        let input: RejectedInput?
    }

    private let deviceContacts: DeviceContacts
    private let fixes: [DeviceID: ReportedFix]
    private let rejections: [DeviceID: [Rejection]]

    /// A projection that cannot be read is left out: the list of devices must also work then.
    init(of person: PersonID, now: Timestamp, _ deviceContacts: DeviceContacts, _ context: AnswerContext) {
        self.deviceContacts = deviceContacts
        let newest = try? context.newestFixes(of: person)
        fixes = Dictionary((newest?.value ?? []).map { ($0.device, $0) }) { first, _ in first }
        let since = now.adding(seconds: -Limits.rejectionsShownSeconds)
        let rejected = try? context.read(AuditTable.name) { (connection) throws(SQLiteError) in
            try AuditReader.rejections(of: person, in: connection)
        }
        var rejections: [DeviceID: [Rejection]] = [:]
        for report in (rejected?.value ?? []).reversed() where report.recordedAt >= since {
            let found = (try? context.reader.event(report.number))?.event.event
            let input: RejectedInput? = if case .inputRejected(_, _, _, let part)? = found { part.content } else { nil }
            rejections[report.device, default: []].append(Rejection(report: report, input: input))
        }
        self.rejections = rejections
    }

    /// Writes the state of a device into an open object. `lastContact` is the latest of the last request, the receipt
    /// of the newest fix and the last rejected report.
    func writeMembers(of device: DeviceID, into writer: inout JSONWriter) {
        let contact = deviceContacts.contact(of: device)
        let fix = fixes[device]?.fix
        let rejected = rejections[device] ?? []
        let heard = [contact?.at, fix?.receivedAt, rejected.first?.report.recordedAt].compactMap { $0 }.max()
        writer.field("lastContact", milliseconds: heard?.milliseconds)
        writer.field("lastFix", milliseconds: fix?.timestamp.milliseconds)
        writer.field("battery", fix?.batteryLevel)
        if let contact {
            writer.object("app") { writer in
                writer.field("address", contact.address)
                writer.field("userAgent", contact.userAgent)
            }
        }
        if let wrong = deviceContacts.wrongPasswords(of: device) {
            writer.object("wrongPasswords") { writer in
                writer.field("count", wrong.count)
                writer.field("newest", milliseconds: wrong.newestAt.milliseconds)
            }
        }
        writer.array("rejected") { writer in
            for rejection in rejected {
                writer.beginObject()
                writer.field("at", milliseconds: rejection.report.recordedAt.milliseconds)
                rejection.report.reason.writeMembers(into: &writer)
                writer.field("text", rejection.input?.text)
                writer.endObject()
            }
        }
    }
}
